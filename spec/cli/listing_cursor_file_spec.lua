-- SPDX-License-Identifier: MIT
-- The file of --cursor.

local files = require "files"
local listing = require "purser.cli.listing"
local printed = require "printed"

describe("the file of --cursor", function()
  local folder = files.folder()
  teardown(function() files.remove(folder) end)

  it("is read and replaced, and is missing at the first run", function()
    local path = folder .. "/seen"
    assert.is_nil(listing.read_cursor(path))
    assert.equal(0, listing.keep_cursor(path, "purser1;a;1;"))
    assert.equal("purser1;a;1;", listing.read_cursor(path))
    assert.equal(0, listing.keep_cursor(path, "purser1;a;2;"))
    assert.equal("purser1;a;2;\n", files.read(path))
  end)

  it("ends the command where it cannot be read or written, before anything is asked", function()
    local code, _, err = printed(listing.read_cursor, folder)
    assert.equal(2, code)
    assert.matches("--cursor " .. folder, err, 1, true)
    code, _, err = printed(listing.read_cursor, folder .. "/none/seen")
    assert.equal(2, code)
    assert.matches("cannot be written", err, 1, true)
    code, _, err = printed(listing.keep_cursor, folder .. "/none/seen", "x")
    assert.equal(5, code)
    assert.matches("could not be written", err, 1, true)
  end)
end)
