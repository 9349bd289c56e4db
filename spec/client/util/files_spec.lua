-- SPDX-License-Identifier: MIT
-- Files read and written whole, and those with secrets.

local as_root = require "as_root" (it, pending)
local core = require "purser.core"
local support = require "files"
local files = require "purser.client.util.files"

local folder, path

setup(function()
  folder = support.folder()
  path = folder .. "/file"
end)
teardown(function() support.remove(folder) end)
before_each(function() os.execute(("cd %s && rm -rf ./*"):format(folder)) end)

local function run(command) os.execute(("cd %s && %s"):format(folder, command)) end

-- The names of all that is in the folder.
local function names()
  local pipe = io.popen("ls -A " .. folder)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function mode_of(name) return core.file_mode(name) % 512 end

describe("a file that is read", function()
  it("is given whole, byte for byte", function()
    support.write(path, "a\0b\r\n\255")
    assert.equal("a\0b\r\n\255", files.read(path))
  end)

  it("says why it cannot be, names itself once, and says whether it is missing", function()
    run "mkdir folder; mkfifo pipe; ln -s pipe link"
    for name, expected in pairs {
      ["/none"] = { "No such file or directory", true }, ["/none/file"] = { "No such file or directory", true },
      ["/folder"] = { "Is a directory", false }, ["/pipe"] = { "it is not a regular file; name one that is", false },
      ["/link"] = { "it is not a regular file; name one that is", false },
    } do
      local text, message, is_missing = files.read(folder .. name)
      assert.is_nil(text)
      assert.equal(("%s%s cannot be read: %s"):format(folder, name, expected[1]), message)
      assert.equal(expected[2], is_missing)
    end
    assert.same({ nil, '"" cannot be read: it names no file', false }, { files.read "" })
    assert.matches("/dev/zero cannot be read: it is not a regular file", select(2, files.read "/dev/zero"), 1, true)
  end)

  it("is missing, too, where a file stands in the place of its folder", function()
    support.write(path, "")
    assert.is_true((select(3, files.read(path .. "/x"))))
  end)

  it("is bounded", function()
    run "truncate -s 268435457 large"
    assert.matches("it is larger than 256 MiB", select(2, files.read(folder .. "/large")), 1, true)
  end)

  it("is an object of JSON, or a message says where it is none", function()
    for text, message in pairs { ["{}"] = false, [' {"a":[1]}\n'] = false, ["[]"] = true, ["5"] = true, [""] = true,
      ['{"a":'] = " at byte ", ["{} x"] = " at byte " } do
      support.write(path, text)
      local object, why = files.read_object(path)
      assert.equal(message == false, type(object) == "table", text)
      if message then assert.matches(path .. " is not the JSON of an object", why, 1, true) end
      if type(message) == "string" then assert.matches(message, why, 1, true) end
    end
    assert.is_true((select(3, files.read_object(folder .. "/none"))))
  end)
end)

describe("a file with secrets", function()
  it("is opened when it is this user's alone", function()
    support.write(path, "secret")
    for mode, message in pairs { ["600"] = false, ["400"] = false, ["640"] = "mode 640", ["604"] = "mode 604",
      ["610"] = "mode 610" } do
      run(("chmod %s file"):format(mode))
      local file, why = files.open_private(path, "rb")
      assert.equal(message == false, file ~= nil, mode)
      if file then file:close() else assert.matches(message .. ".*run: chmod 600 ", why) end
    end
  end)

  it("is a regular file that is there", function()
    run "mkfifo -m 600 pipe"
    assert.matches("is not a regular file", select(2, files.open_private(folder .. "/pipe", "r+b")), 1, true)
    assert.matches("No such file", select(2, files.open_private(path, "rb")), 1, true)
  end)
end)

describe("a file of rules", function()
  local function rules(text, mode)
    support.write(path, text)
    run(("chmod %s file"):format(mode or "644"))
    return files.read_rules(path)
  end

  it("is one that nobody else can change", function()
    for mode, accepted in pairs { ["600"] = true, ["644"] = true, ["664"] = false, ["646"] = false, ["666"] = false } do
      local object, why = rules('{"read_only":true}', mode)
      if accepted then
        assert.same({ read_only = true }, object)
      else
        assert.is_nil(object)
        assert.matches("can be changed by others; run: chmod go-w " .. path, why, 1, true)
      end
    end
  end)

  it("loses no member without a word: null is an error, and so is a member that is there twice", function()
    for text, expected in pairs {
      ['{"read_only":null}'] = "read_only is null", ['{"a":{"b":[1,null]}}'] = "b[2] is null",
      ['{"read_only":true,"read_only":false}'] = "read_only is there twice",
      ['{"read_only":true,"read\\u005fonly":false}'] = "read_only is there twice",
      ['{"max_amount":{"USDT":"1","USDT":"1000"}}'] = "USDT is there twice", ["[]"] = "is not the JSON of an object",
    } do
      local object, why = rules(text)
      assert.is_nil(object)
      assert.matches(expected, why, 1, true)
    end
    assert.same({ a = { { b = "1" }, { b = "2" } }, c = { "x", "x" } },
      assert(rules '{"a":[{"b":"1"},{"b":"2"}],"c":["x","x"]}'))
  end)
end)

