-- SPDX-License-Identifier: MIT
-- One coroutine at a time uses a connection: a host may switch to another one in the middle of a transaction (HAProxy
-- does so after some thousand instructions), which would then write into that transaction, or fail to begin its own.
-- The others wait: by the host's `sleep`, or, without one, by looking until the host switches back.

local core = require "purser.core"

local compare_and_set, monotonic_ms = core.compare_and_set, core.monotonic_ms

local M = {}

local MAIN = {} -- Lua 5.1 has no coroutine outside of coroutines

---@class purser.journal.Turn
local Turn = {}
Turn.__index = Turn

---@param timeout_ms integer  how long to wait at most
---@param sleep fun(ms: integer)|nil
function M.new(timeout_ms, sleep)
  return setmetatable({ slot = {}, timeout_ms = timeout_ms, sleep = sleep or false }, Turn)
end

-- A host may end a coroutine where it stands, with its request.
local function is_abandoned(holder)
  local who = holder.who
  return who == nil or who ~= MAIN and coroutine.status(who) == "dead"
end

--- Waits for the turn. Returns what `leave` takes, and whether a coroutine that is no more left its work half done; or
--- nil and a message. Whoever has the turn gets it again.
function Turn:enter()
  local me, slot = coroutine.running() or MAIN, self.slot
  if slot[1] and slot[1].who == me then return false, false end
  local mine = setmetatable({ who = me }, { __mode = "v" })
  local ends
  while not compare_and_set(slot, nil, mine) do
    local holder = slot[1]
    if holder and is_abandoned(holder) and compare_and_set(slot, holder, mine) then return mine, true end
    local now = monotonic_ms()
    ends = ends or now + self.timeout_ms
    if now >= ends then
      return nil, "another coroutine of this program is in the middle of a transaction, and did not end it in time; "
        .. "give journal.open `sleep`, the function by which a coroutine of this host waits"
    end
    if self.sleep then self.sleep(1) end
  end
  return mine, false
end

--- Ends the turn that `enter` gave.
function Turn:leave(mine)
  if mine then compare_and_set(self.slot, mine, nil) end
end

return M
