-- SPDX-License-Identifier: MIT
-- Services that show more than one payment with one id: a walk delivers each.

local digests = require "purser.history.digest"
local history = require "purser.history"
local operations = require "purser.api.operations"
local page_of = require "paged_list"

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

    it("and a cursor of an older version, which knows only ids, still holds back what it knows", function()
      local records = payments(3, 1000)
      for i, record in ipairs(records) do record[row.paging.id] = "id" .. i end
      for _, known in ipairs { digests.of "id1" .. "," .. digests.of "id3", assert(digests.old_of "id1") .. ","
        .. assert(digests.old_of "id3") } do
        local cursor = ("purser2;%s;%d;%s"):format(name, NOW - 20 * MINUTE, known)
        assert.equal("102", amounts(history.each(client_of(row, records), name, { cursor = cursor,
          fromAccountType = params_of(row, {}).fromAccountType, toAccountType = params_of(row, {}).toAccountType })))
      end
    end)
  end)
end
