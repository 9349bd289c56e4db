-- SPDX-License-Identifier: MIT
-- Printing and asking: no text of a stranger moves a cursor, forges a line or looks like a field.

local command = require "command"
local core = require "purser.core"
local printed = require "printed"
local terminal = require "purser.cli.terminal"

-- Runs Lua with the module on a terminal of so many columns. Returns what the terminal shows.
local function on_terminal(columns, code, environment)
  local inner = ("stty cols %d rows 10; exec env -u NO_COLOR TERM=dumb %s %s -e %s"):format(columns, environment or "",
    os.getenv "LUA" or "lua5.4", command.quote('local terminal = require "purser.cli.terminal"; ' .. code))
  local _, shown = command.shell("script -q -e -c " .. command.quote(inner) .. " /dev/null </dev/null")
  return (shown:gsub("\r\n", "\n"))
end

describe("a question", function()
  -- The lines of a field as a terminal of that width shows them, wrapped where it must.
  local function shown(label, value, width)
    local lines = {}
    for line in (terminal.field(label, value, width) .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
    return lines
  end

  it("keeps every part of a value behind its bar: no text of a stranger looks like a field", function()
    local forged = "  address          | TAttacker"
    for _, value in ipairs {
      ("x"):rep(200) .. forged, "a" .. (" "):rep(70) .. forged, "a\n" .. forged, "a\r" .. forged,
      "a\27[1G" .. forged, ("\228\184\173"):rep(60) .. forged, "\226\128\174" .. forged,
    } do
      for _, width in ipairs { 40, 80, 140 } do
        for i, line in ipairs(shown("memo", value, width)) do
          local is_narrow = width < 60
          local first = is_narrow and "  memo" or "  memo             | "
          local bar = (is_narrow and "  " or (" "):rep(19)) .. "| "
          assert.equal(i == 1 and first or bar, line:sub(1, i == 1 and #first or #bar))
          local _, wide = line:gsub("[\194-\244][\128-\191]+", "")
          local _, ascii = line:gsub("[%z\1-\127]", "")
          assert.is_true(ascii + 2 * wide <= width, line)
          assert.is_nil(line:find "[%c]")
        end
      end
    end
  end)

  it("shows all of an address, however narrow the terminal is", function()
    local text = {}
    for i, line in ipairs(shown("address", ("0123456789"):rep(12), 60)) do text[i] = line:sub(22) end
    assert.equal(("0123456789"):rep(12), table.concat(text))
  end)
end)

describe("a failure without facts, with --json", function()
  it("has the kind and the outcome of its exit code", function()
    for code, facts in ipairs { '"workflow","outcome":"rejected"', '"argument","outcome":"not_sent"',
      '"workflow","outcome":"not_sent"', '"workflow","outcome":"unknown"', '"workflow","outcome":"done"' } do
      local given, out, err = printed(function()
        terminal.settings.json = true
        terminal.fail("no %s", "luck")
        return terminal.finish(code)
      end)
      assert.same({ code, '{"error":{"message":"no luck","kind":' .. facts .. "}}\n", "" }, { given, out, err })
    end
    local _, out = printed(function()
      terminal.settings.json = true
      return terminal.finish(0)
    end)
    assert.equal("", out)
  end)

  it("leaves the exit code as it is", function()
    for _, is_json in ipairs { false, true } do
      for _, code in ipairs { 0, 3 } do
        local given, out, err = printed(function()
          terminal.settings.json, terminal.settings.has_output = is_json, true
          return terminal.finish(code)
        end)
        assert.same({ code, "", "" }, { given, out, err })
      end
    end
  end)
end)

describe("what is printed", function()
  it("keeps its lines, and what hides in them becomes visible", function()
    assert.equal("a\tb\nc\\x1B[2J\\u{202E}\n", terminal.lines "a\tb\nc\27[2J\226\128\174\n")
    local _, out = printed(terminal.write, "a\27\n")
    assert.equal("a\\x1B\n", out)
    _, out = printed(terminal.write, "a\27\n", true) -- into a file with --raw
    assert.equal("a\27\n", out)
  end)

  it("as a message is one line, whatever it holds; an object with --json", function()
    local _, _, err = printed(terminal.say, "%s", "a\npurser: done\r\27[2K")
    assert.equal("purser: a\\x0Apurser: done\\x0D\\x1B[2K\n", err)
    _, _, err = printed(function()
      terminal.settings.json = true
      terminal.say("%s", "a\nb\226\128\174")
    end)
    assert.equal(1, select(2, err:gsub("\n", "")))
    assert.is_nil(err:find("\226\128\174", 1, true))
    assert.equal("a\nb\226\128\174", core.decode(err).message)
  end)

  it("as progress is one line of the terminal: the first clauses that have room, whole", function()
    local shown = on_terminal(20, [[local show = terminal.progress_line()
      show(("\228\184\173"):rep(30)); show "ab\ncd"; show "one of three, two of three; three"
      show "a clause of many words"; show(function(columns) return "made for " .. columns end)]])
    assert.equal("\r\27[K" .. ("\228\184\173"):rep(9) .. "\r\27[Kab\\x0Acd\r\27[Kone of three"
      .. "\r\27[Ka clause of many \r\27[Kmade for 19", shown)
  end)

  it("as progress is nothing with -q, or where there is no terminal", function()
    assert.equal("", on_terminal(80, 'terminal.settings.quiet = true; terminal.progress_line() "text"'))
    local _, out, err = printed(function()
      terminal.settings.quiet = true
      terminal.progress_line() "text"
      terminal.show_wait("the rate limit has room in 5 s", "wallet.coins", 5000)
    end)
    assert.same({ "", "" }, { out, err })
  end)

  it("as a wait is said once for all calls that wait at the same time", function()
    local _, _, err = printed(function()
      for _ = 1, 3 do terminal.show_wait("the rate limit has room in 60 s", "wallet.coins", 60000) end
    end)
    assert.equal("purser: waiting: the rate limit has room in 60 s (wallet.coins)\n", err)
  end)

  it("has colours on a terminal, for the states and labels that lines begin with, and for no other word", function()
    local lines = "ok  a\\n  fail  b\\nokay  c\\ntext ok  d\\nerror e\\nwarning: f"
    local code = ('terminal.settings.is_table = true; terminal.write "%s"; '
      .. 'terminal.say "OUTCOME UNKNOWN: x"; terminal.say "next: y"'):format(lines)
    assert.equal("\27[32mok\27[0m  a\n  \27[31mfail\27[0m  b\nokay  c\ntext ok  d\nerror e\n\27[33mwarning\27[0m: f"
      .. "purser: \27[31mOUTCOME UNKNOWN\27[0m: x\npurser: next: y\n", on_terminal(80, code, "TERM=xterm"))
    for _, environment in ipairs { "TERM=xterm NO_COLOR=1", "TERM=dumb" } do
      assert.is_nil(on_terminal(80, code, environment):find("\27", 1, true))
    end
    assert.is_nil(on_terminal(80, (code:gsub("true", "false", 1)), "TERM=xterm"):find("\27[32m", 1, true)) -- JSON, CSV
  end)

  it("has colours on a dumb terminal with --color always, and none on another with never", function()
    local code = 'terminal.settings.color, terminal.settings.is_table = "%s", true; terminal.write "fail  a\\n"; '
      .. 'terminal.say "error: b"'
    assert.equal("\27[31mfail\27[0m  a\npurser: \27[31merror\27[0m: b\n", on_terminal(80, code:format "always"))
    assert.equal("fail  a\npurser: error: b\n", on_terminal(80, code:format "never", "TERM=xterm"))
  end)

  it("as a question names each field, and waits for the answer", function()
    local shown = on_terminal(80, 'terminal.ask("This pays:", { { "to", "T1" }, { "amount", 5 } }, "Yes? ")')
    assert.matches("^This pays:\n  to +| T1\n  amount +| 5\nYes%? ", shown)
  end)

  it("is printed by this module alone", function()
    local pipe = assert(io.popen [[grep -lE 'io\.(write|stdout:write|stderr:write|stdin:read)|(^|[^.])\<print\(' \
      lua/purser/cli/*.lua]])
    assert.equal("lua/purser/cli/terminal.lua\n", pipe:read "*a")
    pipe:close()
  end)
end)
