-- SPDX-License-Identifier: MIT
-- Keys of records: services may show more than one payment with one id, and a walk delivers each.

local history = require "purser.client.history"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local cursors = require "purser.client.history.cursor"

local NOW, MINUTE = 1700000000000, 60000

local names = { "wallet.withdrawal_history", "wallet.transfer_history", "wallet.internal_transfer_history",
  "sub_account.transfer_history", "broker.transfer_history" }

-- A client whose history has these records.
local function client_of(row, records)
  local client, time = {}, row.paging.time_member
  function client.now() return NOW end
  function client.call(_, _, asked) return page_of(row, records, time, asked) end
  return client
end

local function params_of(row, fields)
  local params = { from = NOW - 90 * MINUTE }
  if row.full_name == "wallet.transfer_history" then
    params.fromAccountType, params.toAccountType = "SPOT", "FUTURES"
  end
  for name, value in pairs(fields) do params[name] = value end
  return params
end

local function amounts(walk)
  local list = {}
  for i, record in ipairs(assert(walk:collect())) do list[i] = record.amount end
  table.sort(list)
  return table.concat(list, " ")
end

for _, name in ipairs(names) do
  describe(name .. ", walked, delivers each payment of one id", function()
    local row = operations.by_name[name]

    -- Payments that were made `gap` ms apart, from ten minutes ago on, all with the id "0".
    local function payments(count, gap)
      local records = {}
      for i = 1, count do
        records[i] = { [row.paging.id] = "0", amount = ("%d"):format(100 + i), coin = "USDT", asset = "USDT",
          status = "SUCCESS", [row.paging.time_member] = NOW - 10 * MINUTE + (i - 1) * gap }
      end
      return records
    end

    for _, gap in ipairs { 0, 1, 1000, 20000 } do
      it(("%d ms apart, once"):format(gap), function()
        local walk = history.each(client_of(row, payments(4, gap)), name, params_of(row, {}))
        assert.equal("101 102 103 104", amounts(walk))
      end)
    end

    it("once across restarts", function()
      local records = payments(6, 1000)
      local walk = history.each(client_of(row, records), name, params_of(row, { late_arrival_ms = 60 * MINUTE }))
      for _ = 1, 3 do assert(walk:next()) end
      assert.equal("104 105 106", amounts(history.each(client_of(row, records), name, { cursor = walk:cursor(),
        fromAccountType = params_of(row, {}).fromAccountType, toAccountType = params_of(row, {}).toAccountType })))
    end)
  end)
end

describe("the key of a record", function()
  local paging = { id = "id", time_member = "time" }

  -- The records as keys: equal ones have the same letter.
  local function letters(of, records)
    local key, seen, text, count = cursors.key_of(of), {}, "", 0
    for _, record in ipairs(records) do
      local made = key(record)
      if not seen[made] then seen[made], count = string.char(97 + count), count + 1 end
      text = text .. seen[made]
    end
    return text
  end

  it("is that of the payment, whatever becomes of its state", function()
    assert.equal("aa", letters(paging, { { id = 1, time = 5, status = 1 }, { id = "1", time = 5, status = 2 } }))
    for _, member in ipairs { "amount", "asset", "coin", "address", "clientTranId", "withdrawOrderId", "fromAccount",
      "toAccount", "fromAccountType", "toAccountType", "time" } do
      assert.equal("ab", letters(paging, { { id = "1", time = 5 }, { id = "1", time = 5, [member] = "x" } }), member)
    end
  end)

  it("does not take a part of one member for another", function()
    assert.equal("ab", letters(paging, { { id = "1", asset = "A", coin = "" }, { id = "1", asset = "", coin = "A" } }))
    assert.equal("ab", letters({ key = { "a", "b" } }, { { a = "x y", b = "z" }, { a = "x", b = "y z" } }))
    assert.equal("ab", letters({ key = { "a", "b" } }, { { a = "x", b = "" }, { a = "", b = "x" } }))
    assert.equal("ab", letters({}, { { a = "1", b = "2" }, { a = "1=2" } }))
  end)

  it("is all of a record that has neither an id nor members to be known by, in any order", function()
    local one, other = { b = 1, a = { { x = 1 }, { x = 2 } } }, { a = { { x = 1 }, { x = 2 } } }
    other.b = 1
    assert.equal("aab", letters({}, { one, other, { b = 1, a = { { x = 2 }, { x = 1 } } } }))
  end)

  it("says whether it has an id; an empty one is none", function()
    for id, has in pairs { [""] = false, ["0"] = true, x = true } do
      assert.equal(has, select(2, cursors.key_of(paging) { id = id }))
    end
  end)
end)

describe("the digest of a key", function()
  it("has 16 hexadecimal digits", function()
    assert.matches("^%x+$", cursors.digest "k")
    assert.equal(16, #cursors.digest "k")
  end)
end)
