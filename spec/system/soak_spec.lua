-- SPDX-License-Identifier: MIT
-- Clients come and go without leaving anything behind. `make soak` does the same a million times.

local soak = require "many_clients"

describe("ten thousand clients", function()
  it("leave no memory behind, in Lua or outside", function()
    local before, after = soak.run(10000)
    assert.is_true(after.lua < 1.1 * before.lua, ("%.0f kB of Lua became %.0f"):format(before.lua, after.lua))
    if before.rss then
      assert.is_true(after.rss < 1.2 * before.rss, ("%.0f kB resident became %.0f"):format(before.rss, after.rss))
    end
  end)
end)
