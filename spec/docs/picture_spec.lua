-- SPDX-License-Identifier: MIT
-- The picture of a terminal in the README is what the command prints.
-- make test: 5 s, waits, on lua5.4

local files = require "files"

it("the picture of a terminal is current: lua5.4 tools/picture.lua", function()
  local path = os.tmpname()
  assert(os.execute("lua5.4 tools/picture.lua " .. path))
  local made = files.read(path)
  os.remove(path)
  assert.equal(files.read "docs/terminal.svg", made)
  assert.is_nil(made:match ">[^<\n]* [^<\n]*</text>") -- browsers leave out blanks, and stretch what is left
end)
