-- SPDX-License-Identifier: MIT
-- Keeps clients' inner states apart from users' tables, whose every field a user can read and change: keys, signer,
-- transport and guard rails are found here by table. Code with `require` or `debug` is not kept out.
--
-- No inner state refers back to a user's table: Lua 5.1 would never collect the pair.

local M = {}

local states = setmetatable({}, { __mode = "k" })

M.states = states

--- Returns the inner state of a client or group; nil for any further value.
function M.state_of(held)
  return held ~= nil and states[held] or nil
end

return M
