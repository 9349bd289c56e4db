-- SPDX-License-Identifier: MIT
-- Runs the real `purser` command as a process of its own.
--
--   local code, out, err = command.run({ "wallet", "coins" }, { PURSER_API_KEY = "..." })
--
-- Standard input is empty unless `input` is given. With `terminal` everything runs on a pseudo terminal, where standard
-- output and standard error are one. What the command keeps for its completion is kept only where XDG_CACHE_HOME is
-- given.

local files = require "files"

local M = {}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
M.quote = quote

local function command_of(arguments, environment)
  local words = { "env", "-u", "PURSER_API_KEY", "-u", "PURSER_SECRET_KEY", "-u", "PURSER_BASE_URL",
    "XDG_CACHE_HOME=/dev/null" }
  for name, value in pairs(environment or {}) do words[#words + 1] = quote(name .. "=" .. value) end
  words[#words + 1] = os.getenv "LUA" or "lua5.4"
  words[#words + 1] = "bin/purser"
  for _, argument in ipairs(arguments) do words[#words + 1] = quote(argument) end
  return table.concat(words, " ")
end

-- The exit code of a pipe's process: 5.1 keeps it to itself, so the shell prints it as the last line.
local function run_shell(command)
  local pipe = assert(io.popen(command .. "; echo \"exit $?\"", "r"))
  local text = pipe:read("*a")
  pipe:close()
  local before, code = text:match("^(.*)exit (%d+)\n$")
  return tonumber(code), before
end

M.shell = run_shell

---@return integer code, string out, string err
function M.run(arguments, environment, input)
  local errors, source = os.tmpname(), "/dev/null"
  if input then
    source = os.tmpname()
    files.write(source, input)
  end
  local code, out = run_shell(command_of(arguments, environment) .. " 2>" .. errors .. " <" .. source)
  local err = files.read(errors)
  os.remove(errors)
  if input then os.remove(source) end
  return code, out, err
end

--- Prepares a request and sends nothing. There are keys in the environment, unless `environment` has others.
function M.dry_run(words, environment)
  local all = { "wallet", "deposit_history", "--dry-run" }
  local variables = { PURSER_API_KEY = "mx0environment", PURSER_SECRET_KEY = "environmentsecret", PURSER_PROFILE = "" }
  for _, word in ipairs(words) do all[#all + 1] = word end
  for name, value in pairs(environment or {}) do variables[name] = value end
  return M.run(all, variables)
end

--- The same as `run` on a pseudo terminal, with `input` typed on it. Returns the code and what the terminal showed.
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
