-- SPDX-License-Identifier: MIT
-- `purser agent`: the server on standard input and output.

local command = require "command"
local core = require "purser.core"
local files = require "files"
local service = require "service"

describe("purser agent", function()
  local sim, environment, folder

  setup(function()
    sim, folder = service.start(), files.folder()
    local account = assert(sim.world:account { role = "main", balances = { USDT = "10" } })
    environment = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key,
      PURSER_BASE_URL = sim.url, PURSER_ACCOUNT = "desk" }
  end)

  teardown(function()
    sim.stop()
    files.remove(folder)
  end)

  local function journal() return folder .. "/pay.db" end

  it("answers each line with a line, in order, and ends with the input", function()
    local input = table.concat({
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}', "nonsense", ("x"):rep(1100000),
      '{"jsonrpc":"2.0","id":2,"method":"tools/call",'
        .. '"params":{"name":"read","arguments":{"operation":"wallet.coins"}}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay","arguments":{}}}' }, "\n") .. "\n"
    local code, out, err = command.process({ "agent", "--read-only", "--account", "desk", "--journal", journal() },
      environment, input)
    assert.equal(0, code, err)
    local answers = {}
    for line in out:gmatch "[^\n]+" do answers[#answers + 1] = core.decode(line) end
    assert.equal(5, #answers)
    assert.equal("purser", answers[1].result.serverInfo.name)
    assert.same({ -32700, -32600 }, { answers[2].error.code, answers[3].error.code })
    assert.equal("read", answers[4].result.structuredContent.state)
    assert.equal(-32602, answers[5].error.code)
    code, out = command.run({ "journal", "log", "--journal", journal() }, environment)
    assert.equal(0, code)
    assert.matches("agent +read +.*read", out)
  end)

  for _, case in ipairs {
    { "a journal", { "--account", "desk", "--read-only" }, "--journal" },
    { "a policy", { "--account", "desk", "--journal", "x.db" }, "--policy" },
  } do
    it("does not start without " .. case[1], function()
      local words = { "agent" }
      for _, word in ipairs(case[2]) do words[#words + 1] = word end
      local code, out, err = command.run(words, environment)
      assert.same({ 2, "" }, { code, out })
      assert.matches(case[3], err, 1, true)
    end)
  end
end)
