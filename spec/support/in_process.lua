-- SPDX-License-Identifier: MIT
-- Runs `purser.cli` in this process as if it were one of its own: with modules that nobody has loaded yet, standard
-- streams that are files, an environment of its own, no terminal, and sleeps that end at once (skipped_time.lua).
--
--   local code = in_process.run({ "wallet", "coins" }, { HOME = "/nonexistent" }, { input =, output =, errors = })
--
-- With `in_process.columns` the streams are a terminal of so many columns. The paths are of files that exist. `false`
-- in the environment stands for a variable that is not set. What only a process has stays out: signals, a terminal,
-- the numbers of its streams in C, and variables that Lua or C reads.

local core = require "purser.core"
local files = require "files"
local skipped_time = require "skipped_time"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore
local searchers = package.searchers or package.loaders -- luacheck: ignore
local IN_C = { ["purser.core"] = true, ["purser.http"] = true, ["purser.httpd"] = true }

local chunks = {} -- of the modules in Lua: each is compiled once, and runs once in each world

-- Runs the module of databases, and keeps those that it opens. A world's end closes them, as a process's does: LuaJIT's
-- traces may hold one for long, and a file that is closed by its name then loses the locks of that one.
local opened = {}

local function keep_databases(chunk)
  return function(...)
    local database = chunk(...)
    local open = database.open
    function database.open(...)
      local db, message = open(...)
      opened[#opened + 1] = db
      return db, message
    end
    return database
  end
end

local function load_chunk(name)
  if not name:find "^purser%f[%z.]" or IN_C[name] then return nil end
  local path = "lua/" .. name:gsub("%.", "/")
  chunks[name] = chunks[name] or loadfile(path .. ".lua") or loadfile(path .. "/init.lua")
  return name == "purser.client.util.database" and keep_databases(chunks[name]) or chunks[name]
end

-- Takes the modules in Lua out of package.loaded, so that each is loaded anew. Returns a function that puts them back.
local function without_modules()
  local function take()
    local taken = {}
    for name, module in pairs(package.loaded) do
      if name:find "^purser%f[%z.]" and not IN_C[name] then taken[name], package.loaded[name] = module, nil end
    end
    return taken
  end
  local kept = take()
  table.insert(searchers, 1, load_chunk)
  return function()
    table.remove(searchers, 1)
    take()
    for name, module in pairs(kept) do package.loaded[name] = module end
  end
end

-- Puts members in place of those of a table. Returns a function that undoes it.
local function replace(target, members)
  local before = {}
  for name, member in pairs(members) do before[name], target[name] = target[name], member end
  return function()
    for name in pairs(members) do target[name] = before[name] end
  end
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Makes the shell's lines before a command that this world starts: its environment and its streams are those of the
-- world.
local function preparation(variables, paths, streams)
  local words = { ("exec %s 2>>%s"):format(streams, quoted(paths.errors)) }
  for name, value in pairs(variables) do
    words[#words + 1] = value and ("export %s=%s"):format(name, quoted(value)) or "unset " .. name
  end
  return table.concat(words, "; ") .. "\n"
end

-- A secret from a variable, which is gone afterwards.
local function take_secret(variables, name)
  local text = variables[name]
  if not text or text == "" then
    return nil, ("the variable %s is not set; a secret is taken from it only once"):format(name), true
  end
  variables[name] = false
  local path = files.temporary(text)
  local secret, message = core.read_secret(path)
  os.remove(path)
  return secret, message and message:gsub("^%S+", "the variable " .. name)
end

-- Returns what the world has in place of the functions of os and io.
local function own_functions(variables, paths, leave)
  local getenv, execute, popen = os.getenv, os.execute, io.popen
  local of_os = { exit = leave }
  function of_os.getenv(name)
    if variables[name] ~= nil then return variables[name] or nil end
    return getenv(name)
  end
  function of_os.execute(command)
    local streams = ("<%s >>%s"):format(quoted(paths.input), quoted(paths.output))
    return execute(command and preparation(variables, paths, streams) .. command)
  end
  local function open(command, mode)
    local streams = mode == "w" and (">>%s"):format(quoted(paths.output)) or "<" .. quoted(paths.input)
    return popen(preparation(variables, paths, streams) .. command, mode)
  end
  return of_os, open
end

--- Runs one command line. Returns its exit code.
---@param arguments string[]
---@param variables table<string, string|false>
---@param paths { input: string, output: string, errors: string }
---@return integer
function M.run(arguments, variables, paths)
  local streams = { stdin = assert(io.open(paths.input)), stdout = assert(io.open(paths.output, "a")),
    stderr = assert(io.open(paths.errors, "a")) }
  for _, name in ipairs { "stdout", "stderr" } do streams[name]:setvbuf "no" end
  local code, undo = nil, {}
  local function leave(status)
    code = code or status == nil and 0 or status == true and 0 or status or 1
    local nothing = assert(io.open("/dev/null", "w"))
    replace(io, { stdout = nothing, stderr = nothing })
    error("this world has ended", 0)
  end
  local of_os, open = own_functions(variables, paths, leave)
  undo[1] = without_modules()
  undo[2] = replace(os, of_os)
  undo[3] = replace(io, { popen = open, stdin = streams.stdin, stdout = streams.stdout, stderr = streams.stderr })
  undo[4] = replace(core, { is_terminal = function() return M.columns ~= nil end,
    terminal_width = function() return M.columns, 24 end,
    harden_process = function() return true end, sleep_ms = skipped_time.sleep,
    take_secret = function(name) return take_secret(variables, name) end })
  undo[5] = replace(_G, { print = function(...)
    local words = { ... }
    for i = 1, select("#", ...) do words[i] = tostring(words[i]) end
    io.stdout:write(table.concat(words, "\t"), "\n")
  end })
  local ok, ended = pcall(function() return require("purser.cli").run({ unpack(arguments) }) end)
  for i = #undo, 1, -1 do undo[i]() end
  while opened[1] do table.remove(opened):close() end
  for _, stream in pairs(streams) do stream:close() end
  collectgarbage() -- closes what the command left to its end
  if not ok and not code then error(ended, 0) end
  return code or ended
end

return M
