-- SPDX-License-Identifier: MIT
-- Histories and lists of services that a simulator is not: what they leave open, get wrong, or never end.
-- make test: 4 s

local history = require "purser.client.history"

local DAY = 86400000
local NOW = 1700000000000

describe("a service that is less tidy than the document", function()
  -- A paged history of `all` (newest first) whose answers are bent by `bend(list, page) -> list`.
  local function service(all, bend, total)
    local client = { now = function() return NOW end, asked = 0 }
    client.call = function(_, _, params)
      client.asked = client.asked + 1
      local inside, page = {}, {}
      for _, record in ipairs(all) do
        local time = record.timestamp
        if not params.startTime or (time >= params.startTime and time <= params.endTime) then
          inside[#inside + 1] = record
        end
      end
      local limit = math.min(params.limit, 100)
      for i = (params.page - 1) * limit + 1, math.min(#inside, params.page * limit) do page[#page + 1] = inside[i] end
      if bend then page = bend(page, params.page, client.asked) end
      return total and { data = page, totalRecords = #inside, totalPageNum = math.ceil(#inside / limit) } or page
    end
    return client
  end

  local function transfers(count)
    local all = {}
    for i = 1, count do all[i] = { tranId = ("%06d"):format(count - i), timestamp = NOW - i * 1000 } end
    return all
  end

  local params = { from = NOW - DAY, fromAccountType = "SPOT", toAccountType = "SPOT" }

  local function walk(client, name)
    return history.each(client, name or "sub_account.transfer_history", params)
  end

  it("gives smaller pages than it was asked for", function()
    assert.equal(777, #assert(walk(service(transfers(777))):collect()))
  end)

  it("gives short and empty pages in the middle: its total says that there is more, so windows are divided", function()
    local all = transfers(500)
    local client = service(all, function(page, number)
      if number == 2 then return {} end
      if number == 3 then
        for _ = 1, 40 do table.remove(page) end
      end
      return page
    end, true)
    local records = assert(history.each(client, "wallet.internal_transfer_history", { from = NOW - DAY }):collect())
    assert.equal(500, #records)
  end)

  it("gives records in no order", function()
    local all, client = {}, { now = function() return NOW end }
    for i = 1, 5000 do
      local mixed = i * 7919 % 5003
      all[i] = { txId = ("%06d"):format(mixed), insertTime = NOW - mixed * 60000 }
    end
    client.call = function(_, _, asked)
      local found = {}
      for _, record in ipairs(all) do
        if record.insertTime >= asked.startTime and record.insertTime <= asked.endTime and #found < asked.limit then
          found[#found + 1] = record
        end
      end
      return found
    end
    local records = assert(history.each(client, "wallet.deposit_history", { from = NOW - 10 * DAY }):collect())
    assert.equal(5000, #records)
  end)

  it("shows new records while pages are turned", function()
    local all, added = transfers(450), 0
    local client = service(all, function(page, _, asked)
      if asked % 2 == 1 and added < 3 then -- late ones, between those that were there
        added = added + 1
        table.insert(all, 5, { tranId = ("9%05d"):format(added), timestamp = NOW - 4500 })
      end
      return page
    end)
    local records, seen = assert(walk(client):collect()), {}
    assert.equal(453, #records)
    for _, record in ipairs(records) do
      assert.is_nil(seen[record.tranId])
      seen[record.tranId] = true
    end
  end)

  it("holds records that look the same, which are two all the same", function()
    local all = {}
    for i = 1, 350 do all[i] = { txId = "same", coin = "USDT", insertTime = NOW - math.floor(i / 175) * 1000 } end
    local client = { now = function() return NOW end }
    client.call = function(_, _, asked)
      local inside, page, limit = {}, {}, math.min(asked.limit, 100)
      for _, record in ipairs(all) do
        if record.insertTime >= asked.startTime and record.insertTime <= asked.endTime then
          inside[#inside + 1] = record
        end
      end
      for i = (asked.page - 1) * limit + 1, math.min(#inside, asked.page * limit) do page[#page + 1] = inside[i] end
      return page
    end
    assert.equal(350, #assert(history.each(client, "broker.all_deposit_history", { from = NOW - DAY }):collect()))
  end)

  it("does not turn pages at all", function()
    local all = transfers(500)
    local client = { now = function() return NOW end, call = function() return all end }
    local records, err = walk(client):collect()
    assert.is_nil(records)
    assert.truthy(tostring(err):find("seems not to turn pages", 1, true))
  end)

  -- Two services that were asked for pages without end.
  it("gives the same short page whatever is asked for", function()
    for _, name in ipairs { "sub_account.transfer_history", "broker.list_sub_accounts",
      "broker.all_deposit_history" } do
      local asked = 0
      local client = { now = function() return NOW end, call = function()
        asked = asked + 1
        return { { tranId = "1", subAccount = "a", timestamp = NOW - 5000, insertTime = NOW - 5000, txId = "x" } }
      end }
      local from = not name:find "list" and NOW - DAY or nil
      local records, err = history.each(client, name, { from = from }):collect()
      assert.is_nil(records)
      assert.equal("workflow", err.kind)
      assert.is_true(asked < 1000, asked)
    end
  end)

  it("names more pages than it has", function()
    local client = { now = function() return NOW end, call = function()
      return { data = {}, totalRecords = 1e12, totalPageNum = 1e10, rows = {}, total = 1e12 }
    end }
    for _, name in ipairs { "wallet.internal_transfer_history", "wallet.withdrawal_addresses" } do
      local from = not name:find "addresses" and NOW - DAY or nil
      local records, err = history.each(client, name, { from = from }):collect()
      assert.is_nil(records)
      assert.equal("workflow", err.kind)
    end
  end)

  it("never comes to rest", function()
    local all, number = transfers(250), 0
    local client = service(all, function(page)
      number = number + 1
      table.insert(all, 1, { tranId = ("9%05d"):format(number), timestamp = NOW - 500 })
      return page
    end)
    local records, err = walk(client):collect()
    assert.is_nil(records)
    assert.truthy(tostring(err):find("faster than they can be read", 1, true))
  end)

  it("changes what a filter finds while pages are turned, so that filter is applied here", function()
    local asked_status
    local client = { now = function() return NOW end }
    client.call = function(_, _, asked)
      asked_status = asked_status or asked.status
      if asked.page > 1 then return {} end
      return { { txId = "1", status = 5, insertTime = NOW - 1 }, { txId = "2", status = 4, insertTime = NOW - 2 } }
    end
    local found = assert(history.each(client, "broker.all_deposit_history", { from = NOW - 10, status = 5 }):collect())
    assert.is_nil(asked_status)
    assert.same({ "1" }, { found[1].txId, found[2] })
  end)

  it("answers with a record from another time", function()
    local client = { now = function() return NOW end }
    client.call = function() return { { txId = "1", insertTime = NOW - 5 * DAY } } end
    local records, err = history.each(client, "wallet.deposit_history", { from = NOW - DAY }):collect()
    assert.is_nil(records)
    assert.truthy(tostring(err):find("came for the window", 1, true))
  end)
end)
