-- SPDX-License-Identifier: MIT
-- `purser record -- COMMAND`: where the command begins, and how its end is that of the recording. What is written, and
-- what never is, stands in transport/record_spec.lua.

local at_shell = require "at_shell"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "files"
local printed = require "printed"
local record = require "purser.cli.record"

describe("the words of purser record", function()
  for _, case in ipairs {
    { { "record", "--", "wallet", "coins" }, { "record" }, { "wallet", "coins" } },
    { { "record", "--file", "f", "--", "a", "--", "b" }, { "record", "--file", "f" }, { "a", "--", "b" } },
    { { "record", "wallet" }, { "record", "wallet" }, nil }, { { "record", "--" }, { "record" }, {} },
  } do
    it("are split at the first two hyphens: " .. table.concat(case[1], " "), function()
      local own, words = record.split(case[1])
      assert.same(case[2], own)
      assert.same(case[3], words)
    end)
  end

  it("have to name a command, which is no recording", function()
    for _, words in ipairs { {}, { "purser" }, { "record", "--", "wallet" }, false } do
      local code = printed(record.start, { command_words = words or nil }, nil, function() error "it was run" end)
      assert.equal(2, code)
    end
  end)
end)

describe("a recording", function()
  -- Starts one of a command that is `run`.
  local function start(run)
    return printed(record.start, { command_words = { "purser", "wallet", "coins" }, file = "/nonexistent/x" }, nil, run)
  end

  it("runs the command with its own words, and ends with its exit code where nothing was sent", function()
    local given
    local code, _, err = start(function(words)
      given = words
      assert.is_function(connection.wrap_transport)
      return 3
    end)
    assert.same({ 3, { "wallet", "coins" } }, { code, given })
    assert.matches("the command sent nothing, so nothing was recorded", err, 1, true)
    assert.is_nil(connection.wrap_transport)
  end)

  it("records no later command where this one fails by an error, which it raises on", function()
    local ok, problem = pcall(start, function() error("interrupted!", 0) end)
    assert.is_false(ok)
    assert.matches("interrupted!", problem, 1, true)
    assert.is_nil(connection.wrap_transport)
  end)

  it("takes the options of all commands before its name, and hands them to the command", function()
    local at = at_shell()
    finally(function() at.stop() end)
    local path = at.file()
    local code, out, err = at.run("--json", "record", "--file", path, "--", "wallet", "convertible_balances")
    assert.equal(0, code, err)
    assert.equal("USDT", core.decode(out)[1].asset)
    assert.equal(1, select(2, files.read(path):gsub('"GET"', "")))
    code, out, err = at.run("-q", "record", "--file", at.file(), "--", "wallet", "transfer", "--fromAccountType",
      "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT", "--amount", "-5", "--yes")
    assert.same({ 2, "" }, { code, out })
    assert.matches("amounts are positive", err, 1, true)
  end)
end)
