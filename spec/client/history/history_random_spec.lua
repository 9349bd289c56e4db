-- SPDX-License-Identifier: MIT
-- Services drawn at random: how they count their bounds, how many records they show, what they say of the whole, what
-- stands beyond the last page, in which order, and how they grow. A walk delivers every record once, or says why not.
--
--   make walks        2,000 services; `WALKS=n SEED=n make walks` for others. Without it some hundred are drawn.

local history = require "purser.client.history"
local json = require "purser.json"
local operations = require "purser.client.operations"
local profile = require("purser.client.operations.profiles").default
local response = require "purser.client.call.response"

local DAY, NOW = 86400000, 1700000000437
local WALKS, SEED = tonumber(os.getenv "WALKS") or 150, tonumber(os.getenv "SEED") or 1
local MOST_REQUESTS = 4000

local roll_state
-- A number from 1 to `sides`, the same in every run.
local function roll(sides)
  roll_state = (roll_state * 1103515245 + 12345) % 2147483648
  return math.floor(roll_state / 65536) % sides + 1
end

local function one_of(...)
  return (select(roll(select("#", ...)), ...))
end

local kinds = {
  { "wallet.deposit_history" }, { "wallet.withdrawal_history" }, { "broker.deposit_history" },
  { "broker.all_deposit_history" }, { "wallet.transfer_history", form = "rows", types = true },
  { "sub_account.transfer_history", form = "result", types = true },
  { "broker.transfer_history", form = "result", types = true },
  { "wallet.internal_transfer_history", form = "page" }, { "wallet.conversion_history", form = "page" },
  { "broker.rebates", form = "page" }, { "wallet.withdrawal_addresses", form = "page" },
  { "broker.list_sub_accounts" },
}

