-- SPDX-License-Identifier: MIT
-- What `--help` shows: examples that a shell takes as they stand, and what a command is for before what all have.

local command = require "command"
local operations = require "purser.api.operations"
local parser = require "purser.cli.parser".build()

-- The parser of a command by its words.
local function leaf(...)
  local at = parser
  for _, word in ipairs { ... } do
    for _, child in ipairs(at._commands) do
      if child._name == word then at = child end
    end
  end
  return at
end

describe("the help of a command", function()
  it("has an example that can be copied into a shell, for each operation", function()
    local lines, wrong = {}, {}
    for _, row in ipairs(operations.list) do
      local example = leaf(row.group, row.name)._epilog:match "^Example: purser (.-)\nMore:"
      for line in ("Example: purser " .. example .. "\n"):gmatch "([^\n]*)\n" do
        assert.is_true(#line <= 80, line)
      end
      lines[#lines + 1] = ("bin/purser %s --dry-run >/dev/null || echo FAILED %s"):format(
        example:gsub("T%.%.%.", "TSampLeAddressThatNobodyHas1234567"), row.full_name)
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

  it("lists the command's own options before those of output and connection", function()
    for _, words in ipairs { { "payouts" }, { "fleet" }, { "withdraw-plan" }, { "wallet", "withdraw" } } do
      local text = leaf((table.unpack or unpack)(words)):get_help() -- luacheck: ignore
      local own, output = text:find("\nOptions:\n", 1, true), text:find("\nOutput:\n", 1, true)
      assert.is_true(own and output and own < output and output < text:find("\nConnection:\n", 1, true), text)
      assert.is_true(text:find("\n   --yes ", 1, true) < output)
    end
  end)

  it("calls an argument the same in the usage and in the list", function()
    assert.matches("<action> %[<file>%] %[<list>%].*\n   file  +The file; of retry, drop and replace the key%.\n",
      leaf "payouts":get_help())
  end)
end)
