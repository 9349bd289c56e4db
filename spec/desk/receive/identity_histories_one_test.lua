-- SPDX-License-Identifier: MIT
-- make test-all: 30 s on luajit
-- At services that are odd in one thing.

local files = require "files"
local histories = require "receive_histories"

describe("Deposits in 222 histories that are one", function()
  teardown(files.remove_kept)

  it("are credited once, to whom they are for", function() histories.hold "one" end)
end)
