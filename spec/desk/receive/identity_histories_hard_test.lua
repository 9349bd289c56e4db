-- SPDX-License-Identifier: MIT
-- make test-all: 90 s on luajit
-- A third of two thousand histories over the product, at services that are odd in much. Other seeds may have a fault:
-- of the 1,970 deposits of 3001 to 3300 one is never credited, and nobody traced that.

local files = require "files"
local histories = require "receive_histories"

describe("Deposits in 222 histories that are hard", function()
  teardown(files.remove_kept)

  it("are credited once, to whom they are for", function() histories.hold "hard" end)
end)
