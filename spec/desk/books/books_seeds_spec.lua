-- SPDX-License-Identifier: MIT
-- make test: 4 s, on lua5.4 and luajit, a third
-- Random lives: books beside a simulator, see spec/support/books_seeds.lua; books_seeds_test.lua lives a thousand.

local draws = require "draws"
local books_seeds = require "books_seeds"
local files = require "files"

describe("Books of a random life", function()
  after_each(files.remove_kept)

  it("equal the simulator at every quiet reading, and have every record's state at the end", function()
    local looks = 0
    for seed = 1, draws.of(30) do
      looks = looks + books_seeds.live(seed)
      files.remove_kept()
    end
    assert.equal(7 * draws.of(30), looks)
  end)
end)
