-- SPDX-License-Identifier: MIT
--- The command line: `purser COMMAND ...`. commands.lua has the commands; see docs/cli/command-line.md.

local lazy = require "purser.client.util.lazy"
local core = lazy "purser.core"
local commands = lazy "purser.cli.commands"
local completion = lazy "purser.cli.completion"
local connection = lazy "purser.cli.connection"
local credentials = lazy "purser.cli.credentials"
local documents = lazy "purser.cli.documents"
local files = lazy "purser.client.util.files"
local grammar = lazy "purser.cli.grammar"
local help = lazy "purser.cli.help"
local operation = lazy "purser.cli.operation"
local output = lazy "purser.cli.output"
local rocks = require "purser.client.util.rocks"
local steps = lazy "purser.cli.steps"
local terminal = require "purser.cli.terminal"
local values = lazy "purser.cli.values"
local version = require "purser.version"

local M = {}

local BAD_INPUT, UNKNOWN, NOT_WRITTEN, OWN_ERROR, INTERRUPTED = 2, 4, 5, 70, 130
local BAD_FILE = 9 -- EBADF

-- Fills closed standard streams: the next file or connection would get the stream's number, and its output.
M.streams = {}
local function fill_streams()
  for i, stream in ipairs { io.stdin, io.stdout, io.stderr } do
    local _, _, code = stream:seek "cur"
    if code == BAD_FILE then M.streams[i] = io.open("/dev/null", i == 1 and "w" or "r") end
  end
end

-- Returns the exit code of report.stop, of Ctrl-C, or of an error of the command's own.
local function code_of(problem)
  if type(problem) == "table" and problem.exit_code then return problem.exit_code end
  local interrupted = tostring(problem):find("interrupted!", 1, true)
  local activity = package.loaded["purser.cli.activity"]
  local summary, is_open = activity and activity.summary() or "nothing was sent", activity and activity.open > 0
  if is_open or not interrupted then terminal.settings.has_output = nil end -- it is not whole
  local is_missing = rocks.is_missing(problem)
  terminal.clear_line()
  terminal.say("%s; %s", is_missing and problem or interrupted and "interrupted"
    or "stopped by an error of its own: " .. tostring(problem), summary)
  if not is_missing and not interrupted then
    for line in debug.traceback("", 2):gmatch "[^\n]+" do terminal.say("%s", line) end
  end
  if interrupted and terminal.settings.stopped then
    terminal.settings.stopped()
  elseif is_open then
    terminal.say("OUTCOME UNKNOWN: do not do it again by hand; %s", terminal.settings.recover
      and ("`%s` finds out what became of it"):format(terminal.settings.recover) or "look what became of it")
  end
  return is_open and UNKNOWN or interrupted and INTERRUPTED or is_missing and BAD_INPUT or OWN_ERROR
end

-- Runs the parsed command. Returns the exit code: 0 where the command returns no number.
local function dispatch(request)
  local options, command = request.options, request.command
  local _, code = xpcall(function()
    output.check(options, command)
    documents.check(options, command)
    connection.place_journal(options)
    terminal.settings.words, terminal.settings.again = connection.words(options, true), nil
    terminal.settings.journal_words = options.journal and " --journal " .. values.shell_word(options.journal)
    options.action = options.action or request.action
    local module = command.row and operation or commands.module(request.name)
    return steps.run(request, module)
  end, code_of)
  return connection.finish(options, type(code) == "number" and code or 0)
end

local function run_into_file(request)
  local path = request.options.output
  local draft, reason = files.draft(path)
  if not draft then
    terminal.fail("--output %s cannot be written: %s; nothing was sent", path, tostring(reason))
    return 2
  end
  terminal.settings.output, terminal.settings.after_output, terminal.settings.has_output = draft, nil, nil
  local code = dispatch(request)
  terminal.settings.output = nil
  if code > 0 and not (code < NOT_WRITTEN and terminal.settings.has_output) then -- some codes say what the result says
    draft.discard()
    terminal.settings.has_output = nil
    if code < OWN_ERROR then terminal.say("--output %s was left as it was", path) end
    return code
  end
  local ok
  ok, reason = draft.commit()
  if ok then return math.max(code, terminal.settings.after_output and terminal.settings.after_output() or code) end
  terminal.say("--output %s could not be written: %s", path, tostring(reason))
  terminal.settings.has_output = nil
  return NOT_WRITTEN
end

local function wants_json(words)
  for i, word in ipairs(words) do
    if word == "--json" or word == "--format=json" or word == "--format" and words[i + 1] == "json" then return true end
  end
  return false
end

local function run(words)
  if words[1] == "--version" or words[1] == "version" or words[1] == "-v" or words[1] == "-V" then
    return terminal.write("purser " .. version .. "\n", true) and 0 or 5
  end
  if words[1] == "completion" and words[2] == "--words" then
    return completion.write_words({ (table.unpack or unpack)(words, 4) }) -- luacheck: ignore
  end
  core.harden_process() -- no core file, and no other process of this user, sees the keys
  credentials.take_secret()
  terminal.settings.line = values.command_line(words)
  words = grammar.normal(words[1] and words or { "--help" }, commands.shared())
  local options, names, command, does, way = grammar.parse(commands.root(), words)
  if not options then
    terminal.fail("%s", names)
    if command then terminal.say("%s", command) end
    terminal.say("`%s --help` shows what can be given", table.concat(does, " "))
    return 2
  end
  if options.help then return terminal.write(help.text(options.help, names)) and 0 or 5 end
  terminal.configure(options)
  return (options.output and run_into_file or dispatch) { command = command, name = names[2], action = names[3],
    does = does, way = way, options = options }
end

function M.run(arguments)
  fill_streams()
  terminal.settings.json, terminal.settings.has_output = wants_json(arguments), nil
  terminal.settings.failure, terminal.settings.said = nil, nil
  local _, code = xpcall(function() return run(arguments) end, code_of)
  return terminal.finish(code)
end

return M
