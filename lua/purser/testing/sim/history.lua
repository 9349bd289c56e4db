-- SPDX-License-Identifier: MIT
-- Records in order of time, under one or more keys each (an account, a direction of transfer). Binary search finds a
-- window, so a request costs the same over ten records and over 200,000. A record is plain data with `time`;
-- `keys(record)` names the lists of the record, so a snapshot is the records alone.
--
-- The windows of time are the interface document's; the client's rows repeat the windows, and a difference shows.

local clock = require "purser.testing.sim.clock"
local ledger = require "purser.testing.sim.ledger"
local rejection = require "purser.testing.sim.rejection"
local releases = require "purser.testing.sim.releases"

local M = {}

---@class purser.sim.history_row  what the records of one kind are
---@field id string|nil  the member that finds a record again. Default: "id"
---@field keys fun(record: table): string|nil  names the lists that a record belongs to, one value each
---@field moves (fun(record: table, move: function))|nil  calls move(asset, amount, from, to) for what moved for it
---@field is_released boolean|nil  releases alter how its records are shown
---@field due (fun(sim: table, id: string, at: integer))|nil  does what is scheduled for a record

local History = {}
History.__index = History

--- Returns a history without records. `books` is the ledger that holds what its records moved.
---@param row purser.sim.history_row
---@param books table|nil
---@param in_force table[]|nil  the simulator's releases
function M.new(row, books, in_force)
  return setmetatable({ id_name = row.id or "id", keys = row.keys, moves = row.moves, due = row.due, books = books,
    releases = row.is_released and in_force or {},
    all = {}, lists = {}, by_id = {}, used = {} }, History)
end

-- Returns the number of records of `list` whose time is below `time` (or at most `time`, when `through`).
local function count_before(list, time, through)
  local low, high = 0, #list
  while low < high do
    local middle = low + high
    middle = (middle - middle % 2) / 2
    local at = list[middle + 1].time
    if at < time or (through and at == time) then low = middle + 1 else high = middle end
  end
  return low
end

-- Adds a record at its place in each list, behind those of its time; a hidden record to none.
local function insert(self, record, ...)
  if record.hidden then return end
  for i = 1, select("#", ...) do
    local key = select(i, ...)
    local list = key and self.lists[key] or {}
    local place = count_before(list, record.time, true)
    if key and list[place] ~= record then
      self.lists[key] = list
      table.insert(list, place + 1, record)
    end
  end
end

--- Returns the records of a key, in order, those of one time as they came.
---@return table[]
function History:of(key) return self.lists[key] or {} end

--- Adds a record, and notes the id and the client's `own_id`.
function History:add(record)
  self.all[#self.all + 1] = record
  local id = record[self.id_name]
  if id then self.by_id[id] = record end
  if record.own_id then self.used[record.own_id] = true end
  insert(self, record, self.keys(record))
  return record
end

--- Adds a record with the id of `new_id()`, and moves the funds. Returns nil and the asset where funds are missing.
function History:enter(record, new_id)
  local changes = {}
  ledger.book(changes, self.moves, record)
  local ok, asset = self.books:apply(changes)
  if not ok then return nil, asset end
  record.id = new_id and new_id() or record.id
  releases.note(self.releases, record, self.all)
  return self:add(record)
end

--- Changes members of a record, and moves the funds. Returns nil and changes nothing where the funds were spent.
function History:change(record, members)
  local changes = {}
  ledger.book(changes, self.moves, record, true)
  ledger.book(changes, self.moves, setmetatable(members, { __index = record }))
  if not self.books:apply(changes) then return nil end
  for name, value in pairs(members) do record[name] = value end
  return true
end

-- Makes the lists of all records again, as a restored history does.
local function list_again(self)
  self.lists = {}
  for _, record in ipairs(self.all) do insert(self, record, self.keys(record)) end
end

--- Hides a record from the lists, or shows the record again. The id still finds the record, and moved funds stay.
function History:hide(record, is_hidden)
  record.hidden = is_hidden or nil
  list_again(self)
end

--- Removes a record that moved nothing.
function History:remove(record)
  self.by_id[record[self.id_name]] = nil
  for i = #self.all, 1, -1 do
    if self.all[i] == record then table.remove(self.all, i) end
  end
  list_again(self)
end

--- Returns the records of `key` with first <= time <= last that pass `filter`, newest first: `limit` after `skip`; and
--- without a filter the number in the window.
---@return table[] records, integer|nil total
function History:page(key, first, last, skip, limit, filter)
  local list = self:of(key)
  local low, high = first and count_before(list, first) or 0, last and count_before(list, last, true) or #list
  local total = not filter and math.max(0, high - low) or nil
  if not filter then high, skip = high - skip, 0 end
  local found = {}
  for i = high, low + 1, -1 do
    if skip > 0 and filter(list[i]) then
      skip = skip - 1
    elseif skip == 0 and (not filter or filter(list[i])) then
      found[#found + 1] = list[i]
      if #found == limit then break end
    end
  end
  return found, total
end

--- Returns a page of records for the values of a request, each by `show(record, sim)`, and the number of all records.
function History:list(sim, key, first, last, values, show, filter)
  local limit = values.limit or values.pageSize or values.size
  local records, total = self:page(key, first, sim:visible(last), ((values.page or 1) - 1) * limit, limit, filter)
  for i, record in ipairs(records) do records[i] = releases.shown(record, show(record, sim)) end
  return records, total
end

--- Returns the page of an answer: `data` of `total` records.
function M.page_result(data, total, values)
  local limit = values.limit or values.pageSize
  return { data = data, page = values.page, totalRecords = total, totalPageNum = math.ceil(total / limit) }
end

--- Returns the records of a list that are on a page.
function M.cut(list, values)
  local found, page, limit = {}, values.page, values.limit
  for i = (page - 1) * limit + 1, math.min(#list, page * limit) do found[#found + 1] = list[i] end
  return found
end

local SEVEN_DAYS, NINETY_DAYS = 7 * clock.DAY, 90 * clock.DAY

--- C4, C5: 7 days by default and at most, up to 90 days back. A bound that is not given is 7 days from the one that is.
function M.seven_days(now, values)
  local first, last = values.startTime, values.endTime
  if first and not last then last = math.min(now, first + SEVEN_DAYS) end
  last = last or now
  first = first or last - SEVEN_DAYS
  if first < now - NINETY_DAYS then rejection.raise("400", "start time cannot be earlier than 90 days") end
  if last - first > SEVEN_DAYS then
    rejection.raise("33333", "The interval between startTime and endTime is at most 7 days")
  end
  return first, last
end

--- A10: the last 10 days when there is no startTime.
function M.ten_days(now, values)
  local last = values.endTime or now
  return values.startTime or last - 10 * clock.DAY, last
end

--- A11: never more than from 00:00 three days ago.
function M.three_days(now, values)
  local earliest = clock.midnight(now) - 3 * clock.DAY
  return math.max(values.startTime or earliest, earliest), values.endTime or now
end

--- C10: the most recent 6 months; the last 7 days when neither bound is given.
function M.six_months(now, values)
  local reach = clock.months_before(now, 6)
  if values.startTime and values.startTime < reach then
    rejection.raise("33333", "Only the most recent 6 months can be queried")
  end
  local last = values.endTime or now
  return math.max(values.startTime or (values.endTime and reach or now - SEVEN_DAYS), reach), last
end

--- C16: the last 7 days when neither bound is given.
function M.default_seven_days(now, values)
  if not values.startTime and not values.endTime then return now - SEVEN_DAYS, now end
  return values.startTime, values.endTime
end

return M
