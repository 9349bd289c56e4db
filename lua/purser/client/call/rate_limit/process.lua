-- SPDX-License-Identifier: MIT
-- The store in this process's memory.

local core = require "purser.core"

local Process = { __name = "purser.rate_limit.process", kind = "process" }
Process.__index = Process

local M = {}

function Process:state()
  return self.kv, self.now(), "-"
end

function Process:transact(_, fn)
  return fn(self:state())
end

function Process.close() end

---@param now (fun(): integer)|nil  monotonic milliseconds
function M.new(now)
  local documents = {}
  return setmetatable({ now = now or core.monotonic_ms, kv = {
    get = function(name) return documents[name] end,
    put = function(name, document) documents[name] = document end,
  } }, Process)
end

return M
