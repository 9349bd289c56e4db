-- SPDX-License-Identifier: MIT
-- A stamp that was right explains no rejection: a gateway's second copy was late, and the first was executed.

local at_shell = require "at_shell"
local command = require "command"

-- As LUA_INIT: the first answer to a transfer is that of a second copy, which was too late.
local SECOND_COPY = [[
  local name, number = "purser.client.call.pipeline", 0
  package.preload[name] = function(...)
    local pipeline = assert(loadfile "lua/purser/client/call/pipeline.lua")(...)
    local attempt = pipeline.attempt
    function pipeline.attempt(client, row, ...)
      local value, err = attempt(client, row, ...)
      number = number + (row.full_name == "wallet.transfer" and 1 or 0)
      if row.full_name ~= "wallet.transfer" or number > 1 then return value, err end
      return nil, require("purser.client.call.errors").new { kind = "api", outcome = "rejected", code = "700003",
        http_status = 400, phase = "receive", operation = row.full_name, message = "the timestamp is too old" }
    end
    return pipeline
  end]]

it("a command whose second copy is too late is not called again", function()
  local at = at_shell({ "--seed", "9" }, { role = "main", balances = { USDT = "1000" } })
  finally(at.stop)
  local code, _, err = command.process({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType",
    "FUTURES", "--asset", "USDT", "--amount", "5", "--yes" }, at.with { LUA_INIT = SECOND_COPY })
  assert.equal(1, (select(2, at.received "wallet.transfer")), err)
  assert.is_true(code ~= 0)
end)
