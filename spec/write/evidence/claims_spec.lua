-- SPDX-License-Identifier: MIT
-- Whose a record is, and what the records of answered calls show of a service.

local claims = require "purser.write.evidence.claims"
local compare = require "purser.write.evidence.compare"
local copy_of = require "copy_of"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"

local NOW = 1700000000000
local TIME = { before = 6000, after = 14000, max_window = 5000 }
local sent = { coin = "TON", netWork = "TON", address = "UQBF", amount = "20", withdrawOrderId = ("Ab3"):rep(10) }

-- Claims where a journal knows these owners.
local function claims_of(owners, more)
  local journal = own_calls.with { owners = function(_, column) return column == "record_id" and owners or {} end }
  for name, value in pairs(more or {}) do journal[name] = value end
  return claims.new({ journal = journal }, operations.by_name["wallet.withdraw"], { operation = "wallet.withdraw",
    params = sent, sent_at = NOW, id = "own" })
end

local function answered(params)
  return { id = "w", operation = "wallet.withdraw", params = params or sent, sent_at = NOW - 60000, recv_window = 5000,
    state = "done", record_id = "w1", answered = true }
end

-- Returns the witnesses that one record of an answered call makes.
local function shown(fields, call)
  local record = copy_of(copy_of(sent, { id = "w1", applyTime = NOW - 59000 }), fields)
  return assert(claims_of({ w1 = call or answered() }):witnesses({ record }, TIME))
end

