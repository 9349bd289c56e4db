-- SPDX-License-Identifier: MIT
-- Actions of a command, each with arguments, options, help and example of its own.

local connection = require "purser.cli.connection"

local M = { BY = { "--by", "<name>", "Who says so; without it USER." } }

local function load_action(command, action)
  local options = { "Options", titles = action[5].titles }
  for i, option in ipairs(action[5]) do options[i + 1] = option end
  local made = { text = action[2], arguments = action[3], options,
    epilog = ("Example: purser %s %s %s"):format(command, action[1], action[4]) }
  for _, group in ipairs { action[6]() } do made[#made + 1] = group end
  made[#made + 1] = connection.messages
  return made
end

--- Returns the table of a command of actions, each { name, text, arguments, example, options, fn() returning groups }.
---@param default string|nil  the action of a word that looks like a file
function M.grammar(command, text, actions, default)
  local commands = {}
  for i, action in ipairs(actions) do
    local first = action[2]:match "^(.-[.])[ \n]" or action[2]
    commands[i] = { action[1], first, load = function() return load_action(command, action) end }
  end
  return { commands = commands, default = default, text = text }
end

return M
