-- SPDX-License-Identifier: MIT
-- Which files a call runs through, and that no lower layer calls a method of a higher one, which no `require` shows.
-- Calls out of util/ are of functions that it was given: the body of a transaction, a task.

local files = require "files"

-- Calls up that are still there: "lower higher". This list may only shrink.
local known = {
  ["client write"] = true, -- until the seam of writing stands: a client hands its writes to the room above
  ["call write"] = true, -- how far a write call came
  ["history write"] = true, -- one page of a history, as the reader wants it
  ["write desk"] = true, -- the body of a transaction of the journal
}

-- So many files at most; raising a number is a commit that says why.
-- whose a journal is, its kept digests, addresses as values, and the table of networks; a call as records compare with
-- it, what follows from a row, and the statements of a set of columns; the network
-- that an answer and a record show, and the table of networks for these; the stages of a payment apart from its worker
local most = { coins = 9, withdraw = 39, reconcile = 50, payment = 66 }

describe("the files that a call runs through", function()
  for _, what in ipairs { "coins", "withdraw", "reconcile", "payment" } do
    it("are few for " .. what .. ", and none of a lower layer calls up", function()
      local lines = files.lines_of(("%s spec/support/trace_call.lua %s 2>&1")
        :format(os.getenv "LUA" or "lua5.4", what))
      local number, calls = tonumber((lines[1]:match "^files (%d+)$")), (lines[2] or ""):match "^calls (%d+)$"
      assert(number and calls, table.concat(lines, "\n"))
      print(("# %s runs through %d files in %d calls of functions"):format(what, number, calls))
      assert.is_true(number <= most[what], number)
      for i = 3, #lines do
        local lower, higher = lines[i]:match "^up (%l+)%S* (%l+)"
        assert(lower == "util" or known[lower .. " " .. higher], lines[i])
      end
    end)
  end
end)
