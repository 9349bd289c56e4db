-- SPDX-License-Identifier: MIT
-- Which hosts are this machine, whatever a name server says: what goes there leaves no wire to be read on.

local M = {}

-- A part beyond 255, or one with a zero in front, makes a name of an address: a resolver is asked what it stands for.
local function is_part(text)
  return #text <= 3 and tonumber(text) <= 255 and (text == "0" or text:sub(1, 1) ~= "0")
end

--- Whether a host, as it stands in a URL or as an address, is this machine.
---@param host string
---@return boolean
function M.is(host)
  if host == "localhost" or host == "::1" or host == "[::1]" then return true end
  local a, b, c = host:match("^127%.(%d+)%.(%d+)%.(%d+)$")
  return a ~= nil and is_part(a) and is_part(b) and is_part(c)
end

return M
