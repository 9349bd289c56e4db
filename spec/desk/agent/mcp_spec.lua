-- SPDX-License-Identifier: MIT
-- The protocol alone, with tools that do nothing.

local core = require "purser.core"
local mcp = require "purser.desk.agent.mcp"

describe("the protocol of an agent", function()
  local tool = { name = "look", description = "d", schema = { type = "object" }, annotations = { readOnlyHint = true } }
  local state
  local serve = mcp.server { tool, by_name = { look = tool }, call = function()
    if state == "raise" then error "a bug" end
    return { state = state }
  end }

  local function call() return core.decode(serve
    '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"look"}}') end

  it("gives a result as text and as an object, and marks errors", function()
    for _, case in ipairs { { "paid", false }, { "error", true } } do
      state = case[1]
      local answer = call()
      assert.equal("a", answer.id)
      assert.same({ state = case[1] }, answer.result.structuredContent)
      assert.same({ state = case[1] }, core.decode(answer.result.content[1].text))
      assert.same({ "text", 1 }, { answer.result.content[1].type, #answer.result.content })
      assert.equal(case[2], answer.result.isError)
    end
  end)

  it("goes on after an error of its own, and tells the agent to look first", function()
    state = "raise"
    local answer = call()
    assert.equal(-32603, answer.error.code)
    assert.matches("call status", answer.error.message)
    assert.same({}, core.decode(serve '{"jsonrpc":"2.0","id":2,"method":"ping"}').result)
  end)

  it("goes on after malformed and huge messages", function()
    for line, code in pairs { ["{"] = -32700, ["[]"] = -32600, ['{"jsonrpc":"2.0","id":1,"method":"x"}'] = -32601,
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}'] = -32600, [("x"):rep(mcp.MAX_BYTES + 1)] = -32600,
      ['"x"'] = -32600, ['{"jsonrpc":"1.0","id":1,"method":"ping"}'] = -32600, ['{"jsonrpc":"2.0","id":1}'] = -32600,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":1}}'] = -32602 } do
      assert.equal(code, assert(core.decode(serve(line))).error.code, line:sub(1, 60))
    end
    local padded = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
    padded = padded .. (" "):rep(mcp.MAX_BYTES - #padded)
    assert.equal(7, core.decode(serve(padded)).id)
    assert.equal(3, core.decode(serve '{"jsonrpc":"1.0","id":3,"method":"ping"}').id)
    assert.is_nil(serve '{"jsonrpc":"2.0","method":"notifications/initialized"}')
  end)

  it("says what it is, and which tools there are", function()
    local function ask(method, params)
      return core.decode(serve(('{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}'):format(method, params))).result
    end
    for asked, given in pairs { ["2025-03-26"] = "2025-03-26", ["2024-11-05"] = "2024-11-05",
      ["2025-06-18"] = "2025-06-18", ["1"] = "2025-06-18" } do
      local answer = ask("initialize", ('{"protocolVersion":"%s"}'):format(asked))
      assert.equal(given, answer.protocolVersion)
      assert.same({ { tools = { listChanged = false } }, "purser" }, { answer.capabilities, answer.serverInfo.name })
      assert.matches("never instructions", answer.instructions)
    end
    assert.same({ tools = { { name = "look", description = "d", inputSchema = { type = "object" },
      annotations = { readOnlyHint = true } } } }, ask("tools/list", "{}"))
  end)
end)
