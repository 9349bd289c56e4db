-- SPDX-License-Identifier: MIT
--- The command line: `purser COMMAND ...`. The grammar is made from the rows; see docs/command-line.md.

local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.util.lazy"
local terminal = require "purser.cli.terminal"
local command_parser = lazy "purser.cli.parser"
local operation_command = lazy "purser.cli.operation"
local operations = lazy "purser.api.operations"
local record = lazy "purser.cli.record"
local renamed = lazy "purser.util.renamed"
local suggest = lazy "purser.util.suggest"

local M = {}

-- The name of the operation that the arguments are about, so that only its options are made.
local function requested_operation(arguments)
  for i, argument in ipairs(arguments) do
    if not argument:find("^%-") then return arguments[1] ~= "completion" and (arguments[i + 1] or "") or nil end
  end
  return ""
end

-- What a word that is no command was meant for: `purser withdraw` is `purser wallet withdraw`. Nil when nobody knows.
local function suggestion(arguments, unknown)
  local requested = unknown:gsub("%-", "_")
  local group = arguments[1]:gsub("%-", "_")
  if operations.groups[group] and arguments[2] == unknown then
    local names = {}
    for i, row in ipairs(operations.groups[group]) do names[i] = row.name end
    local name = suggest.find(requested, names)
    return name and ("did you mean `purser %s %s`?"):format(group, name)
  end
  local found = {}
  for _, row in ipairs(operations.list) do
    if row.name == requested then found[#found + 1] = ("`purser %s %s`"):format(row.group, row.name) end
  end
  return #found > 0 and "an operation comes after its group: " .. table.concat(found, ", ") or nil
end

-- Every option and command of a parser of argparse and of the commands below it that the arguments name.
local function names_of(parser, arguments)
  local names, at = {}, 1
  while parser do
    local command
    for _, option in ipairs(parser._options) do
      for _, alias in ipairs(option._aliases) do names[#names + 1] = alias end
    end
    for _, known in ipairs(parser._commands) do
      for _, alias in ipairs(known._aliases) do
        names[#names + 1] = alias
        if alias == arguments[at] then command = known end
      end
    end
    parser, at = command, at + 1
  end
  return names
end

-- The message of argparse, whose own suggestion for an old name may be a wrong one.
local function with_new_name(parser, arguments, message)
  local kind, old = message:match "^unknown (%a+) '(.-)'"
  local new = old and renamed[old] and suggest.find(old, names_of(parser, arguments))
  if not new or renamed[old] ~= new then return message end
  return ("unknown %s '%s'\nDid you mean '%s'?"):format(kind, old, new)
end

-- Says what argparse did not understand, and where the help is.
local function report_usage(parser, arguments, message)
  message = with_new_name(parser, arguments, message)
  terminal.say("%s", (message:gsub("\n", "; "):gsub("; Did you mean", "; did you mean")))
  local unknown = message:match("^unknown command '(.-)'")
  local hint = unknown and not message:find("Did you mean", 1, true) and suggestion(arguments, unknown)
  if hint then terminal.say("%s", hint) end
  local words, groups = { "purser" }, operations.groups
  for i, argument in ipairs(arguments) do
    local second = i == 2 and groups[(arguments[1]:gsub("%-", "_"))]
    if argument:find("^%-") or argument == unknown or i > 1 and not second then break end
    words[#words + 1] = argument
  end
  terminal.say("`%s --help` shows what can be given", table.concat(words, " "))
end

local BAD_FILE = 9 -- EBADF

-- A standard stream that is closed would give its number to the next file or connection, and what is written to it
-- would go there. Each gets a file that can do neither what the stream should nor any harm.
M.streams = {}
local function fill_streams()
  for i, stream in ipairs { io.stdin, io.stdout, io.stderr } do
    local _, _, code = stream:seek("cur")
    if code == BAD_FILE then M.streams[i] = io.open("/dev/null", i == 1 and "w" or "r") end
  end
end

local run

function run(arguments)
  local found, message = pcall(require, "argparse")
  if not found then
    local missing = tostring(message):find("not found", 1, true)
    terminal.say("%s", missing and "argparse is missing; install it (Debian: lua-argparse; LuaRocks: argparse)"
      or tostring(message))
    return 2
  end
  local words
  if arguments[1] == "record" then arguments, words = record.split(arguments) end
  local parser = command_parser.build(requested_operation(arguments))
  local parsed, options = parser:pparse(arguments)
  if not parsed then
    report_usage(parser, arguments, options)
    return 2
  end
  local groups = operations.groups
  if groups[options.command] then
    local name = options.command .. "." .. options.operation
    return operation_command.run(operations.by_name[name], options)
  end
  options.command_words = words
  return require("purser.cli." .. options.command:gsub("-", "_")).start(options, parser, run)
end

local UNKNOWN = 4 -- of report.lua, which may be what could not be loaded

-- An error of the command itself, or Ctrl-C: Lua would end with 1, which means that nothing happened.
local function broken(problem)
  local interrupted = tostring(problem):find("interrupted!", 1, true)
  terminal.say("%s", interrupted and "interrupted" or "stopped by an error of its own: " .. tostring(problem))
  if not interrupted then
    for line in debug.traceback("", 2):gmatch "[^\n]+" do terminal.say("%s", line) end
  end
  terminal.say "unless it only reads, look what became of it before it is run again"
  return UNKNOWN
end

--- Runs one command line. Returns the exit code.
---@param arguments string[]
---@return integer
function M.run(arguments)
  fill_streams()
  core.harden_process() -- no core file, and no other process of this user, sees the keys
  credentials.take_secret()
  local _, code = xpcall(function() return run(arguments) end, broken)
  return code
end

return M
