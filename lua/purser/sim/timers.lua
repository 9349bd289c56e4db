-- SPDX-License-Identifier: MIT
-- What is due when: a binary heap of { at, order, kind, id }. Equal times keep the order in which they were added, so a
-- run can be replayed. Items are plain data: the functions behind the kinds are named in init.lua.

local M = {}

local Schedule = {}
Schedule.__index = Schedule

function M.new()
  return setmetatable({ heap = {}, added = 0 }, Schedule)
end

local function before(a, b)
  return a.at < b.at or (a.at == b.at and a.order < b.order)
end

local function push(heap, item)
  local i = #heap + 1
  while i > 1 do
    local up = (i - i % 2) / 2
    if not before(item, heap[up]) then break end
    heap[i] = heap[up]
    i = up
  end
  heap[i] = item
end

function Schedule:add(at, kind, id)
  self.added = self.added + 1
  push(self.heap, { at = at, order = self.added, kind = kind, id = id })
end

--- Removes and returns the earliest item that is due at `now`, or nil.
function Schedule:take(now)
  local heap = self.heap
  local top = heap[1]
  if not top or top.at > now then return nil end
  local size = #heap - 1
  local item = heap[size + 1]
  heap[size + 1] = nil
  if size == 0 then return top end
  local i = 1
  while true do
    local child = 2 * i
    if child > size then break end
    if child < size and before(heap[child + 1], heap[child]) then child = child + 1 end
    if not before(heap[child], item) then break end
    heap[i] = heap[child]
    i = child
  end
  heap[i] = item
  return top
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
  for _, item in ipairs(state.items) do push(schedule.heap, item) end
  schedule.added = state.added
  return schedule
end

return M
