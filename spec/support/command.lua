-- SPDX-License-Identifier: MIT
-- Runs the `purser` command: inside this process, or as a process of its own.
--
--   local code, out, err = command.run({ "wallet", "coins" }, { PURSER_API_KEY = "..." })
--   local code, out, err = command.process({ "wallet", "coins" }, { PURSER_API_KEY = "..." })  -- by bin/purser
--
-- A process is for what only a process has: signals, a terminal, pipes, its start and its end (in_process.lua).
-- Standard input is empty unless `input` is given. On a pseudo terminal standard output and standard error are one.
-- The command keeps words for its completion only where XDG_CACHE_HOME is given.

local files = require "files"
local in_process = require "in_process"

local M = {}

-- Variables that the command does not inherit from the environment of the tests.
local WITHHELD = { PURSER_API_KEY = false, PURSER_SECRET_KEY = false, PURSER_BASE_URL = false,
  PURSER_ACCOUNT = false, PURSER_POLICY = false,
  XDG_CACHE_HOME = "/dev/null" }

--- As LUA_INIT of a process of its own: of a longer sleep 2 ms are slept and the rest is skipped, by the clock that
--- sleeps are counted with. A minute of rest is no time of a test.
M.SHORT_SLEEPS = [[
  local core, skipped = require "purser.core", 0
  local sleep, clock = core.sleep_ms, core.monotonic_ms
  function core.monotonic_ms() return clock() + skipped end
  function core.sleep_ms(ms)
    skipped = skipped + math.max(0, ms - 2)
    return sleep(math.min(ms, 2))
  end]]

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
M.quote = quote

local function command_of(arguments, environment)
  local words = { "env" }
  for name, value in pairs(WITHHELD) do
    if not value then table.insert(words, 2, "-u " .. name) else words[#words + 1] = name .. "=" .. value end
  end
  for name, value in pairs(environment or {}) do words[#words + 1] = quote(name .. "=" .. value) end
  words[#words + 1] = os.getenv "LUA" or "lua5.4"
  words[#words + 1] = "bin/purser"
  for _, argument in ipairs(arguments) do words[#words + 1] = quote(argument) end
  return table.concat(words, " ")
end

--- Returns the command as a line of a shell.
---@return string
M.line = command_of

-- The exit code of a pipe's process: 5.1 keeps it to itself, so the shell prints it as the last line.
local function run_shell(command)
  local pipe = assert(io.popen(command .. "; echo \"exit $?\"", "r"))
  local text = pipe:read("*a")
  pipe:close()
  local before, code = text:match("^(.*)exit (%d+)\n$")
  return tonumber(code), before
end

M.shell = run_shell

-- Gives `start(paths)` files for the standard streams. Returns the exit code that it returns, and what was written.
local function with_streams(input, start)
  local paths = { output = os.tmpname(), errors = os.tmpname() }
  paths.input = input and files.temporary(input) or "/dev/null"
  local code = start(paths)
  local out, err = files.read(paths.output), files.read(paths.errors)
  os.remove(paths.output)
  os.remove(paths.errors)
  if input then os.remove(paths.input) end
  return code, out, err
end

--- Runs the command inside this process.
---@return integer code, string out, string err
function M.run(arguments, environment, input)
  local variables = {}
  for name, value in pairs(WITHHELD) do variables[name] = value end
  for name, value in pairs(environment or {}) do variables[name] = value end
  return with_streams(input, function(paths) return in_process.run(arguments, variables, paths) end)
end

--- Runs the command as a process of its own.
---@return integer code, string out, string err
function M.process(arguments, environment, input)
  return with_streams(input, function(paths)
    return (run_shell(("%s >%s 2>%s <%s"):format(command_of(arguments, environment), paths.output, paths.errors,
      paths.input)))
  end)
end

--- Prepares a request and sends nothing. There are keys in the environment, unless `environment` has others.
function M.dry_run(words, environment)
  local all = { "wallet", "deposit_history", "--dry-run" }
  local variables = { PURSER_API_KEY = "mx0environment", PURSER_SECRET_KEY = "environmentsecret", PURSER_PROFILE = "" }
  for _, word in ipairs(words) do all[#all + 1] = word end
  for name, value in pairs(environment or {}) do variables[name] = value end
  return M.run(all, variables)
end

--- The same as `process` on a pseudo terminal, with `input` typed on it. Returns the code and what the terminal showed.
---@return integer code, string shown
function M.run_on_terminal(arguments, environment, input)
  local inner = command_of(arguments, environment)
  local code, shown = run_shell(("(sleep 0.3; printf %%s %s) | script -q -e -c %s /dev/null"):format(quote(input or ""),
    quote(inner)))
  return code, (shown:gsub("\r", ""))
end

local function start(words, output)
  local _, text = run_shell(("sh -c 'exec %s >%s 2>&1 </dev/null' & echo $!"):format(words:gsub("'", "'\\''"),
    output or "/dev/null"))
  local pid = tonumber(text:match "%d+")
  return { pid = pid, kill = function(signal)
    os.execute(("kill -%s %d; while kill -0 %d 2>/dev/null; do sleep 0.02; done"):format(signal or "KILL", pid, pid))
  end }
end

--- Starts the command and lets it run: { pid =, kill = function(signal) }. `kill` returns when the process is gone.
function M.start(arguments, environment, output)
  return start(command_of(arguments, environment), output)
end

--- The same on a pseudo terminal, whose end is that of the command; `shown` is a file for what the terminal shows.
function M.start_on_terminal(arguments, environment, shown)
  return start(("script -q -f -c %s %s"):format(quote("exec " .. command_of(arguments, environment)), shown))
end

return M
