-- SPDX-License-Identifier: MIT
-- Keeps what users hold apart from what it works with. Whoever has a client, one of its groups or a walk can read and
-- change every field of that table; so the inner state (keys, signer, transport, guard rails) lives here, by the table
-- that stands for it. Only modules of this package know this one: code that can require it, or has `debug`, is not kept
-- out.
--
-- No inner state refers to a table that stands for it: on Lua 5.1 neither would ever be collected.

local M = {}

local states = setmetatable({}, { __mode = "k" })

--- Table that users hold -> the inner state of its client.
M.states = states

--- Returns the inner state of a client or of one of its groups; nil for anything else.
---@param held any
---@return table|nil
function M.state_of(held)
  return held ~= nil and states[held] or nil
end

return M
