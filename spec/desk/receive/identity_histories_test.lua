-- SPDX-License-Identifier: MIT
-- make test-all: 140 s on luajit
-- Two thousand histories over the product: identity_spec runs the first few of the same.

local files = require "files"
local histories = require "receive_histories"

local EACH = 667
-- The faults that a class may have in its histories: the hard ones a few, which nobody traced.
local most = { plain = { twice = 0, never = 0 }, one = { twice = 0, never = 0 }, hard = { twice = 1, never = 1 } }

describe("Two thousand histories of deposits", function()
  local store
  setup(function() store = histories.open() end)
  teardown(function()
    store:close()
    files.remove_kept()
  end)

  for _, class in ipairs { "plain", "one", "hard" } do
    it(("that are %s: twice, wrong and never"):format(class), function()
      local found = histories.run(store, class, 1001, 1000 + EACH)
      print(class, ("n %d, given by a person %d, twice %d, wrong %d, never %d"):format(found.n, found.given,
        found.twice, found.wrong, found.never))
      if class == "plain" then
        assert.equal(0, found.ask) -- matching asks nobody
        assert.is_true(found.given <= .02 * found.n, found.given)
      end
      for name in pairs { n = 1, ask = 1, person = 1, given = 1 } do found[name] = nil end
      for name, count in pairs(found) do
        assert.is_true(count <= (most[class][name] or 0), ("%s: %d"):format(name, count))
      end
    end)
  end
end)
