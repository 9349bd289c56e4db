-- SPDX-License-Identifier: MIT
-- The last stage: a result without the envelope, from a decoded answer. A list shows an array, a record the member that
-- proves it (record.lua). A read takes the last of equal members; members beside the result serve conclusions from
-- missing records (M.beside, M.counts).

local core = require "purser.core"
local decoders = require "purser.client.call.decoders"
local lazy = require "purser.client.util.lazy"
local records = lazy "purser.client.call.record"

local M = {}

-- Notes on results: `beside`, `status` (other than 200), `is_lone`.
local notes = setmetatable({}, { __mode = "k" })

local function note(answer, word, value)
  notes[answer] = notes[answer] or {}
  notes[answer][word] = value
end

--- Returns the members beside an answer's records (totals, an error, a cursor ...), and an HTTP status other than 200.
---@param answer table  what a read operation returned
---@return table<string, any> members, integer|nil status
function M.beside(answer)
  local known = notes[answer] or {}
  return known.beside or {}, known.status
end

--- Returns an answer's counts of the whole list, of any type: of records, of pages, and of either by source.
function M.counts(row, answer)
  local beside, of = row.result.list and M.beside(answer) or answer, {}
  for name, what in pairs(row.result.counts or {}) do of[what] = beside[name] end
  return of.records, of.pages, of.either
end

--- Tells whether one record came in place of a list: more may exist.
function M.is_lone(list)
  return notes[list] ~= nil and notes[list].is_lone == true
end

-- Notes the members beside an answer's records in the wrappers, the innermost last. A note must not hold the answer,
-- and leaves the carriers out.
local function note_beside(result, answer, ...)
  local beside, carries = {}, { rows = true }
  for _, name in ipairs(decoders.carriers_of(result)) do carries[name] = true end
  for _, part in ipairs { ... } do
    for name, value in pairs(part) do
      if type(name) == "string" and not (carries[name] and type(value) == "table") then beside[name] = value end
    end
  end
  if next(beside) ~= nil then note(answer, "beside", beside) end
end

-- Returns the list of an answer, the object around it, and the path.
local function find_list(result, value)
  if value[1] ~= nil then return value, {}, "" end
  local data, from = value.data, result.wrappers and result.wrappers[1]
  if from and type(data) == "table" and type(data[from]) == "table" and data[1] == nil then
    return data[from], data, "data " .. from
  end
  for _, name in ipairs(decoders.carriers_of(result)) do
    if value[name] then return value[name], value, name end
  end
  return value, {}, ""
end

-- Decoders by path that need an array at the end of the path: an empty object and an empty array are equal tables.
local array_decoders = {}

local function shows_array(body, path)
  local decoder = array_decoders[path]
  if not decoder then
    local type_ = { list = { record = { name = "record", fields = {} } } }
    local names = {}
    for name in path:gmatch "%S+" do table.insert(names, 1, name) end
    for _, name in ipairs(names) do
      type_ = { record = { name = "wrapper", fields = { { name = name, type = type_ } } } }
    end
    decoder = core.decoder(type_, true)
    array_decoders[path] = decoder
  end
  return decoder:decode(body) ~= nil
end

-- Members that may count records, known to the row or not.
local TOTALS = { "totalCount", "total", "totalRecords" }

-- Returns why an answer without records is no empty list: the first page's total, of records or of several pages.
local function contradiction(result, count, holder, page)
  for _, name in ipairs(count == 0 and page <= 1 and TOTALS or {}) do
    local total, least = tonumber(holder[name]), result.counts and result.counts[name] == "either" and 2 or 1
    if total and total >= least then return ("the answer shows no record and a total of %d"):format(total) end
  end
end

local take = {}

function take.list(result, value, answer)
  local list, holder, path = find_list(result, value)
  if list[1] == nil and (next(list) ~= nil or not shows_array(answer.body, path)) then
    local lone = result.lone and value.data -- some rows know one record in place of an array
    if not (lone and type(lone[result.lone]) == "string" and lone[result.lone]:find "%S") then
      return nil, "the answer shows no list"
    end
    list, holder = { lone }, {}
    note(list, "is_lone", true)
  end
  local problem = contradiction(result, #list, holder, answer.page)
  if problem then return nil, problem end
  note_beside(result, list, value, holder)
  return list
end

local function strip_envelope(record)
  if record.code then record.code, record.msg, record.message = nil, nil, nil end
  return record
end

function take.record(result, value, answer)
  local record, problem = records.take(result, value, answer)
  return record and strip_envelope(record), problem
end

function take.rows(result, value, answer)
  local whole, name = result.rows and value.data or value, result.rows and "rows" or "data"
  local page = whole[1] or whole
  if whole[2] ~= nil then return nil, "the answer holds more than one page" end
  if page[name] == nil then return nil, "the answer shows no " .. (result.rows and "rows" or "page") end
  local problem = contradiction(result, #page[name], page, answer.page)
  if problem then return nil, problem end
  note_beside(result, page, value, page)
  return strip_envelope(page)
end

take.page = take.rows

--- Returns the result of a decoded answer; or nil and what is missing.
---@param row table
---@param value table   the decoded body
---@param body string   what it was decoded from
---@param values table<string, any>|nil  what was sent, by name: on a page after the first no record may be left
---@param profile table|nil  its success_codes
---@param status integer|nil  of HTTP
function M.take(row, value, body, values, profile, status)
  local taken, problem = value, nil
  if value[1] == nil or not row.result.list then -- else it is an array with nothing around it
    local paging = row.paging
    local page = values and paging and paging.page and tonumber(values[paging.page]) or 1
    taken, problem = take[decoders.form_of(row.result)](row.result, value,
      { body = body, page = page, success_codes = profile and profile.success_codes })
  end
  if taken and status and status ~= 200 and row.effect == "read" then note(taken, "status", status) end
  return taken, problem
end

--- Returns the lower-case map of a raw header block or a map.
function M.headers(raw)
  local map = {}
  if type(raw) == "table" then
    for name, value in pairs(raw) do map[tostring(name):lower()] = value end
    return map
  end
  if type(raw) ~= "string" then return map end
  for name, value in raw:gmatch("([^\r\n:]+):[ \t]*([^\r\n]*)") do map[name:lower()] = value end
  return map
end

return M
