-- SPDX-License-Identifier: MIT
-- make test-all: 20 s
-- Measures what 60,000 records cost beside reading them and plain INSERTs of the same rows: in the interpreter's steps,
-- since processor time depends on what else the machine does.

local files = require "files"
local purser = require "purser"
local schema = require "purser.desk.books.schema"
local steps = require "steps"
local stores = require "purser.desk.books.store"

local NOW, DAY, COUNT = 1700000000000, 86400000, tonumber(os.getenv "PURSER_RECORDS") or 60000
local FIRST, STEP = NOW - 80 * DAY, math.floor(79 * DAY / COUNT)

local ONE = '{"id":"%032x","txId":"%064x","coin":"USDT","network":"Tron(TRC20)","address":"TL5UWFAbso4chMJwkapgMaF8KXq'
  .. 'HEVgXGD","amount":"%d.25","transferType":0,"status":7,"transactionFee":"1","confirmNo":20,"applyTime":%d,'
  .. '"updateTime":%d,"remark":"","memo":"","transHash":"%064x","coinId":"c","vcoinId":"c"}'

-- A service that has nothing but withdrawals, one every few seconds; and how many records it showed.
local shown = 0
local transport = { send = function(_, request)
  local body = request.target:find "/list" and '{"subAccounts":[]}' or request.target:find "transfer"
    and '{"rows":[],"total":0}' or "[]"
  if request.target:find "convert" or request.target:find "transfer/internal" then
    body = '{"data":[],"totalRecords":0,"totalPageNum":0,"page":1}'
  end
  if request.target:find "withdraw/history" then
    local from, to = tonumber(request.target:match "startTime=(%d+)"), tonumber(request.target:match "endTime=(%d+)")
    local limit, list = tonumber(request.target:match "limit=(%d+)"), {}
    local last = math.min(COUNT, math.floor((to - FIRST) / STEP))
    for i = last, math.max(1, math.ceil((from - FIRST) / STEP)), -1 do
      local time = FIRST + i * STEP
      list[#list + 1] = ONE:format(i, i, i % 1000 + 1, time, time + 60000, i)
      if #list == limit then break end
    end
    shown, body = shown + #list, "[" .. table.concat(list, ",") .. "]"
  end
  return { status = 200, headers = { ["content-type"] = "application/json" }, body = body }
end }

local function client()
  return assert(purser.new { base_url = "http://localhost", transport = transport, api_key = "mx0abcdefghijklmnop",
    secret_key = "s", rate_limit = false, clock = function() return NOW end })
end

describe("The books of many records", function()
  after_each(files.remove_kept)

  it("cost not much more than the walk and plain INSERTs", function()
    local books = assert(purser.books.open { sqlite = files.new_path(), client = client() })
    local ours = steps.of(function() assert(books:sync()) end)
    local rows = books.store:rows "SELECT * FROM purser_books_record"
    assert.equal(COUNT, #rows)
    local plain, marks = assert(stores.open { sqlite = files.new_path(), client = true }), {}
    for i in ipairs(schema.columns) do marks[i] = "$" .. i end
    local sql = ("INSERT INTO purser_books_record (%s) VALUES (%s)"):format(table.concat(schema.columns, ", "),
      table.concat(marks, ", "))
    local theirs = steps.of(function()
      assert(plain.db:transaction(function(tx)
        for _, row in ipairs(rows) do
          local values = {}
          for n, name in ipairs(schema.columns) do values[n] = row[name] end
          tx:rows(sql, (table.unpack or unpack)(values)) -- luacheck: ignore
        end
        return true
      end))
    end)
    local walk = steps.of(function()
      local count = 0
      for _ in client():each("wallet.withdrawal_history", { from = NOW - 89 * DAY, to = NOW }) do count = count + 1 end
      assert.equal(COUNT, count)
    end)
    print(("# %d records: %.0f steps each; plain INSERTs %.0f, the walk %.0f"):format(COUNT, ours * 100 / COUNT,
      theirs * 100 / COUNT, walk * 100 / COUNT))
    assert.is_true(ours <= 2 * (theirs + walk))
    books:close()
    plain:close()
  end)

  it("are read again at the price of what may still change", function()
    local books = assert(purser.books.open { sqlite = files.new_path(), client = client(), since_ms = 20 * DAY })
    shown = 0
    assert(books:sync())
    local first = shown
    assert.equal(0, assert(books:sync()).changes)
    print(("# %d records were read, and %d the second time"):format(first, shown - first))
    assert.is_true(shown - first < first / 2)
    books:close()
  end)
end)
