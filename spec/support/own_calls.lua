-- SPDX-License-Identifier: MIT
-- A client's knowledge of its own calls, for specs of reconciling: a journal in memory.
--
--     local known = own_calls.new()
--     own_calls.note(known, row, intent, id, over)   -- `id` of its record, where it is known; `over`: it made none

local memory = require "purser.write.journal.memory"

local M = { new = memory.new }

--- Notes a call, or how it ended. Returns it.
---@param how "found"|nil  its record was found by its content
function M.note(known, row, intent, id, over, how)
  intent.operation = intent.operation or row.full_name
  if not known:call_of(intent) then known:begin(intent, row) end
  if id and how then
    known:reconciled(intent, { outcome = "done", record = { tranId = id } })
  elseif id then
    known:finish(intent, { tranId = id })
  elseif over then
    known:finish(intent, nil, { outcome = "rejected", message = "" })
  end
  return known:call_of(intent)
end

--- Returns a journal with these methods in place of its own.
function M.with(methods)
  return setmetatable(methods, { __index = memory.new() })
end

return M