-- Times in the last days: spread, in bursts of one millisecond or second, over the edge of a second.
local function draw_times(count, span)
  local times, at = {}, nil
  while #times < count do
    if not at or roll(4) == 1 then at = NOW - 1500 - roll(span) end
    local burst = one_of(1, 1, 1, roll(5), roll(60), roll(300))
    local spacing = one_of(0, 0, 1, 3, roll(900))
    for i = 0, math.min(burst, count - #times) - 1 do times[#times + 1] = math.min(NOW - 1000, at + i * spacing) end
    at = math.min(NOW - 1000, at + one_of(1, 999, 1000, roll(3600000)))
  end
  table.sort(times)
  return times
end

local function record_of(row, number, time)
  local paging, id = row.paging, ("id%06d"):format(number)
  local record = { amount = "1", coin = "USDT" }
  if paging.time_member then record[paging.time_member] = time end
  if paging.id then
    record[paging.id] = id
  elseif row.name == "conversion_history" then
    record.convertDetails = { { id = id } }
  else
    record.txId, record.address, record.uid = id, id, id
  end
  return record
end

local function draw_service(number)
  roll_state = SEED * 7919 + number * 104729
  for _ = 1, 5 do roll(2) end
  local kind = kinds[roll(#kinds)]
  local row = operations.by_name[kind[1]]
  local has_time, paged = row.paging.time_member ~= nil, row.paging.page ~= nil
  local span = row.window and row.window.retention_days == 3 and 2 * DAY or one_of(60000, 3600000, DAY, 6 * DAY)
  local service = { kind = kind, row = row, records = {}, asked = 0, span = span,
    unit = one_of("ms", "s"), open_first = roll(2) == 1, open_last = roll(2) == 1,
    cap = one_of(false, false, false, 10 * roll(20)) or nil, offset = one_of("asked", "shown"),
    order = one_of("new", "new", "new", "old", "none", "ties"),
    total = kind.form and one_of("right", "right", "none", "page", "zero", "capped", "more", "fewer", "pages"),
    beyond = paged and one_of("empty", "empty", "empty", "last", "error", "first"),
    growth = roll(4) == 1 and roll(6) or 0 }
  local count = one_of(0, roll(9), roll(60), roll(400))
  for i, time in ipairs(has_time and draw_times(count, span) or {}) do
    service.records[i] = { number = i, time = time, public = record_of(row, i, time) }
  end
  for i = #service.records + 1, count do service.records[i] = { number = i, public = record_of(row, i) } end
  if not row.paging.id and count > 1 and roll(3) == 1 then -- twins
    local one = service.records[roll(count)]
    service.records[count + 1] = { number = count + 1, time = one.time, public = one.public }
  end
  for _, record in ipairs(service.records) do record.mixed = roll(32768) end
  return service
end

local units = { ms = function(time) return time end, s = function(time) return math.floor(time / 1000) end }

local function inside_of(service, first, last)
  local unit, list = units[service.unit], {}
  for _, record in ipairs(service.records) do
    local is_in = true
    if record.time then
      local at, low, high = unit(record.time), unit(first), unit(last)
      is_in = (low < at or not service.open_first and low == at) and (at < high or not service.open_last and at == high)
    end
    if is_in then list[#list + 1] = record end
  end
  local rank = {}
  for _, record in ipairs(list) do rank[record] = service.order == "ties" and roll(32768) or record.number end
  table.sort(list, function(a, b)
    if service.order == "none" and a.mixed ~= b.mixed then return a.mixed < b.mixed end
    if service.order == "old" then return a.number < b.number end
    if a.time and a.time ~= b.time then return a.time > b.time end
    return rank[a] > rank[b]
  end)
  return list
end

local totals = {
  right = function(list) return #list end, page = function(_, page) return #page end, zero = function() return 0 end,
  capped = function(list) return math.min(#list, 50) end, more = function(list) return #list + 1 + #list % 3 end,
  fewer = function(list) return math.max(0, #list - 2) end,
  pages = function(list, _, size) return math.ceil(#list / size) end,
}

local function body_of(service, list, page, number, size)
  local total = totals[service.total] and totals[service.total](list, page, size)
  local form = service.kind.form
  if form == "rows" then return { rows = page, total = total } end
  if form == "page" then
    return { data = page, page = number, totalRecords = total, totalPageNum = math.max(1, math.ceil(#list / size)) }
  end
  if form == "result" and total then return { result = page, totalCount = total } end
  return page
end

local function grow(service)
  if service.growth == 0 or roll(3) > 1 then return end
  service.growth = service.growth - 1
  local number = #service.records + 1
  local time = service.row.paging.time_member and NOW - roll(900) or nil
  service.records[number] = { number = number, time = time, public = record_of(service.row, number, time), late = true,
    mixed = roll(32768) }
end

local function answer(service, params)
  service.asked = service.asked + 1
  if service.asked > MOST_REQUESTS then error "too many requests" end
  local paging = service.row.paging
  local size, number = params[paging.size], params[paging.page or ""] or 1
  local list = inside_of(service, params.startTime, params.endTime)
  local shown = math.min(size, service.cap or size)
  local step = service.offset == "asked" and size or shown
  local from = (number - 1) * step
  if number > 1 and from >= #list and service.beyond ~= "empty" then
    if service.beyond == "error" then
      return nil, { kind = "api", outcome = "rejected", message = "page", retryable = false }
    end
    from = service.beyond == "last" and math.max(0, math.ceil(#list / step) - 1) * step or 0
  end
  local page = json.list {}
  for i = from + 1, math.min(#list, from + shown) do page[#page + 1] = list[i].public end
  local body = body_of(service, list, page, number, size)
  grow(service)
  return response.answer(service.row, profile, 200, json.encode(body), "", params)
end

-- A walk that is left in the middle, now and then, and continued by its cursor.
local function walk(service)
  local params = service.kind.types and { fromAccountType = "SPOT", toAccountType = "FUTURES" } or {}
  local client = { now = function() return NOW end, call = function(_, _, asked) return answer(service, asked) end }
  local first, last
  if service.row.paging.time_member then
    local anchor = service.records[1] and service.records[roll(#service.records)].time or NOW - DAY
    first = math.max(NOW - service.span - 5000, one_of(NOW - service.span - 2000, anchor, anchor - 100, anchor - 5000))
    last = one_of(false, false, math.max(first, anchor), math.max(first, anchor + roll(service.span))) or nil
    params.from, params.to = first, last and math.min(last, NOW)
  end
  local records, leave = {}, service.row.paging.time_member and roll(3) == 1 and roll(#service.records + 1)
  local made = history.each(client, service.row.full_name, params)
  while true do
    local record, err = made:next()
    if err then return nil, err, first, last end
    if not record then return records, nil, first, last end
    records[#records + 1] = record
    if #records == leave then
      params.from, params.cursor = nil, assert(made:cursor())
      made = history.each(client, service.row.full_name, params)
    end
  end
end

local function name_of(record)
  local details = record.convertDetails
  return record.tranId or record.id or record.subAccount or record.txId or details and details[1].id or record.uid
end

-- Returns what a walk did wrong, or nil.
local function fault_of(service, records, first, last)
  local due = {}
  for _, record in ipairs(service.records) do
    local is_in = not record.time or record.time >= first and record.time <= (last or NOW)
    local name = name_of(record.public)
    if is_in then due[name] = { (due[name] or { 0 })[1] + 1, record.late } end
  end
  local got = {}
  for _, record in ipairs(records) do
    local name = name_of(record)
    got[name] = (got[name] or 0) + 1
    if not due[name] then return name .. " does not belong to it" end
    if got[name] > due[name][1] then return name .. " twice" end
  end
  for name, count in pairs(due) do
    if not count[2] and got[name] ~= count[1] then return name .. " is lost" end
  end
end

local function words(service)
  return ("%s: bounds %s %s%s, cap %s of %s, order %s, total %s, beyond %s, growth %s, %d records")
    :format(service.kind[1], service.unit, service.open_first and "(" or "[", service.open_last and ")" or "]",
      tostring(service.cap), service.offset, service.order, tostring(service.total), tostring(service.beyond),
      tostring(service.growth), #service.records)
end

-- Tells whether nothing about it is a reason for an error.
local function is_plain(service)
  return service.order ~= "ties" and service.growth == 0 and not service.cap
    and (not service.total or service.total == "right" or service.total == "none")
    and (not service.beyond or service.beyond == "empty")
end

describe("a service drawn at random", function()
  it("has every record delivered once, or an error that says why", function()
    local complete, errors, most, faults = 0, 0, 0, {}
    for number = 1, WALKS do
      local service = draw_service(number)
      local described = words(service)
      local is_done, records, err, first, last = pcall(walk, service)
      local fault
      if not is_done then
        fault = tostring(records)
      elseif err then
        errors = errors + 1
        if is_plain(service) and not tostring(err):find "nothing shows that" then fault = tostring(err) end
      else
        complete = complete + 1
        fault = fault_of(service, records, first, last)
      end
      most = math.max(most, service.asked)
      if fault then faults[#faults + 1] = ("%d %s -> %s"):format(number, described, fault) end
    end
    if os.getenv "WALKS" then
      print(("%d walks: %d complete, %d errors, at most %d requests"):format(WALKS, complete, errors, most))
    end
    assert.equal("", table.concat(faults, "\n"))
    assert.is_true(complete > WALKS / 3)
  end)
end)
