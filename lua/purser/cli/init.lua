-- SPDX-License-Identifier: MIT
--- The command line: `purser COMMAND ...`. The grammar is made from the rows; see docs/command-line.md.

local colour = require "purser.cli.colour"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.util.lazy"
local terminal = require "purser.cli.terminal"
local arguments_ = require "purser.cli.arguments"
local files = lazy "purser.util.files"
local command_parser = lazy "purser.cli.parser"
local operation_command = lazy "purser.cli.operation"
local operations = lazy "purser.api.operations"
local output = lazy "purser.cli.output"
local record = lazy "purser.cli.record"
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
  if unknown == arguments[1] then
    if suggest.find(unknown, { "credentials" }) then return "did you mean `purser help credentials`?" end
    local word = suggest.find(unknown, { "help", "version" })
    if word then return ("did you mean `purser %s`?"):format(word) end
  end
  local found = {}
  for _, row in ipairs(operations.every) do
    if row.name == requested then found[#found + 1] = ("`purser %s %s`"):format(row.group, row.name) end
  end
  return #found > 0 and "an operation comes after its group: " .. table.concat(found, ", ") or nil
end

-- `wallet coins --coin USDT`: an option that is none, but a member of the records that are listed. Or nil.
local function filter_for(arguments, message)
  local name = message:match "^unknown option '%-%-([%w_]+)'$"
  local row = name and operations.by_name[("%s.%s"):format(arguments[1], arguments[2] or ""):gsub("%-", "_")]
  if not row or row.result.record then return nil end
  for _, member in ipairs(output.members(row)) do
    if member == name then
      return ("%s lists all; to see only some, give --filter %s=VALUE"):format(row.full_name, name)
    end
  end
end

-- What an unknown option was probably meant to be: an option that begins so, or the other word for the same thing.
local same = { ["--coin"] = "--asset", ["--asset"] = "--coin", ["--id"] = "--tranId", ["--tag"] = "--memo" }

local function option_for(parser, arguments, unknown)
  local list = {}
  for _, name in ipairs(arguments_.option_names(parser, arguments)) do
    if name == same[unknown] then return name end
    if #unknown > 3 and name:sub(1, #unknown) == unknown and not name:find "%-%a+%-" then list[#list + 1] = name end
  end
  return #list > 0 and #list < 4 and table.concat(list, "' or '") or nil
end

-- The message of argparse with the option or word that it is about, and the value that was typed.
local function with_place(parser, arguments, message)
  if message == "too many arguments" then
    local word = arguments_.surplus(parser, arguments)
    return word and ("'%s' belongs to no option; write --NAME before a value"):format(word) or message
  end
  local option = message:match "^option '(.-)' must be used [%a ]*1 time"
  if option then return ("option '%s' is given more than once; give it once"):format(option) end
  local unknown = message:match "^unknown option '(%-.-)'"
  local word = unknown and unknown:find "^%-%a" and arguments_.with_one_hyphen(parser, arguments)
  if word then return ("unknown option '%s'\nDid you mean '-%s'?"):format(word, word) end
  local near = unknown and not message:find("Did you mean", 1, true) and option_for(parser, arguments, unknown)
  if near then return ("unknown option '%s'\nDid you mean '%s'?"):format(unknown, near) end
  local name, choices = message:match "^argument f?o?r? ?o?p?t?i?o?n? ?'(.-)' must be one of (.*)$"
  local value = name and arguments_.value_of(parser, arguments, name)
  if value then
    local list = {}
    for choice in choices:gmatch "'(.-)'" do list[#list + 1] = choice end
    return ("%s: '%s' is none of %s%s"):format(name:find "^%-" and name or "'" .. name .. "'", value, choices,
      suggest.hint(value, list))
  end
  option = arguments_.rejected(parser, arguments, message)
  return option and option .. ": " .. message or message
end

-- Says what argparse did not understand, and where the help is.
local function report_usage(parser, arguments, message)
  message = with_place(parser, arguments, message)
  local lacks = message:match "^missing argument '(.-)'$"
  if lacks then message = message .. ": " .. arguments_.help_of(parser, arguments, lacks) end
  local missing = message:find "^missing option" and arguments_.missing(parser, arguments) or {}
  if #missing > 1 then message = "missing options '" .. table.concat(missing, "', '") .. "'" end
  terminal.fail("%s", (message:gsub("\n", "; "):gsub("; Did you mean", "; did you mean")))
  local filter = filter_for(arguments, message)
  if filter then terminal.say("%s", filter) end
  local unknown = message:match("^unknown command '(.-)'")
  local hint = unknown and not message:find("Did you mean", 1, true) and suggestion(arguments, unknown)
  if hint then terminal.say("%s", hint) end
  local named, groups = { "purser" }, operations.groups
  for i, argument in ipairs(arguments) do
    local second = i == 2 and groups[(arguments[1]:gsub("%-", "_"))]
    if argument:find("^%-") or argument == unknown or i > 1 and not second then break end
    named[#named + 1] = argument
  end
  terminal.say("`%s --help` shows what can be given", table.concat(named, " "))
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

local UNKNOWN, OWN_ERROR, INTERRUPTED = 4, 70, 130

-- What this run has sent, if so much was loaded.
local function what_happened()
  local activity = package.loaded["purser.cli.activity"]
  if not activity then return "nothing was sent", false end
  return activity.summary(), activity.open > 0
end

-- An error of the command itself, or Ctrl-C: Lua would end with 1, which means that the service rejected it.
local function broken(problem)
  local interrupted = tostring(problem):find("interrupted!", 1, true)
  local summary, is_open = what_happened()
  terminal.clear_line()
  terminal.say("%s%s; %s", interrupted and "interrupted" or "stopped by an error of its own: ",
    interrupted and "" or tostring(problem), summary)
  if not interrupted then
    for line in debug.traceback("", 2):gmatch "[^\n]+" do terminal.say("%s", line) end
  end
  if is_open then
    terminal.say("OUTCOME UNKNOWN: do not do it again by hand; %s", terminal.settings.resume
      or "look what became of it")
  end
  return is_open and UNKNOWN or interrupted and INTERRUPTED or OWN_ERROR
end

-- Runs the command that was parsed.
local function dispatch(options, parser)
  if operations.groups[options.command] then
    local name = options.command .. "." .. options.operation
    return operation_command.run(operations.by_name[name], options)
  end
  return require("purser.cli." .. options.command:gsub("-", "_")).start(options, parser, run)
end

-- Whether the command executes no write call: what it prints may wait in a pager.
local function only_reads(options)
  if operations.groups[options.command] then
    return operations.by_name[options.command .. "." .. options.operation].effect == "read"
  end
  return options.command == "operations" or options.command == "doctor" or options.action == "list"
    or options.action == "plan" or options.action == "report"
end

-- Commands whose exit code says what they found: their result is whole all the same.
local reports_states = { payouts = true, doctor = true, journal = true, statement = true }

-- The same with the result in the file of --output, which is there whole or not at all.
local function run_into_file(options, parser)
  local path = options.output
  if not path then return dispatch(options, parser) end
  local draft, reason = files.draft(path)
  if not draft then
    terminal.fail("--output %s cannot be written: %s; nothing was sent", path, tostring(reason))
    return 2
  end
  terminal.settings.output, terminal.settings.after_output, terminal.settings.has_output = draft, nil, nil
  local ok, code = xpcall(function() return dispatch(options, parser) end, broken)
  terminal.settings.output = nil
  if not ok or code ~= 0 and not (reports_states[options.command] and code < 5 and terminal.settings.has_output) then
    draft.discard()
    if ok then terminal.say("--output %s was left as it was", path) end
    return code
  end
  ok, reason = draft.commit()
  if ok then return math.max(code, terminal.settings.after_output and terminal.settings.after_output() or code) end
  terminal.say("--output %s could not be written: %s", path, tostring(reason))
  return 5
end

-- Ctrl-C that a pcall met is raised on: else what was interrupted would pass for bad input.
local function raise_interruption(ok, problem)
  if not ok and tostring(problem):find("interrupted!", 1, true) then error("interrupted!", 0) end
end

function run(arguments)
  local found, message = pcall(require, "argparse")
  raise_interruption(found, message)
  if not found then
    local missing = tostring(message):find("not found", 1, true)
    terminal.say("%s", missing and "argparse is missing; install it (Debian: lua-argparse; LuaRocks: argparse)"
      or tostring(message))
    return 2
  end
  local command_words
  arguments = arguments_.normal(arguments)
  if arguments[1] == "record" then arguments, command_words = record.split(arguments) end
  terminal.settings.json = arguments_.wants_json(arguments)
  local parser = command_parser.build(requested_operation(arguments))
  local parsed, options = parser:pparse(arguments)
  raise_interruption(parsed, options)
  if not parsed then
    report_usage(parser, arguments, options)
    return 2
  end
  options.command_words = command_words
  terminal.settings.quiet, terminal.settings.no_input = options.quiet, options.no_input
  if options.json and options.csv or (options.json or options.csv) and arguments_.has_format(arguments) then
    terminal.fail("--json, --csv and --format say in which form the result comes; give one of them")
    return 2
  end
  if options.json then options.format = "json" elseif options.csv then options.format = "csv" end
  terminal.settings.json, terminal.settings.time = options.json, options.time
  terminal.settings.is_table = options.format == "table"
  colour.when = options.color or "auto"
  terminal.settings.may_page = not options.no_pager and only_reads(options)
  terminal.settings.resume = nil
  return run_into_file(options, parser)
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
