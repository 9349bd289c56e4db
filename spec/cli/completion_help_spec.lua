-- SPDX-License-Identifier: MIT
-- Words that may follow `purser help`: the commands, and the one topic that is no command.

local command = require "command"

describe("completion after `purser help`", function()
  it("offers the topic `credentials`, and the commands, and not itself", function()
    local code, out = command.run { "completion", "--words", "--", "help", "" }
    assert.equal(0, code)
    local offered = "\n" .. out
    for _, word in ipairs { "credentials", "wallet", "payouts" } do assert.matches("\n" .. word .. "\n", offered) end
    assert.is_nil(offered:find("\nhelp\n", 1, true))
  end)
end)