describe("a file of another user", function()
  local function rejected(expected, value, why)
    assert.is_nil(value)
    assert.matches(expected, why, 1, true)
  end

  as_root("is neither opened for secrets nor read for rules", function()
    support.write(path, '{"read_only":true}')
    run "chmod 600 file && chown 65534 file"
    rejected("belongs to another user", files.open_private(path, "a+b"))
    rejected("belongs to another user", files.read_rules(path))
  end)

  as_root("may be a link to one of this user, which is not followed, as one of this user is", function()
    support.write(folder .. "/own", '{"read_only":true}')
    run "chmod 600 own && ln -s own file && chown -h 65534 file && ln -s own link"
    rejected("is a link of another user", files.open_private(path, "a+b"))
    rejected("is a link of another user", files.read_rules(path))
    assert(files.open_private(folder .. "/link", "rb")):close()
    assert(files.read_rules(folder .. "/link"))
  end)
end)

describe("a file that is replaced", function()
  it("has the new text in one step, is this user's alone, and leaves nothing next to it", function()
    support.write(path, "old")
    run "chmod 644 file"
    assert.is_true(files.can_replace(path))
    assert.equal("old", support.read(path))
    assert.is_true(files.replace(path, "new"))
    assert.equal("new", support.read(path))
    assert.equal(tonumber("600", 8), mode_of(path))
    assert.equal("file\n", names())
  end)

  it("is a regular file itself: no pipe, no device and no link is replaced, not even by a superuser", function()
    support.write(folder .. "/other", "untouched")
    run "ln -s other link; ln -s pipe piped; mkfifo pipe"
    for name, message in pairs { link = "it is a link; name the file that it leads to",
      pipe = "it is not a regular file", piped = "it is not a regular file" } do
      for _, attempt in ipairs { files.can_replace, files.replace, files.draft } do
        local ok, why = attempt(folder .. "/" .. name, "new")
        assert.is_nil(ok)
        assert.matches(message, why, 1, true)
      end
    end
    assert.equal("untouched", support.read(folder .. "/other"))
    assert.equal("link\nother\npipe\npiped\n", names())
  end)

  it("is no database: a journal or books hold what is nowhere else", function()
    support.write(path, "SQLite format 3\0 and more")
    for _, attempt in ipairs { files.can_replace, files.replace, files.draft } do
      local ok, why = attempt(path, "text")
      assert.is_nil(ok)
      assert.matches("it is a database", why, 1, true)
    end
    assert.equal("SQLite format 3\0 and more", support.read(path))
    assert.equal("file\n", names())
  end)

  it("cannot be a folder, nor one without a name, nor in a folder that is missing; nothing is left", function()
    run "mkdir file"
    for name, message in pairs { [path] = "it is a folder", [""] = "its name is empty",
      [folder .. "/none/file"] = "No such file" } do
      for _, attempt in ipairs { files.can_replace, files.replace, files.draft } do
        local ok, why = attempt(name, "text")
        assert.is_nil(ok)
        assert.matches(message, why, 1, true)
      end
    end
    assert.equal("file\n", names())
  end)
end)

describe("a draft", function()
  it("takes the file's place at its commit and not before", function()
    support.write(path, "old")
    local draft = assert(files.draft(path))
    assert(draft:write "new ")
    assert(draft:write "text")
    assert.equal("old", support.read(path))
    assert.is_true((draft:commit()))
    assert.equal("new text", support.read(path))
    assert.equal(tonumber("600", 8), mode_of(path))
    assert.equal("file\n", names())
  end)

  it("leaves nothing of itself when it is discarded, or cannot take the place", function()
    local draft = assert(files.draft(path))
    draft:write "new"
    draft:discard()
    assert.equal("", names())
    draft = assert(files.draft(path))
    run "mkdir -p file/inside"
    assert.is_nil((draft:commit()))
    assert.equal("file\n", names())
  end)
end)

describe("the folder of a file", function()
  it("is what stands before its last slash, or the current one", function()
    for name, expected in pairs { ["/a/b"] = "/a/", ["a/b"] = "a/", a = ".", ["/a"] = "/", ["a/"] = "a/" } do
      assert.equal(expected, files.folder_of(name))
    end
  end)
end)
