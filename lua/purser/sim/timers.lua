-- SPDX-License-Identifier: MIT
-- What is due when: a heap of { at, order, kind, id }. Equal times keep the order in which they were added, so a
-- run can be replayed. Items are plain data: the functions behind the kinds are named in init.lua.

local heaps = require "purser.util.heap"

local M = {}

local Schedule = {}
Schedule.__index = Schedule

function M.new()
  return setmetatable({ heap = {}, added = 0 }, Schedule)
end

function Schedule:add(at, kind, id)
  self.added = self.added + 1
  heaps.push(self.heap, { at = at, order = self.added, kind = kind, id = id })
end

--- Removes and returns the earliest item that is due at `now`, or nil.
function Schedule:take(now)
  local top = self.heap[1]
  return top and top.at <= now and heaps.pop(self.heap) or nil
end

function Schedule:snapshot()
  local items = {}
  for i, item in ipairs(self.heap) do
    items[i] = { at = item.at, order = item.order, kind = item.kind, id = item.id }
  end
  return { items = items, added = self.added }
end

function M.restore(state)
  local schedule = M.new()
  for _, item in ipairs(state.items) do heaps.push(schedule.heap, item) end
  schedule.added = state.added
  return schedule
end

return M