describe("a record", function()
  it("is claimed by the call that owns it, unless that is the one that is asked about", function()
    local records = { { id = "w1" }, { id = "w2" }, {} }
    assert.equal(2, #assert(claims_of({ w1 = answered() }):unclaimed(records)))
    assert.equal(3, #assert(claims_of({ w1 = { id = "own" } }):unclaimed(records)))
    local left, err = claims_of(nil, { owners = function() return nil, "disk I/O error" end }):unclaimed(records)
    assert.is_nil(left)
    assert.equal("journal", err.phase)
  end)

  -- The journal was lost, and the payment that the record shows is planned again, and not looked for yet.
  it("is claimed by a planned payment whose id it shows, unless that may be the call's own in another form", function()
    local other = "0123456789abcdef0123456789abcdef"
    local more = { owners = function(_, column, _, ids)
      local planned = {}
      for _, id in ipairs(column == "key" and ids or {}) do
        planned[id] = { operation = "wallet.withdraw", params = sent }
      end
      return planned
    end }
    local records = { { id = "w1", withdrawOrderId = other }, { id = "w2", withdrawOrderId = "" }, { id = "w3" },
      { id = "w4", withdrawOrderId = sent.withdrawOrderId:lower() },
      { id = "w5", withdrawOrderId = sent.withdrawOrderId:sub(1, 12) } }
    local left = assert(claims_of({}, more):unclaimed(records))
    assert.same({ "w2", "w3", "w4", "w5" }, { left[1].id, left[2].id, left[3].id, left[4] and left[4].id })
    assert.equal(5, #assert(claims_of({}):unclaimed(records)))
    local none, err = claims_of({}, { owners = function(_, column)
      if column == "key" then return nil, "disk I/O error" end
      return {}
    end }):unclaimed(records)
    assert.is_nil(none)
    assert.equal("journal", err.phase)
  end)
end)

describe("a witness", function()
  it("proves members that it shows as they were sent: an id of that form, an amount of that coin", function()
    local witnesses = shown {}
    for _, name in ipairs { "withdrawOrderId", "address", "amount", "coin" } do
      assert.is_true(witnesses:proves(name, sent), name)
      assert.is_false(witnesses:differs(name, sent), name)
    end
    assert.is_true(witnesses:proves("amount", copy_of(sent, { amount = "7" })))
    assert.is_false(witnesses:proves("amount", copy_of(sent, { coin = "USDT" })))
    assert.is_false(witnesses:proves("address", copy_of(sent, { address = "EQBF" }))) -- another form, for all we know
    assert.is_true(witnesses:proves("withdrawOrderId", copy_of(sent, { withdrawOrderId = ("Zz9"):rep(10) })))
    for _, id in ipairs { ("7"):rep(10), "pay-7", ("Ab3"):rep(11) } do
      assert.is_false(witnesses:proves("withdrawOrderId", copy_of(sent, { withdrawOrderId = id })), id)
    end
  end)

  it("of another form takes a member out of the comparison, for all that may be shown so", function()
    local witnesses = shown { address = "EQBFother" }
    assert.is_false(witnesses:proves("address", sent))
    assert.is_true(witnesses:differs("address", copy_of(sent, { address = "UQother" })))
    assert.is_false(witnesses:differs("address", copy_of(sent, { coin = "USDT", netWork = "TRX" })))
    assert.is_true(shown { amount = "19" }:differs("amount", sent))
    assert.is_true(shown { withdrawOrderId = false }:hides("withdrawOrderId", sent))
    assert.is_false(shown { withdrawOrderId = false }:proves("withdrawOrderId", sent))
  end)

  it("shows whether times are right", function()
    assert.is_true(shown {}.in_time)
    assert.is_nil(shown {}.misplaced)
    assert.equal("w1", shown { applyTime = NOW - 59000 + 3600000 }.misplaced.id)
    local found = answered() -- by the id that its record shows, which may be of an attempt that a lost journal knew
    found.found = true
    assert.is_true(shown({}, found).in_time)
    local untimed = shown({ applyTime = NOW - 30000 }, found)
    assert.same({ false }, { untimed.in_time, untimed.misplaced })
    assert.equal(NOW - 59000, shown {}.earliest)
    assert.equal(NOW - 60000, shown {}.latest)
    local never = copy_of(answered(), { found = true, sent_at = 0 }) -- as far as this journal knows
    assert.same({ false, nil }, { shown({}, never).in_time, shown({}, never).untimed })
  end)

  it("is a call that was answered, and no other", function()
    local found = answered()
    found.answered = false
    assert.is_false(shown({}, found):proves("amount", sent))
    assert.is_false(claims.NONE:proves("amount", sent))
  end)
end)

describe("calls of the same history", function()
  it("are asked for by what the journal knows, and are an error where it cannot be read", function()
    local function unread() return nil, "disk I/O error" end
    for _, name in ipairs { "open_calls", "made_calls" } do
      local found, err = claims_of({}, { [name] = unread })[name](claims_of({}, { [name] = unread }), NOW, NOW, 0)
      assert.is_nil(found)
      assert.equal("unknown", err.outcome)
    end
    local open = { id = "a", operation = "wallet.withdraw", sent_at = NOW - 50000, recv_window = 5000, params = {} }
    local function with(first) return #assert(claims_of({}, { open_calls = function() return { open } end })
      :open_calls(first, NOW, 9000)) end
    assert.same({ 1, 0 }, { with(NOW - 36000), with(NOW - 35999) })
  end)

  -- An amount of "20 TON" explained any other that cannot be reckoned with either.
  it("shows how far a member may differ: an amount by the same fee, a text in as plain a form", function()
    local function explains(witness, name, value)
      local record = { [name] = value }
      return shown { [name] = witness }:explains(name, sent, compare.member(name, sent[name], record), record)
    end
    for witness, cases in pairs { ["19.5"] = { ["19.5"] = true, ["19"] = false, ["21"] = false, ["0"] = true },
      ["20 TON"] = { ["20 TON"] = false, ["25 TON"] = false } } do
      for value, expected in pairs(cases) do assert.equal(expected, explains(witness, "amount", value), value) end
    end
    assert.is_true(explains("Ab3", "withdrawOrderId", "b3A"))
    assert.is_false(explains("Ab3", "withdrawOrderId", "zzz"))
    assert.is_true(explains("zzz", "withdrawOrderId", "yyy"))
  end)
end)
