-- SPDX-License-Identifier: MIT
-- Services that differ from the document, each in one thing, over every history: a walk delivers every record once, or
-- ends with an error. It never ends early without one, and neither does what reconcile reads.
-- make test: 4 s, on lua5.4 and luajit, a third

local draws = require "draws"
local json = require "purser.json"
local operations = require "purser.client.operations"
local purser = require "purser"
local reading = require "purser.write.reading"

local DAY, NOW = 86400000, 1700000000437
local COUNT = 320

-- Numbers that look random and are the same in every run.
local function dice()
  local state = 4711
  return function(sides)
    state = (state * 1103515245 + 12345) % 2147483648
    return math.floor(state / 65536) % sides
  end
end

local histories = {
  ["wallet.deposit_history"] = { page_size = 1000 }, ["wallet.withdrawal_history"] = { page_size = 1000 },
  ["broker.all_deposit_history"] = { page_size = 1000 }, ["broker.deposit_history"] = { page_size = 1000 },
  ["broker.transfer_history"] = { page_size = 500, types = true },
  ["sub_account.transfer_history"] = { page_size = 500, types = true, counted = true },
  ["wallet.transfer_history"] = { page_size = 100, types = true, form = "rows" },
  ["wallet.internal_transfer_history"] = { page_size = 100, form = "page" },
  ["wallet.conversion_history"] = { page_size = 1000, form = "page" },
}

local function record_of(row, i, time)
  local paging = row.paging
  local record = { amount = "1", [paging.time_member] = time }
  if paging.id then
    record[paging.id] = ("id%06d"):format(i)
  elseif paging.key then
    record.txId, record.coin, record.status = ("tx%06d"):format(i), "USDT", 5
  else
    record.convertDetails = { { id = ("id%06d"):format(i) } }
  end
  return record
end

local function query_of(url)
  local values = {}
  for name, value in url:gmatch("([%w_]+)=([^&]*)") do values[name] = value end
  return values
end

local function shuffle(list, roll)
  for i = #list, 2, -1 do
    local j = roll(i) + 1
    list[i], list[j] = list[j], list[i]
  end
end

