-- SPDX-License-Identifier: MIT
-- The four steps of a command:
--
--   read   words -> request { command, action, does, way, options }   grammar.lua
--   look   options -> screen                                          reads alone
--   act    screen, options -> ends, a word for each row of the screen asks; no other step writes
--   say    screen, options, ends -> exit code
--
-- `act` is called here and nowhere else, and only where the request does "send". A command that shows something has
-- `say` alone; a command of actions has the steps of each in `actions`.

local M = {}

--- Runs a request. `act` returns nil for an outdated screen, which is shown again. Each step gets the request last.
---@param command { look: function|nil, act: function|nil, say: function, actions: table|nil }
---@return integer|nil code
function M.run(request, command)
  local steps, options = command.actions and command.actions[request.action] or command, request.options
  local screen, ends
  repeat
    screen = steps.look and steps.look(options, screen, request)
    if request.does == "send" then ends = steps.act(screen, options, request) end
  until ends or request.does ~= "send"
  return steps.say(screen, options, ends, request)
end

return M
