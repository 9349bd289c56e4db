-- SPDX-License-Identifier: MIT
-- The start of Purser: what it needs is there, or is named.

local run = require("spec.support.files").output_of_program

describe("the start", function()
  it("looks for an installation's archive, and goes on without one", function()
    local text = run [[package.preload["purser.client.util.archive"] = function()
        return { use = function(core) print(type(core.archive)) error "none" end }
      end
      print(require("purser")._VERSION ~= nil)]]
    assert.equal("function\ntrue\n", text)
  end)
end)

describe("a host without the C core", function()
  it("is told what to build for this Lua, or where the module has to be", function()
    local name = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
    for prelude, words in pairs {
      ["package.cpath = ''"] = "purser.core is not on package.cpath; run `make LUA=" .. name .. "` in the clone",
      ["package.preload['purser.core'] = function() error('undefined symbol: lua_xx', 0) end"] =
        "purser.core cannot be loaded by this Lua, " .. name .. " (undefined symbol: lua_xx); run `make LUA=" .. name,
      ["package.preload['purser.core'] = function() error('no libcrypto', 0) end"] =
        "cannot be loaded by this Lua, " .. name .. " (no libcrypto)",
    } do
      local text = run(prelude .. "\nprint(select(2, pcall(require, 'purser')))")
      assert.truthy(text:find(words, 1, true), text)
      assert.matches("^purser: the C module", text)
      assert.equal(prelude:find "libcrypto" ~= nil, text:find("no libcrypto", 1, true) ~= nil)
    end
  end)
end)
