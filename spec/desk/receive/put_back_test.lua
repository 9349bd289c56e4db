-- SPDX-License-Identifier: MIT
-- make test-all: 40 s on luajit
-- Forty-five histories of forty hours in which copies of the database are put back at random moments.

local files = require "files"
local histories = require "receive_histories"

describe("Deposits in a database that is put back at random moments", function()
  teardown(files.remove_kept)

  it("are credited at most once, to whom they are for, or a person is asked", function()
    local store = histories.open()
    for _, class in ipairs { "plain", "one", "hard" } do
      local found = histories.run(store, class, 5001, 5015, true)
      print(class, ("n %d, put back %d times, twice %d, wrong %d, never %d, a person is asked %d"):format(found.n,
        found.back, found.twice, found.wrong, found.never, found.person))
      assert.same({ 0, 0, 0, 0 }, { found.twice, found.wrong, found.never, found.open })
    end
    store:close()
  end)
end)
