-- SPDX-License-Identifier: MIT
-- The grammar of the command line as its help shows it.

local command = require "command"
local operations = require "purser.api.operations"
local parser = require "purser.cli.parser"

describe("purser --help", function()
  it("has a text for every operation, every parameter an option", function()
    for _, row in ipairs(operations.list) do
      local code, out, err = command.run { row.group, row.name, "--help" }
      assert.equal(0, code, err)
      assert.is_truthy(out:find(row.id .. " " .. row.method, 1, true), row.full_name)
      for _, param in ipairs(row.params) do
        assert.is_truthy(out:find("--" .. param[1] .. " <", 1, true), row.full_name .. " " .. param[1])
      end
      assert.equal(row.effect ~= "read", out:find("--yes", 1, true) ~= nil)
    end
  end)

  it("names a page of help that exists after a word that does not", function()
    local function advice(...)
      local _, _, err = command.run { ... }
      return (err:match "purser: `([^`]*)` shows what can be given")
    end
    assert.equal("purser --help", advice("walet", "coins"))
    assert.equal("purser wallet --help", advice("wallet", "withdrow"))
    assert.equal("purser wallet withdraw --help", advice("wallet", "withdraw", "--coin", "USDT"))
  end)

  it("shows the plain password among the parameters", function()
    local _, out = command.run { "broker", "withdraw", "--help" }
    assert.is_truthy(out:match("Parameters:.*%-%-funds_password <source>.*\nConnection:"))
  end)

  it("lists all operations of a group with their summaries", function()
    local code, out = command.run { "broker", "--help" }
    assert.equal(0, code)
    for _, row in ipairs(operations.groups.broker) do assert.is_truthy(out:find(row.name, 1, true)) end
  end)

  it("says what the exit codes mean", function()
    local code, out = command.run { "--help" }
    assert.equal(0, code)
    assert.is_truthy(out:find("4 OUTCOME UNKNOWN", 1, true))
  end)

  it("knows the version", function()
    local code, out = command.run { "--version" }
    assert.equal(0, code)
    assert.equal("purser " .. require "purser.version" .. "\n", out)
  end)
end)

describe("the grammar", function()
  it("takes the example of every operation's help", function()
    local built = parser.build()
    for _, row in ipairs(operations.every) do
      local code, out = command.run { row.group, row.name, "--help" }
      local words = {}
      local example = assert(out:match "Example: purser (.-)\nMore:", out):gsub("\\\n", " ") -- as a shell joins lines
      for word in example:gmatch "%S+" do words[#words + 1] = word end
      local parsed, options = built:pparse(words)
      assert.same({ 0, true }, { code, parsed }, row.full_name .. ": " .. tostring(options))
      assert.same({ row.group, row.name }, { options.command, options.operation })
    end
    local _, out = command.run { "wallet", "internal_transfer", "--help" }
    assert.matches("--toAccountType UID \\\n  --toAccount 12345678", out, 1, true)
  end)

  it("has the options of one operation alone where that is all a run needs", function()
    local built = parser.build "withdraw"
    assert.is_true((built:pparse { "wallet", "withdraw", "--coin", "A", "--address", "T", "--amount", "1" }))
    assert.is_false((built:pparse { "wallet", "transfer", "--asset", "USDT" }))
    assert.is_true((built:pparse { "wallet", "transfer" })) -- it is known, and has no options yet
  end)

  it("takes an amount, a coin and an address once", function()
    local words = { "wallet", "withdraw", "--coin", "A", "--address", "T", "--amount", "1", "--amount", "2" }
    local parsed, message = parser.build():pparse(words)
    assert.is_false(parsed)
    assert.matches("--amount", message, 1, true)
  end)

  it("knows which operations make a key, whose secret is shown once", function()
    local names = {}
    for _, row in ipairs(operations.every) do
      if parser.creates_key(row) then names[#names + 1] = row.full_name end
    end
    table.sort(names)
    assert.same({ "broker.create_api_key", "sub_account.create_api_key" }, names)
  end)

  it("has words for a parameter where its row or its name says more than its kind", function()
    assert.equal("a note", parser.help_of { "coin", "text", note = "a note" })
    assert.equal("such as USDT", parser.help_of { "coin", "text" })
    assert.is_nil(parser.help_of { "limit", "count" })
  end)
end)
