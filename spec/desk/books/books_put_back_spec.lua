-- SPDX-License-Identifier: MIT
-- make test: 4 s, on luajit
-- Four histories of books of which copies are put back; put_back_test.lua lives forty.

local books_histories = require "books_histories"
local files = require "files"

describe("Books in a database that is put back", function()
  after_each(files.remove_kept)

  it("say nothing that is wrong of a span that they call read, and tell the same of a revision for ever", function()
    books_histories.run(1, 4)
  end)
end)
