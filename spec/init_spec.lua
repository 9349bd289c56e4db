-- SPDX-License-Identifier: MIT
-- The start of Purser: what it needs is there, or is named.

local files = require "spec.support.files"

-- Returns what a program prints that runs in a process of its own; `prelude` comes before it is told where modules are.
local function run(program)
  local path = os.tmpname()
  files.write(path, program)
  local pipe = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", path)))
  local text = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return text
end

describe("a host without the C core", function()
  it("is told what to build for this Lua, or where the module has to be", function()
    local name = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
    for prelude, words in pairs {
      ["package.cpath = ''"] = "purser.core is not on package.cpath; run `make LUA=" .. name .. "` in the clone",
      ["package.preload['purser.core'] = function() error('undefined symbol: lua_xx', 0) end"] =
        "purser.core was built for another Lua than this one, " .. name .. "; run",
      ["package.preload['purser.core'] = function() error('no libcrypto', 0) end"] = "cannot be loaded; run `make LUA=",
    } do
      local text = run(prelude .. "\nprint(select(2, pcall(require, 'purser')))")
      assert.truthy(text:find(words, 1, true), text)
      assert.equal(prelude:find "libcrypto" ~= nil, text:find("no libcrypto", 1, true) ~= nil)
    end
  end)
end)
