-- SPDX-License-Identifier: MIT
-- What distinguishes one record of a history from another, as a text; and the digest of that text, which cursors keep.
--
-- Digests were of MD5 in the first version of cursors. Hosts may do without MD5 (FIPS), so they are of SHA-256 now, and
-- an old one has an "m" before it. It is read as long as the host has MD5.

local core = require "purser.core"
local digest = require "purser.util.digest"

local M = {}

-- A text of any plain value; equal values have equal texts.
local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  local names, parts = {}, {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for i, name in ipairs(names) do parts[i] = tostring(name) .. "=" .. text_of(value[name]) end
  return "{" .. table.concat(parts, "\31") .. "}"
end

-- What distinguishes payments. None of it changes while a record stays in a history.
local CONTENT = { "clientTranId", "withdrawOrderId", "asset", "coin", "amount", "address", "fromAccountType",
  "toAccountType", "fromAccount", "toAccount" }

local function content_of(record, time_member)
  local parts = { time_member and text_of(record[time_member]) or "" }
  for i, member in ipairs(CONTENT) do parts[i + 1] = text_of(record[member]) end
  return table.concat(parts, "\30")
end

--- The function that gives a record's key: where it has an id, that and what distinguishes payments, because two may be
--- shown with one id; else what never changes about it, else all of it. It also returns whether the key has an id, so
--- that two records of it are the same one, and that id, which is the key in cursors of older versions.
---@param paging table
---@return fun(record: table): string, boolean, string|nil
function M.of(paging)
  local id, members = paging.id, paging.key
  return function(record)
    if id and record[id] ~= nil and record[id] ~= "" then
      local text = tostring(record[id])
      return text .. "\30" .. content_of(record, paging.time_member), true, text
    end
    if not members then return text_of(record), false end
    local parts = {}
    for i, member in ipairs(members) do parts[i] = text_of(record[member]) end
    return table.concat(parts, "\30"), false
  end
end

local DIGITS = 16

--- What a cursor keeps of a key: enough to know it again.
function M.digest(key)
  return digest.of(key):sub(1, DIGITS)
end

--- The digest by which an older cursor knows a key; nil where the host has no MD5.
function M.md5_digest(key)
  local digits = core.md5_hex(key)
  return digits and "m" .. digits:sub(1, DIGITS)
end

function M.is_md5(digits)
  return digits:sub(1, 1) == "m"
end

--- A digest of a cursor of that version, as it is kept now. Also returns why it cannot be used on this host, or nil.
---@param version string
---@param digits string
---@return string digits, string|nil problem
function M.read_digest(version, digits)
  if version == "1" and not M.is_md5(digits) then digits = "m" .. digits end
  if not M.is_md5(digits) or core.md5_hex "" then return digits end
  return digits, "was made by an older version with MD5, which this host does not have; begin a new one"
end

return M
