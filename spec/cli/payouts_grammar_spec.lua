-- SPDX-License-Identifier: MIT
-- The actions of `purser payouts`: what each takes.

local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"

local function parse(...) return grammar.parse(commands.root(), { ... }) end

describe("the actions of payouts", function()
  it("take a list, the queue, or a key", function()
    assert.equal("june.csv", parse("payouts", "june.csv", "--yes").file)
    assert.is_nil(parse("payouts", "run", "--queue", "june").file)
    local options = parse("payouts", "settle", "inv-1", "done", "8812")
    assert.same({ "inv-1", "done", "8812" }, { options.key, options.word, options.made_as })
    assert.is_nil(options.record) -- --record names a file
    assert.equal("not_done", parse("payouts", "settle", "--all", "not_done").all)
    assert.matches("it takes not_done alone", select(2, parse("payouts", "settle", "--all", "done")), 1, true)
    for _, words in ipairs { { "payouts", "retry" }, { "payouts", "show" }, { "payouts", "settle", "inv-1", "perhaps" },
      { "payouts", "status", "--yes" }, { "payouts", "run", "june.csv", "--decimal", "dot" } } do
      assert.is_nil(grammar.parse(commands.root(), words), table.concat(words, " "))
    end
  end)
end)
