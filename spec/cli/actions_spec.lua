-- SPDX-License-Identifier: MIT
-- An action is a command of the grammar: it takes its own options and no other, and has an example that it understands.

local actions = require "purser.cli.actions"
local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

describe("an action", function()
  it("has the example of its own help, and takes a file for the default one", function()
    local made = actions.grammar("pay", "Pay.", { { "run", "Run it. All of it.", { { "file", "The list." } }, "x.csv",
      { { "--yes", "Do it." } }, function() return { "More", { "--more", "More." } } end } }, "run")
    local root = { commands = { { "pay", "Pay.", load = function() return made end } } }
    local options, names, command = grammar.parse(root, { "pay", "june.csv", "--more" })
    assert.same({ file = "june.csv", more = true }, options)
    assert.same({ "purser", "pay", "run" }, names)
    assert.equal("Example: purser pay run x.csv", command.epilog)
    assert.equal("Run it.", made.commands[1][2])
    assert.is_nil(grammar.parse(root, { "pay", "june" }))
  end)

  for _, name in ipairs { "payouts", "fleet", "journal", "policy", "approvals" } do
    it("of " .. name .. " understands its example, and rejects each option of the others that it lacks", function()
      local all, own = {}, {}
      local group = grammar.leaf(commands.root(), { name }) or select(4, grammar.leaf(commands.root(), { name }))
      for _, child in ipairs(group.commands) do
        local command = child.load()
        own[child[1]] = {}
        grammar.each_option(command, function(option)
          local option_name = grammar.name_of(option)
          own[child[1]][option_name], all[option_name] = true, option
        end)
        local example = assert(command.epilog:match "^Example: purser (.+)$")
        assert(grammar.parse(commands.root(), words_of(example)))
      end
      for action, options in pairs(own) do
        for option_name, option in pairs(all) do
          if not options[option_name] then
            local words = { name, action, option_name, grammar.takes(option) and "x" or nil }
            local parsed, message = grammar.parse(commands.root(), words)
            assert.is_nil(parsed, action .. " " .. option_name)
            assert.matches("unknown option '" .. option_name .. "'", message, 1, true)
          end
        end
      end
    end)
  end
end)
