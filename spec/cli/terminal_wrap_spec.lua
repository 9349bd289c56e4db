-- SPDX-License-Identifier: MIT
-- Long values of a question are broken into lines.

local unpack = table.unpack or unpack -- luacheck: ignore
local terminal = require "purser.cli.terminal"

local function lines_of(value, width)
  local lines = {}
  for line in (terminal.field("x", value, width) .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = width < 60 and line:match "^  | (.*)" or width >= 60 and line:sub(22) or nil
  end
  return lines
end

describe("a value that is too long for a line", function()
  it("is broken between words", function()
    assert.same({ "12 USDT; 11 if the ", "service takes the fee" },
      lines_of("12 USDT; 11 if the service takes the fee", 26))
  end)

  it("is broken anywhere where a word is longer than a line, and loses nothing", function()
    for _, value in ipairs { ("x"):rep(100), "to " .. ("\228\184\173"):rep(40), ("a b "):rep(30), "", "one" } do
      for _, width in ipairs { 30, 44, 80 } do
        assert.equal(value, table.concat(lines_of(value, width)))
      end
    end
  end)
end)

describe("a folded text", function()
  local function lines_of_fold(text, columns)
    local lines = {}
    for line in (terminal.fold(text, 2, columns) .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
    return lines
  end

  it("is broken between words, and no id is cut", function()
    local id = ("a7"):rep(30)
    assert.same({ "purser: the", "  withdrawal", "  " .. id, "  is unknown" },
      lines_of_fold("purser: the withdrawal " .. id .. " is unknown", 12))
    assert.same({ "one two", "  three" }, lines_of_fold("one two three", 8))
    local wide = "\228\184\173"
    assert.same({ wide .. wide, "  " .. wide }, lines_of_fold(wide .. wide .. " " .. wide, 7))
    assert.equal("a  b", terminal.fold("a  b", 2, 80))
    assert.equal("ab", terminal.fold("ab", 2, 80))
    assert.equal("", terminal.fold("", 2, 80))
  end)

  it("keeps a command on one line that has room for it", function()
    assert.same({ "purser: it is open:", "  `purser journal recover`", "  finds out" },
      lines_of_fold("purser: it is open: `purser journal recover` finds out", 26))
    assert.same({ "next, see:", "  purser payouts status" }, lines_of_fold("next, see: purser payouts status", 24))
    assert.same({ "purser settle a not_done", "  or", "  purser settle a done ID" },
      { "purser settle a not_done", unpack(lines_of_fold("  or purser settle a done ID", 25)) })
  end)

  it("continues a longer command as a shell takes it, and no quoted word of it is cut", function()
    local command = "purser payouts run 'june july.csv' --queue 'it'\\''s mine' --journal pay.db"
    local folded = terminal.fold("purser:   " .. command, 2, 30)
    for line in folded:gmatch "[^\n]+" do assert.is_true(#line <= 30, line) end
    assert.equal(command, (folded:gsub(" \\\n *", " "):gsub("^purser: *", "")))
    assert.equal("  purser a 'b c' \\\n  --journal d", terminal.fold("  purser a 'b c' --journal d", 2, 18))
    assert.equal("      purser a b \\\n        --journal c", terminal.fold("      purser a b --journal c", 8, 21))
  end)
end)
