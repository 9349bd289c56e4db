-- SPDX-License-Identifier: MIT
-- The witness beside a database: it knows an older copy, and a witness that was copied with it.

local database = require "purser.client.util.database"
local files = require "files"
local witnesses = require "purser.client.util.database.witness"

describe("The witness of a database", function()
  local folder, path, db

  local function open()
    db = assert(database.open({ sqlite = path }, "purser_t_meta"))
    assert(db:rows "CREATE TABLE IF NOT EXISTS purser_t_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    return witnesses.of(db)
  end

  -- Returns what a witness that is opened now says of a number.
  local function said(number)
    if db then db:close() end
    local witness = open()
    local state, message
    assert(db:transaction(function(tx)
      state, message = witness:check(tx, number)
      return true
    end))
    return state, message
  end

  local function begin(number)
    local witness = open()
    assert(db:transaction(function(tx)
      witness:renew(tx)
      return true
    end))
    assert(witness:note(number))
    return witness
  end

  before_each(function()
    folder = files.folder()
    path = folder .. "/db"
  end)
  after_each(function()
    db:close()
    db = nil
    files.remove(folder)
  end)

  it("says that a database is the newest as long as nothing that left it is missing", function()
    begin "000000000003"
    assert.equal("newest", said "000000000003")
    assert.equal("newest", said(4)) -- a commit whose facts did not leave
    assert.equal("older", said(2))
    local witness = open()
    assert(db:transaction(function(tx) return witness:check(tx, 7) end))
    assert(witness:note(7))
    assert(witness:note(5)) -- grows alone
    assert.equal("older", said(6))
    assert.equal("newest", said(7))
  end)

  it("says that a copy of before a begin is older, whatever its number is", function()
    begin(3)
    db:close()
    assert(os.execute(("cp %s %s.copy"):format(path, path)))
    begin(0)
    assert.equal("newest", said(0))
    db:close()
    assert(os.execute(("cp %s.copy %s"):format(path, path)))
    assert.equal("older", said(900))
  end)

  it("proves nothing where it is missing, cut, or a copy", function()
    assert.equal("unknown", said(0))
    begin(3)
    assert.equal("newest", said(3))
    db:close()
    assert(os.execute(("cp -a %s-witness %s-kept && mv -f %s-kept %s-witness"):format(path, path, path, path)))
    assert.equal("unknown", said(3))
    files.write(path .. "-witness", "mark 00")
    assert.equal("unknown", said(3))
    os.remove(path .. "-witness")
    assert.equal("unknown", said(3))
  end)

  -- The number of a removed file is given to a new one, and a file that is overwritten keeps its own.
  it("proves nothing where an older one is put into its place, in whatever way", function()
    for _, command in ipairs { "mv -f $f $t", "cp $f $t", "cp -a $f $t", "rm $t && cp -a $f $t", "cat $f >$t" } do
      for notes = 1, 3 do
        local witness = begin(1)
        assert(os.execute(("cp -a %s-witness %s-copy"):format(path, path)))
        for i = 1, notes do assert(witness:note(1 + i)) end
        assert(os.execute(("f=%s-copy t=%s-witness; %s"):format(path, path, command)))
        assert.equal("unknown", said(1), command)
        db:close()
      end
    end
  end)

  it("that cannot be read says so, which is no proof", function()
    begin(3)
    assert(os.execute(("rm %s-witness && mkdir %s-witness"):format(path, path)))
    local state, message = said(3)
    assert.is_nil(state)
    assert.matches("cannot be read", message)
  end)

  it("is not written over that of another database", function()
    local witness = begin(3)
    os.remove(path .. "-witness")
    local ok, message = witness:note(4)
    assert.is_nil(ok)
    assert.matches("is of another database, or gone", message)
  end)
end)
