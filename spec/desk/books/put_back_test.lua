-- SPDX-License-Identifier: MIT
-- make test-all: 40 s, on luajit
-- Books of which copies are put back at random moments: see spec/support/books_histories.lua.

local books_histories = require "books_histories"
local files = require "files"

describe("Books in a database that is put back at random moments", function()
  after_each(files.remove_kept)

  it("say nothing that is wrong of a span that they call read, and tell the same of a revision for ever", function()
    print(books_histories.run(5, 44))
  end)
end)
