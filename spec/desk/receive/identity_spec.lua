-- SPDX-License-Identifier: MIT
-- Histories over the product: spec/support/receive_histories.lua. PURSER_HISTORIES says how many of each class.
-- make test: 2 s, on lua5.4 and luajit

local files = require "files"
local histories = require "receive_histories"

local N = tonumber(os.getenv "PURSER_HISTORIES") or 17

describe("Deposits of a service", function()
  local store
  setup(function() store = histories.open() end)
  teardown(function()
    store:close()
    files.remove_kept()
  end)

  for _, class in ipairs { "plain", "one", "hard" } do
    it(("that is %s are credited once, to whom they are for"):format(class), function()
      local f, ms = histories.run(store, class, 1, N)
      if os.getenv "PURSER_HISTORIES" then
        local words = {}
        for k, v in pairs(f) do words[#words + 1] = k .. "=" .. v end
        table.sort(words)
        print(class, table.concat(words, " "), ms .. " ms")
      end
      assert.is_true(f.n > 3 * N, f.n)
      if class == "plain" then assert.equal(0, f.ask) end -- matching asks nobody
      for _, name in ipairs { "n", "ask", "person", "given" } do f[name] = nil end
      if class ~= "hard" or N < 100 then
        for name, count in pairs(f) do assert.equal(0, count, name) end
      end
    end)
  end
end)
