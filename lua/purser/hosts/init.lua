-- SPDX-License-Identifier: MIT
-- The hosts: programs with a loop of their own in which Purser's calls wait. This file names their transports and
-- bridges, and module.lua hands these to `purser.transport`. limits/ has the rate limit's stores for several processes.
-- luv.lua is the shortest bridge, copas.lua and cqueues.lua are for coroutines, nginx/ has both transports of a worker.

local M = {}

local modules = {
  copas = "purser.hosts.copas", cosocket = "purser.hosts.nginx.cosocket", cqueues = "purser.hosts.cqueues",
  luv = "purser.hosts.luv", openresty = "purser.hosts.nginx.openresty",
}

--- Registers each transport by its name.
---@param register fun(name: string, module: string)
function M.register(register)
  for name, module in pairs(modules) do register(name, module) end
end

return M
