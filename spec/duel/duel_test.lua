-- SPDX-License-Identifier: MIT
-- A small duel (bench/duel, docs/duel.md): 20 payments by every client. The controls must come out wrong, and Purser
-- right.
-- make test-all: 120 s, waits

local judge = dofile "bench/duel/judge.lua"

local ROUNDS = "build/duel/rounds/"

describe("a duel of 20 payments", function()
  setup(function()
    assert(os.execute "lua5.4 bench/duel/run.lua 20 7 execute >build/duel/small.txt 2>&1", "see build/duel/small.txt")
  end)

  local function round(name) return judge.read(ROUNDS .. name .. "/result.tsv") end

  it("gives every client the same payments and faults", function()
    local expected = round "purser.lua-careful"
    assert.equal(20, #expected.payments)
    for _, name in ipairs { "ccxt.mjs-plain", "curl.sh-careful", "mexc_api.mjs-plain", "mexc_api_sdk.mjs-careful" } do
      for i, payment in ipairs(round(name).payments) do
        local other = expected.payments[i]
        assert.same({ other.key, other.operation, other.met:match "^[^;]*" },
          { payment.key, payment.operation, payment.met:match "^[^;]*" })
      end
    end
  end)

  it("finds that a retry pays twice, and that a client without one says failed of what was made", function()
    for _, name in ipairs { "ccxt.mjs-plain", "curl.sh-plain" } do
      assert.is_true(round(name).counts.twice > 0, name)
    end
    for _, name in ipairs { "mexc_api.mjs-plain", "mexc_api_sdk.mjs-plain" } do
      local counts = round(name).counts
      assert.is_true(counts.wrong > 0 and counts.lost > 0, name)
    end
    assert.is_true(round("curl.sh-careful").counts.twice > 0) -- a look that comes too early
  end)

  it("finds that Purser without a journal pays twice, an id repeated by hand or not", function()
    assert.is_true(round("purser.lua-control").counts.twice > 0)
  end)

  -- The proxy's second payment belongs to no call, and differs from a lost call in its amount. One difference proves
  -- nothing for a plain call without an earlier answered call as a witness, so a first payment of a process may be left
  -- to a person, unpaid. A queue decides all.
  for mode, left in pairs { plain = 4, careful = 0 } do
    it("finds no payment of Purser with a journal made twice, and few left to a person: " .. mode, function()
      local result = round("purser.lua-" .. mode)
      assert.same({ 0, 0, 0 }, { result.counts.twice, result.counts.lost, result.counts.wrong })
      assert.is_true(result.counts.person <= left, result.counts.person)
      for _, payment in ipairs(result.payments) do
        local is_left = payment.said == "person"
        local made = payment.met:find "a proxy repeats" and 2 or 1
        assert.is_true(payment.made == made or is_left and payment.made == 0, payment.key .. " " .. payment.met)
      end
    end)
  end
end)
