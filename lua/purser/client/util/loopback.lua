-- SPDX-License-Identifier: MIT
-- Hosts of this machine, whatever a name server says: requests to these leave no wire to be read on.

local core = require "purser.core"

local M = {}

--- Tells if a host of a URL, or an address, is this machine. Names other than `localhost` are not: a resolver would
--- decide.
---@param host string
---@return boolean
function M.is(host)
  local family, is_own = core.ip_family(host:match "^%[(.*)%]$" or host)
  return host == "localhost" or family ~= nil and is_own and (family == 6 or host:sub(1, 1) ~= "[")
end

--- Returns the host of a service for a journal. This machine has one name for all ports of tests' services.
---@param url string  of options.split_url: with its path, or without
---@return string
function M.host_of(url)
  local host = url:lower():gsub("^%a+://", ""):gsub("/.*$", ""):gsub(":%d*$", "")
  return M.is(host) and "localhost" or host
end

return M
