-- SPDX-License-Identifier: MIT
-- 2,000 edits of a signed plan of 100 rows: each is refused with its code, and nothing is paid. PURSER_ROWS=500 takes a
-- longer plan, which each edit reads whole.
-- make test-all: 20 s, on lua5.4

local at = require "payouts_setting"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local ROWS = tonumber(os.getenv "PURSER_ROWS") or 100

local approvals = purser.approvals

before_each(function() policies.begin(at) end)
after_each(function() policies.finish(at) end)
teardown(ssh_keys.remove)

describe(("a list of %d rows"):format(ROWS), function()
  it("pays nothing for any of 2,000 edits", function()
    local payments = {}
    for i = 1, ROWS do
      payments[i] = { key = "invoice-" .. i, operation = at.TRANSFER, params = at.move(("%d.50"):format(i)),
        payee = "ACME" }
    end
    local text = assert(approvals.plan { client = at.client, policy = at.policy, journal_id = assert(at.journal:id()),
      payments = payments, maker = "carol" })
    local signatures = policies.approve(text)
    local lines = {}
    for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
    local seed, codes = 5, {}
    local function random(n)
      seed = (seed * 16807) % 2147483647
      return seed % n + 1
    end
    local edits = {
      function(copy, i, j) copy[i], copy[j] = copy[j], copy[i] end, -- swapped
      function(copy, i) table.insert(copy, i, copy[i]) end, -- doubled
      function(copy, i) table.remove(copy, i) end,
      function(copy, i) copy[i] = copy[i]:gsub('%.5"', '.50"') end, -- padded
      function(copy, i) copy[i] = copy[i] .. "\r" end,
      function(copy, i) copy[i] = copy[i]:gsub("ACME", "\\u0410CME") end, -- a look-alike
      function(copy, i) copy[i] = copy[i]:gsub('"amount":"', '"amount":"9') end,
      function(copy, i, j) copy[i] = copy[j] end,
    }
    for round = 1, 2000 do
      local copy = {}
      for i, line in ipairs(lines) do copy[i] = line end
      local i = 1 + random(ROWS)
      local j = 1 + (i - 2 + random(ROWS - 1)) % ROWS + 1
      edits[round % #edits + 1](copy, i, math.max(2, math.min(ROWS + 1, j)))
      local changed = table.concat(copy, "\n") .. "\n"
      if changed ~= text then
        local value, err = approvals.add { client = at.client, plan = changed, signatures = signatures }
        assert.is_nil(value)
        codes[err.code] = (codes[err.code] or 0) + 1
      end
    end
    assert.is_true(codes["approval.changed"] > 1000)
    assert.is_true(codes["approval.signature"] > 100)
    codes["approval.changed"], codes["approval.signature"] = nil, nil
    assert.same({}, codes)
    assert.equal(0, assert(at.payouts_with({}):report()).total)
  end)
end)
