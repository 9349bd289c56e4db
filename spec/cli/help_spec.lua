-- SPDX-License-Identifier: MIT
-- The text of `--help`: examples that a shell takes as they stand, and what a command is for before what all have.

local command = require "command"
local catalogue = require "purser.cli.catalogue"
local commands = require "purser.cli.commands"
local help = require "purser.cli.help"

-- The help of a command by its words, as lines of 80 columns.
local function text_of(...)
  local found, _, names, above = require("purser.cli.grammar").leaf(commands.root(), { ... })
  return help.text(found or above, names)
end

describe("the help of a command", function()
  it("has an example that can be copied into a shell, for each operation", function()
    local lines, wrong = {}, {}
    for _, row in ipairs(catalogue.list) do
      local example = text_of(row.group, row.name):match "\nExample: purser (.-)\nMore:"
      for line in ("Example: purser " .. example .. "\n"):gmatch "([^\n]*)\n" do
        assert.is_true(#line <= 80, line)
      end
      lines[#lines + 1] = ("bin/purser %s --dry-run >/dev/null || echo FAILED %s"):format(
        example:gsub("T%.%.%.", "TSampLeAddressThatNobodyHarzyqGjJi"):gsub(" %-%-secret%-file %S+", "")
          :gsub(" \\\n$", ""), row.full_name)
    end
    local _, out = command.shell(("export LUA=%s PURSER_API_KEY=mx0 PURSER_SECRET_KEY=s HASH=%s "
      .. "PURSER_BASE_URL=http://127.0.0.1:1; sh -c %s 2>&1"):format(os.getenv "LUA" or "lua5.4", ("a"):rep(32),
      command.quote((table.concat(lines, "\n"):gsub("%f[%w]bin/purser", '"$LUA" bin/purser')))))
    for line in out:gmatch "[^\n]+" do
      if not line:find "nothing is sent to" and not line:find "was added" then wrong[#wrong + 1] = line end
    end
    assert.same({}, wrong)
    assert.is_nil(table.concat(lines):find("TEXT", 1, true))
  end)

  it("says no number of operations, which a further row would make wrong", function()
    local number = ("%%f[%%d]%d%%f[%%D]"):format(#require("purser.client.operations").list)
    assert.is_nil(text_of():match("[^\n]*" .. number .. "[^\n]*"))
  end)

  it("lists the command's own options before those of output and connection", function()
    for _, words in ipairs { { "payouts", "run" }, { "fleet", "rotate" }, { "wallet", "withdraw" } } do
      local text = text_of((table.unpack or unpack)(words)) -- luacheck: ignore
      local own, output = text:find("\nOptions:\n", 1, true), text:find("\nOutput:\n", 1, true)
      assert.is_true(own and output and own < output and output < text:find("\nConnection:\n", 1, true), text)
      assert.is_true(text:find("\n   --yes ", 1, true) < output)
    end
  end)

  it("calls an argument the same in the usage and in the list", function()
    assert.matches("run %[<file>%].*\n   file  +The list; %- is standard input%.\n", text_of("payouts", "run"))
  end)

  it("fits any terminal, and says all of it", function()
    local core = require "purser.core"
    local is_terminal, width = core.is_terminal, core.terminal_width
    finally(function() core.is_terminal, core.terminal_width = is_terminal, width end)
    core.is_terminal = function() return true end
    local function squeezed(text) -- a long command is continued behind a backslash
      return (text:gsub("%(%d+%s+lines:.*$", ""):gsub(" \\\n", " "):gsub("%s+", " "))
    end
    local all = {}
    for _, columns in ipairs { 100, 80, 40 } do
      core.terminal_width = function() return columns end
      for _, words in ipairs { {}, { "wallet" }, { "payouts" }, { "wallet", "withdraw" }, { "login" }, { "sim" } } do
        local name, text = table.concat(words, " "), text_of((table.unpack or unpack)(words)) -- luacheck: ignore
        for line in text:gmatch "[^\n]+" do
          assert.is_true(#line <= columns or not line:find "%S%s+%S+%s+%S",
            columns .. ": " .. line)
        end
        all[name] = all[name] or squeezed(text)
        assert.equal(all[name], squeezed(text))
      end
    end
  end)

  it("has a span of time in the example of a history", function()
    assert.matches("Example: purser wallet deposit_history --since 7d\n", text_of("wallet", "deposit_history"), 1, true)
  end)

  it("fits a screen of 80 columns and 24 lines, or says that it does not, and how to read it", function()
    local _, shown = command.run_on_terminal({ "payouts", "run", "--help" })
    assert.matches("%(%d+ lines: `purser payouts run %-%-help | less` shows a screen at a time%)\n$", shown)
    _, shown = command.run_on_terminal({ "completion", "--help" })
    assert.is_nil(shown:find("| less", 1, true))
    local _, out = command.run { "payouts", "run", "--help" }
    assert.is_nil(out:find("| less", 1, true))
  end)
end)
