-- SPDX-License-Identifier: MIT
-- The store in this process's memory: for all clients that share one rate limit here. It forgets with the process.

local core = require "purser.core"

local Process = { __name = "purser.rate_limit.process", kind = "process" }
Process.__index = Process

local M = {}

--- Returns what fn of transact is called with: nobody else ever comes between.
function Process:state()
  return self.kv, self.now(), "-"
end

function Process:transact(_, fn)
  return fn(self:state())
end

function Process.close() end

--- Makes a store.
---@param now (fun(): integer)|nil  monotonic milliseconds
function M.new(now)
  local documents = {}
  return setmetatable({ now = now or core.monotonic_ms, kv = {
    get = function(name) return documents[name] end,
    put = function(name, document) documents[name] = document end,
  } }, Process)
end

return M
