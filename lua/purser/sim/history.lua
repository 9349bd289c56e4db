-- SPDX-License-Identifier: MIT
-- Records in order of time, under one or more keys each (an account, a direction of transfer). A window is found by
-- binary search and a page is cut out of it, so a request costs the same over ten records and over 200,000.
--
-- A record is plain data with `time`; `keys(record)` names the lists it belongs to, so a snapshot is the records alone.

local M = {}

local History = {}
History.__index = History

---@param keys fun(record: table): string, string|nil
function M.new(keys)
  return setmetatable({ keys = keys, all = {}, lists = {}, by_id = {}, moved = 0 }, History)
end

-- The number of records of `list` whose time is below `time` (or at most `time`, when `through`).
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

-- A record that is older than the last one waits in `list.late` until the list is read: sorting many at once costs
-- less than making room for each.
local function insert(lists, key, record)
  local list = lists[key]
  if not list then
    list = {}
    lists[key] = list
  end
  local last = list[#list]
  if not last or last.time <= record.time then
    list[#list + 1] = record
  else
    list.late = list.late or {}
    list.late[#list.late + 1] = { record = record, order = #list.late }
  end
end

-- Puts the late records of a list into their places: behind those of the same time. Returns how many records moved.
local function merge(list)
  local late = list.late
  list.late = nil
  table.sort(late, function(a, b)
    return a.record.time < b.record.time or a.record.time == b.record.time and a.order < b.order
  end)
  local i, j, moved = #list, #late, 0
  while j > 0 do
    local from = list[i]
    if from and from.time > late[j].record.time then
      list[i + j], i = from, i - 1
    else
      list[i + j], j = late[j].record, j - 1
    end
    moved = moved + 1
  end
  return moved
end

-- The list of a key, in order; nil when it has none.
local function list_of(self, key)
  local list = self.lists[key]
  if list and list.late then self.moved = self.moved + merge(list) end
  return list
end

-- Calls act(lists, key, record) for each list that a record belongs to.
local function each_list(self, record, act)
  local first, second = self.keys(record)
  act(self.lists, first, record)
  if second and second ~= first then act(self.lists, second, record) end
end

--- Adds a record; its `id`, when it has one, finds it again. One that is `hidden` enters no list.
function History:add(record)
  self.all[#self.all + 1] = record
  if record.id then self.by_id[record.id] = record end
  if not record.hidden then each_list(self, record, insert) end
  return record
end

--- Takes a record out of the lists, or puts it back into them.
function History:hide(record, hidden)
  if (record.hidden == true) == hidden then return end
  record.hidden = hidden or nil
  if not hidden then return each_list(self, record, insert) end
  each_list(self, record, function(_, key)
    local list = list_of(self, key)
    for i = #list, 1, -1 do
      if list[i] == record then return table.remove(list, i) end
    end
  end)
end

--- Records of `key` with first <= time <= last, newest first: `limit` of them after the first `skip` that pass
--- `filter`. Also returns how many there are in the whole window, unless a filter makes that unknown.
---@return table[] records, integer|nil total
function History:page(key, first, last, skip, limit, filter)
  local list = list_of(self, key)
  if not list then return {}, 0 end
  local low, high = first and count_before(list, first) or 0, last and count_before(list, last, true) or #list
  local found, size = {}, 0
  if not filter then
    for i = high - skip, math.max(low + 1, high - skip - limit + 1), -1 do
      size = size + 1
      found[size] = list[i]
    end
    return found, math.max(0, high - low)
  end
  for i = high, low + 1, -1 do
    local record = list[i]
    if filter(record) then
      if skip > 0 then
        skip = skip - 1
      else
        size = size + 1
        found[size] = record
        if size == limit then break end
      end
    end
  end
  return found
end

-- A copy of plain data. Whole numbers are integers in it, as JSON wants them, also where they came as floats.
local function copy(value)
  if type(value) == "number" and value % 1 == 0 then return math.floor(value) end
  if type(value) ~= "table" then return value end
  local result = {}
  for name, member in pairs(value) do result[name] = copy(member) end
  return result
end

M.copy = copy

--- Adds the records of a snapshot: those of `all` of the history it was taken of.
function History:restore(records)
  for _, record in ipairs(records) do self:add(record) end
end

return M
