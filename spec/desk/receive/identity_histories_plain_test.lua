-- SPDX-License-Identifier: MIT
-- make test-all: 20 s on luajit
-- At services that respell nothing.

local files = require "files"
local histories = require "receive_histories"

describe("Deposits in 222 histories that are plain", function()
  teardown(files.remove_kept)

  it("are credited once, to whom they are for", function() histories.hold "plain" end)
end)
