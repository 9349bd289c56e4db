-- SPDX-License-Identifier: MIT
-- Keeps the inner state of clients apart from the tables that users hold. A user can read and change every field of a
-- client, a group or a walk; so keys, signer, transport and guard rails live in this module, by table. Only modules of
-- the package require this module: code with `require` or `debug` is not kept out.
--
-- No inner state refers back to a user's table: Lua 5.1 would never collect the pair.

local M = {}

local states = setmetatable({}, { __mode = "k" })

--- User's table -> inner state of the client.
M.states = states

--- Returns the inner state of a client or of a client's group; nil for any further value.
---@param held any
---@return table|nil
function M.state_of(held)
  return held ~= nil and states[held] or nil
end

return M
