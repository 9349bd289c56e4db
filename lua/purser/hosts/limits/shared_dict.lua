-- SPDX-License-Identifier: MIT
-- The store in a shared dictionary of nginx (lua_shared_dict), for all workers of one nginx. It survives a reload, and
-- forgets with nginx. A worker decides while it holds a lock, which takes some 50 microseconds.

local core = require "purser.core"
local documents = require "purser.hosts.limits.documents"

local Store = { __name = "purser.rate_limit.shared_dict", kind = "shared_dict" }
Store.__index = Store

local M = {}

local LOCK_S = 1      -- the lock of a worker that died with it ends then
local REST_S = 0.001  -- between two tries
local SPINS = 2000    -- tries where nginx lets nobody sleep

-- Keeps a text. Expired texts make room, and no other text does: it may still count.
local function keep(dict, method, ...)
  local ok, why = dict[method](dict, ...)
  if why ~= "no memory" then return ok, why end
  dict:flush_expired()
  return dict[method](dict, ...)
end

-- Takes the lock, which another worker holds for microseconds, or until it gets the processor.
local function lock(self, patience_ms)
  self.turn = self.turn + 1
  local token, ends, spins = ("%d.%d"):format(ngx.worker.pid(), self.turn), core.monotonic_ms() + patience_ms, 0
  while true do
    local ok, why = keep(self.dict, "safe_add", self.namespace .. "lock", token, LOCK_S)
    if ok then return token end
    if why ~= "exists" then return nil, "the dictionary is full: " .. tostring(why) end
    spins = spins + 1
    local rested = spins % 100 ~= 0 or pcall(ngx.sleep, REST_S)
    if core.monotonic_ms() >= ends or not rested and spins >= SPINS then
      return nil, "another worker keeps its lock"
    end
  end
end

local function write(self, token, put)
  if self.dict:get(self.namespace .. "lock") ~= token then return nil, "its lock was lost" end
  for name, kept in pairs(put) do
    local ok, why = keep(self.dict, "safe_set", self.namespace .. name, kept[1], kept[2] / 1000)
    if not ok then return nil, "the dictionary is full: " .. tostring(why) end
  end
  return true
end

function Store:transact(_, fn, patience_ms)
  local token, message = lock(self, patience_ms)
  if not token then return nil, message end
  local results, put = documents.run(fn, function(name) return self.dict:get(self.namespace .. name) end,
    core.monotonic_ms(), "-")
  local ok, why = nil, put
  if results then ok, why = write(self, token, put) end
  if self.dict:get(self.namespace .. "lock") == token then self.dict:delete(self.namespace .. "lock") end
  if not ok then return nil, why end
  return results[1], results[2], results[3], results[4], results[5]
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
  return setmetatable({ dict = dict, namespace = (options.namespace or "purser") .. " ", turn = 0 }, Store)
end

return M
