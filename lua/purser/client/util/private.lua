-- SPDX-License-Identifier: MIT
-- Keeps inner states apart from users' tables. The holder of a client, a group or a walk can read and change each field
-- of the table; so the inner state (keys, signer, transport, guard rails) lives here, by table. Code that can require
-- this module or has `debug` is not kept out.
--
-- No inner state refers to the users' table: on Lua 5.1 neither would ever be collected.

local M = {}

local states = setmetatable({}, { __mode = "k" })

--- Users' table -> the inner state of the client.
M.states = states

--- Returns the inner state of a client or of one of its groups; nil for anything else.
---@param held any
---@return table|nil
function M.state_of(held)
  return held ~= nil and states[held] or nil
end

return M
