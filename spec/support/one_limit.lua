-- SPDX-License-Identifier: MIT
--- A rate limit of one pool, on a clock that only a pause moves:
---
---     local one = require "one_limit"
---     before_each(one.begin)
---     local limit = one.limit(300)
---     limit:acquire(one.row(10), "key", one.pause)      -- one.now is the time

local purser = require "purser"

local M = {}

function M.begin() M.now = 1000000 end

function M.clock() return M.now end

--- Waits by moving the clock.
function M.pause(_, ms) M.now = M.now + ms end

function M.limit(capacity, options)
  local all = { pools = { ip = { capacity = capacity, window_ms = 10000 } }, now = M.clock }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.rate_limit(all)
end

--- The row of an operation, as a rate limit reads it.
function M.row(weight, effect, name)
  return { full_name = name or "wallet.coins", effect = effect or "read", weight = weight }
end

return M
