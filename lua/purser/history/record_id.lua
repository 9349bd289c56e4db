-- SPDX-License-Identifier: MIT
-- A text that distinguishes one record of a history from another; and the digest of that text, which cursors keep.

local digest = require "purser.util.digest"
local names_of = require "purser.util.names_of"

local M = {}

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
function M.of(paging)
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

return M
