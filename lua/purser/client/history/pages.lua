-- SPDX-License-Identifier: MIT
-- One page: the requested records, and the service's counts of the whole list.

local errors = require "purser.client.call.errors"
local parameters = require "purser.client.operations.parameters"
local unwrap = require "purser.client.call.unwrap"

local M = {}

-- The least records that a service shows at once.
M.FEWEST_SHOWN = 10

---@class purser.history.source
---@field run fun(row: table, params: table): any, purser.Error|nil
---@field now fun(): integer
---@field row table
---@field paging table
---@field params table          of each request
---@field keep fun(record: table): boolean   filters of this side
---@field key fun(record: table): string, boolean
---@field size integer|nil       the records that the service shows at once, where it shows fewer than requested
---@field shown integer|nil      the longest answer so far
---@field strict boolean|nil    for conclusions from a missing record: see history.strict
---@field incomplete string|nil strict: why the records may be incomplete
---@field time string|nil       the member with a record's time; strict: also without windows

-- Returns the text for a filter: parameters and records have states by number or name.
local function plain(param, value)
  local states = param and param.choices and parameters.choices[param.choices]
  for number, name in ipairs(states or {}) do
    if name == value then return tostring(number) end
  end
  return tostring(value)
end

--- Splits a user's parameters into those of each request and a filter here: a service's filter by a changing state
--- moves records between pages. Returns both and the filtered parameter; or nil, a message, the parameter and what to
--- do.
function M.split(row, params)
  local sent, requested, here = {}, {}, nil
  for name, value in pairs(params) do sent[name] = value end
  for _, name in ipairs(row.paging and row.paging.unstable_filters or {}) do
    if sent[name] ~= nil then
      local param = row.by_name[name]
      local value, message, hint = parameters.kinds[param[2]].check(sent[name], param)
      if not value then return nil, message, name, hint end
      requested[name], sent[name], here = plain(param, value), nil, name
    end
  end
  return sent, function(record)
    for name, text in pairs(requested) do
      if plain(row.by_name[name], record[name]) ~= text then return false end
    end
    return true
  end, here
end

-- Returns an answer's records, total, number of pages, and whether the total may count pages.
local function open(source, answer, size)
  local form = source.row.result
  local total, page_count, either = unwrap.counts(source.row, answer)
  if form.rows and type(total) == "number" then page_count = math.ceil(total / size) end
  return form.page and answer.data or form.rows and answer.rows or answer, total or either, page_count, either ~= nil
end

function M.failed(source, message)
  return errors.new { kind = "workflow", outcome = "unknown", operation = source.row.full_name, phase = "history",
    message = message }
end

--- Makes the error of a senseless answer: no proof of a missing record.
function M.senseless(source)
  return errors.undecodable(source.row.full_name, "the answer has records or pages that make no sense")
end

-- Tells a record's time (epoch ms). A list without windows may lack times.
local function is_time(source, time)
  if time == nil then return not source.row.by_name.startTime end
  return type(time) == "number" and time >= 1e12 and time < 1e13
end

-- Returns an error for senseless records; for a strict source an answer's error, which is asked for again.
local function senseless_among(source, records)
  for _, record in ipairs(records) do
    local time = source.time and type(record) == "table" and record[source.time]
    if source.strict then
      if type(record) ~= "table" or source.time and not is_time(source, time) then return M.senseless(source) end
    elseif source.time and type(time) ~= "number" then
      return M.failed(source, ("a record came without its %s, so it has no place in the history"):format(source.time))
    end
  end
end

-- Returns a count; nil for another type, which a strict source notes.
local function number(source, value)
  if value == nil or type(value) == "number" then return value end
  source.incomplete = source.strict and "a count beside the list is no number" or nil
end

--- Asks for a page. Returns records, the service's total and number of pages, whether the answer is too short to be
--- cut, and whether the total may count pages; or nil and an error.
---@param source purser.history.source
---@param size integer|nil  records requested
function M.ask(source, first, last, page, size)
  local paging, params = source.paging, {}
  size = size or paging.page_size
  for name, value in pairs(source.params) do params[name] = value end
  if paging.size then params[paging.size] = size end
  if paging.page then params[paging.page] = page end
  params.startTime, params.endTime = first, last
  local answer, err = source.run(source.row, params)
  if not answer then return nil, err end
  if unwrap.is_lone(answer) then source.incomplete = "one record came where a list belongs, so there may be others" end
  local records, total, page_count, either = open(source, answer, size)
  local claims_more = source.strict and #records == 0 and (page or 1) == 1 and total ~= nil and total ~= 0
  local senseless = claims_more and M.senseless(source) or senseless_among(source, records)
  if senseless then return nil, senseless end
  local shown = source.shown or 0
  source.shown = math.max(shown, #records)
  local short = #records < size and (#records < M.FEWEST_SHOWN or #records < shown)
  return records, number(source, total), number(source, page_count), short, either
end

return M
