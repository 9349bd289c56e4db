-- SPDX-License-Identifier: MIT
-- A folder of keys that cannot be made.

local command = require "command"

describe("purser login", function()
  it("says so in one line of its own where the folder of keys cannot be made", function()
    local code, _, err = command.run({ "login", "desk" }, { XDG_CONFIG_HOME = "/dev/null/none" }, "key\nsecret\n")
    assert.equal(2, code)
    assert.matches("^purser: login: /dev/null/none/purser/desk%.keys cannot be written: [^\n]+; nothing was kept; "
      .. "make its folder writable, or set XDG_CONFIG_HOME\n$", err)
  end)
end)
