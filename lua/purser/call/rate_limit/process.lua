-- SPDX-License-Identifier: MIT
-- The store in this process's memory: for all clients that share one rate limit here. It forgets with the process.

local core = require "purser.core"

local M = {}

--- Makes a store. Nobody else ever comes between.
---@param now (fun(): integer)|nil  monotonic milliseconds
function M.new(now)
  local documents, kv = {}, {}
  now = now or core.monotonic_ms
  function kv.get(name) return documents[name] end
  function kv.put(name, document) documents[name] = document end
  return { kind = "process", transact = function(_, _, fn) return fn(kv, now(), "-") end, close = function() end }
end

return M
