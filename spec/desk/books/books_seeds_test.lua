-- SPDX-License-Identifier: MIT
-- make test-all: 60 s, on luajit
-- Random lives, after the thirty of books_seeds_spec.lua: see spec/support/books_seeds.lua.

local books_seeds = require "books_seeds"
local files = require "files"

describe("Books of hundreds of random lives", function()
  after_each(files.remove_kept)

  it("equal the simulator at every quiet reading, and have every record's state at the end", function()
    for seed = 31, 265 do
      books_seeds.live(seed)
      files.remove_kept()
    end
  end)
end)
