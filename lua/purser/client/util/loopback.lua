-- SPDX-License-Identifier: MIT
-- Names the hosts of this machine without a name server: requests to them leave no wire to be read on.

local core = require "purser.core"

local M = {}

--- Tells if a host of a URL is this machine. Of names only `localhost` is: a resolver decides the rest.
function M.is(host)
  local family, is_own = core.ip_family(host:match "^%[(.*)%]$" or host)
  return host == "localhost" or family ~= nil and is_own and (family == 6 or host:sub(1, 1) ~= "[")
end

--- Returns a service's host as a journal keeps it. This machine has one name, at any port.
---@param url string  of options.split_url: with its path, or without
---@return string
function M.host_of(url)
  local host = url:lower():gsub("^%a+://", ""):gsub("/.*$", ""):gsub(":%d*$", "")
  return M.is(host) and "localhost" or host
end

return M
