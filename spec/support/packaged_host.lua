-- SPDX-License-Identifier: MIT
-- A program of examples/hosts run in its real host against the simulator: 20 reads and a withdrawal with slow
-- answers, and connections that are reset, so that the numbers of descriptors come back.
--
--   local host = require("packaged_host").start()
--   local text = host:run("love", { lua = "luajit", command = "love FOLDER", appended = { ["main.lua"] = "..." } })
--   host:stop()
--
-- The files of the program are written into a folder; FOLDER and ROOT in a text stand for it and for the clone. What is
-- appended to a file can measure and check by host_ticks.lua, and writes its report to the file HOST_REPORT.

package.path = "tools/?.lua;" .. package.path

local cases = require "transport_check.cases"
local check = require "transport_check"
local files = require "files"
local service = require "service"

local PROGRAMS = "examples/hosts/"
local READS, RESETS, DELAY_MS, LIMIT_S = 20, 5, 300, 240

local ROOT = files.output_of("pwd"):match "[^\n]+"

local M, methods = {}, {}
methods.__index = methods

--- A file of a host's program.
function M.text(name_of_host, name) return files.read(("%s%s/%s"):format(PROGRAMS, name_of_host, name)) end

local function count(self, operation, member)
  local counted = assert(self.sim.world:counts())[operation]
  return counted and counted[member] or 0
end

local function fill(text, values)
  return (text:gsub("%f[%u]%u+%f[%U]", values))
end

-- A file of the program: what comes before and after it is the test's, and `replaced` changes what the reader changes.
local function program(name, text, options, values)
  text = fill(text, { CLONE = ROOT, FOLDER = values.FOLDER })
  for _, pair in ipairs(options.replaced or {}) do
    local by = fill(tostring(pair[2]), values):gsub("%%", "%%%%")
    text = text:gsub(pair[1], by)
  end
  local function around(list) return fill(list and list[name] or "", values) end
  return around(options.prepended) .. text .. around(options.appended)
end

local function environment(self, options, folder)
  local tls = self.hostile.tls
  local values = { PURSER_BASE_URL = self.sim.url, PURSER_API_KEY = self.account.api_key, CHECK = self.hostile.url,
    PURSER_SECRET_KEY = self.account.secret_key, CA = tls.ca_file, GOOD = tls.good, OTHER_NAME = tls.other_name,
    OTHER_AUTHORITY = tls.other_authority, HOST_REPORT = folder .. "/report", HOME = folder, XDG_RUNTIME_DIR = folder,
    LUA_PATH = ("%s/lua/?.lua;%s/lua/?/init.lua;%s/spec/support/?.lua;;"):format(ROOT, ROOT, ROOT),
    LUA_CPATH = ("%s/build/%s/?.so;;"):format(ROOT, options.lua) }
  local words = { "env" }
  for name, value in pairs(values) do words[#words + 1] = ("%s='%s'"):format(name, value) end
  return table.concat(words, " ")
end

local function read_if_there(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

--- Runs the program of a host. `options`: `lua`: which build; `command`; `prepended`, `appended` and
--- `files`: texts by name of file; `replaced`: pairs of pattern and text; `values`: further words to fill. Returns what
--- the host said, and its report. Raises unless the service got the 20 reads and one withdrawal, which it executed.
function methods:run(name_of_host, options)
  local folder = files.folder()
  local values = { ROOT = ROOT, FOLDER = folder }
  for name, value in pairs(options.values or {}) do values[name] = fill(tostring(value), values) end
  for name, text in pairs(options.files or {}) do files.write(folder .. "/" .. name, fill(text, values)) end
  for _, name in ipairs(files.lines_of(("cd %s%s && find . -type f"):format(PROGRAMS, name_of_host))) do
    name = name:sub(3)
    local path = folder .. "/" .. name
    assert(os.execute(("mkdir -p $(dirname %s)"):format(path)))
    files.write(path, program(name, M.text(name_of_host, name), options, values))
  end
  local world = self.sim.world
  local reads, asked, paid = count(self, "wallet.deposit_history", "applied"),
    count(self, "wallet.withdraw", "received"), count(self, "wallet.withdraw", "applied")
  assert(world:fault { kind = "slow", delay_ms = DELAY_MS, probability = 1 })
  assert(world:fault { kind = "reset", when = "before", operation = "wallet.deposit_history", times = RESETS })
  local said = files.output_of(("cd %s && %s timeout -k 5 %d %s 2>&1"):format(folder,
    environment(self, options, folder), LIMIT_S, fill(options.command, values)))
  assert(world:disarm())
  local report = read_if_there(folder .. "/report")
  os.execute("rm -rf " .. folder)
  local shown = said .. "\n" .. report
  assert(count(self, "wallet.deposit_history", "applied") - reads >= READS, "reads are missing: " .. shown)
  assert(count(self, "wallet.withdraw", "received") - asked == 1, "the withdrawal was not sent once: " .. shown)
  assert(count(self, "wallet.withdraw", "applied") - paid == 1, "the withdrawal was not executed: " .. shown)
  return said, report
end

--- The figures of host_ticks.lua: raises unless the loop turned while calls waited, and every case of the check passed
--- (`is_checked`: there was one). Prints the longest gaps: they depend on the machine, and nothing is asserted of them.
function methods:measured(name, shown, report, is_checked) -- luacheck: ignore self
  local busy, _, gaps, last = report:match "^turns busy (%d+) idle (%d+), ([^\n]+)\n.-([^\n]+)\n$"
  assert(busy, ("%s wrote no report: %s %s"):format(name, shown, report))
  assert(tonumber(busy) >= 3, ("%s: its loop turned %s times while calls waited"):format(name, busy))
  assert(last == (is_checked and #cases .. " passed, 0 failed" or "none"), report)
  print(("# %s: %s; check: %s"):format(name, gaps, last))
  io.stdout:flush()
end

--- Runs a text as a program of plain Lua, and returns what it says.
function methods:lua(lua, text)
  local path = files.temporary(text)
  local variables = environment(self, { lua = lua }, "/tmp")
  local said = files.output_of(("%s timeout %d %s %s 2>&1"):format(variables, LIMIT_S, lua, path))
  os.remove(path)
  return said
end

function methods:stop()
  self.hostile:stop()
  self.sim.stop()
end

function M.start()
  local sim = service.start()
  local account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
  return setmetatable({ sim = sim, account = account, hostile = assert(check.start()) }, methods)
end

return M
