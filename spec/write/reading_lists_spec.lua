-- SPDX-License-Identifier: MIT
-- Every record of a list, for who concludes from one that is missing: all of them, each once, or the reason why not.

local errors = require "purser.client.call.errors"
local reading = require "purser.write.reading"
local operations = require "purser.client.operations"
local page_of = require "paged_list"

local unpack = table.unpack or unpack -- luacheck: ignore
local NOW, HOUR = 1700000000000, 3600000
local HISTORY = operations.by_name["sub_account.transfer_history"]

local function record(id, at) return { tranId = id, timestamp = at, asset = "USDT", amount = "2" } end

local function all(run, row, time)
  return reading.all(run, row or HISTORY, {}, NOW - HOUR, NOW + HOUR, time or "timestamp")
end

describe("the records of a history", function()
  it("are all of its pages", function()
    local records, times = {}, 0
    for i = 1, 1203 do records[i] = record(tostring(i), NOW - i) end
    local found, err, why = all(function(row, asked)
      times = times + 1
      return page_of(row, records, "timestamp", asked)
    end)
    assert.same({ 1203, nil, nil }, { #found, err, why })
    local seen = {}
    for _, one in ipairs(found) do seen[one.tranId] = true end
    for i = 1, 1203 do assert.is_true(seen[tostring(i)]) end
    assert.is_true(times > 1)
  end)

  it("are shown once where the service shows one twice; two without an id may be two", function()
    local twice, second = record("1", NOW), record("1", NOW)
    second.amount = "3" -- another payment, shown with the same id
    local shown = { twice, second, record("1", NOW), record(nil, NOW - 1), record(nil, NOW - 1) }
    local found = all(function(_, asked) return asked.page == 1 and shown or {} end)
    local counts = {}
    for _, one in ipairs(found) do
      local words = tostring(one.tranId) .. " of " .. one.amount
      counts[words] = (counts[words] or 0) + 1
    end
    assert.same({ ["1 of 2"] = 1, ["1 of 3"] = 1, ["nil of 2"] = 2 }, counts)
  end)

  it("are shown once where the service does not keep to the window that it was asked for", function()
    local windows, asked_for = 0, {}
    local found = reading.all(function(_, asked)
      if not asked_for[asked.startTime] then windows, asked_for[asked.startTime] = windows + 1, true end
      return { { id = "1", coin = "USDT", applyTime = NOW } }
    end, operations.by_name["wallet.withdrawal_history"], {}, NOW - 30 * 24 * HOUR, NOW, "applyTime")
    assert.is_true(windows > 1)
    assert.equal(1, #found)
  end)

  it("are all there where a page is rejected now and then; what is rejected first, or thrice, is an error", function()
    local records = {}
    for i = 1, 1203 do records[i] = record(tostring(i), NOW - i) end
    for rejected, count in pairs { [{}] = 1203, [{ [2] = true, [3] = true, [5] = true }] = 1203, [{ true }] = 0,
      [{ [2] = true, [3] = true, [4] = true }] = 0 } do
      local times = 0
      local found, err = all(function(row, asked)
        times = times + 1
        if rejected[times] then return nil, errors.new { kind = "api", outcome = "rejected", message = "busy" } end
        return page_of(row, records, "timestamp", asked)
      end)
      assert.equal(count, #(found or {}))
      assert.equal(count == 0, err ~= nil)
    end
  end)

  it("are those of a list without pages", function()
    local found = all(function() return { { network = "TRX" }, { network = "TRX" } } end,
      operations.by_name["wallet.deposit_addresses"])
    assert.equal(2, #found)
  end)

  it("come with why nothing shows that they are all, where the list does not turn its pages", function()
    local page = {}
    for i = 1, 10 do page[i] = record(tostring(i), NOW) end
    local found, err, why = all(function() return page end)
    assert.same({ 10, nil }, { #found, err })
    assert.matches("turn its pages", why)
  end)

  it("come with why nothing shows that they are all, where the list keeps to no time or its pages change", function()
    local shown = {}
    for i = 1, 30 do shown[i] = { id = tostring(i), coin = "USDT", applyTime = NOW + 2 * HOUR } end
    local withdrawals = operations.by_name["wallet.withdrawal_history"]
    local found, err, why = all(function() return shown end, withdrawals, "applyTime")
    assert.same({ 30, nil }, { #found, err })
    assert.matches("does not keep to the time", why)
    local desk, unnamed = { subAccount = "Desk" }, { createTime = NOW }
    local pages = { { desk, unnamed }, { desk, unnamed, { subAccount = "Till" } }, {} }
    found, err, why = all(function(_, asked) return pages[asked.page] end,
      operations.by_name["broker.list_sub_accounts"])
    assert.same({ 4, nil }, { #found, err })
    assert.matches("records come again on later pages", why)
  end)

  it("are none where a read fails", function()
    local failure = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
    local found, err, why = all(function() return nil, failure end)
    assert.same({ nil, failure, nil }, { found, err, why })
  end)

  it("are none, with the reason and no error, where one moment holds more than is shown", function()
    local shown = {}
    for i = 1, 1000 do shown[i] = { id = tostring(i), coin = "USDT", applyTime = NOW } end
    local found, err, why = reading.all(function() return shown end, operations.by_name["wallet.withdrawal_history"],
      {}, NOW - HOUR, NOW + HOUR, "applyTime")
    assert.same({}, found)
    assert.is_nil(err)
    assert.matches("more records at one moment than it shows", why)
  end)

  it("of months are asked for in windows as long as the history takes, and twice where they are kept", function()
    for times, kept in ipairs { false, {} } do
      local asked = 0
      local found = reading.all(function()
        asked = asked + 1
        return {}
      end, operations.by_name["wallet.withdrawal_history"], {}, NOW - 20 * 24 * HOUR, NOW, "applyTime", kept or nil)
      assert.same({ {}, 4 * times }, { found, asked })
    end
  end)
end)

describe("a read whose answer shows no list", function()
  -- Reads all of a list that gives these answers, one after the other: a list, or the kind of an error.
  local function ask(...)
    local answers, times = { ... }, 0
    local value, err = reading.all(function()
      times = times + 1
      local answer = answers[times]
      if type(answer) == "table" then return answer end
      return nil, errors.new { kind = answer, outcome = answer == "api" and "rejected" or "unknown",
        message = answer .. times }
    end, operations.by_name["broker.deposit_addresses"], {}, 0, 0)
    return times, value, err and err.message
  end

  it("is asked three times at most, and no other read more than once", function()
    assert.same({ 1, {} }, { ask {} })
    assert.same({ 2, {} }, { ask("decode", {}) })
    assert.same({ 3, { { network = "TRX" } } }, { ask("decode", "decode", { { network = "TRX" } }) })
    assert.same({ 3, nil, "decode3" }, { ask("decode", "decode", "decode", {}) })
    assert.same({ 1, nil, "transport1" }, { ask("transport", {}) })
    assert.same({ 2, nil, "api2" }, { ask("decode", "api", {}) })
  end)
end)

describe("the records of several readings", function()
  local A, B, X, OTHER = record("1", NOW), record("2", NOW), record(nil, NOW), record(nil, NOW - 1)
  local CHANGED = record("1", NOW)
  CHANGED.amount = "3"

  local function united(...)
    local union
    for _, records in ipairs { ... } do union = reading.unite(union, { records = records, united = {} }, HISTORY) end
    local ids = {}
    for i, one in ipairs(union.records) do ids[i] = (one.tranId or "none") .. " " .. one.amount end
    table.sort(ids)
    return table.concat(ids, ", ")
  end

  it("are each one, whichever reading hides the id", function()
    for _, case in ipairs {
      { "1 2", { A }, { A } }, { "1 2", { A }, { X } }, { "1 2", { X }, { A } }, { "1 2", { A }, { X }, { A } },
      { "1 2, 2 2", { A, B }, { X, X } }, { "1 2, 2 2", { X, X }, { A, B } }, { "1 2, 2 2", { A, X }, { X, B } },
    } do
      assert.equal(case[1], united(unpack(case, 2)))
    end
  end)

  it("are as many of a content as the fullest reading shows", function()
    for _, case in ipairs {
      { "none 2, none 2", { X, X } }, { "none 2, none 2", { X, X }, { X } }, { "none 2, none 2", { X }, { X, X } },
      { "1 2, none 2", { A, X }, { A } }, { "1 2, none 2", { A }, { X, X } }, { "1 2, none 2", { X, X }, { A } },
      { "1 2, 2 2, none 2", { A, B }, { X, X, X } }, { "1 2, none 2", { A }, { OTHER } },
      { "1 2, none 2", { A, X }, { A, X }, { A, X } },
      { "1 3, none 2", { A }, { X }, { CHANGED } }, -- the id is another payment's now
    } do
      assert.equal(case[1], united(unpack(case, 2)))
    end
  end)
end)
