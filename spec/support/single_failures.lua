-- SPDX-License-Identifier: MIT
-- Fails one of all that code asks of SQLite, files, OpenSSL and the service's reading interface:
--
--     local failures = require "single_failures"
--     local result, failed = failures.at(3, fn)  -- the third fails; `failed` names it, nil where there were fewer
--
-- A failure is a statement that is not run (a COMMIT also one that is run, and says that it failed), a file that cannot
-- be opened, looked at or read, bytes that cannot be digested or checked, and a random token that is not made.

local core = require "purser.core"
local purser = require "purser"

local M = {}

local armed -- the number of the point that fails
local count, failed = 0, nil

-- Returns whether this point is the one that fails.
local function fails(name)
  if not armed then return false end
  count = count + 1
  if count ~= armed then return false end
  failed = name
  return true
end

-- The functions that were replaced: { table, name, function }.
local replaced = {}

local function replace(holder, name, make)
  local original = holder[name]
  replaced[#replaced + 1] = { holder, name, original }
  holder[name] = make(original)
end

-- Replaces a function by one that gives these results where it fails.
local function failing(holder, name, label, ...)
  local results = { ... }
  replace(holder, name, function(original)
    return function(...)
      if fails(label) then return results[1], results[2], results[3] end
      return original(...)
    end
  end)
end

-- The methods that all statements of LuaDBI share.
local function methods_of_statements()
  local path = os.tmpname()
  os.remove(path)
  local journal = assert(purser.journal.open { sqlite = path })
  local _, statement = next(journal.db.statements)
  local methods = debug.getmetatable(statement).__index
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  return methods
end

-- The text of each statement, by the statement.
local texts = setmetatable({}, { __mode = "k" })

local function replace_statements(connection)
  replace(connection, "prepare", function(prepare)
    return function(self, sql)
      local statement, message = prepare(self, sql)
      if statement then texts[statement] = sql end
      return statement, message
    end
  end)
end

local function replace_execution(methods)
  replace(methods, "execute", function(execute)
    return function(statement, ...)
      local sql = texts[statement] or "a statement"
      if fails(sql) then return false, "disk I/O error" end
      local ok, message = execute(statement, ...)
      if sql == "COMMIT" and fails "COMMIT that was run" then return false, "disk I/O error" end
      return ok, message
    end
  end)
end

local NAMES = { "verify_ed25519", "sha256", "sha512", "random_token" }

--- Replaces the functions; `restore` puts them back.
function M.begin()
  local methods = methods_of_statements()
  local path = os.tmpname()
  local handle = assert(require("DBI").Connect("SQLite3", path))
  replace_statements(debug.getmetatable(handle).__index)
  handle:close()
  os.remove(path)
  replace_execution(methods)
  for _, name in ipairs(NAMES) do failing(core, name, name, nil, name .. " failed") end
  failing(core, "file_mode", "file_mode", nil, "Input/output error", false)
  failing(core, "distrust", "distrust", "it cannot be looked at", "other")
  failing(io, "open", "io.open", nil, "Input/output error")
  failing(debug.getmetatable(io.stdout).__index, "read", "file:read", nil, "Input/output error")
end

function M.restore()
  for i = #replaced, 1, -1 do replaced[i][1][replaced[i][2]] = replaced[i][3] end
  replaced = {}
end

--- Returns whether a reading request is the one that fails.
M.fails = fails

--- Calls fn() while the point of this number fails. Returns what fn returns or raises, and the name of what failed: nil
--- where there were fewer points.
function M.at(number, fn, ...)
  armed, count, failed = number, 0, nil
  local results = { pcall(fn, ...) }
  armed = nil
  return results, failed
end

return M
