-- SPDX-License-Identifier: MIT
-- Actions of a command, each with arguments, options, help and example of its own.

local connection = require "purser.cli.connection"
local grammar = require "purser.cli.grammar"

local M = { BY = { "--by", "<name>", "Who says so; without it USER." } }

local load_action

-- Returns a function that names the actions with an option, by the option's name.
local function hints_of(command, actions)
  return function(name)
    local found = {}
    for _, other in ipairs(actions) do
      grammar.each_option(load_action(command, other, actions), function(option)
        if grammar.name_of(option) == name then found[#found + 1] = ("`purser %s %s`"):format(command, other[1]) end
      end)
    end
    return found[1] and ("%s is an option of %s"):format(name, table.concat(found, ", ")) or nil
  end
end

function load_action(command, action, actions)
  local options = { "Options", titles = action[5].titles }
  for i, option in ipairs(action[5]) do options[i + 1] = option end
  local made = { text = action[2], arguments = action[3], options, unknown = hints_of(command, actions),
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
    commands[i] = { action[1], first, load = function() return load_action(command, action, actions) end }
  end
  return { commands = commands, default = default, text = text }
end

return M
