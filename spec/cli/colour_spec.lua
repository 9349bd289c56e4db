-- SPDX-License-Identifier: MIT
-- The colours of what people read. They change no other character.

local colour = require "purser.cli.colour"
local command = require "command"

local getenv, variables

before_each(function()
  getenv, variables = os.getenv, {}
  os.getenv = function(name) return variables[name] end -- luacheck: ignore 122
end)

after_each(function()
  os.getenv, colour.settings.when = getenv, "auto" -- luacheck: ignore 122
end)

local function plain(text) return (text:gsub("\27%[%d*m", "")) end

describe("colours", function()
  it("are on or off as --color says, whatever the environment says", function()
    variables.NO_COLOR = "1"
    for when, is_on in pairs { always = true, never = false } do
      colour.settings.when = when
      assert.same({ is_on, is_on }, { colour.is_on(1), colour.is_on(2) })
    end
  end)

  it("are on by themselves on a terminal, but not with NO_COLOR, and not on a dumb one", function()
    local code = 'print(require "purser.cli.colour".is_on(1))'
    for environment, is_on in pairs { ["TERM=xterm"] = "true", ["TERM=xterm NO_COLOR="] = "true",
      ["TERM=xterm NO_COLOR=1"] = "false", ["TERM=dumb"] = "false" } do
      local words = ("env -u NO_COLOR %s %s -e %s"):format(environment, getenv "LUA" or "lua5.4", command.quote(code))
      local _, shown = command.shell("script -q -e -c " .. command.quote(words) .. " /dev/null </dev/null")
      assert.equal(is_on, shown:match "%a+", environment)
      _, shown = command.shell(words .. " | cat")
      assert.equal("false\n", shown)
    end
  end)

  it("show the heading of a table and its rule", function()
    local text = "coin  amount\n----  ------\nUSDT       1\n"
    assert.equal("\27[1mcoin  amount\27[0m\n\27[2m----  ------\27[0m\nUSDT       1\n", colour.paint(text))
    assert.equal("----\n", colour.paint "----\n") -- no heading stands before it
  end)

  it("show the state that a line begins with, and no other word", function()
    for word, code in pairs { ok = 32, warn = 33, warning = 33, fail = 31, error = 31 } do
      assert.equal(("  \27[%dm%s\27[0m  text"):format(code, word), colour.paint("  " .. word .. "  text"))
    end
    for _, line in ipairs { "okay  text", "text ok  text", "error text", "OK  text", "error", "" } do
      assert.equal(line, colour.paint(line))
    end
  end)

  it("show the label of a message", function()
    assert.equal("\27[31merror\27[0m: it is wrong", colour.paint_message "error: it is wrong")
    assert.equal("\27[33mwarning\27[0m: look", colour.paint_message "warning: look")
    assert.equal("\27[1m\27[31mOUTCOME UNKNOWN\27[0m: lost", colour.paint_message "OUTCOME UNKNOWN: lost")
    for _, text in ipairs { "next: purser", "an error: no", "the OUTCOME UNKNOWN" } do
      assert.equal(text, colour.paint_message(text))
    end
  end)

  it("change no other character: line ends, empty lines and rules stay as they were", function()
    for _, text in ipairs { "", "\n", "\n\n", "a", "a\n\nb", "a\n--\n--\n- -\n", "error  x\n\n  ok  y", "-\n-\n-" } do
      assert.equal(text, plain(colour.paint(text)))
      assert.equal(text, plain(colour.paint_message(text)))
    end
  end)
end)
