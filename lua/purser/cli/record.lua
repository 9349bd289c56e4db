-- SPDX-License-Identifier: MIT
-- `purser record [--file FILE] -- COMMAND`: runs another command of purser, and writes its exchanges with the service
-- to a file, redacted; see docs/recordings.md.

local connection = require "purser.cli.connection"
local purser = require "purser"
local report = require "purser.cli.report"

local M = { summary = "Run a command and record its exchanges, redacted." }

function M.define(command)
  command:description("Run a command of purser and write each exchange with the service to a new file, one line of "
    .. "JSON.\nKeys, ids, addresses, amounts and names are replaced by tokens before anything is written.")
  command:option("--file", "The new file, which only you can read; default purser-TIME.jsonl."):argname("<file>")
  command:argument("words", "The command, after --, such as: -- wallet deposit_history --coin USDT."):args("*")
    :argname("-- <command>")
end

--- Splits `record [...] -- COMMAND` at the two hyphens. Returns the words of each part; nil where there is none.
---@param arguments string[]
---@return string[] own, string[]|nil words
function M.split(arguments)
  local own, words = {}, nil
  for _, argument in ipairs(arguments) do
    if words then words[#words + 1] = argument
    elseif argument == "--" then words = {}
    else own[#own + 1] = argument end
  end
  return own, words
end

-- The transport of the command's client, around the one it would have had.
local function recorder_for(path)
  local recorder
  local function make(inner)
    if recorder then return nil, "a second client cannot be recorded" end
    local problem
    recorder, problem = purser.transport.record(inner, { file = path })
    return recorder, problem
  end
  return make, function() return recorder end
end

local function finish(recorder, path, code)
  if not recorder then
    report.say("the command sent nothing, so nothing was recorded")
    return code
  end
  local count = recorder.count
  local ok, problem = recorder:close()
  report.say("%d %s written to %s", count, count == 1 and "exchange was" or "exchanges were", path)
  if ok then return code end
  report.say("%s", problem)
  return code == report.DONE and report.NOT_WRITTEN or code
end

--- Runs the command. Returns its exit code; 5 where it succeeded and the recording could not be written whole.
---@param options table of argparse
---@param run fun(arguments: string[]): integer  runs a command line
function M.start(options, _, run)
  local words = options.command_words
  if words and words[1] == "purser" then table.remove(words, 1) end
  if not words or #words == 0 then
    return report.bad_input("record: there is no command; give one after --, such as: purser record -- wallet coins")
  end
  if words[1] == "record" then
    return report.bad_input("record: a recording cannot be recorded; give another command")
  end
  local path = options.file or os.date "!purser-%Y%m%d-%H%M%S.jsonl"
  local wrap, recorder = recorder_for(path)
  connection.wrap_transport = wrap
  local ok, result = xpcall(function() return run(words) end, debug.traceback)
  connection.wrap_transport = nil
  local code = finish(recorder(), path, ok and result or report.UNKNOWN)
  if not ok then error(result, 0) end
  return code
end

return M
