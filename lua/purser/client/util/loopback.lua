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

--- Returns the host of a service as a journal keeps it. This machine has one name, whatever port a test's service has.
---@param url string  of options.split_url: with its path, or without
---@return string
function M.host_of(url)
  local host = url:lower():gsub("^%a+://", ""):gsub("/.*$", ""):gsub(":%d*$", "")
  return M.is(host) and "localhost" or host
end

return M
