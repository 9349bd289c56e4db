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
end)
