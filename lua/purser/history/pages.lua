-- One page of a history or list, as the records that are wanted of it and what the service says of the whole.

local errors = require "purser.errors"
local result = require "purser.result"

local M = {}

---@class purser.history.source
---@field run fun(row: table, params: table): any, purser.Error|nil
---@field now fun(): integer
---@field row table
---@field paging table
---@field params table          what every request carries
---@field keep fun(record: table): boolean   filters that are applied here
---@field key fun(record: table): string, boolean
---@field strict boolean|nil    for who concludes from a record that is missing: see history.strict
---@field incomplete string|nil strict: why nothing shows that the records are all there are
---@field time string|nil       strict: the member that holds a record's time, also where there are no windows

--- Splits the user's parameters: what every request carries, and a filter for what is better applied here. A filter by
--- something that changes moves records from page to page while they are turned, and one would be missed.
function M.split(paging, params)
  local sent, wanted = {}, {}
  for name, value in pairs(params) do sent[name] = value end
  for _, name in ipairs(paging.varies or {}) do
    if sent[name] ~= nil then wanted[name], sent[name] = tostring(sent[name]), nil end
  end
  return sent, function(record)
    for name, text in pairs(wanted) do
      if tostring(record[name]) ~= text then return false end
    end
    return true
  end
end

-- The records of an answer; the total and the number of pages as far as the service tells them.
local function open(source, answer)
  local form = source.row.result
  if form.page then return answer.data, answer.totalRecords, answer.totalPageNum end
  if form.list then return answer, result.total_of(answer) end
  local total = answer.total
  return answer.rows, total, type(total) == "number" and math.ceil(total / source.paging.most) or nil
end

--- The error of an answer that makes no sense, so that it does not pass for one that lacks a record.
---@param source purser.history.source
function M.senseless(source)
  return errors.new { kind = "decode", outcome = "unknown", phase = "decode", operation = source.row.full_name,
    retryable = true, message = "the answer has records or pages that make no sense" }
end

--- Notes that a list ended with a page that repeats earlier ones: it may be all, or the service may turn no pages.
---@param source purser.history.source
function M.note_repetition(source)
  source.incomplete = "the list seems not to turn its pages, so what it does not show may exist all the same"
end

-- Whether this can be a record's time in epoch milliseconds. Of a list without windows it may be missing.
local function is_time(source, time)
  if time == nil then return not source.row.by_name.startTime end
  return type(time) == "number" and time >= 1e12 and time < 1e13
end

local function makes_sense(source, records, total, page_count)
  if total ~= nil and (type(total) ~= "number" or total < #records) then return false end
  if page_count ~= nil and type(page_count) ~= "number" then return false end
  for _, record in ipairs(records) do
    if type(record) ~= "table" or source.time and not is_time(source, record[source.time]) then return false end
  end
  return true
end

local function number(value)
  return type(value) == "number" and value or nil
end

--- Asks for a page. Returns all its records, the total and the number of pages where the service tells them; or nil and
--- an error.
---@param source purser.history.source
function M.ask(source, first, last, page)
  local paging, params = source.paging, {}
  for name, value in pairs(source.params) do params[name] = value end
  if paging.size then params[paging.size] = paging.most end
  if paging.page then params[paging.page] = page end
  params.startTime, params.endTime = first, last
  local answer, err = source.run(source.row, params)
  if not answer then return nil, err end
  local doubt = result.doubt_of(answer)
  if doubt == "assumed" then return nil, M.senseless(source) end
  if doubt then source.incomplete = "one record came where a list belongs, so there may be others" end
  local records, total, page_count = open(source, answer)
  if source.strict and not makes_sense(source, records, total, page_count) then return nil, M.senseless(source) end
  return records, number(total), number(page_count)
end

return M
