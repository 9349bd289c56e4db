-- SPDX-License-Identifier: MIT
-- A store that other processes use, too, and what happens while it is away: nothing is sent, or a fixed part of each
-- pool is used without it.
--
-- Before a part is used, one window passes without a call: by then nothing counts that the store let go. When the store
-- is back it holds every pool for one window, since it does not know what was sent without it.

local process = require "purser.call.rate_limit.process"

local AGAIN_MS = 1000 -- how long a store that did not answer is left alone

local Away = { __name = "purser.rate_limit.away" }
Away.__index = Away

local M = {}

local function message_of(self)
  return ("the rate limit's store (%s) is away: %s; start it, or let this client use a part without it (fallback_part)")
    :format(self.store.kind or "given", self.message)
end

local function note_failure(self, message)
  local now = self.now()
  self.down, self.tried, self.message = self.down or now, now, tostring(message)
end

-- Whether the store may be asked now.
local function may_ask(self)
  return not self.down or self.now() - self.tried >= AGAIN_MS
end

-- What has to reach a store that is back before anything else.
local function report(self)
  if self.part then
    local ok, message = self.store:hold(self.span + AGAIN_MS)
    if not ok then return nil, message end
  end
  local now = self.now()
  for name, block in pairs(self.blocks) do
    if block.ends > now then
      local ok, message = self.store:block(name, block.span, block.ends - now)
      if not ok then return nil, message end
    end
    self.blocks[name] = nil
  end
  self.down = nil
  return true
end

local function is_whole(value)
  return type(value) == "number" and value % 1 == 0 and value > -2 ^ 53 and value < 2 ^ 53
end

-- What a store may answer: one that says anything else is away.
local makes_sense = {
  reserve = function(ms, ticket, at) return is_whole(ms) and is_whole(ticket) and (ms < 0 or is_whole(at)) end,
  block = is_whole,
  pool = function(...)
    for i = 1, 5 do
      if not is_whole((select(i, ...))) then return false end
    end
    return true
  end,
  members = function(list) return type(list) == "table" end,
}

-- Asks the store. Returns what it says; or nil where it is away.
local function ask(self, method, ...)
  if not may_ask(self) then return nil end
  if self.down then
    local ok, message = report(self)
    if not ok then
      note_failure(self, message)
      return nil
    end
  end
  local first, second, third, fourth, fifth = self.store[method](self.store, ...)
  local check = first ~= nil and makes_sense[method]
  if check and not check(first, second, third, fourth, fifth) then first, second = nil, "its answer makes no sense" end
  if first ~= nil then return first, second, third, fourth, fifth end
  note_failure(self, second)
end

-- What a call takes of this process's part; false where it weighs more than that.
local function part_of(self, takes)
  local own = self.takes[takes]
  if own ~= nil then return own end
  own = {}
  for i = 1, #takes, 4 do
    local capacity = math.floor(takes[i + 2] * self.part)
    if own and takes[i + 1] <= capacity then
      own[i], own[i + 1], own[i + 2], own[i + 3] = takes[i], takes[i + 1], capacity, takes[i + 3]
    else
      own = false
    end
  end
  self.takes[takes] = own
  return own
end

-- The longest block that was not reported yet, of the pools of a call.
local function blocked(self, takes)
  for i = 1, #takes, 4 do
    local block = self.blocks[takes[i]]
    local left = block and block.ends - self.now() or 0
    if left > 0 then return left, takes[i] end
  end
end

function Away:reserve(takes, priority, number)
  local ms, ticket, at = ask(self, "reserve", takes, priority, number)
  if ms then return ms, ticket, at end
  local left, name = blocked(self, takes)
  if left then return -1, left, name end
  if not self.part then return nil, message_of(self) end
  local own = part_of(self, takes)
  if not own then return nil, message_of(self) .. "; this call weighs more than its part of " .. self.part end
  local wait = self.down + self.span - self.now()
  if wait > 0 then return wait, 0, 0 end
  ms, ticket, at = self.own:reserve(own, priority, number)
  return ms, ticket, -(at or 0)
end

function Away:give_back(takes, number, at)
  if at < 0 then return 0 end -- of this process's part: it counts until its window is over
  return ask(self, "give_back", takes, number, at) or 0
end

function Away:block(name, span, ms)
  local left = ask(self, "block", name, span, ms)
  if left then return left end
  local block = self.blocks[name] or { ends = 0, span = span }
  block.ends = math.max(block.ends, self.now() + (ms < 0 and span or ms))
  self.blocks[name] = block
  return block.ends - self.now()
end

function Away:hold(ms)
  return ask(self, "hold", ms)
end

function Away:seen(member)
  return ask(self, "seen", member)
end

function Away:pool(name, span)
  local used, left, count, cost, held = ask(self, "pool", name, span)
  if not used then return nil, message_of(self) end
  return used, left, count, cost, held
end

function Away:members()
  local list = ask(self, "members")
  if not list then return nil, message_of(self) end
  return list
end

function Away:close()
  self.store:close()
end

---@param store table        of other processes, too
---@param pools table[]      of the rate limit
---@param part number|nil    of each pool, to be used while the store is away
---@param now fun(): integer monotonic milliseconds
function M.new(store, pools, part, now)
  local span = 0
  for _, pool in ipairs(pools) do span = math.max(span, pool.span) end
  return setmetatable({ store = store, part = part, span = span, now = now, blocks = {}, message = "", tried = 0,
    takes = setmetatable({}, { __mode = "k" }), own = part and process.new { now = now } }, Away)
end

return M
