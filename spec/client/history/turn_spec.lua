-- SPDX-License-Identifier: MIT
-- Pages that are turned until they have not moved.

local history = require "purser.client.history"
local listed_records = require "listed_records"
local operations = require "purser.client.operations"
local cursors = require "purser.client.history.cursor"
local turn = require "purser.client.history.turn"

local DAY, NOW = 86400000, listed_records.NOW
local between, client_of = listed_records.between, listed_records.client_of

describe("more than a page of conversions in one millisecond", function()
  local function conversions(order)
    local batches = {}
    for i = 1, 1300 do
      batches[i] = { convertTime = NOW - DAY, totalConvert = "1", convertDetails = { { id = tostring(i) } } }
    end
    local client = client_of(function(_, params)
      local inside, page = between(batches, params, "convertTime"), {}
      order(inside)
      for i = (params.page - 1) * params.limit + 1, math.min(#inside, params.page * params.limit) do
        page[#page + 1] = inside[i]
      end
      return { data = page, totalRecords = #inside, totalPageNum = math.ceil(#inside / params.limit) }
    end)
    return history.each(client, "wallet.conversion_history", { from = NOW - 2 * DAY }):collect()
  end

  it("is delivered, each once, where the order stays", function()
    assert.equal(1300, #assert(conversions(function() end)))
  end)

  it("is an error where the order changes, although the total stays", function()
    local number = 0
    local records, err = conversions(function(list)
      number = number + 1
      for i = #list, 2, -1 do
        local j = (i * 7919 + number * 104729) % i + 1
        list[i], list[j] = list[j], list[i]
      end
    end)
    assert.is_nil(records)
    assert.matches("their order changes", err.message)
  end)
end)

describe("how far a page begins with the end of the one before", function()
  local list, source = {}, { key = cursors.key_of { id = "tranId" } }
  for i = 1, 9 do list[i] = { tranId = tostring(i) } end
  local function overlap(before, page) return turn.overlap(source, before, page) end
  local function part(from, to)
    local made = {}
    for i = from, to do made[#made + 1] = list[i] end
    return made
  end

  it("is a count of records in the same order", function()
    assert.equal(2, overlap(part(1, 5), part(4, 9)))
    assert.equal(1, overlap(part(1, 5), part(5, 5)))
    assert.equal(0, overlap(part(1, 5), part(6, 9)))
  end)

  it("is none where another order, the whole page or an empty one comes", function()
    assert.equal(0, overlap(part(1, 5), { list[4], list[6], list[5] }))
    assert.equal(0, overlap(part(1, 5), part(1, 5)))
    assert.equal(0, overlap(part(1, 5), part(4, 4)))
    assert.same({ 0, 0 }, { overlap({}, list), overlap(list, {}) })
  end)

  it("is none of records without an id, which may only look the same", function()
    local rebates = { key = cursors.key_of {} }
    assert.equal(0, turn.overlap(rebates, { { uid = "1" }, { uid = "2" } }, { { uid = "2" } }))
  end)
end)

describe("turning pages", function()
  local NAME = "sub_account.transfer_history"

  -- A source with the transfers 1 to `count`, `size` a page; `shows(page, number)` returns what it answers instead.
  local function source_of(count, size, shows, strict)
    local row = operations.by_name[NAME]
    local source = { row = row, asked = 0, params = {}, strict = strict, time = strict and "timestamp",
      key = cursors.key_of(row.paging), paging = setmetatable({ page_size = size }, { __index = row.paging }) }
    function source.run(_, params)
      source.asked = source.asked + 1
      local page = {}
      for i = (params.page - 1) * params.limit + 1, math.min(count, params.page * params.limit) do
        page[#page + 1] = { tranId = ("%04d"):format(i), timestamp = NOW - i }
      end
      if shows then return shows(page, params.page, source.asked) end
      return page
    end
    return source
  end

  local function read(source, max_pages)
    local records, state = turn.read(source, NOW - DAY, NOW, max_pages or 10)
    return records and #records, state
  end

  it("ends with a page that is short or empty after a full one", function()
    for count, asked in pairs { [0] = 1, [5] = 2, [20] = 2, [25] = 3, [40] = 3 } do
      local source = source_of(count, 20)
      assert.same({ count, "whole" }, { read(source) })
      assert.equal(asked, source.asked, count)
    end
  end)

  it("ends where there are too many pages, with what was seen", function()
    local source = source_of(100, 20)
    assert.same({ 60, "crowded" }, { read(source, 3) })
    assert.equal(3, source.asked)
  end)

  it("is an error where every page is the same full one", function()
    local first
    local records, err = turn.read(source_of(100, 20, function(page)
      first = first or page
      return first
    end), NOW - DAY, NOW, 10)
    assert.is_nil(records)
    assert.matches("page 2 repeats what earlier pages held", err.message)
  end)

  it("ends where pages after the last show its last records again, or the first", function()
    for _, again in ipairs { 1, 16 } do
      for _, is_strict in ipairs { false, true } do
        local source = source_of(30, 10, function(page, number)
          for i = again, number > 3 and again + 9 or 0 do
            page[#page + 1] = { tranId = ("%04d"):format(i), timestamp = NOW - i }
          end
          return { data = page, totalRecords = 30 }
        end, is_strict)
        source.row = operations.by_name["wallet.internal_transfer_history"]
        local count, state = read(source)
        assert.same({ 30, "unproven", 4 }, { count, state, source.asked })
      end
    end
  end)

  it("of a list that grows by a whole page, and says so by its total, is whole for a strict source", function()
    local source = source_of(30, 10, function(page, number)
      if number > 1 then -- ten came before the first
        page = {}
        for i = number * 10 - 19, math.min(30, number * 10 - 10) do
          page[#page + 1] = { tranId = ("%04d"):format(i), timestamp = NOW - i }
        end
      end
      return { data = page, totalRecords = number > 1 and 40 or 30 }
    end, true)
    source.row = operations.by_name["wallet.internal_transfer_history"]
    assert.same({ 30, "whole" }, { read(source) })
  end)

  it("begins again after a record came a second time, and says so where that goes on", function()
    local function again(times)
      return source_of(45, 20, function(page, number, asked)
        if number == 2 and asked <= times * 3 then page[1] = { tranId = "0020", timestamp = NOW - 20 } end
        return page
      end)
    end
    local source = again(1)
    assert.same({ 45, "whole" }, { read(source) })
    assert.is_true(source.asked > 3)
    assert.same({ 44, "repeated" }, { read(again(9)) }) -- the 21st is not shown
  end)

  it("returns the error of a read as it is", function()
    local problem = { message = "no", outcome = "rejected" }
    local source = source_of(45, 20, function(page, number)
      if number == 2 then return nil, problem end
      return page
    end)
    assert.same({ nil, problem }, { turn.read(source, NOW - DAY, NOW, 10) })
  end)

  it("of a list that grows at its front is whole for a strict source, which notes what nothing shows", function()
    local function growing(strict)
      local grown = 0
      return source_of(0, 20, function(_, number)
        local page = {}
        for i = (number - 1) * 20 + 1 - grown, math.min(45, number * 20 - grown) do
          page[#page + 1] = { tranId = ("%04d"):format(i + 100), timestamp = NOW - 100 - i }
        end
        grown = grown + 1
        return page
      end, strict)
    end
    local records, err = turn.read(growing(false), NOW - DAY, NOW, 10)
    assert.is_nil(records)
    assert.matches("records come again on later pages", err.message)
    local source = growing(true)
    assert.same({ 45, "whole" }, { read(source) })
    assert.is_nil(source.incomplete)
    source = source_of(5, 20, function() return { { tranId = "1", timestamp = NOW } } end, true)
    assert.same({ 1, "whole" }, { read(source) })
    assert.matches("seems not to turn its pages", source.incomplete)
  end)
end)
