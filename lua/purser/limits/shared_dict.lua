-- SPDX-License-Identifier: MIT
-- The store in a shared dictionary of nginx (lua_shared_dict), for all workers of one nginx. It survives a reload, and
-- forgets with nginx. A worker decides while it holds a lock, which takes some 50 microseconds and never waits.

local core = require "purser.core"
local documents = require "purser.limits.documents"
local sliding_log = require "purser.call.rate_limit.sliding_log"

local Store = { __name = "purser.rate_limit.shared_dict", kind = "shared_dict" }
Store.__index = Store
documents.methods(Store)

local M = {}

local LOCK_S, SPINS, REST_S = 1, 2000, 0.001

-- Keeps a text, never in the place of another one: that may still count. What is over makes room.
local function keep(dict, method, ...)
  local ok, why = dict[method](dict, ...)
  if why ~= "no memory" then return ok, why end
  dict:flush_expired()
  return dict[method](dict, ...)
end

-- Takes the lock. Another worker has it for microseconds; that of a worker that died ends after a second.
local function lock(self)
  self.turn = self.turn + 1
  local token = ("%d.%d"):format(ngx.worker.pid(), self.turn)
  for spin = 1, SPINS do
    local ok, why = keep(self.dict, "safe_add", self.namespace .. "lock", token, LOCK_S)
    if ok then return token end
    if why ~= "exists" then return nil, "the dictionary is full: " .. tostring(why) end
    if spin % 100 == 0 then pcall(ngx.sleep, REST_S) end
  end
  return nil, "another worker has kept the lock for too long"
end

local function write(self, token, put, now)
  if self.dict:get(self.namespace .. "lock") ~= token then return nil, "the lock was lost" end
  for name, document in pairs(put) do
    local seconds = sliding_log.keep_ms(name, document, now) / 1000
    local ok, why = keep(self.dict, "safe_set", self.namespace .. name, documents.encode(name, document), seconds)
    if not ok then return nil, "the dictionary is full: " .. tostring(why) end
  end
  return true
end

function Store:transact(_, fn)
  local token, message = lock(self)
  if not token then return nil, message end
  local now = core.monotonic_ms()
  local kv, put = documents.kv(function(name) return self.dict:get(self.namespace .. name) end)
  local ran, first, second, third, fourth, fifth = pcall(fn, kv, now, "")
  local ok, why
  if ran then ok, why = write(self, token, put, now) end
  if self.dict:get(self.namespace .. "lock") == token then self.dict:delete(self.namespace .. "lock") end
  if not ran then error(first, 0) end
  if not ok then return nil, why end
  return first, second, third, fourth, fifth
end

function Store.close() end

--- Makes a store. Returns nil and what is wrong.
---@param options { shared_dict: string, namespace: string|nil }
function M.new(options)
  local dict = ngx and ngx.shared[options.shared_dict]
  if not dict then
    return nil, ("there is no shared dictionary %q; add `lua_shared_dict %s 1m;` to nginx's http block"):format(
      options.shared_dict, options.shared_dict)
  end
  return setmetatable({ dict = dict, namespace = (options.namespace or "purser") .. " ", turn = 0 },
    Store)
end

return M
