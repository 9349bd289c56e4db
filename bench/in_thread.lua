-- SPDX-License-Identifier: MIT
--- A blocking call that bench/openresty.lua has nginx run in a thread (ngx.run_worker_thread). Each of nginx's threads
-- takes a Lua state of its own from a pool, so there is a client for every call that waits.

local purser = require "purser"

local M = {}

local clients = {}

--- Returns how many deposits there are, or nil and why not.
function M.count(base_url)
  local client = clients[base_url]
  if not client then
    client = assert(purser.new { base_url = base_url, api_key = "k", secret_key = "s", rate_limit = false,
      retry = false })
    clients[base_url] = client
  end
  local deposits, err = client.wallet:deposit_history()
  if not deposits then return nil, tostring(err) end
  return #deposits
end

return M
