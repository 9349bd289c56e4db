-- SPDX-License-Identifier: MIT
-- The coins on a terminal of 80 columns, which is what most have.

local command = require "command"

describe("purser wallet coins", function()
  it("is a table with a line a network on 80 columns, with what is needed for a withdrawal", function()
    local service = require("service").start { "--seed", "5" }
    finally(function() service.stop() end)
    local account = assert(service.world:account { role = "main" })
    local _, shown = command.shell(("script -q -e -c %s /dev/null"):format(command.quote(
      ("stty cols 80; exec env NO_COLOR=1 PAGER= XDG_CACHE_HOME=/dev/null PURSER_API_KEY=%s PURSER_SECRET_KEY=%s "
      .. "PURSER_BASE_URL=%s %s bin/purser wallet coins"):format(account.api_key, account.secret_key, service.url,
      os.getenv "LUA" or "lua5.4"))))
    shown = shown:gsub("\r", "")
    assert.matches("^coin +netWork +withdrawEnable +withdrawFee +withdrawMin +depositEnable", shown)
    assert.matches("\nUSDT +TRX +true +1 +10 +true", shown)
    for line in shown:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
  end)
end)
