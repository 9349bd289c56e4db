-- SPDX-License-Identifier: MIT
-- The help of a command, from its grammar: lines that fit the terminal, or 80 columns where there is none.

local core = require "purser.core"
local grammar = require "purser.cli.grammar"
local terminal = require "purser.cli.terminal"

local M = {}

local NARROW, HELP_AT = 60, 28 -- columns; where a help begins

-- Adds a text as lines of at most `width` columns: each of its lines keeps what it is indented by (also
-- by the number of an entry), and `hang` more.
local function add(out, text, width, indent, hang)
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    local own = width >= NARROW and line:match "^  [^ ]+ .-   +" or line:match "^ *%d+%. " or line:match "^ *"
    local before, after = (" "):rep(indent) .. own, (" "):rep(indent + #own + (hang or 0))
    for i, part in ipairs(terminal.parts(line:sub(#own + 1), width - #after)) do
      out[#out + 1] = ((i == 1 and before or after) .. part):gsub(" +$", "")
    end
  end
end

--- Returns a text as lines of at most so many columns.
---@param text string
---@param width integer
---@return string[]
function M.lines(text, width)
  local out = {}
  add(out, text, width, 0)
  return out
end

-- Adds a name and its help: beside it where there is room, else below.
local function entry(out, name, help, width)
  local lines, at = {}, width < NARROW and 6 or HELP_AT
  add(lines, help, width, at)
  if #name + 5 <= at and lines[1] then
    lines[1] = ("   %-" .. (at - 3) .. "s%s"):format(name, lines[1]:sub(at + 1))
  else
    table.insert(lines, 1, "   " .. name)
  end
  for _, line in ipairs(lines) do out[#out + 1] = line end
end

local function shown_argument(argument)
  local name = "<" .. argument[1] .. ">"
  return argument.many and "[" .. name .. " ...]" or argument.optional and "[" .. name .. "]" or name
end

--- The line that says how a command is called.
---@param command table
---@param names string[]
---@return string
function M.usage(command, names)
  local parts = { table.concat(names, " ") }
  if command.commands then parts[2] = "<command>" end
  for _, argument in ipairs(command.arguments or {}) do parts[#parts + 1] = shown_argument(argument) end
  grammar.each_option(command, function(option)
    if option.required then parts[#parts + 1] = grammar.name_of(option) .. " " .. grammar.takes(option) end
  end)
  return table.concat(parts, " ") .. " [options]"
end

--- An option with what it takes, and its help with what is chosen from.
---@return string name, string help
function M.option(option)
  local takes, help = grammar.takes(option), grammar.help_of(option)
  if option.many then help = help:gsub("%.$", "; may be repeated.") end
  if option.env then help = ("%s Or set %s."):format(help, option.env) end
  return option[1]:gsub(" ", ", ") .. (takes and " " .. takes or ""), help
end

--- The help of a command.
---@param command table
---@param names string[]
---@return string
function M.text(command, names)
  local width = math.max(30, math.min(100, core.is_terminal(1) and core.terminal_width(1) or 80))
  local out = {}
  add(out, "Usage: " .. M.usage(command, names), width, 0, 2)
  add(out, "\n" .. command.text, width, 0)
  for i, child in ipairs(command.commands or {}) do
    if i == 1 then add(out, "\nCommands:", width, 0) end
    entry(out, child[1], child[2], width)
  end
  for i, argument in ipairs(command.arguments or {}) do
    if i == 1 then add(out, "\nArguments:", width, 0) end
    entry(out, argument[1], argument[2], width)
  end
  for _, group in ipairs(command) do
    if group[2] then add(out, "\n" .. group[1] .. ":", width, 0) end
    for i = 2, #group do
      local name, help = M.option(group[i])
      entry(out, name, help, width)
    end
  end
  if command.epilog then add(out, "\n" .. command.epilog, width, 0) end
  return table.concat(out, "\n") .. "\n"
end

return M
