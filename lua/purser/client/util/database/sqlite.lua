-- SPDX-License-Identifier: MIT
-- Files of SQLite: opening, and checks before each transaction. A journal's file is this user's alone.

local core = require "purser.core"
local files = require "purser.client.util.files"

local M = { name = "sqlite", begin = "BEGIN IMMEDIATE", begin_reading = "BEGIN", package = "lua-dbi-sqlite3",
  driver = "SQLite3" }

M.has = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1"

local SUFFIXES = { "", "-wal", "-shm" }

-- Returns why files are not used: others may read, write or own them; or nil.
local function trust_error(path)
  for _, suffix in ipairs(SUFFIXES) do
    local message, fault = core.distrust(path .. suffix)
    if fault == "others" then
      local names = {}
      for i, each in ipairs(SUFFIXES) do
        names[i] = core.file_mode(path .. each) and (" '%s'"):format(((path .. each):gsub("'", "'\\''"))) or ""
      end
      return ('"%s" is open to other users (its mode is %o); run: chmod 600%s'):format(path .. suffix,
        core.file_mode(path .. suffix), table.concat(names))
    end
    if fault == "other" then return message end
  end
end

-- Returns why SQLite could not open a file: SQLite says less, and LuaDBI's driver leaks a connection that did not open.
local function error_of(path)
  if path == "" or path:find("\0", 1, true) or path:find "^file:" then
    return "the path must name a file: no URI, no empty text, no zero byte"
  end
  if path:find "^:" then return end -- :memory:, which has no write-ahead log, and is rejected for that
  local ok, reason, folder = core.may_keep(path)
  if not ok and folder then
    return ('no file can be made in the folder "%s" (%s); %s, or name another'):format(folder, reason,
      reason == "Permission denied" and "let this user write there" or "make the folder")
  elseif not ok then
    return ('"%s" cannot be read and written (%s)'):format(path, reason)
  end
  return trust_error(path)
end

--- Opens or makes the file. Returns a handle of LuaDBI; or nil and a message.
function M.connect(driver, options)
  local path = options.sqlite
  local message = error_of(path)
  if message then return nil, message end
  if not path:find "^:" and not core.file_mode(path) then
    local made, reason = core.create_private(path)
    if not made and not core.file_mode(path) then -- another process may have made it meanwhile
      return nil, ('"%s" cannot be made (%s)'):format(path, reason)
    end
  end
  return driver.Connect("SQLite3", path)
end

-- Notes an open database's files: writes to a removed or replaced file would be lost.
local function note_files(db)
  db.files, files.databases[db] = {}, true
  for _, row in ipairs(assert(db:rows "PRAGMA database_list")) do
    if row.name == "main" and row.file ~= "" then
      local message = trust_error(row.file) -- the path may have been a link
      if message then error(message, 0) end
      for _, suffix in ipairs(SUFFIXES) do
        local mode, _, id = core.file_mode(row.file .. suffix)
        if not mode then error(('its file "%s%s" is missing'):format(row.file, suffix), 0) end
        db.files[#db.files + 1] = { path = row.file .. suffix, id = id }
      end
      db.place = db.handle -- the next connection may find an older file that was copied over this one
    end
  end
end

local NO_ENTRY = 2 -- ENOENT

-- Tells if another file is mounted at a file; false without a list of mounts. Raises where the list cannot be read.
local function is_mount_point(path)
  local mounts, message, code = io.open "/proc/self/mountinfo"
  if not mounts and code == NO_ENTRY then return false end
  if not mounts then error("the mounts of this system cannot be read: " .. message, 0) end
  local found = false
  for line in mounts:lines() do
    local point = line:match "^%S+ %S+ %S+ %S+ (%S+)" or ""
    found = found or path == point:gsub("\\(%d%d%d)", function(octal) return string.char(tonumber(octal, 8)) end)
  end
  mounts:close()
  return found
end

-- Returns why a file with a second name is not used, or nil: SQLite keeps log and locks beside a name, so programs with
-- two names share neither, and each would pay.
local function names_error(path, links)
  if links > 1 then
    return ('"%s" has a second name (a hard link), and by that another program would share neither its locks nor its '
      .. "log; remove one of the names"):format(path)
  end
end

local function check_names(db)
  for _, row in ipairs(assert(db:rows "PRAGMA database_list")) do
    if row.name == "main" and row.file ~= "" then
      local mode, problem, _, _, links = core.file_mode(row.file)
      local message = not mode and ('"%s" cannot be looked up: %s'):format(row.file, problem)
        or names_error(row.file, links)
      if not message and is_mount_point(row.file) then
        message = ('"%s" is mounted by itself, so that its log and its locks stay outside; mount its folder')
          :format(row.file)
      end
      if message then error(message, 0) end
    end
  end
end

-- Another program's database gets no tables and no write-ahead log.
local function check_owner(db)
  local other
  for _, row in ipairs(assert(db:rows "SELECT name FROM sqlite_master WHERE type = 'table'")) do
    if row.name:find "^purser_" then return end
    if not row.name:find "^sqlite_" then other = row.name end
  end
  if other then error(('it is a database of another program, with a table "%s"'):format(other), 0) end
end

function M.greet(db)
  assert(db:rows(("PRAGMA busy_timeout = %d"):format(db.lock_timeout_ms)))
  check_names(db)
  check_owner(db)
  local mode = assert(db:rows "PRAGMA journal_mode = WAL")[1].journal_mode
  if mode ~= "wal" then
    error("the file cannot be kept with a write-ahead log (its mode is " .. tostring(mode) .. ")", 0)
  end
  assert(db:rows("PRAGMA synchronous = " .. (db.relaxed and "NORMAL" or "FULL")))
  assert(db:rows "SELECT name FROM sqlite_master LIMIT 1") -- the first read makes the log and its index
  note_files(db)
  if db.sleep then assert(db:rows "PRAGMA busy_timeout = 0") end
end

--- Returns why the open connection cannot be used, or nil.
function M.connection_error(db)
  for _, file in ipairs(db.files) do
    local _, _, id, _, links = core.file_mode(file.path)
    if id ~= file.id then
      return ('the file "%s" was removed or replaced while it was open; put it back, or stop every program that has '
        .. "the journal open (docs/write/journal.md)"):format(file.path)
    end
    local message = names_error(file.path, links)
    if message then return message end
  end
end

--- Returns this machine's time, epoch ms.
function M.now()
  return core.now_ms()
end

return M
