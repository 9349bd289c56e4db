-- SPDX-License-Identifier: MIT
-- A binary heap of entries with `at` and, for equal times, `order`. A heap is a list with the next entry first.

local M = {}

local function is_before(a, b)
  return a.at < b.at or (a.at == b.at and a.order < b.order)
end

---@param heap table[]
---@param entry { at: number, order: integer }
function M.push(heap, entry)
  local i = #heap + 1
  while i > 1 do
    local parent = (i - i % 2) / 2
    if not is_before(entry, heap[parent]) then break end
    heap[i], i = heap[parent], parent
  end
  heap[i] = entry
end

--- Returns the next entry, removed; nil from an empty heap.
function M.pop(heap)
  local top, size = heap[1], #heap - 1
  local entry, i = heap[size + 1], 1
  heap[size + 1] = nil
  if size <= 0 then return top end
  while 2 * i <= size do
    local child = 2 * i
    if child < size and is_before(heap[child + 1], heap[child]) then child = child + 1 end
    if not is_before(heap[child], entry) then break end
    heap[i], i = heap[child], child
  end
  heap[i] = entry
  return top
end

return M
