-- SPDX-License-Identifier: MIT
-- A database in a file: how it is opened, and what is looked at before every transaction.

local core = require "purser.core"
local database = require "purser.client.util.database"
local dbi = require "DBI"
local files = require "files"

local folder, path
local opened = {}

setup(function() folder = files.folder() end)
teardown(function() files.remove(folder) end)
before_each(function()
  os.execute(("cd %s && rm -rf ./*"):format(folder))
  path = folder .. "/db"
end)
after_each(function()
  while opened[1] do table.remove(opened):close() end
end)

local function run(command) os.execute(("cd %s && %s"):format(folder, command)) end

local function open(options)
  local all = { sqlite = path }
  for name, value in pairs(options or {}) do all[name] = value end
  local db, message = database.open(all)
  opened[#opened + 1] = db
  return db, message
end

local function rejects(expected, options)
  local db, message = open(options)
  assert.is_nil(db)
  assert.matches(expected, message, 1, true)
end

describe("a database in a file", function()
  it("is made when it is missing, with a write-ahead log, and all its files are this user's alone", function()
    local db = assert(open())
    for _, suffix in ipairs { "", "-wal", "-shm" } do
      assert.equal(tonumber("600", 8), core.file_mode(path .. suffix) % 512, suffix)
    end
    assert.equal("wal", db:rows("PRAGMA journal_mode")[1].journal_mode)
  end)

  it("has each commit on the disk, unless it is relaxed", function()
    assert.equal("2", tostring(assert(open()):rows("PRAGMA synchronous")[1].synchronous))
    assert.equal("1", tostring(assert(open { relaxed = true }):rows("PRAGMA synchronous")[1].synchronous))
  end)

  it("is not one in memory, a URI, or one whose path ends at a zero byte", function()
    for _, name in ipairs { "", "a\0b", "file:" .. path, "file::memory:" } do
      rejects("the path must name a file: no URI, no empty text, no zero byte", { sqlite = name })
    end
    rejects("cannot be kept with a write-ahead log (its mode is memory)", { sqlite = ":memory:" })
  end)

  it("is not one that others may read or write, nor are its other files, nor what a link leads to", function()
    assert(open()):close()
    run "chmod 640 db"
    rejects("is open to other users (its mode is 640); run: chmod 600")
    run "chmod 600 db; touch db-wal; chmod 604 db-wal"
    rejects("db-wal\" is open to other users (its mode is 604)")
    run "rm db-wal; mv db real; chmod 644 real; ln -s real db"
    rejects("is open to other users")
    run "rm db real"
    assert(assert(open { sqlite = folder .. "/real" }):rows "CREATE TABLE purser_t (a TEXT)") -- the log has content
    run "ln -s real db; chmod 644 real-wal"
    rejects("real-wal\" is open to other users")
  end)

  it("is not another program's, and that one stays as it is", function()
    local handle = assert(dbi.Connect("SQLite3", path))
    handle:autocommit(true)
    assert(dbi.Do(handle, "CREATE TABLE clients (name TEXT)"))
    handle:close()
    run "chmod 600 db"
    local before = files.read(path)
    rejects('it is a database of another program, with a table "clients"')
    assert.equal(before, files.read(path))
  end)

  it("cannot be in a folder that is missing, and the message quotes a path for the shell", function()
    rejects('no file can be made in the folder "' .. folder .. '/none/" (No such file or directory); make the folder',
      { sqlite = folder .. "/none/db" })
    local may_keep = core.may_keep
    finally(function() core.may_keep = may_keep end)
    function core.may_keep() return false, "Permission denied", folder .. "/" end -- root may write everywhere
    rejects('(Permission denied); let this user write there, or name another', { sqlite = folder .. "/db" })
    core.may_keep = may_keep
    path = folder .. "/it's"
    assert(open()):close()
    os.execute(('chmod 644 "%s"'):format(path))
    rejects("chmod 600 '" .. folder .. "/it'\\''s'")
  end)
end)

describe("an open database", function()
  for what, command in pairs {
    ["was removed"] = "rm db", ["was replaced"] = "cp db copy && chmod 600 copy && mv copy db",
    ["lost its write-ahead log"] = "rm db-wal", ["lost the log's index"] = "rm db-shm",
  } do
    it("whose file " .. what .. " begins no further transaction", function()
      local db = assert(open())
      assert(db:transaction(function() return true end))
      run(command)
      local result, message = db:transaction(function() error "it ran" end)
      assert.is_nil(result)
      assert.matches("was removed or replaced while it was open; put it back, or stop every program", message, 1, true)
    end)
  end
end)

describe("a file with two names", function()
  local SECOND = "has a second name (a hard link)"

  it("is opened by neither", function()
    assert(open()):close()
    run "ln db other"
    rejects(SECOND)
    rejects(SECOND, { sqlite = folder .. "/other" })
    run "rm other"
    assert(open())
  end)

  it("is used by no transaction any more that began with one name", function()
    local db = assert(open())
    run "ln db other"
    local ok, message = db:transaction(function() return true end)
    assert.is_nil(ok)
    assert.matches(SECOND, message, 1, true)
    run "rm other"
    assert.is_true(db:transaction(function() return true end))
  end)

  it("may be reached by a symbolic link", function()
    assert(open())
    run "ln -s db other"
    assert(open { sqlite = folder .. "/other" })
  end)
end)

describe("a file that is mounted by itself", function()
  it("is rejected, with the cure", function()
    local name = folder .. "/a b"
    local list = folder .. "/mounts"
    local file = assert(io.open(list, "w"))
    file:write("22 1 0:5 / / rw - ext4 /dev/sda1 rw\n",
      ("36 22 8:1 /db %s rw,relatime - ext4 /dev/sda1 rw\n"):format((name:gsub(" ", "\\040"))))
    file:close()
    local open_file = io.open
    finally(function() io.open = open_file end) -- luacheck: ignore
    io.open = function(path_, ...) -- luacheck: ignore
      return open_file(path_ == "/proc/self/mountinfo" and list or path_, ...)
    end
    rejects("is mounted by itself, so that its log and its locks stay outside; mount its folder", { sqlite = name })
    assert(open())
  end)

  it("is not taken for another one where mounts or names cannot be looked up; a system may have no list", function()
    local open_file, file_mode = io.open, core.file_mode
    finally(function() io.open, core.file_mode = open_file, file_mode end) -- luacheck: ignore
    local answer = { nil, "/proc/self/mountinfo: Permission denied", 13 }
    io.open = function(path_, ...) -- luacheck: ignore
      if path_ == "/proc/self/mountinfo" then return answer[1], answer[2], answer[3] end
      return open_file(path_, ...)
    end
    rejects("the mounts of this system cannot be read: /proc/self/mountinfo: Permission denied")
    answer = { nil, "/proc/self/mountinfo: No such file or directory", 2 }
    assert(open()):close()
    local looks = 0
    core.file_mode = function(path_)
      looks = looks + (path_ == path and 1 or 0)
      if looks > 1 then return nil, "Input/output error", false end -- once it is open
      return file_mode(path_)
    end
    rejects "cannot be looked up: Input/output error"
  end)
end)
