-- SPDX-License-Identifier: MIT
-- An action is a command of the grammar: it takes its own options and no other, and has an example that it understands.

local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

local root = commands.root()

describe("an action", function()
  it("has the example of its own help, and takes a file for the default one", function()
    local made = grammar.actions("pay", "Pay.", { { "run", "Run it. All of it.", { { "file", "The list." } }, "x.csv",
      { { "--yes", "Do it." } }, function() return { "More", { "--more", "More." } } end } }, { "run", "[./]" })
    local pay = { commands = { { "pay", "Pay.", load = function() return made end } } }
    local options, names, command = grammar.parse(pay, { "pay", "june.csv", "--more" })
    assert.same({ file = "june.csv", more = true, terminal = {} }, options)
    assert.same({ "purser", "pay", "run" }, names)
    assert.equal("Example: purser pay run x.csv", command.epilog)
    assert.equal("Run it.", made.commands[1][2])
    assert.is_nil(grammar.parse(pay, { "pay", "june" }))
  end)

  for _, name in ipairs { "payouts", "fleet", "journal", "policy", "approvals" } do
    it("of " .. name .. " understands its example, and rejects each option of the others that it lacks", function()
      local all, own = {}, {}
      local group = select(4, grammar.leaf(root, { name }))
      for _, child in ipairs(group.commands) do
        local command = child.load()
        own[child[1]] = {}
        grammar.each_option(command, function(option)
          local option_name = grammar.name_of(option)
          own[child[1]][option_name], all[option_name] = true, option
        end)
        local example = assert(command.epilog:match "^Example: purser (.+)$")
        assert(grammar.parse(root, words_of(example)))
      end
      for action, options in pairs(own) do
        for option_name, option in pairs(all) do
          if not options[option_name] then
            local words = { name, action, option_name, grammar.takes(option) and "x" or nil }
            local parsed, message = grammar.parse(root, words)
            assert.is_nil(parsed, action .. " " .. option_name)
            assert.matches("unknown option '" .. option_name .. "'", message, 1, true)
          end
        end
      end
    end)
  end

  -- The only options of others that stand for an own one.
  local SAME = { asset = "coin", coin = "asset", dry = "dry-run", from = "fromAccountType since", state = "status",
    status = "state", addresses = "address", ["sub-accounts"] = "subAccount", id = "tranId", amount = "to",
    to = "toAccountType until address books", books = "to", sqlite = "books to journal", note = "remark" }

  it("takes no option of another command for a slip of an own one", function()
    local leaves, all = {}, {}
    local function walk(above)
      for _, child in ipairs(above.commands) do
        local command = child.load()
        if command.commands then walk(command) else leaves[#leaves + 1] = command end
        grammar.each_option(command, function(option) all[grammar.name_of(option)] = true end)
      end
    end
    walk(root)
    local count = 0
    for name in pairs(all) do
      for _, leaf in ipairs(leaves) do
        local one = { commands = { { "x", "", load = function() return leaf end } }, owners = root.owners }
        local parsed, message, hint = grammar.parse(one, { "x", name, "1" })
        if not parsed and message == ("unknown option '%s'"):format(name) then
          assert(hint, name)
          count = count + 1
        elseif not parsed and message:find("unknown option", 1, true) then
          local near, allowed = message:match "mean '%-%-(.*)'%?$", SAME[name:sub(3)]
          assert(allowed and allowed:find(near, 1, true), message)
        end
      end
    end
    assert.is_true(count > 5000, count)
  end)

  it("names the command that has an option or an action", function()
    local function said(text)
      local _, message, hint = grammar.parse(root, words_of(text))
      return message .. "\n" .. tostring(hint)
    end
    assert.equal("unknown option '--amount'; did you mean '--to'?\nnil", said "fleet distribute f --amount 5")
    assert.equal("unknown option '--ammount'\n--amount is an option of `purser wallet withdraw`, "
      .. "`purser wallet transfer`, `purser wallet internal_transfer` and 4 more", said "payouts run --ammount 5")
    assert.equal("unknown option '--unread'\n--unread is an option of `purser books close`",
      said "payouts run --unread")
    assert.equal("unknown option '--acount'; did you mean '--account'?\nnil", said "payouts run --acount x")
    assert.equal("unknown option '--file'\n<file> is given without an option before it", said "payouts run --file x")
    assert.equal("unknown option '--dry-run'\n`purser payouts plan` shows what would be paid, and sends nothing",
      said "payouts run x --dry-run")
    assert.equal("unknown option '--dry'\n`purser fleet plan` shows what would be made, and makes nothing",
      said "fleet apply x --dry")
    assert.equal("option '--queue' comes after a command\nit is an option of `purser payouts plan`, "
      .. "`purser payouts run`, `purser payouts status` and 4 more", said "payouts --queue june")
    assert.equal("unknown command 'log'\nthere is `purser journal log`", said "log")
    assert.equal("unknown command 'retry'\nthere is `purser payouts retry`; here are plan, apply, rotate, retire, "
      .. "sweep, distribute", said "fleet retry")
  end)
end)
