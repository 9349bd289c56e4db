-- SPDX-License-Identifier: MIT
-- The specs of everything that reads or writes numbers, once more in a locale that writes 1.5 as 1,5. The library never
-- changes the locale, and never depends on the one it finds.
-- make test-all: 8 s, on lua5.4, lua5.1 and luajit

local comma = require "comma_locale"
local files = require "files"

local topics = {
  "bind/golden", "bind/decoder", "bind/layout", "bind/signer", "json", "json_suite", "decimal",
  "testing/sim/sim_operations", "testing/sim/render", "client/call/unwrap", "client/operations/broker",
  "client/operations/sub_account", "client/operations/wallet", "client/operations/parameters",
}

describe("in a locale with a decimal comma", function()
  local folder

  setup(function()
    folder = files.folder()
    comma.make(folder)
  end)

  teardown(function() files.remove(folder) end)

  for _, topic in ipairs(topics) do
    it("all of " .. topic .. "_spec holds", function()
      local command = "LOCPATH=%s PURSER_COMMA_LOCALE=1 %s /usr/bin/busted --helper=spec/support/comma_locale.lua "
        .. "--output=TAP spec/%s_spec.lua 2>&1; echo exit $?"
      local pipe = assert(io.popen(command:format(folder, os.getenv "LUA" or "lua5.4", topic)))
      local output = pipe:read "*a"
      pipe:close()
      assert.is_not_nil(output:find "ok 1")
      assert.is_nil(output:match "not ok[^\n]*\n?[^\n]*")
      assert.equal("exit 0", output:match "exit %d+")
    end)
  end
end)
