-- SPDX-License-Identifier: MIT
-- The words about a core that cannot be loaded.

local core_problem = require "purser.util.core_problem"

describe("a core that cannot be loaded", function()
  it("is explained in one line that says what to do, and quotes only what is not explained", function()
    for problem, words in pairs {
      ["module 'purser.core' not found:\n\tno field"] = "purser.core is not on package.cpath; run `make LUA=",
      ["/x/core.so: undefined symbol: lua_newuserdata"] = "was built for another Lua than this one, lua",
      ["libcrypto.so.3: cannot open"] = "cannot be loaded; run `make LUA=",
    } do
      local text = core_problem(problem)
      assert.truthy(text:find(words, 1, true), text)
      assert.is_nil(text:find("\n", 1, true))
      assert.equal(problem:find "libcrypto" ~= nil, text:find(problem, 1, true) ~= nil)
    end
  end)
end)
