-- SPDX-License-Identifier: MIT
-- Random lives of payments, from the hundredth on; see spec/support/lives.lua. PURSER_LIVES=20000 runs as many.
-- make test-all: 50 s, on luajit

local lives = require "lives"
local ssh_keys = require "ssh_keys"

teardown(ssh_keys.remove)

describe("a hundred and fifty lives of payments", function()
  it("send nothing that no plan lets, pay nothing twice without a word, pass no limit, and come to an end", function()
    lives.run(150, 101)
  end)
end)
