-- SPDX-License-Identifier: MIT
-- The jobs of `make test` and `make test-all`: see tools/test.lua. A job is { name, command, alone, seconds, waits,
-- lua, limit }; `alone` is what a person types to run it alone.

local files = dofile "tools/whole_files.lua"

local M = {}

-- Folders whose specs `make test` runs on LuaJIT, too: it differs most from 5.4 (no integers, another C interface).
local ON_LUAJIT = { "spec/bind/", "spec/client/call/", "spec/write/", "spec/desk/payouts/" }
local SANITIZED_SPECS = "spec/bind spec/client/transport spec/httpd" -- by `make test-all`; `make asan` runs them all
local OTHER_LUAS = { "lua5.1", "lua5.2", "lua5.3", "luajit" }
-- Each spec of these folders runs on 5.4 and on one of the others (desk and write on LuaJIT as well): many specs run
-- each module, and so each runs on all. The specs of what differs most between the Luas (numbers, C) run on each.
local ON_ONE_OF_FOUR = { "spec/cli/", "spec/docs/", "spec/testing/", "spec/system/" }
local ON_LUAJIT_AND_ONE = { "spec/desk/", "spec/write/" }

-- Returns what a test file says of itself: its target, its seconds, whether it mostly waits, the Luas that it is for,
-- where it is not for each, and whether `make test` takes a third of its cases.
local function read_mark(path)
  local head = files.read(path):sub(1, 2000)
  local target, text = head:match "\n%-%- make ([%w-]+): ([^\n]*)"
  text = text or ""
  return target or "test", tonumber(text:match "^(%d+) s" or 1), text:find("waits", 1, true) ~= nil,
    text:match " on (.*)", text:find("a third", 1, true) ~= nil
end

-- The test files below a folder, or the file itself: { path, target, seconds, waits, luas, is_drawn }.
local function test_files(folder)
  local list = {}
  for _, path in ipairs(files.lines_of("find " .. folder .. " -name '*_spec.lua' -o -name '*_test.lua' | sort")) do
    local target, seconds, waits, luas, is_drawn = read_mark(path)
    list[#list + 1] = { path = path, target = target, seconds = seconds, waits = waits, luas = luas,
      is_drawn = is_drawn }
  end
  return list
end

local function job_of(file, lua)
  return { name = ("%s on %s"):format(file.path, lua), seconds = file.seconds, waits = file.waits, lua = lua,
    command = ("%s /usr/bin/busted --output=TAP --pattern=. %s"):format(lua, file.path),
    alone = ("make test ROOM=%s%s"):format(file.path, lua == "lua5.4" and "" or " LUA=" .. lua) }
end

