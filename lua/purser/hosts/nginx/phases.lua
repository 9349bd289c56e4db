-- SPDX-License-Identifier: MIT
-- Where both transports for nginx may be made, and where nginx can wait.

local M = {}

local waiting = { rewrite = true, access = true, content = true, timer = true, ssl_cert = true,
  ssl_session_fetch = true, ssl_client_hello = true, preread = true, server_rewrite = true }

--- Returns why no transport can be made here, or nil.
---@return string|nil message
function M.no_worker()
  if not rawget(_G, "ngx") or not ngx.socket then return "this host is not nginx" end
  if ngx.get_phase() ~= "init" then return nil end
  return "make the transport in a worker (init_worker_by_lua, or at its first use), not in init_by_lua"
end

--- Returns why a call cannot wait here, or nil.
---@return string|nil message
function M.no_wait()
  local phase = ngx.get_phase()
  if waiting[phase] then return nil end
  return ("nginx cannot wait in the phase %s; make the call in a timer (ngx.timer.at)"):format(phase)
end

return M
