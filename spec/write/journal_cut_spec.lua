-- SPDX-License-Identifier: MIT
-- A journal whose file was cut.

local files = require "files"
local purser = require "purser"

describe("a journal that was cut", function()
  it("is not opened, and the error says where to get it from", function()
    local folder = files.folder()
    finally(function() files.remove(folder) end)
    local path = folder .. "/journal"
    assert(purser.journal.open { sqlite = path }):close()
    local text = files.read(path)
    files.write(path, text:sub(1, #text - 9000))
    local opened, err = purser.journal.open { sqlite = path }
    assert.is_nil(opened)
    assert.matches("restore it from a copy", err.hint)
  end)
end)
