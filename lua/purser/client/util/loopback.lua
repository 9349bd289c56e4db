-- SPDX-License-Identifier: MIT
-- Names the hosts that are this machine, without a name server: requests to them leave no wire to be read on.

local core = require "purser.core"

local M = {}

--- Tells if a host, in the form of a URL or an address, is this machine. Of names only `localhost` is: a resolver would
--- decide the rest.
---@param host string
---@return boolean
function M.is(host)
  local family, is_own = core.ip_family(host:match "^%[(.*)%]$" or host)
  return host == "localhost" or family ~= nil and is_own and (family == 6 or host:sub(1, 1) ~= "[")
end

--- Returns the host of a service as a journal keeps it. This machine has one name, at any port of a test's service.
---@param url string  of options.split_url: with its path, or without
---@return string
function M.host_of(url)
  local host = url:lower():gsub("^%a+://", ""):gsub("/.*$", ""):gsub(":%d*$", "")
  return M.is(host) and "localhost" or host
end

return M
