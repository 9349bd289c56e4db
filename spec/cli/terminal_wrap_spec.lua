-- SPDX-License-Identifier: MIT
-- Long values of a question are broken into lines.

local terminal = require "purser.cli.terminal"

local function lines_of(value, width)
  local lines = {}
  for line in (terminal.field("x", value, width) .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line:sub(22) end
  return lines
end

describe("a value that is too long for a line", function()
  it("is broken between words", function()
    assert.same({ "12 USDT; 11 if the ", "service takes the fee" },
      lines_of("12 USDT; 11 if the service takes the fee", 44))
  end)

  it("is broken anywhere where a word is longer than a line, and loses nothing", function()
    for _, value in ipairs { ("x"):rep(100), "to " .. ("\228\184\173"):rep(40), ("a b "):rep(30), "", "one" } do
      for _, width in ipairs { 30, 44, 80 } do
        assert.equal(value, table.concat(lines_of(value, width)))
      end
    end
  end)
end)
