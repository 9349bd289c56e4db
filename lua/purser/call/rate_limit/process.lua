-- SPDX-License-Identifier: MIT
-- The store in this process's memory: for all clients that share one rate limit here. It forgets with the process.
--
-- Calls that take the same, one after the other within a step of time, are a series. The rule counts the first call;
-- then there is room for so many more. Those are counted in the series alone, and written into the documents before
-- anything else reads one.
--
-- The first call of all has room, so the rule is loaded with the second, and counts both. A program of one call does
-- without it.

local core = require "purser.core"
local lazy = require "purser.util.lazy"
local sliding_log = lazy "purser.call.rate_limit.sliding_log"

local Process = { __name = "purser.rate_limit.process", kind = "process" }
Process.__index = Process

local M = {}

local floor, huge, max, min = math.floor, math.huge, math.max, math.min

local MANY = 2 ^ 31 -- calls of a series, where they cost nothing

-- Where a pool holds its sum and the length of a step, and the queue until when all is held and its tickets.
local SUM, STEP = 2, 5
local HELD, TICKETS = 2, 5

-- A series begins: the rule has just counted a call at `now`, while nothing waits. For each pool it holds the pool and
-- where the step is in it.
local function begin(series, documents, takes, now)
  local queue = documents[sliding_log.QUEUE]
  if queue[TICKETS][1] or queue[HELD] > now then return end
  local after, before, room = -huge, huge, MANY
  for i = 1, #takes, 4 do
    local pool, cost = documents[takes[i]], takes[i + 1]
    local ends = now - now % pool[STEP] + pool[STEP]
    after, before = max(after, ends - pool[STEP]), min(before, ends)
    if cost > 0 then room = min(room, floor((takes[i + 2] - pool[SUM]) / cost)) end
    series[i], series[i + 1] = pool, sliding_log.index(takes[i + 3], ends)
  end
  series.takes, series.after, series.before, series.room, series.left = takes, after, before, room, room
end

-- The series is over: its calls are written into the pools.
local function finish(series)
  local takes, calls = series.takes, series.room - series.left
  series.takes = false
  if calls == 0 then return end
  for i = 1, #takes, 4 do
    local pool, step, cost = series[i], series[i + 1], calls * takes[i + 1]
    pool[SUM], pool[step] = pool[SUM] + cost, pool[step] + cost
  end
end

-- The rule counts the first call, at its time.
local function count(first, kv)
  local takes = first.takes
  first.takes = false
  sliding_log.reserve(kv, first.at, takes, 1, 0, "")
end

function Process:reserve(takes, priority, number)
  local now, series = self.now(), self.series
  if series.takes == takes and now < series.before and now > series.after and series.left > 0 then
    series.left = series.left - 1
    return 0, number, now
  end
  local first = self.first
  if first.is_awaited then
    first.is_awaited, first.takes, first.at = false, takes, now
    return 0, number, now
  end
  local ms, ticket, at = sliding_log.reserve(self.kv, now, takes, priority, number, "")
  if ms == 0 then begin(series, self.documents, takes, now) end
  return ms, ticket, at
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
  local documents, series, first = {}, { takes = false }, { is_awaited = true, takes = false }
  local kv = {
    put = function(name, document) documents[name] = document end,
  }
  function kv.get(name)
    first.is_awaited = false
    if first.takes then count(first, kv) end
    if series.takes then finish(series) end
    return documents[name]
  end
  return setmetatable({
    now = options.now or core.monotonic_ms, documents = documents, series = series, first = first, kv = kv,
  }, Process)
end

return M
