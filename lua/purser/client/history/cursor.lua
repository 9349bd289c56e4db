-- SPDX-License-Identifier: MIT
-- Cursors: where a walk stands, as a text.
--
--   purser1;<operation>;<time>;<hash>,<hash>,...
--
-- All records up to and with <time> were delivered, and the later records of the hashes: several records may share a
-- millisecond, and the next walk asks again for the last `late_arrival_ms`. A hash is of the record's key.

local digest = require "purser.client.util.digest"
local names_of = require "purser.client.util.names_of"

local M = {}

---------------------------------------------------------------------------------------------------------------- keys

local type, tostring, concat = type, tostring, table.concat

local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, name in ipairs(names_of(value)) do parts[i] = tostring(name) .. "=" .. text_of(value[name]) end
  return "{" .. concat(parts, "\31") .. "}"
end

-- Members that distinguish payments and never change.
local CONTENT = { "clientTranId", "withdrawOrderId", "asset", "coin", "amount", "address", "fromAccountType",
  "toAccountType", "fromAccount", "toAccount" }

local function content_of(record, time_member)
  local parts = { time_member and text_of(record[time_member]) or "" }
  for i = 1, #CONTENT do
    local value = record[CONTENT[i]]
    parts[i + 1] = value == nil and "nil" or text_of(value)
  end
  return concat(parts, "\30")
end

--- Returns a function of a record that returns the key, and whether the key has an id. The key: the id and the members
--- that distinguish payments, as two payments may share an id; else the members that never change; else all.
---@param paging table
---@return fun(record: table): string, boolean
function M.key_of(paging)
  local id, members = paging.id, paging.key
  return function(record)
    if id and record[id] ~= nil and record[id] ~= "" then
      return tostring(record[id]) .. "\30" .. content_of(record, paging.time_member), true
    end
    if not members then return text_of(record), false end
    local parts = {}
    for i, member in ipairs(members) do parts[i] = text_of(record[member]) end
    return concat(parts, "\30"), false
  end
end

local DIGITS = 16

function M.digest(key)
  return digest.of(key):sub(1, DIGITS)
end

------------------------------------------------------------------------------------------------------------- cursors

local Tail = {}
Tail.__index = Tail

--- Returns a walk's memory for cursors.
---@param operation string
---@param time integer  all records up to and with this time were delivered
---@param known table<string, integer>|nil  hashes of later records that an earlier walk delivered, with counts
---@param late_arrival_ms integer           the farthest of those records from `time`
function M.new(operation, time, known, late_arrival_ms)
  return setmetatable({
    operation = operation, time = time, known = known or {}, known_to = time + late_arrival_ms,
    first = 1, last = 0, times = {}, keys = {},
  }, Tail)
end

--- Returns false for a record of an earlier walk.
function Tail:pass(key)
  if next(self.known) == nil then return true end
  local digits = M.digest(key)
  local count = self.known[digits]
  if not count then return true end
  self.known[digits] = count > 1 and count - 1 or nil
  return false
end

--- Notes a record. No record up to and with `complete_to` shows up late.
function Tail:add(time, key, complete_to)
  self.last = self.last + 1
  self.times[self.last], self.keys[self.last] = time, key
  self:advance(math.min(time - 1, complete_to))
end

--- Notes that no record up to and with `time` is asked for again.
function Tail:advance(time)
  if time > self.time then self.time = time end
  while self.first <= self.last and self.times[self.first] <= self.time do
    self.times[self.first], self.keys[self.first] = nil, nil
    self.first = self.first + 1
  end
end

--- Notes a walk complete up to and with `time`. Records of an earlier walk stay known until a walk ends after them.
function Tail:finish(time)
  if time >= self.known_to then self.known = {} end
  self:advance(time)
end

function Tail:text()
  local hashes = {}
  for i = self.first, self.last do hashes[#hashes + 1] = M.digest(self.keys[i]) end
  for digits, count in pairs(self.known) do
    for _ = 1, count do hashes[#hashes + 1] = digits end
  end
  return ("purser1;%s;%d;%s"):format(self.operation, self.time, concat(hashes, ","))
end

--- Returns a cursor's time and hashes; or nil and a message.
function M.read(text, operation)
  if type(text) ~= "string" then return nil, "is not a string; give what walk:cursor() returned" end
  local name, time, list = text:match("^purser1;([%w_%.]+);(%d%d%d%d%d%d%d%d%d%d%d%d%d);([%x,]*)$")
  if not name then return nil, "is not a cursor that walk:cursor() returned" end
  if name ~= operation then return nil, ("is one of %s, not of %s"):format(name, operation) end
  local known = {}
  for digits in list:gmatch("%x+") do
    known[digits] = (known[digits] or 0) + 1
  end
  return math.floor(tonumber(time)), known
end

return M
