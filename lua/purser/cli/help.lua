-- SPDX-License-Identifier: MIT
-- The help of a command, from the grammar, in the columns of the terminal or 80.

local core = require "purser.core"
local grammar = require "purser.cli.grammar"
local terminal = require "purser.cli.terminal"

local M = {}

local NARROW, HELP_AT, SCREEN = 60, 28, 24 -- columns; where a help begins; lines

-- Returns lines of at most `width` columns; a continued line keeps its indentation, and `hang` more.
local function folded(text, width, indent, hang)
  return ((text .. "\n"):gsub("([^\n]*)\n", function(line)
    local own = width >= NARROW and line:match "^  [^ ]+ .-   +" or line:match "^ *%d+%. " or line:match "^ *"
    return terminal.fold((" "):rep(indent) .. line, indent + #own + hang, width):gsub(" +$", "") .. "\n"
  end))
end

function M.lines(text, width) return folded(text, width, 0, 0) end

local function entry(name, help, width)
  local at = width < NARROW and 6 or HELP_AT
  local text = folded(help, width, at, 0)
  if #name + 5 > at then return "   " .. name .. "\n" .. text end
  return ("   %-" .. (at - 3) .. "s%s"):format(name, text:sub(at + 1))
end

local function shown_argument(argument)
  local name = "<" .. argument[1] .. ">"
  return argument.many and "[" .. name .. " ...]" or argument.optional and "[" .. name .. "]" or name
end

function M.usage(command, names)
  local parts = { table.concat(names, " ") }
  if command.commands then parts[2] = "<command>" end
  for _, argument in ipairs(command.arguments or {}) do parts[#parts + 1] = shown_argument(argument) end
  grammar.each_option(command, function(option)
    if option.required then parts[#parts + 1] = grammar.name_of(option) .. " " .. grammar.takes(option) end
  end)
  return table.concat(parts, " ") .. " [options]"
end

function M.option(option, command)
  local takes, help = grammar.takes(option), grammar.help_of(option, command)
  if option.many then help = help:gsub("%.$", "; may be repeated.") end
  if option.env then help = ("%s Or set %s."):format(help, option.env) end
  return option[1]:gsub(" ", ", ") .. (takes and " " .. takes or ""), help
end

--- Returns the commands of a command in sections, each { heading, commands }.
function M.sections(command)
  if not command.sections then return { { "Commands", command.commands or {} } } end
  local by_name, list = {}, {}
  for _, child in ipairs(command.commands) do by_name[child[1]] = child end
  for i, section in ipairs(command.sections) do
    list[i] = { section[1], {} }
    for name in section[2]:gmatch "%S+" do table.insert(list[i][2], by_name[name]) end
  end
  return list
end

function M.text(command, names)
  local width = math.max(30, math.min(100, core.is_terminal(1) and core.terminal_width(1) or 80))
  local out = { folded("Usage: " .. M.usage(command, names), width, 0, 2), folded("\n" .. command.text, width, 0, 0) }
  local function add(heading, list, first, name_of)
    if list and list[first] then out[#out + 1] = "\n" .. heading .. ":\n" end
    for i = first, #(list or {}) do
      local name, help = name_of(list[i])
      out[#out + 1] = entry(name, help, width)
    end
  end
  local function plain(child) return child[1], child[2] end
  local function option_of(option) return M.option(option, command) end
  for _, section in ipairs(M.sections(command)) do add(section[1], section[2], 1, plain) end
  add("Arguments", command.arguments, 1, plain)
  for _, group in ipairs(command) do add(group[1], group, 2, option_of) end
  if command.epilog then out[#out + 1] = folded("\n" .. command.epilog, width, 0, 0) end
  local text = table.concat(out)
  local _, lines = text:gsub("\n", "")
  if lines < SCREEN or not core.is_terminal(1) then return text end
  return text .. folded(("\n(%d lines: `%s --help | less` shows a screen at a time)"):format(lines,
    table.concat(names, " ")), width, 0, 0)
end

return M
