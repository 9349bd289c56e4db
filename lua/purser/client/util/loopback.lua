-- SPDX-License-Identifier: MIT
-- Names the hosts of this machine without a name server: requests to them leave no wire to be read on.

local core = require "purser.core"

local M = {}

--- Returns the address to connect to for a URL's host of this machine; nil for another host. A resolver may lead a name
--- elsewhere, so `localhost` alone among names has an address.
---@param host string  as in a URL, or without the brackets of an IPv6 address
---@return string|nil address  without brackets
function M.address(host)
  if host:lower() == "localhost" then return "127.0.0.1" end
  local bare = host:match "^%[(.*)%]$"
  local family, is_own = core.ip_family(bare or host)
  return is_own and (family == 6 or not bare) and (bare or host) or nil
end

--- Returns a service's host as a journal keeps it. This machine has one name, at any port.
---@param url string  of options.split_url: with its path, or without
---@return string
function M.host_of(url)
  local host = url:lower():gsub("^%a+://", ""):gsub("/.*$", ""):gsub(":%d*$", "")
  return M.address(host) and "localhost" or host
end

return M
