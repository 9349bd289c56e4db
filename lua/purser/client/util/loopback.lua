-- SPDX-License-Identifier: MIT
-- Which hosts are this machine, whatever a name server says: what goes there leaves no wire to be read on.

local core = require "purser.core"

local M = {}

--- Tells if a host, as it stands in a URL or as an address, is this machine. A name that is no address is not, but for
--- `localhost`: a resolver is asked what it stands for.
---@param host string
---@return boolean
function M.is(host)
  local family, is_own = core.ip_family(host:match "^%[(.*)%]$" or host)
  return host == "localhost" or family ~= nil and is_own and (family == 6 or host:sub(1, 1) ~= "[")
end

return M
