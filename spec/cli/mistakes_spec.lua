-- SPDX-License-Identifier: MIT
-- A word that no command has names what is meant.

local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"

describe("an unknown word", function()
  local function message_of(text)
    local words = {}
    for word in text:gmatch "%S+" do words[#words + 1] = word end
    local options, message, hint = grammar.parse(commands.root(), words)
    assert.is_nil(options)
    return message .. "; " .. tostring(hint)
  end

  it("names the option that is meant, or the command that has it", function()
    for text, part in pairs {
      ["wallet withdraw -y"] = "did you mean '--yes'?", ["wallet withdraw --note x"] = "did you mean '--remark'?",
      ["wallet coins --force"] = "--yes is an option of", ["wallet withdraw --maker x"] = "--maker is an option of "
        .. "`purser payouts plan`",
      ["wallet withdrow"] = "did you mean 'withdraw'?", balance = "`purser balances`", whoami = "`purser doctor`",
    } do
      assert.is_truthy(message_of(text):find(part, 1, true), message_of(text))
    end
  end)
end)
