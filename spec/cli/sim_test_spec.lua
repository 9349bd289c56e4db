-- SPDX-License-Identifier: MIT
-- `purser test -- COMMAND`: the table of its runs, and its exit code. How runs are judged stands in
-- sim/rehearsal_spec.lua.
-- make test: 6 s, waits

local command = require "command"
local core = require "purser.core"
local files = require "files"
local rehearsed = require "rehearsed"

describe("purser test", function()
  teardown(rehearsed.clean)

  local function test(text, ...)
    local words = { "test", ... }
    words[#words + 1] = "--"
    for _, word in ipairs(rehearsed.program(text)) do words[#words + 1] = word end
    return command.run(words)
  end

  it("tells a program that pays twice from one that does not, by its table and its exit code", function()
    local path = os.tmpname()
    local code, out, err = test(rehearsed.blind, "--output", path)
    assert.same({ 1, "" }, { code, out }, err) -- what it found is its result, whatever the code
    out = files.read(path)
    os.remove(path)
    assert.matches("\nthe answer is lost +1 +1 +0 +made 2 times: wallet transfer ", out)
    assert.matches("\n429 +1 +1 +0 +right\n", out)
    assert.matches("7 of 10 runs were wrong", err, 1, true)
    code, out, err = test("assert(purser.new(keys)).wallet:create_deposit_address { coin = 'USDT', "
      .. "network = 'Tron(TRC20)' }", "--json", "--balance", "USDT=1")
    assert.equal(0, code, err)
    local runs = core.decode(out)
    assert.same({ 10, "nothing", "right", 2 }, { #runs, runs[1].fault, runs[1].books, runs[10].starts })
  end)

  it("needs a program that runs, and amounts", function()
    for _, words in ipairs { { "test" }, { "test", "--", "false" }, { "test", "--", "/no/such/program" },
      { "test", "--balance", "USDT=x", "--", "true" } } do
      local code, out = command.run(words)
      assert.same({ 2, "" }, { code, out })
    end
  end)
end)
