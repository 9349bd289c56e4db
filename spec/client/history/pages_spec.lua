-- SPDX-License-Identifier: MIT
-- One page, and the filters that are applied here.

local history = require "purser.client.history"
local listed_records = require "listed_records"
local operations = require "purser.client.operations"
local pages = require "purser.client.history.pages"
local cursors = require "purser.client.history.cursor"

local DAY, NOW = 86400000, listed_records.NOW
local between, client_of = listed_records.between, listed_records.client_of

describe("a walk by a state", function()
  local records = {
    { id = "a", applyTime = NOW - DAY, status = 7 }, { id = "b", applyTime = NOW - DAY + 5, status = 2 },
  }
  local client = client_of(function(_, params) return between(records, params, "applyTime") end)

  it("has no cursor, because a record may come into that state later", function()
    local walk = history.each(client, "wallet.withdrawal_history", { status = 7 })
    assert.equal(1, #assert(walk:collect()))
    local cursor, why = walk:cursor()
    assert.is_nil(cursor)
    assert.matches("would never be delivered", why)
    local saved = history.each(client, "wallet.withdrawal_history", {}):cursor()
    local _, err = history.each(client, "wallet.withdrawal_history", { status = 7, cursor = saved }):next()
    assert.equal("argument", err.kind)
    assert.matches('"cursor" has no meaning together with `status`', err.message)
    _, err = history.each(client, "wallet.deposit_history",
      { status = 5, cursor = "purser1;wallet.deposit_history;" .. NOW .. ";" }):next()
    assert.matches("use purser.receive", err.message)
  end)

  it("takes the state by number and by name", function()
    for _, status in ipairs { 2, "2", "AUDITING" } do
      local found = assert(history.each(client, "wallet.withdrawal_history", { status = status }):collect())
      assert.same({ "b" }, { found[1].id, found[2] })
    end
    local _, err = history.each(client, "wallet.withdrawal_history", { status = "AUDITNG" }):next()
    assert.matches('did you mean "AUDITING"', err.message)
  end)

  it("finds names in records, too", function()
    local shown = client_of(function(_, params)
      if params.page > 1 then return {} end
      return {
        { txId = "1", status = "SUCCESS", insertTime = NOW - 5 }, { txId = "2", status = "4", insertTime = NOW - 9 },
      }
    end)
    for _, status in ipairs { 5, "SUCCESS" } do
      local params = { from = NOW - 50, status = status }
      local found = assert(history.each(shown, "broker.deposit_history", params):collect())
      assert.same({ "1" }, { found[1].txId, found[2] })
    end
  end)
end)

-- A source of the operation `name` whose answers are these in turn; `asked` has the parameters of each.
local function source_of(name, answers, more)
  local source = { row = operations.by_name[name], asked = {}, params = {}, keep = function() return true end }
  source.paging = source.row.paging
  source.key = cursors.key_of(source.paging)
  function source.run(_, params)
    source.asked[#source.asked + 1] = params
    return table.remove(answers, 1)
  end
  for field, value in pairs(more or {}) do source[field] = value end
  return source
end

local function transfers(count)
  local list = {}
  for i = 1, count do list[i] = { tranId = ("%04d"):format(i), timestamp = NOW - i } end
  return list
end

describe("a page", function()
  local LIST, PAGE, ROWS = "sub_account.transfer_history", "wallet.internal_transfer_history", "wallet.transfer_history"

  it("is asked for with its number, its size and its window, and with the parameters of each request", function()
    local source = source_of(LIST, { {}, {} }, { params = { fromAccountType = "SPOT" } })
    assert(pages.ask(source, 5, 6, 3))
    assert(pages.ask(source, 5, 6, 4, 20))
    assert.same({ fromAccountType = "SPOT", startTime = 5, endTime = 6, page = 3, limit = 500 }, source.asked[1])
    assert.same({ 4, 20 }, { source.asked[2].page, source.asked[2].limit })
    assert.same({ fromAccountType = "SPOT" }, source.params)
  end)

  it("has the records, the total and the number of pages of each form", function()
    local list = transfers(2)
    local answer = { data = list, totalRecords = 2, totalPageNum = 1 }
    local records, total, page_count = pages.ask(source_of(PAGE, { answer }))
    assert.same({ list, 2, 1 }, { records, total, page_count })
    records, total, page_count = pages.ask(source_of(ROWS, { { rows = list, total = 250 } }), 1, 2, 1)
    assert.same({ list, 250, 3 }, { records, total, page_count })
    records, total, page_count = pages.ask(source_of(LIST, { list }))
    assert.same({ list }, { records, total, page_count })
  end)

  it("is short enough not to have been cut with fewer than ten records, or fewer than another had", function()
    local answers, expected = {}, {}
    for i, case in ipairs { { 9, true }, { 10, false }, { 12, false }, { 11, true }, { 12, false }, { 13, false } } do
      answers[i], expected[i] = transfers(case[1]), case[2]
    end
    local source, short = source_of(LIST, answers), {}
    for i = 1, #expected do short[i] = select(4, pages.ask(source, 1, 2, 1)) end
    assert.same(expected, short)
    assert.equal(13, source.shown)
  end)

  it("has a total of any unit, and what is no number says nothing, which a strict source notes", function()
    local list = transfers(3)
    for _, case in ipairs { { 2, 2, 1, 1 }, { "2", nil, "1", nil } } do
      for _, strict in ipairs { true, false } do
        local source = source_of(PAGE, { { data = list, totalRecords = case[1], totalPageNum = case[3] } },
          { strict = strict, time = "timestamp" })
        local records, total, page_count, _, either = pages.ask(source, 1, 2, 1)
        assert.same({ list, case[2], case[4], false }, { records, total, page_count, either })
        assert.equal(strict and type(case[1]) == "string", source.incomplete ~= nil)
      end
    end
    local client = require("purser").new { base_url = "http://localhost", api_key = "k", secret_key = "s",
      transport = { send = function() error "not sent" end } }
    local body = '{"result":[{"tranId":"1"},{"tranId":"2"}],"totalCount":1}'
    local answer = assert(client:parse(LIST, 200, body))
    assert.same({ n = 5, answer, 1, nil, true, true }, table.pack(pages.ask(source_of(LIST, { answer }), 1, 2, 1)))
  end)

  it("whose call fails is the call's error", function()
    local refused = { kind = "api" }
    local source = source_of(LIST, {}, { run = function() return nil, refused end })
    assert.same({ n = 2, nil, refused }, table.pack(pages.ask(source, 1, 2, 1)))
  end)

  it("that makes no sense is an error for a strict source: every record has a time", function()
    local cases = {
      { { data = { {} } }, strict = true },
      { { data = { 5 } }, strict = true }, { { data = { { timestamp = 999999999999 } } }, strict = true },
      { { data = { { timestamp = 10000000000000 } } }, strict = true },
    }
    for i, case in ipairs(cases) do
      local source = source_of(PAGE, { case[1] }, { strict = case.strict, time = "timestamp" })
      local records, err = pages.ask(source, 1, 2, 1)
      assert.is_nil(records, i)
      assert.same({ "decode", "unknown", true, PAGE }, { err.kind, err.outcome, err.retryable, err.operation })
      if case.strict then assert(pages.ask(source_of(PAGE, { case[1] }), 1, 2, 1)) end
    end
    for _, time in ipairs { 1e12, 9999999999999 } do
      assert(pages.ask(source_of(PAGE, { { data = { { timestamp = time } } } }, { strict = true, time = "timestamp" })))
    end
  end)

  it("without records is none for a strict source where a total names some, on the first page alone", function()
    for page, is_senseless in pairs { [0] = true, [1] = true, [2] = false } do
      local source = source_of(PAGE, { { data = {}, totalRecords = 3, totalPageNum = 1 } },
        { strict = true, time = "timestamp" })
      local records, err = pages.ask(source, 1, 2, page > 0 and page or nil)
      assert.equal(is_senseless, records == nil)
      assert.equal(is_senseless, err ~= nil and type(err) == "table" and err.kind == "decode")
      local empty = source_of(PAGE, { { data = {}, totalRecords = 0 } }, { strict = true, time = "timestamp" })
      assert.same({}, (pages.ask(empty, 1, 2, 1)))
    end
  end)
end)

describe("the parameters of a history", function()
  local row = operations.by_name["broker.deposit_history"]

  it("are sent, but for the filter that would move its pages", function()
    local given = { coin = "USDT", status = "SUCCESS" }
    local sent, keep, name = pages.split(row, given)
    assert.same({ { coin = "USDT" }, "status" }, { sent, name })
    assert.same({ true, true }, { keep { status = 5 }, keep { status = "5" } })
    assert.same({ false, false }, { keep { status = 4 }, keep {} })
    assert.equal("SUCCESS", given.status)
    assert.is_nil(select(3, pages.split(row, { coin = "USDT" })))
  end)

  it("are rejected where that filter has no such value", function()
    local sent, message, name, hint = pages.split(row, { status = "SUCESS" })
    assert.is_nil(sent)
    assert.same({ "status", true, true }, { name, message ~= nil, hint ~= nil })
  end)
end)
