-- SPDX-License-Identifier: MIT
-- What cursors keep of a record's key: enough to know it again.
--
-- Digests were of MD5 in the first version of cursors. Hosts may do without MD5 (FIPS), so they are of SHA-256 now, and
-- an old one has an "m" before it. It is read as long as the host has MD5.

local core = require "purser.core"
local digest = require "purser.util.digest"

local M = {}

local DIGITS = 16

function M.of(key)
  return digest.of(key):sub(1, DIGITS)
end

--- The digest of an older cursor, as it is kept now.
function M.old(digits)
  return digits:sub(1, 1) == "m" and digits or "m" .. digits
end

function M.is_old(digits)
  return digits:sub(1, 1) == "m"
end

--- The digest by which an older cursor knows a key; nil where the host has no MD5.
function M.old_of(key)
  local digits = core.md5_hex(key)
  return digits and "m" .. digits:sub(1, DIGITS)
end

--- Why older cursors cannot be read on this host; nil where they can.
function M.old_problem()
  if core.md5_hex "" then return nil end
  return "was made by an older version with MD5, which this host does not have; begin a new one"
end

return M