-- Adds a test file on a Lua to the jobs, unless it is not for that Lua.
local function add(list, file, lua)
  if not file.luas or file.luas:find(lua, 1, true) then list[#list + 1] = job_of(file, lua) end
end

-- Adds all cases of a file of which `make test` runs a third.
local function add_whole(list, file)
  local job = job_of(file, "lua5.4")
  job.name, job.seconds = job.name .. ", all cases", 3 * job.seconds
  job.command, job.alone = "PURSER_DRAWS=all " .. job.command, "PURSER_DRAWS=all " .. job.alone
  list[#list + 1] = job
end

local function lint_jobs(list)
  for part, seconds in pairs { lua = 30, c = 3, rules = 13 } do
    list[#list + 1] = { name = "lint of " .. part, command = "tools/lint " .. part, alone = "tools/lint " .. part,
      seconds = seconds }
  end
end

local function c_jobs(list, only)
  for _, path in ipairs(files.lines_of("ls " .. (only or "spec/c/test_*.c spec/c_lua/test_*.c"))) do
    local _, seconds, waits = read_mark(path)
    local program = "build/lua5.4/spec/" .. path:match "([%w_]+)%.c$"
    list[#list + 1] = { name = path, command = program, alone = "make test ROOM=" .. path, seconds = seconds,
      waits = waits }
  end
end

-- The C tests and the specs of every C object under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer, as
-- `make asan` runs them all. Lua itself is not instrumented: its process loads the runtimes before it does the module,
-- and so does every program that a spec starts. spec/lsan.supp names what those leak.
local SANITIZED = [[env ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:quarantine_size_mb=8 \
UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$PWD/spec/lsan.supp:print_suppressions=0 \
LD_PRELOAD=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so) ]]

local function sanitized(list)
  for _, job in ipairs(list) do
    job.alone = "make asan ROOM=" .. job.name:match "^%S+"
    job.name, job.command = job.name .. ", sanitized", SANITIZED .. job.command:gsub("build/lua5.4", "build/asan")
    job.build, job.seconds = "build/asan", 4 * (job.seconds or 1)
  end
  return list
end

local function begins_with_one_of(path, folders)
  for _, folder in ipairs(folders) do
    if path:sub(1, #folder) == folder then return true end
  end
  return false
end

-- Tells whether `make test-all` runs a test file on one of the other Luas. The path alone decides which Lua it is, so a
-- new file changes nothing for the others. A file that names its Luas runs on these.
local function is_for(file, lua)
  local of_four = begins_with_one_of(file.path, ON_ONE_OF_FOUR)
  local of_three = begins_with_one_of(file.path, ON_LUAJIT_AND_ONE)
  if file.luas or not (of_four or of_three) or of_three and lua == "luajit" then return true end
  local sum = 0
  for _, byte in ipairs { file.path:byte(1, -1) } do sum = sum + byte end
  return OTHER_LUAS[sum % (of_four and 4 or 3) + 1] == lua
end

-- Tells whether `make test` runs a test file on LuaJIT.
local function is_quick_on_luajit(file)
  return file.target == "test" and begins_with_one_of(file.path, ON_LUAJIT)
end

local stages = {}

function stages.quick()
  local list = {}
  lint_jobs(list)
  c_jobs(list)
  for _, file in ipairs(test_files "spec") do
    if file.target == "test" then add(list, file, "lua5.4") end
    if is_quick_on_luajit(file) then add(list, file, "luajit") end
  end
  return list
end

-- Programs that print `N passed, N failed`, and specs that no other Lua needs: each with a server of its own, or long.
local function torture_jobs(list)
  local function add_program(name, seconds, command)
    list[#list + 1] = { name = name, seconds = seconds, alone = command, waits = true,
      command = ('export LUA_PATH="$PWD/spec/support/?.lua;$LUA_PATH"; ' .. command) }
  end
  for _, name in ipairs { "", "keys_", "limits_", "names_" } do
    local path = "spec/torture/" .. name .. "on_postgresql.lua"
    add_program(path, 60, "lua5.4 /usr/bin/busted --output=TAP --pattern=. " .. path)
  end
  add_program("spec/torture/connection.lua", 30, "lua5.4 spec/torture/connection.lua")
  -- A worker that was killed leaves calls open, and equal ones are waited for up to five minutes each.
  add_program("torture on SQLite", 100, "lua5.4 spec/torture/run.lua sqlite 30 1 7 850")
  add_program("torture on PostgreSQL", 120, "lua5.4 spec/torture/run.lua postgresql 400 8 7")
end

--- Every C test and every spec; `make asan` has a room as well.
function stages.asan(name)
  local list, is_c = {}, name and name:find "%.c$"
  if is_c or not name then c_jobs(list, name) end
  for _, file in ipairs(is_c and {} or test_files(name or "spec")) do
    if file.target:find "^test" and (name or not file.path:find "^spec/browser") then
      add(list, file, "lua5.4")
    end
  end
  return sanitized(list)
end

function stages.all()
  local list = {}
  c_jobs(list)
  for _, file in ipairs(test_files(SANITIZED_SPECS)) do add(list, file, "lua5.4") end
  sanitized(list)
  torture_jobs(list)
  for _, file in ipairs(test_files "spec") do
    if file.target == "test-all" then add(list, file, "lua5.4") end
    if file.is_drawn then add_whole(list, file) end
    for _, lua in ipairs((file.path:find "_spec" or file.luas) and OTHER_LUAS or {}) do
      if file.target:find "^test" and is_for(file, lua) and not (lua == "luajit" and is_quick_on_luajit(file)) then
        add(list, file, lua)
      end
    end
  end
  return list
end

-- Rooms (`cli`), folders or files, on the Lua of the environment.
function stages.room(...)
  local list = {}
  for _, name in ipairs { ... } do
    local at = files.lines_of(("ls -d spec/%s 2>/dev/null || ls -d %s 2>/dev/null"):format(name, name))[1]
    if name:find "^spec/c[%w_]*/test_.*%.c$" then c_jobs(list, name) end
    for _, file in ipairs(at and test_files(at) or {}) do
      add(list, file, os.getenv "LUA" or "lua5.4")
    end
  end
  return list
end

--- The jobs of a stage, in any order.
function M.jobs(stage, ...) return stages[stage](...) end

return M
