-- SPDX-License-Identifier: MIT
-- Cursors: where a walk stands, as a plain string.
--
--   purser1;<operation>;<time>;<hash>,<hash>,...
--
-- Everything up to and with <time> has been delivered, and of what comes after it the records with these hashes. There
-- are such records because more than one may have a millisecond, and because what is younger than `late_arrival_ms` is
-- asked for once more by the next walk: a record may show up late. Their number is small: they are of one millisecond,
-- or of the last minute. A hash is that of a record's key: a text that distinguishes it from others of its history.

local digest = require "purser.client.util.digest"
local names_of = require "purser.client.util.names_of"

local M = {}

---------------------------------------------------------------------------------------------------------------- keys

-- Returns a text of any plain value; equal values have equal texts.
local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, name in ipairs(names_of(value)) do parts[i] = tostring(name) .. "=" .. text_of(value[name]) end
  return "{" .. table.concat(parts, "\31") .. "}"
end

-- Members that distinguish payments. None changes while a record stays in a history.
local CONTENT = { "clientTranId", "withdrawOrderId", "asset", "coin", "amount", "address", "fromAccountType",
  "toAccountType", "fromAccount", "toAccount" }

local function content_of(record, time_member)
  local parts = { time_member and text_of(record[time_member]) or "" }
  for i, member in ipairs(CONTENT) do parts[i + 1] = text_of(record[member]) end
  return table.concat(parts, "\30")
end

--- Returns the function that gives a record's key: where it has an id, that and what distinguishes payments, because
--- two may be shown with one id; else what never changes about it, else all of it. It also returns whether the key has
--- an id, so that two records of it are the same one.
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
    return table.concat(parts, "\30"), false
  end
end

local DIGITS = 16

--- Returns what a cursor keeps of a key: enough to know it again.
function M.digest(key)
  return digest.of(key):sub(1, DIGITS)
end

------------------------------------------------------------------------------------------------------------- cursors

local Tail = {}
Tail.__index = Tail

--- Returns what a walk remembers for its cursor.
---@param operation string
---@param time integer  everything up to and with this time has been delivered
---@param known table<string, integer>|nil  hashes of records after it that an earlier walk delivered, and how often
---@param late_arrival_ms integer           how far after it these records lie at most
function M.new(operation, time, known, late_arrival_ms)
  return setmetatable({
    operation = operation, time = time, known = known or {}, known_to = time + late_arrival_ms,
    first = 1, last = 0, times = {}, keys = {},
  }, Tail)
end

--- Returns false for a record that an earlier walk delivered.
function Tail:pass(key)
  if next(self.known) == nil then return true end
  local digits = M.digest(key)
  local count = self.known[digits]
  if not count then return true end
  self.known[digits] = count > 1 and count - 1 or nil
  return false
end

--- A record was delivered. `complete_to`: nothing up to and with this time will show up late.
function Tail:add(time, key, complete_to)
  self.last = self.last + 1
  self.times[self.last], self.keys[self.last] = time, key
  self:advance(math.min(time - 1, complete_to))
end

--- Everything up to and with `time` has been delivered and will not be asked for again.
function Tail:advance(time)
  if time > self.time then self.time = time end
  while self.first <= self.last and self.times[self.first] <= self.time do
    self.times[self.first], self.keys[self.first] = nil, nil
    self.first = self.first + 1
  end
end

--- The walk is at its end, and everything up to and with `time` is complete. What an earlier walk delivered and this
--- one did not meet may lie after that: it stays known until a walk gets beyond it.
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
  return ("purser1;%s;%d;%s"):format(self.operation, self.time, table.concat(hashes, ","))
end

--- Reads a cursor. Returns its time and what an earlier walk delivered after it; or nil and a message.
---@param text any
---@param operation string
---@return integer|nil time, table<string, integer>|string known
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
