-- SPDX-License-Identifier: MIT
-- Files of this user alone: core.file_mode, core.sync_file, core.write_new.

local command = require "command"
local core = require "purser.core"
local files = require "files"

local LUA = os.getenv "LUA" or "lua5.4"

local new_path = files.new_path

after_each(files.remove_kept)

describe("core.file_mode of an open file", function()
  it("judges what was opened, and not what has its name by now", function()
    local path, other = new_path "one", new_path "other"
    os.execute(("chmod 600 %s; chmod 644 %s"):format(path, other))
    local file = assert(io.open(path, "rb"))
    assert(os.rename(other, path))
    assert.equal(tonumber("600", 8), (core.file_mode(file)))
    assert.equal(tonumber("644", 8), (core.file_mode(path)))
    assert.is_true(core.sync_file(file, "/tmp"))
    assert.is_nil((core.sync_file(file, "/nonexistent")))
    file:close()
    assert.is_false((pcall(core.file_mode, file)))
    assert.is_false((pcall(core.sync_file, file)))
    assert.is_false((pcall(core.file_mode, core.decimal "1")))
  end)
end)

describe("core.file_mode of a name", function()
  it("tells what is not there from what cannot be looked up", function()
    local path, link, loop = new_path "text", files.new_path(), files.new_path()
    local function link_to(target, name) assert(os.execute(("ln -sf %s %s"):format(target, name))) end
    link_to(path .. ".not-mounted/file", link)
    link_to(loop, loop)
    for name, is_missing in pairs { [path .. ".none"] = true, [path .. "/below"] = true, [path .. ".none/below"] = true,
      [link] = false, [loop] = false, [loop .. "/below"] = false, [path .. ("n"):rep(300)] = false } do
      local mode, reason, missing = core.file_mode(name)
      assert.same({ nil, "string", is_missing }, { mode, type(reason), missing }, name)
    end
  end)
end)

describe("core.write_new", function()
  it("makes a file of this user alone, whole and on the disk, and takes no file that is there", function()
    local path, link = new_path(), new_path()
    local text = ("a\0b"):rep(100000)
    assert.is_true(core.write_new(path, text))
    assert.equal(text, files.read(path))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    local public = new_path()
    assert.is_true(core.write_new(public, text, true))
    assert.equal(tonumber("644", 8), (core.file_mode(public)))
    local ok, reason = core.write_new(path, "other")
    assert.is_nil(ok)
    assert.matches("exists", reason)
    assert(os.execute(("ln -s %s %s"):format(new_path(), link)))
    assert.is_nil((core.write_new(link, "other")))
    assert.is_nil((core.write_new(path .. "/below", "other")))
    assert.equal(text, files.read(path))
  end)

  it("leaves nothing when the disk takes only a part", function()
    local path = new_path()
    local _, shown = command.shell(("(ulimit -f 1; trap '' XFSZ; %s -e %s)"):format(LUA, command.quote(([[
      print(require("purser.core").write_new(%q, ("x"):rep(1000000)))]]):format(path))))
    assert.matches("^nil\t.*[Ff]ile", shown)
    assert.is_nil(core.file_mode(path))
  end)
end)
