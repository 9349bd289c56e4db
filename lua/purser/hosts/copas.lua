-- SPDX-License-Identifier: MIT
-- Purser's multi transport for coroutines of copas, of any version. The program's loop calls `copas.step(0.01)` and
-- `transport:step()`. Each waiting call has a socket of its own, by which it is woken.
local copas, socket = require "copas", require "socket"
local multi = require "purser.client.transport.multi"

local function wait(call)
  local bell = assert(socket.udp())
  assert(bell:setsockname("127.0.0.1", 0) and bell:setpeername(bell:getsockname()))
  bell:settimeout(0)
  call.bell = bell
  copas.receive(bell, 1)
  bell:close()
end

local M = {}

--- Makes the transport for coroutines of copas; docs/hosts/hosts.md.
---@param options table|nil  of purser.transport.multi
---@return table transport
function M.new(options)
  local given = { wait = wait, wake = function(call) call.bell:send "!" end, outside_tasks = "reject" }
  for name, value in pairs(options or {}) do given[name] = value end
  return assert(multi.new(given))
end

return M
