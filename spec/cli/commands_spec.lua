-- SPDX-License-Identifier: MIT
-- The commands, as their help shows them, and how little of them a run loads.

local catalogue = require "purser.cli.catalogue"
local command = require "command"
local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"

describe("purser --help", function()
  it("has a text for every operation, every parameter an option", function()
    for _, row in ipairs(catalogue.list) do
      local code, out, err = command.run { row.group, row.name, "--help" }
      assert.equal(0, code, err)
      assert.is_truthy(out:find(row.id .. " " .. row.method, 1, true), row.full_name)
      for _, param in ipairs(row.params) do
        assert.is_truthy(out:find("--" .. param[1] .. " <", 1, true), row.full_name .. " " .. param[1])
      end
      assert.equal(row.effect ~= "read", out:find("--yes", 1, true) ~= nil)
      local is_signed_by_sub = out:gsub("%s+", " "):find("signed by the sub-account's own key", 1, true) ~= nil
      assert.equal(row.signer == "sub", is_signed_by_sub, row.full_name)
    end
  end)

  it("has the options of an operation that its kind has, and no others", function()
    local write = "--yes --reconcile --key"
    for name, options in pairs {
      ["wallet coins"] = "--dry-run --extra", ["wallet get_transfer"] = "--dry-run --extra",
      ["wallet deposit_history"] = "--since --until --all --cursor --dry-run --extra",
      ["wallet deposit_addresses"] = "--without-coins --dry-run --extra",
      ["wallet withdraw"] = "--plan --require-saved-address --address-as-is --without-coins " .. write
        .. " --dry-run --extra",
      ["wallet create_deposit_address"] = "--without-coins " .. write .. " --dry-run --extra",
      ["sub_account create_api_key"] = "--show-secret --secret-file " .. write .. " --dry-run --extra",
      ["sub_account list_sub_accounts"] = "--all --cursor --dry-run --extra",
    } do
      local words, own = {}, {}
      for word in name:gmatch "%S+" do words[#words + 1] = word end
      for _, group in ipairs(assert((grammar.leaf(commands.root(), words)))) do
        for i = 2, group[1] == "Options" and #group or 0 do own[#own + 1] = group[i][1] end
      end
      assert.equal(options, table.concat(own, " "), name)
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

  it("says what an operation may need, and takes true or false alone of a flag", function()
    local _, out = command.run { "wallet", "internal_transfer", "--help" }
    assert.matches("\nC15 POST /api/v3/capital/transfer/internal, permission SPOT_WITHDRAW_WRITE,\nweight 1%.\n"
      .. "Result: one record: tranId%.\nOutcome unknown: do not run it again: ", out)
    for _, row in ipairs(catalogue.every) do
      for _, param in ipairs(row.params) do
        local text = param[2] == "flag" and "yes" or param[2] == "choice" and "NONE"
        local _, message = grammar.parse(commands.root(), { row.group, row.name, "--" .. param[1], text or "x" })
        if text then assert.matches("is none of '", message) end
      end
    end
  end)

  it("shows the plain password among the parameters", function()
    local _, out = command.run { "broker", "withdraw", "--help" }
    assert.is_truthy(out:match("Parameters:.*%-%-funds_password <source>.*\nConnection:"))
  end)

  it("lists all operations of a group with their summaries", function()
    local code, out = command.run { "broker", "--help" }
    assert.equal(0, code)
    for _, row in ipairs(catalogue.groups.broker) do assert.is_truthy(out:find(row.name, 1, true)) end
  end)

  it("says what the exit codes mean", function()
    local code, out = command.run { "--help" }
    assert.equal(0, code)
    assert.is_truthy(out:find("4    OUTCOME UNKNOWN", 1, true))
  end)

  it("knows the version", function()
    local code, out = command.run { "--version" }
    assert.equal(0, code)
    assert.equal("purser " .. require "purser.version" .. "\n", out)
  end)
end)

describe("the grammar", function()
  it("takes the example of every operation's help", function()
    for _, row in ipairs(catalogue.every) do
      local code, out = command.run { row.group, row.name, "--help" }
      local words = {}
      local example = assert(out:match "Example: purser (.-)\nMore:", out):gsub("\\\n", " ") -- as a shell joins lines
      for word in example:gmatch "%S+" do words[#words + 1] = word end
      local options, names = grammar.parse(commands.root(), words)
      assert(options, row.full_name .. ": " .. tostring(names))
      assert.same({ 0, row.group, row.name }, { code, names[2], names[3] })
    end
    local _, out = command.run { "wallet", "internal_transfer", "--help" }
    assert.matches("--toAccountType UID \\\n  --toAccount 12345678", out, 1, true)
  end)

  -- steps.lua calls `act` where a command does "send": without it nothing would be said, and with it elsewhere nothing
  -- would call it.
  it("has for each command its steps, with `act` where the command sends and nowhere else", function()
    local seen = 0
    for _, own in ipairs(commands.own) do
      local module = commands.module(own[1])
      local made = module.grammar()
      for _, child in ipairs(made.commands or { { "", load = function() return made end } }) do
        local steps, leaf, name = module.actions and module.actions[child[1]] or module, child.load(), own[1] .. " "
          .. child[1]
        assert.equal("function", type(steps.say), name)
        assert.equal(leaf.does == "send" and "function" or "nil", type(steps.act), name)
        assert.equal("string", type(own[2]))
        seen = seen + 1
      end
    end
    assert.is_true(seen > 60, seen)
  end)

  it("loads the command that is named and no other", function()
    local before = package.loaded["purser.cli.fleet"]
    package.loaded["purser.cli.fleet"] = nil
    assert(grammar.parse(commands.root(), { "limits" }))
    assert.is_nil(package.loaded["purser.cli.fleet"])
    package.loaded["purser.cli.fleet"] = before
  end)
end)

describe("a start", function()
  -- The modules in Lua that are loaded where the command ends.
  local function loaded_by(...)
    local names = {}
    local words = {}
    for i, word in ipairs { ... } do words[i] = ("%q"):format(word) end
    local path = os.tmpname()
    local script = ([[package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
      require("purser.cli").run { %s }
      local file = io.open(%q, "w")
      for name in pairs(package.loaded) do if name:find "^purser" then file:write(name, "\n") end end
      file:close()]]):format(table.concat(words, ", "), path)
    local file = require("files").temporary(script)
    command.shell(("%s %s >/dev/null 2>&1"):format(os.getenv "LUA" or "lua5.4", file))
    for name in io.lines(path) do names[#names + 1] = name end
    os.remove(path)
    os.remove(file)
    table.sort(names)
    return names
  end

  it("loads for --version what says the version, and for a word to complete its grammar", function()
    local version, word = loaded_by "--version", loaded_by("completion", "--words", "--", "pay")
    assert.same({ "purser.cli", "purser.cli.terminal", "purser.client.util.lazy", "purser.client.util.rocks",
      "purser.version" }, version)
    assert.is_true(#word > #version and #word <= #version + 4, table.concat(word, " "))
    for _, name in ipairs(word) do assert.is_true(name ~= "purser.core" and name ~= "purser", name) end
  end)

  it("loads for the options of a command no other command", function()
    for _, name in ipairs(loaded_by("completion", "--words", "--", "wait", "withdrawal", "x", "--go")) do
      assert.is_nil(name:find "payouts" or name:find "purser.testing" or name:find "purser.cli.fleet", name)
    end
  end)
end)
