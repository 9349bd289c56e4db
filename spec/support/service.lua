-- SPDX-License-Identifier: MIT
-- The simulator as a process of its own, for specs that want real HTTP:
--
--   local service = require("service").start { "--seed", "7" }
--   service.url, service.world (see purser.sim.connect), service.lines, service.pid
--   service.show_records()
--   service.stop()  -> exit code
--
-- It listens on a free port. It ends when it is stopped, and by itself after five minutes without a request, so that a
-- test that dies leaves no process behind. Further options come from SIM_OPTIONS: the examples run with every switch
-- of the simulator at its hardest by `make examples-hardest`.

local control = require "purser.testing.sim.control"
local skipped_time = require "skipped_time"

local M = {}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The exit code of a pipe's process: 5.1 keeps it to itself, so the shell prints it as the last line.
local function read_exit_code(pipe)
  local last
  for line in pipe:lines() do last = line end
  pipe:close()
  return last and tonumber(last:match("^exit (%d+)$"))
end

--- Runs `purser sim` with these arguments and returns its output's lines up to `until_pattern` (or the end), and the
--- open pipe. The first line is the process id.
function M.launch(arguments, until_pattern)
  local words = { os.getenv "LUA" or "lua5.4", "bin/purser", "sim" }
  for _, argument in ipairs(arguments) do words[#words + 1] = argument end
  for i, word in ipairs(words) do words[i] = quote(word) end
  local command = ("sh -c 'echo $$; exec \"$@\"' sh %s 2>&1; echo exit $?"):format(table.concat(words, " "))
  local pipe = assert(io.popen(command, "r"))
  local lines, pid = {}, tonumber(pipe:read "*l")
  for line in pipe:lines() do
    lines[#lines + 1] = line
    if until_pattern and line:find(until_pattern) then break end
  end
  return { lines = lines, pid = pid, pipe = pipe }
end

--- Starts it and connects to it; raises with its own words when it does not come up.
---@param arguments string[]|nil further arguments of the command
---@param last_line string|nil pattern of the last line to wait for, when it is not the first
function M.start(arguments, last_line)
  local all = { "--port", "0", "--idle-timeout", "60m" }
  for word in (os.getenv "SIM_OPTIONS" or ""):gmatch "%S+" do all[#all + 1] = word end
  for _, argument in ipairs(arguments or {}) do all[#all + 1] = argument end
  local service = M.launch(all, last_line or "listening on")
  service.url = (service.lines[1] or ""):match("listening on (http://%S+)$")
  if not service.url then error("the simulator did not start: " .. table.concat(service.lines, "\n")) end

  --- Lets so much time pass that all records are visible: a simulator may show them late.
  function service.show_records()
    local delay = table.concat(all, " "):match "visibility_delay_ms=(%d+)"
    if delay then assert(service.world:advance(tonumber(delay))) end
  end

  --- Waits for its end, however that came about.
  function service.wait()
    if not service.pipe then return service.exit_code end
    skipped_time.services[service] = nil
    if service.world then service.world:close() end
    local pipe = service.pipe
    service.pipe = nil
    service.exit_code = read_exit_code(pipe)
    return service.exit_code
  end

  function service.signal(name)
    os.execute(("kill -%s %d 2>/dev/null"):format(name, service.pid))
  end

  function service.stop()
    if service.pipe and not (service.world and service.world:stop()) then service.signal "TERM" end
    return service.wait()
  end

  local message
  service.world, message = control.connect(service.url)
  if not service.world then
    service.stop()
    error("the simulator does not answer: " .. message)
  end
  skipped_time.services[service] = true
  return service
end

return M
