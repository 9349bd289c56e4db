-- SPDX-License-Identifier: MIT
-- make test-all: 20 s, on luajit
-- Some 20,000 lost calls; see spec/support/verdict_worlds.lua.

local verdict_worlds = require "verdict_worlds"

describe("The verdicts of two thousand worlds a kind", function()
  for _, kind in ipairs(verdict_worlds.KINDS) do
    it("are never false: " .. kind, function() verdict_worlds.hold(kind, 2000, 200) end)
  end
end)
