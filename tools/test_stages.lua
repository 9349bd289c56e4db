-- SPDX-License-Identifier: MIT
-- The jobs of `make test` and `make test-all`: see tools/test.lua. A job is { name, command, alone, seconds, waits,
-- lua, limit }; `alone` is what a person types to run it alone.

local files = dofile "tools/whole_files.lua"

local M = {}

-- Folders whose specs `make test` runs on LuaJIT, too: it differs most from 5.4 (no integers, another C interface).
local ON_LUAJIT = { "spec/bind/", "spec/call/", "spec/write/", "spec/payouts/" }
local OTHER_LUAS = { "lua5.1", "lua5.2", "lua5.3", "luajit" }

-- What a test file says of itself: the target that it belongs to, its seconds, and whether it mostly waits.
local function read_mark(path)
  local head = files.read(path):sub(1, 2000)
  local target, text = head:match "\n%-%- make ([%w-]+): ([^\n]*)"
  return target or "test", tonumber((text or ""):match "^(%d+) s" or 1), (text or ""):find("waits", 1, true) ~= nil
end

-- The test files below a folder, or the file itself: { path, target, seconds, waits }.
local function test_files(folder)
  local list = {}
  for _, path in ipairs(files.lines_of("find " .. folder .. " -name '*_spec.lua' -o -name '*_test.lua' | sort")) do
    local target, seconds, waits = read_mark(path)
    list[#list + 1] = { path = path, target = target, seconds = seconds, waits = waits }
  end
  return list
end

local function job_of(file, lua)
  return { name = ("%s on %s"):format(file.path, lua), seconds = file.seconds, waits = file.waits, lua = lua,
    command = ("%s /usr/bin/busted --output=TAP --pattern=. %s"):format(lua, file.path),
    alone = ("make test ROOM=%s%s"):format(file.path, lua == "lua5.4" and "" or " LUA=" .. lua) }
end

local function lint_jobs(list)
  for part, seconds in pairs { lua = 14, c = 3, rules = 5 } do
    list[#list + 1] = { name = "lint of " .. part, command = "tools/lint " .. part, alone = "tools/lint " .. part,
      seconds = seconds }
  end
end

local function c_jobs(list)
  for _, path in ipairs(files.lines_of "ls spec/c/test_*.c spec/c_lua/test_*.c") do
    local _, seconds, waits = read_mark(path)
    local program = "build/lua5.4/spec/" .. path:match "([%w_]+)%.c$"
    list[#list + 1] = { name = path, command = program, alone = "make c-tests && " .. program, seconds = seconds,
      waits = waits }
  end
end

local function begins_with_one_of(path, folders)
  for _, folder in ipairs(folders) do
    if path:sub(1, #folder) == folder then return true end
  end
  return false
end

-- Whether `make test` runs a test file on LuaJIT.
local function is_quick_on_luajit(file)
  return file.target == "test" and begins_with_one_of(file.path, ON_LUAJIT)
end

local stages = {}

function stages.quick()
  local list = {}
  lint_jobs(list)
  c_jobs(list)
  for _, file in ipairs(test_files "spec") do
    if file.target == "test" then list[#list + 1] = job_of(file, "lua5.4") end
    if is_quick_on_luajit(file) then list[#list + 1] = job_of(file, "luajit") end
  end
  return list
end

function stages.all()
  local list = {}
  for _, file in ipairs(test_files "spec") do
    if file.target == "test-all" then list[#list + 1] = job_of(file, "lua5.4") end
    for _, lua in ipairs(file.path:find "_spec" and OTHER_LUAS or {}) do
      if file.target:find "^test" and not (lua == "luajit" and is_quick_on_luajit(file)) then
        list[#list + 1] = job_of(file, lua)
      end
    end
  end
  return list
end

-- A room (`cli`), a folder or a file, on the Lua of the environment.
function stages.room(name)
  local list = {}
  local at = files.lines_of(("ls -d %s spec/%s 2>/dev/null"):format(name, name))[1]
  for _, file in ipairs(at and test_files(at) or {}) do
    list[#list + 1] = job_of(file, os.getenv "LUA" or "lua5.4")
  end
  return list
end

--- The jobs of a stage, in any order.
function M.jobs(stage, name) return stages[stage](name) end

return M
