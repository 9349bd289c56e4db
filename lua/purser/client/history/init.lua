-- SPDX-License-Identifier: MIT
--- Histories and lists, complete: an iterator that turns the pages, walks the windows and delivers each record once.
-- client/methods.lua makes the walks that users hold; write/reading.lua reads whole lists. Files in reading order:
--
--   params      the parameters of a walk: the walk's own and the operation's
--   pages       one page: what is asked for, and what an answer shows
--   turn        all pages of one list or window
--   window      one window of time, whole or to be divided
--   init        the walk: windows in turn, each record once
--   cursor      where a walk stands, as a text
--
--     for deposit in client.wallet:each_deposit { coin = "USDT", from = start } do ... end
--
-- A failure raises in a `for`, because an iterator that ends early looks complete. Without raising:
--
--     local walk = client.wallet:each_deposit { from = start, cursor = saved }
--     local record, err = walk:next()   -- nil without err: the end. After an error, next() retries where it was.
--     save(walk:cursor())               -- another walk goes on from there

local cursors = require "purser.client.history.cursor"
local errors = require "purser.client.call.errors"
local suggest = require "purser.client.util.suggest"
local operations = require "purser.client.operations"
local pages = require "purser.client.history.pages"
local turn = require "purser.client.history.turn"
local window_reader = require "purser.client.history.window"
local lazy = require "purser.client.util.lazy"
local private = require "purser.client.util.private"
local walk_params = lazy "purser.client.history.params"

local M = {}

-- The greatest factor between the lengths of two windows in turn.
local STRIDE = 16

---@class purser.Walk
---@overload fun(): any
---@field from integer|nil  epoch ms of the first requested record
---@field to integer|nil    and of the last
local Walk = { __name = "purser.walk" }
Walk.__index = Walk

-------------------------------------------------------------------------------------------------- windows of time

