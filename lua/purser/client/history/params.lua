-- SPDX-License-Identifier: MIT
-- The parameters of a walk: its own, apart from the operation's, and the span.

local cursors = require "purser.client.history.cursor"
local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local suggest = require "purser.client.util.suggest"
local window_reader = require "purser.client.history.window"

local M = {}

local DEFAULT_LATE_ARRIVAL_MS = 60000

---@class purser.WalkParams  what a walk takes besides the parameters of its operation
---@field from integer|nil     epoch ms of the first record. Default: what the operation shows without times
---@field to integer|nil       and of the last. Default: now
---@field cursor string|nil    walk:cursor() of an earlier walk: continues after it
---@field late_arrival_ms integer|nil  how late a record may show up. Default: 60000
---@field shows_at_least integer|nil   how many records the service is known to show at once

local own_rules = {
  from = option_schema.TIME, to = option_schema.TIME, cursor = "any",
  late_arrival_ms = { 0, option_schema.EXACT }, shows_at_least = { 1, option_schema.EXACT },
}

-- The command's names of times.
local shell_names = { since = "from", ["until"] = "to" }

-- Parameters of each request, which the call's check explains.
local travels_along = { timestamp = true, signature = true, recvWindow = true }

local function set_by_walk(row)
  local names = { "startTime", "endTime" }
  names[#names + 1] = row.paging.page
  names[#names + 1] = row.paging.size
  return names
end

local function filters_of(row)
  local filters = {}
  for name, param in pairs(row.by_name) do filters[name] = param end
  for _, name in ipairs(set_by_walk(row)) do filters[name] = nil end
  return filters
end

--- Returns the walk's own parameters and the operation's; or nil and an error.
function M.take(row, params)
  local own, rest = {}, {}
  if type(params) ~= "table" then
    return nil, errors.parameter(row, nil, ("the parameters are a %s"):format(type(params)), "give a table")
  end
  for name, value in pairs(params) do
    if own_rules[name] then own[name] = value else rest[name] = value end
    if not own_rules[name] and not row.by_name[name] and not travels_along[name] then
      local known = names_of(own_rules, filters_of(row))
      local meant = shell_names[name] or suggest.find(tostring(name), known)
      return nil, errors.parameter(row, name, meant and ('is not known (did you mean "%s"?)'):format(meant)
        or "is not known", not meant and "there are " .. table.concat(known, ", ") or nil)
    end
  end
  local message, wrong, hint = option_schema.check(own, own_rules, "parameter")
  if message then
    local err = errors.argument(wrong, message, hint)
    err.operation = row.full_name
    return nil, err
  end
  own.late_arrival_ms = own.late_arrival_ms or DEFAULT_LATE_ARRIVAL_MS
  for _, number in ipairs { "from", "to", "late_arrival_ms", "shows_at_least" } do
    own[number] = own[number] and math.floor(own[number])
  end
  if own.from and own.to and own.from > own.to then
    return nil, errors.parameter(row, "from", "is later than `to`", "exchange them")
  end
  for _, name in ipairs(set_by_walk(row)) do
    if rest[name] ~= nil then
      return nil, errors.parameter(row, name, "is set by the walk", "give `from` and `to` for the times")
    end
  end
  return own, rest
end

--- Returns why a walk filtered by what changes has no cursor.
function M.no_cursor(row, name)
  local instead = row.result.list == "deposit" and "use purser.receive, which sees each change"
    or "walk without it, and look at each record"
  return ('has no meaning together with `%s`: a record that comes into that state later would never be delivered; %s')
    :format(name, instead)
end

local BEHIND_MS = 1000 -- what lies further ahead shows that the clock is behind

--- Returns a walk's first and last time, the earliest time, and the records before the cursor; or nil and an error.
---@param row table
---@param own table        of `take`
---@param now integer
---@param filtered string|nil  the parameter that filters by what changes
function M.span(row, own, now, filtered)
  local earliest = window_reader.earliest(row.window, now)
  local from, known = own.from, nil
  if own.cursor ~= nil then
    if filtered then return nil, errors.parameter(row, "cursor", M.no_cursor(row, filtered)) end
    local time, detail = cursors.read(own.cursor, row.full_name)
    if not time then return nil, errors.parameter(row, "cursor", detail) end
    from, known = math.max(from or 0, time + 1), detail
  end
  if not from and not earliest then
    return nil, errors.parameter(row, "from",
      "is required: how far this history reaches back is documented nowhere")
  end
  if from and earliest and from < earliest then
    return nil, errors.parameter(row, own.cursor and "cursor" or "from",
      ("is %d, beyond the reach of this history (%s); the earliest time it shows is now %d"):format(from,
        window_reader.words(row.window), earliest))
  end
  from = from or window_reader.default(row.window, now)
    -- a walk ahead of the clock asks for one moment: the rejection sets the clock right
  local to = from > now + BEHIND_MS and from or now
  return from, math.min(own.to or to, to), earliest, known
end

return M
