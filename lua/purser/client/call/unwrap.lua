-- SPDX-License-Identifier: MIT
-- The last stage: from an answer to a result. The C decoder types the members by the row's shape (decoders.lua); this
-- file takes the result out of whatever envelope it came in. An answer has to show its result: a list is an array, or a
-- member that is one; a record has the member that proves it (record.lua). What shows less is none. A read gives what
-- is there, whatever stands beside it and though a member comes twice (then its last value counts); who concludes from
-- what is missing asks M.beside and M.counts for the rest. A list with nothing around it needs none of this.

local core = require "purser.core"
local decoders = require "purser.client.call.decoders"
local lazy = require "purser.client.util.lazy"
local records = lazy "purser.client.call.record"

local M = {}

-- Notes on results beside what they show: `beside` (members), `status` (where it was not 200), `is_lone`.
local notes = setmetatable({}, { __mode = "k" })

local function note(answer, word, value)
  notes[answer] = notes[answer] or {}
  notes[answer][word] = value
end

--- Returns what stood beside the records of an answer, by name: totals, an error, a next cursor ... Of a list
--- without an envelope it is empty. Also returns the HTTP status where that was not 200.
---@param answer table  what a read operation returned
---@return table<string, any> members, integer|nil status
function M.beside(answer)
  local known = notes[answer] or {}
  return known.beside or {}, known.status
end

--- Returns what an answer says of the whole list: how many records there are, how many pages, and a number of which
--- sources disagree whether it counts records or pages. Each is nil where nothing is said, and of any type.
---@param row table
---@param answer table
---@return any records, any pages, any either
function M.counts(row, answer)
  local beside, of = row.result.list and M.beside(answer) or answer, {}
  for name, what in pairs(row.result.counts or {}) do of[what] = beside[name] end
  return of.records, of.pages, of.either
end

--- Tells whether one record came where a list belongs: there may be others, so nothing may be concluded from one that
--- this list lacks.
---@param list table
---@return boolean
function M.is_lone(list)
  return notes[list] ~= nil and notes[list].is_lone == true
end

-- Notes what stands beside the records of `answer` in the wrappers around them, the innermost last. A note must not
-- hold what it is of, so it leaves out what carries the records.
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

-- Returns where in the answer its list is: the list, the object that holds it, and the names that lead to it.
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

-- Decoders that fail unless there is an array at the end of `path`, by path. An empty object and an empty array are the
-- same table, so an answer with an empty list is read by one of these as well.
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

-- Members next to a list that may say how many records there are, whether or not the row knows it.
local TOTALS = { "totalCount", "total", "totalRecords" }

-- Returns why an answer without records is no empty list: on the first page a total says that there are some. One page
-- of none is none.
local function contradiction(result, count, holder, page)
  for _, name in ipairs(count == 0 and page <= 1 and TOTALS or {}) do
    local total, least = tonumber(holder[name]), result.counts and result.counts[name] == "either" and 2 or 1
    if total and total >= least then return ("the answer shows no record and a total of %d"):format(total) end
  end
end

-- Returns the list of the one record that came in place of an array, where the row knows that form; or nil.
local function list_of_one(result, value)
  local lone = result.lone and value.data
  return lone and type(lone[result.lone]) == "string" and lone[result.lone]:find "%S" and { lone } or nil
end

local take = {}

function take.list(result, value, answer)
  local list, holder, path = find_list(result, value)
  if list[1] == nil and (next(list) ~= nil or not shows_array(answer.body, path)) then
    list = list_of_one(result, value)
    if not list then return nil, "the answer shows no list" end
    note(list, "is_lone", true)
    holder = {}
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

function take.page(result, value, answer)
  local page = value[1] or value
  if page.data == nil or value[2] ~= nil then return nil, "the answer shows no page" end
  local problem = contradiction(result, #page.data, page, answer.page)
  if problem then return nil, problem end
  note_beside(result, page, page)
  return strip_envelope(page)
end

function take.rows(result, value, answer)
  local page, data = value[1] or value, value.data
  if data then page = data[1] or data end
  if (data or value)[2] ~= nil then return nil, "the answer holds more than one page" end
  if page.rows == nil then return nil, "the answer shows no rows" end
  local problem = contradiction(result, #page.rows, page, answer.page)
  if problem then return nil, problem end
  note_beside(result, page, value, page)
  return strip_envelope(page)
end

--- Takes the result out of a decoded answer: result, or nil and what is missing.
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

--- Returns the lower-case map of a raw header block (or of a map with names in any case).
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
