-- SPDX-License-Identifier: MIT
-- make test-all: 90 s on luajit
-- At services that are odd in much. Other seeds may count a fault that is the operator's: in 3054 two networks show one
-- transaction in turn, and the operator, who goes by the record that was credited, says "same" of the second deposit.

local files = require "files"
local histories = require "receive_histories"

describe("Deposits in 222 histories that are hard", function()
  teardown(files.remove_kept)

  it("are credited once, to whom they are for", function() histories.hold "hard" end)
end)