-- Takes the next window, cut to the learned width; nil at the end. The queue's front is the list's end.
local function take_window(self)
  local queue = self.queue
  local window = table.remove(queue)
  if not window or window.last - window.first + 1 <= self.width then return window end
  local edge = window_reader.edge(window.first, window.last, window.first + self.width - 1)
  queue[#queue + 1] = { first = edge + 1, last = window.last, expected = window.expected }
  return { first = window.first, last = edge, expected = window.expected }
end

local function learn_width(self, window, found)
  if found.suspected then return end
  if found.cut then self.goal = math.max(1, math.min(self.goal, math.floor(found.count * 0.75))) end
  local span, goal = window.last - window.first + 1, self.goal
  local width
  if found.records then
    width = math.floor(span * math.min(STRIDE, goal / math.max(1, found.count)))
    if width < self.width and span < self.width / 2 then return end
  else
    -- the records tell the density; a total tells more
    width = found.total and span * goal / found.total or found.span * goal / math.max(1, found.count)
    width = math.min(math.floor(math.max(width, span / STRIDE)), span - 1)
  end
  self.width = math.max(1000, math.min(width, self.max_window))
end

---@param late_arrival_ms integer
---@param known table|nil  what an earlier walk delivered
local function begin(self, from, to, late_arrival_ms, known)
  self.from, self.to, self.late_arrival_ms = from, to, late_arrival_ms
  self.max_window = window_reader.max_window(self.source.row.window) or math.max(1, to - from + 1)
  self.width, self.goal = self.max_window, window_reader.goal(self.source)
  self.complete_to, self.through = from - 1, from - 1
  self.queue = { from <= to and { first = from, last = to } or nil }
  self.tail = cursors.new(self.source.row.full_name, from - 1, known, late_arrival_ms)
end

local READINGS = 3 -- at most, of a window during which the clock was set back

-- Reads a window, and notes the time. A rejection (700003) that sets the clock back showed a clock ahead: records up to
-- the noted time are not complete.
local function read_window(self, window)
  local found, err
  for _ = 1, READINGS do
    window.read_at = self.source.now()
    found, err = window_reader.read(self.source, window, self.earliest)
    local now = self.source.now()
    if err or now >= window.read_at then break end
    window.read_at = now
  end
  return found, err
end

-- Takes the span anew after any call corrected the clock: the walk's end was the clock's wrong time. Before the first
-- records the walk begins anew; later the missing time is added. Returns whether the walk begins anew.
local function follow_clock(self)
  local clock = self.clock
  if not clock or clock.corrections == self.corrections then return false end
  self.corrections = clock.corrections
  local from, to = self.span(math.max(0, clock:count() - self.began))
  if not from or to <= self.to then return false end -- no more than time that went by: no walk follows its own time
  local earliest, known
  from, to, earliest, known = self.span()
  if not from then return false end
  if not self.was_read then
    self.earliest = earliest
    begin(self, from, to, self.late_arrival_ms, known)
    return true
  end
  table.insert(self.queue, 1, { first = self.to + 1, last = to }) -- the last window that is taken
  self.to = to
  return false
end

local function divide(self, window, found)
  for _, part in ipairs { { found.at + 1, window.last }, { window.first, found.at } } do
    self.queue[#self.queue + 1] = { first = part[1], last = part[2], expected = found.expected,
      is_part = found.is_part }
  end
end

-- Returns true before the end; nil at the end; nil and an error.
local function read_on(self)
  follow_clock(self)
  local window = take_window(self)
  if not window then
    self.clock = nil -- the end stays
    self.tail:finish(math.min(self.to, self.complete_to))
    return nil
  end
  local found, err = read_window(self, window)
  if follow_clock(self) then return true end
  self.records, self.at, self.was_read = found and found.records or {}, 0, self.was_read or found ~= nil
  if not found then
    self.queue[#self.queue + 1] = window
    return nil, err
  end
  learn_width(self, window, found)
  if not found.records then
    divide(self, window, found)
    return true
  end
  -- late records come within `late_arrival_ms`: the cursor stays before that
  if self.through <= self.complete_to then self.complete_to = window.read_at - self.late_arrival_ms end
  self.through = window.last
  return true
end

-- Returns the next record after the first cursor.
local function next_in_time(self)
  while true do
    self.at = self.at + 1
    local record = self.records[self.at]
    if record then
      local key = self.source.key(record)
      local fresh = self.tail:pass(key)
      self.tail:add(record[self.source.time], key, self.complete_to)
      if fresh then return record end
    else
      local ok, err = read_on(self)
      if not ok then return nil, err end
    end
  end
end

-- Returns the next record of a list, which is read whole first. The error of a senseless list stays.
local function next_in_list(self)
  if not self.is_read then
    local records, err = turn.list(self.source, self.from, self.to)
    if not records then
      self.problem = err.phase == "history" and err or nil
      return nil, err
    end
    self.is_read, self.records = true, records
  end
  repeat self.at = self.at + 1 until not self.records[self.at] or self.source.keep(self.records[self.at])
  return self.records[self.at]
end

---------------------------------------------------------------------------------------------------- what users call

--- Returns the next record; nil at the end; nil and an error. A further call after an error retries.
---@return any record, purser.Error|nil err
function Walk:next()
  if self.problem then return nil, self.problem end
  if self.source.paging.time_member then return next_in_time(self) end
  return next_in_list(self)
end

Walk.__call = errors.iterate

--- Returns all further records as a list; or nil and an error.
---@return any[]|nil records, purser.Error|nil err
function Walk:collect()
  local list = {}
  while true do
    local record, err = self:next()
    if err then return nil, err end
    if not record then return list end
    list[#list + 1] = record
  end
end

--- Returns where the walk stands, as a text for the parameter `cursor`. A list, or a walk filtered by what changes
--- (`status`), has no cursor: nil and a message.
---@return string|nil cursor, string|nil message
function Walk:cursor()
  if self.filtered then return nil, walk_params.no_cursor(self.source.row, self.filtered) end
  if not self.tail then return nil, "a list without times has no cursor" end
  return self.tail:text()
end

function Walk:__tostring()
  local name = self.source and self.source.row.full_name or "nothing"
  local from, to = self.from and (" from %d"):format(self.from) or "", self.to and (" to %d"):format(self.to) or ""
  return ("purser.walk (%s%s%s)"):format(name, from, to)
end

local function new_walk(source)
  source.key, source.time = cursors.key_of(source.paging), source.paging.time_member or source.time
  return setmetatable({ source = source, records = {}, at = 0 }, Walk)
end

--- Makes a walk over an operation's records.
---@param client purser.Client
---@param row table
---@param params table|nil  purser.WalkParams, and the operation's own
---@param opts table|nil    the options of each call
---@return purser.Walk
function M.walk(client, row, params, opts)
  local self = new_walk { client = client, row = row, paging = row.paging, now = function() return client:now() end,
    run = function(of, sent) return client:call(of.full_name, sent, opts) end }
  local own, rest = walk_params.take(row, params or {})
  if not own then
    self.problem = rest
    return self
  end
  local wrong, hint
  self.source.shown = own.shows_at_least
  self.source.params, self.source.keep, self.filtered, hint = pages.split(row, rest)
  if not self.source.params then
    wrong, self.filtered = self.filtered, nil
    self.problem = errors.parameter(row, wrong, self.source.keep, hint)
  elseif row.paging.time_member then
    self.clock = (private.state_of(client) or client)._clock -- client:each gives the state itself
    if self.clock then self.corrections, self.began = self.clock.corrections, self.clock:count() end
    self.span = function(elapsed)
      return walk_params.span(row, own, self.source.now() - (elapsed or 0), self.filtered)
    end
    local from, to, earliest, known = self.span()
    if not from then self.problem = to else begin(self, from, to, own.late_arrival_ms, known) end
    self.earliest = earliest
  elseif own.cursor then
    self.problem = errors.parameter(row, "cursor", "is only for histories by time", "leave it out")
  else
    self.from, self.to = own.from, own.to
    if (own.from or own.to) and not row.by_name.startTime then
      self.problem = errors.parameter(row, own.from and "from" or "to", "is only for histories by time",
        "leave it out")
    end
  end
  return self
end

-- Lists without pages hold API keys or addresses.
local NO_PAGES = { page_size = math.huge, id = "apiKey" }

--- Makes a strict reading: a walk for conclusions from a missing record (purser.write). Beyond a walk:
---   * all records are delivered; at the end `walk.source.incomplete` says why records may be missing, by the total,
---     the number of pages and the pages; nil: none is missing (unwrap.beside has further members)
---   * an error: a record without a sensible time, an empty first page whose total names records
---   * records that arrive meanwhile may be missing, so that a busy history can be read
---   * records of other times are delivered, times ahead of the clock may be requested, pages are no need
---@param run fun(row: table, params: table): any, purser.Error|nil
---@param row table
---@param params table      the operation's own parameters
---@param first integer     epoch ms, for a history by time
---@param last integer
---@param time string|nil   the member that holds a record's time
---@return purser.Walk
function M.strict(run, row, params, first, last, time)
  local paging = row.paging or NO_PAGES
  local self = new_walk { row = row, paging = paging, run = run, strict = true, time = time,
    now = function() return last end }
  self.source.params, self.source.keep = pages.split(row, params)
  if paging.time_member then begin(self, first, last, 0) end
  return self
end

--- Makes a walk by the operation's full name.
function M.each(client, name, params, opts)
  local row = operations.by_name[name]
  if row and row.paging then return M.walk(client, row, params, opts) end
  local names = {}
  for _, known in ipairs(operations.list) do
    if known.paging then names[#names + 1] = known.full_name end
  end
  local walk = setmetatable({}, Walk)
  walk.problem = errors.argument(nil, ('"%s" is no history or list%s'):format(tostring(name),
    suggest.hint(tostring(name), names)), "there are " .. table.concat(names, ", "))
  return walk
end

return M
