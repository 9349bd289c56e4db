-- SPDX-License-Identifier: MIT
-- The store in this process's memory: for all clients that share one rate limit here. It forgets with the process.

local core = require "purser.core"
local sliding_log = require "purser.call.rate_limit.sliding_log"

local Process = { __name = "purser.rate_limit.process", kind = "process" }
Process.__index = Process

local M = {}

local reserve = sliding_log.reserve

function Process:reserve(takes, priority, number)
  return reserve(self.kv, self.now(), takes, priority, number, "")
end

function Process:give_back(takes, number, at)
  return sliding_log.give_back(self.kv, self.now(), takes, number, at)
end

function Process:block(name, span, ms)
  return sliding_log.block(self.kv, self.now(), name, span, ms)
end

function Process:hold(ms)
  return sliding_log.hold(self.kv, self.now(), ms, "")
end

function Process:seen(member)
  return sliding_log.seen(self.kv, self.now(), member)
end

function Process:pool(name, span)
  return sliding_log.pool(self.kv, self.now(), name, span)
end

function Process:members()
  return sliding_log.members(self.kv, self.now())
end

function Process.close() end

--- Makes a store. `now` returns monotonic milliseconds.
---@param options { now: (fun(): integer)|nil }
function M.new(options)
  local documents = {}
  return setmetatable({
    now = options.now or core.monotonic_ms,
    kv = {
      get = function(name) return documents[name] end,
      put = function(name, document) documents[name] = document end,
    },
  }, Process)
end

return M
