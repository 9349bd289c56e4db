-- SPDX-License-Identifier: MIT
-- The four steps of a command that may send:
--
--   read   words -> request { command, action, does, way, options }   grammar.lua
--   look   request -> screen                                          reads alone
--   act    screen -> ends, a word for each row of the screen          asks; no other step writes
--   say    request, screen, ends -> exit code
--
-- `act` is called here and nowhere else, and only where the request does "send".

local M = {}

--- Runs a request. `act` returns nil for an outdated screen, which is shown again.
---@param steps { look: function, act: function, say: function }
---@return integer|nil code
function M.run(request, steps)
  local screen, ends
  repeat
    screen = steps.look(request, screen)
    if request.does == "send" then ends = steps.act(screen, request) end
  until ends or request.does ~= "send"
  return steps.say(request, screen, ends)
end

return M