-- Returns what of the history lies between the bounds as this service understands them.
local function within(service, first, last)
  local odd, inside = service.odd, {}
  if odd.bounds == "seconds" then first, last = math.floor(first / 1000) * 1000, math.floor(last / 1000) * 1000 end
  for _, record in ipairs(service.records) do
    local time = record[service.row.paging.time_member]
    local shown = time >= first and time <= last
    if odd.bounds == "exclusive" then shown = time > first and time < last end
    if shown then inside[#inside + 1] = record end
  end
  return inside
end

-- Orders records of one millisecond anew.
local function mix(service, list)
  local time_of, place = service.row.paging.time_member, {}
  shuffle(list, service.roll)
  for i, record in ipairs(list) do place[record] = i end
  table.sort(list, function(a, b)
    if a[time_of] ~= b[time_of] then return a[time_of] > b[time_of] end
    return place[a] < place[b]
  end)
end

local orders = {
  none = function(a, b) return a.mixed < b.mixed end, old = function(a, b) return a.number < b.number end,
  new = function(a, b) return a.number > b.number end,
}

local totals = {
  page = function(page) return #page end, zero = function() return 0 end,
  capped = function(_, list) return math.min(#list, 50) end,
  more = function(_, list) return #list + 1 end,
}

local function body_of(service, page, list, number, size)
  local total_of = totals[service.odd.total]
  local total = total_of and total_of(page, list) or #list
  local form, rows = service.history.form, "[" .. table.concat(page, ",") .. "]"
  if form == "rows" then return ('{"rows":%s,"total":%d}'):format(rows, total) end
  if form == "page" then
    return ('{"data":%s,"page":%d,"totalRecords":%d,"totalPageNum":%d}'):format(rows, number, total,
      math.max(1, math.ceil(total / size)))
  end
  return service.odd.total and ('{"result":%s,"totalCount":%d}'):format(rows, total) or rows
end

local function answer(service, request)
  service.asked = service.asked + 1
  local asked, odd = query_of(request.target), service.odd
  if odd.blank and service.roll(10) < 3 then return odd.blank end
  local first, last = tonumber(asked.startTime), tonumber(asked.endTime)
  local paging = service.row.paging
  local size, number = tonumber(asked[paging.size]), tonumber(asked.page or 1)
  local list = within(service, first, last)
  if odd.order == "unstable" then mix(service, list) end
  local shown = math.min(size, odd.cap or size)
  local step = odd.offset == "asked" and size or shown
  local from = (number - 1) * step
  if odd.beyond and number > 1 and from >= #list then
    if odd.beyond == "error" then return '{"code":33333,"msg":"page"}', 400 end
    from = math.max(0, math.ceil(#list / step) - 1) * step
  end
  local page = {}
  for i = from + 1, math.min(#list, from + shown) do
    if not (odd.hidden and list[i].number % odd.hidden == 0) then page[#page + 1] = list[i].text end
  end
  return body_of(service, page, list, number, size)
end

local made = {}

-- Returns the records of a history in the order of a service, made once.
local function records_of(name, times, odd)
  local key = table.concat({ name, tostring(times), tostring(odd.shows), tostring(odd.order) }, " ")
  if made[key] then return made[key] end
  local row, records = operations.by_name[name], {}
  for i, time in ipairs(times) do
    local public = record_of(row, i, odd.shows == "seconds" and math.floor(time / 1000) * 1000 or time)
    records[i] = { number = i, mixed = i * 7919 % 10007, public = public, text = json.encode(public),
      [row.paging.time_member] = time }
  end
  table.sort(records, orders[odd.order] or orders.new)
  made[key] = records
  return records
end

-- A service with a history of these times; `odd` says how it differs.
local function serve(name, times, odd)
  local row = operations.by_name[name]
  local service = { row = row, history = histories[name], odd = odd, records = records_of(name, times, odd), asked = 0,
    roll = dice() }
  service.client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, clock = function() return NOW end,
    transport = { send = function(_, request)
      local body, status = answer(service, request)
      return { status = status or 200, headers = "", body = body }
    end } })
  return service
end

local function params_of(name, more)
  local params = histories[name].types and { fromAccountType = "SPOT", toAccountType = "FUTURES" } or {}
  for word, value in pairs(more or {}) do params[word] = value end
  return params
end

-- Returns what came, by how often each came, held against what is there: "complete", or the error. Anything else fails.
local function judge(service, records, err)
  if not records then return tostring(err) end
  local key_of, seen = require("purser.client.history.cursor").key_of(service.row.paging), {}
  for _, record in ipairs(records) do
    local key = key_of(record)
    assert(not seen[key], "delivered twice: " .. key)
    seen[key] = true
  end
  assert.equal(#service.records, #records, "delivered without an error")
  return "complete"
end

local function walk(service, more)
  local params = params_of(service.row.full_name, more)
  params.from = params.from or NOW - 2 * DAY
  return judge(service, service.client:each(service.row.full_name, params):collect())
end

-- Evenly over almost two days, with a few of one millisecond now and then.
local function even()
  local times = setmetatable({}, { __tostring = function() return "even" end })
  for i = 1, COUNT do times[i] = NOW - 47 * 3600000 + math.floor(i / 3) * 700123 end
  times[COUNT + 1] = NOW - 200 -- in the second in which the walk ends
  return times
end

-- More in a second than the smaller caps show, none of them on a whole second.
local function dense()
  local times = setmetatable({}, { __tostring = function() return "dense" end })
  for i = 1, COUNT do times[i] = NOW - 3600000 + 37 + i * 41 end
  times[COUNT + 1] = NOW - 200
  return times
end

local names = {}
for name in pairs(histories) do names[#names + 1] = name end
table.sort(names)

-- Oddities of a service, and the histories of which a walk is complete all the same ("all", "unpaged", or none).
local oddities = {
  { "is as documented", {}, "all" },
  { "counts its bounds exclusively", { bounds = "exclusive" }, "all" },
  { "counts its bounds in whole seconds", { bounds = "seconds" }, "all" },
  { "shows times in whole seconds", { shows = "seconds" }, "all" },
  { "shows the oldest first", { order = "old" }, "all" },
  { "shows records in no order", { order = "none" }, "all" },
  { "orders records of one millisecond again each time", { order = "unstable" } },
  { "shows 40 at once", { cap = 40 }, "all" },
  { "shows 40 at once, the oldest", { cap = 40, order = "old" }, "all" },
  { "shows 40 at once, in no order", { cap = 40, order = "none" }, "all" },
  { "shows 40 at once, and turns pages by what was asked for", { cap = 40, offset = "asked" }, "all" },
  { "shows 20 at once, and turns pages by what was asked for", { cap = 20, offset = "asked" }, "all" },
  { "counts its bounds in whole seconds, and shows 20 at once", { bounds = "seconds", cap = 20 } },
  { "has the total of the page", { total = "page" }, "all" },
  { "has the total of the page, and shows 40 at once", { total = "page", cap = 40, offset = "asked" } },
  { "has a total of 0", { total = "zero" }, "all" },
  { "has a total of at most 50", { total = "capped" }, "all" },
  { "has a total of at most 50, and shows 40 at once", { total = "capped", cap = 40, offset = "asked" } },
  { "has a total of one more", { total = "more" } },
  { "hides some records of a page", { hidden = 7 }, "hidden" },
  { "repeats the last page after it", { beyond = "last" } },
  { "rejects pages after the last", { beyond = "error" } },
  { "now and then answers {}", { blank = "{}" } },
  { "now and then answers without data", { blank = '{"code":200,"msg":"success"}' } },
}

for place, oddity in ipairs(oddities) do
  local what, odd, complete = oddity[1], oddity[2], oddity[3]
  describe("a service that " .. what, function()
    for i, name in ipairs(names) do
      if draws.takes(place + i) and complete ~= "hidden" then
        it("has every record delivered once, or an error: " .. name, function()
          for _, times in ipairs { even(), dense() } do
            local said = walk(serve(name, times, odd))
            if complete == "all" then assert.equal("complete", said) end
          end
        end)
      end

      local reads = draws.takes(place + i + 1) and it or function() end
      reads("is read whole for reconcile, or not believed: " .. name, function()
        for _, times in ipairs { even(), dense() } do
          local service = serve(name, times, odd)
          local function run(row, params) return service.client:call(row.full_name, params) end
          local records, _, why = reading.all(run, service.row, params_of(name), NOW - 2 * DAY, NOW, nil)
          if records and not why and complete ~= "hidden" then
            local there = {}
            for _, record in ipairs(records) do there[record[service.row.paging.id] or record.txId
              or record.convertDetails[1].id] = true end
            for _, record in ipairs(service.records) do
              local public = record.public
              local id = public[service.row.paging.id] or public.txId or public.convertDetails[1].id
              assert(there[id], "missing: " .. id)
            end
          end
        end
      end)
    end
  end)
end
