-- SPDX-License-Identifier: MIT
-- Purser's multi transport in a loop of cqueues: any coroutine of the loop may call, and waits as cqueues waits.
local cqueues, condition = require "cqueues", require "cqueues.condition"
local multi = require "purser.client.transport.multi"

local M = {}

--- Makes the transport for coroutines of a cqueues loop; docs/hosts/hosts.md.
---@param _ table  of cqueues.new
---@param options table|nil  of purser.transport.multi
---@return table transport
function M.new(_, options)
  local given = { self_stepping = true }
  for name, value in pairs(options or {}) do given[name] = value end
  function given.wait(call, ms, transport)
    call.bell = call.bell or condition.new()
    local list, all = { call.bell, ms / 1000 }, transport and transport:fds() or {}
    for i, fd in ipairs(all) do list[i + 2] = { pollfd = fd.fd, events = fd.events } end
    cqueues.poll((table.unpack or unpack)(list)) -- luacheck: ignore 113
    for i = 3, #list do cqueues.cancel(list[i].pollfd) end -- before the step that may close it
  end
  function given.wake(call) call.bell:signal() end
  return assert(multi.new(given))
end

return M
