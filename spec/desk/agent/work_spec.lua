-- SPDX-License-Identifier: MIT
-- Calls of tools as tasks: others are answered meanwhile, a client cancels, and progress is told.

local core = require "purser.core"
local json = require "purser.json"
local mcp = require "purser.desk.agent.mcp"
local schedule = require "purser.schedule"

local VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"

describe("calls of an agent as tasks", function()
  local tool = { name = "look", description = "d", schema = { type = "object" } }
  local state, calls, serve

  before_each(function()
    state, calls = "wait", 0
    serve = mcp.server { tool, by_name = { look = tool }, call = function()
      calls = calls + 1
      repeat schedule.sleep(1) until state ~= "wait"
      return { state = state }
    end }
  end)

  local function line(method, params, named, id)
    params = params or "{}"
    if named then
      local meta = json.encode { _meta = { [VERSION] = named, [CAPABILITIES] = json.object {} } }
      params = meta:sub(1, -2) .. "," .. params:sub(2)
    end
    return ('{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}'):format(id or "1", method, params)
  end

  local sent

  local function send(text) sent[#sent + 1] = assert(core.decode(text)) end
  local function turn() -- until nothing is under way
    repeat schedule.step() schedule.wait(1) until serve() == 0
  end

  before_each(function() sent = {} end)

  it("answers others meanwhile, and calls one after the other", function()
    state = "wait"
    serve(line("tools/call", '{"name":"look"}', nil, "1"), send)
    serve(line("tools/call", '{"name":"look"}', nil, "2"), send)
    schedule.step()
    serve(line("ping", nil, nil, "3"), send)
    serve(line("ping", nil, nil, "1"), send)
    assert.same({ 3, 1, -32600 }, { sent[1].id, sent[2].id, sent[2].error.code })
    assert.same({ 2, 1 }, { serve(), calls })
    state = "sent"
    turn()
    assert.same({ 1, 2, 2 }, { sent[3].id, sent[4].id, calls })
  end)

  it("sends nothing more of a cancelled call, and begins no call that was cancelled before", function()
    state = "wait"
    serve(line("tools/call", '{"name":"look","_meta":{"progressToken":"t"}}', nil, '"a"'), send)
    serve(line("tools/call", '{"name":"look"}', nil, "1.0"), send)
    schedule.step()
    for _, id in ipairs { '"a"', "1.0", "8", "{}" } do
      serve(('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'):format(id), send)
    end
    state = "sent"
    turn()
    assert.equal(1, calls)
    assert.same({}, sent)
  end)

  it("tells a client that gave a token, in rising numbers and before the answer alone", function()
    local work = require "purser.desk.agent.work"
    local usual = work.PROGRESS_MS
    finally(function() work.PROGRESS_MS = usual end)
    work.PROGRESS_MS = 1
    serve(line("initialize", [[{"protocolVersion":"2024-11-05"}]]))
    for _, case in ipairs { { nil, '{"name":"look","_meta":{"progressToken":7.0}}' },
      { "2026-07-28", '{"name":"look"}' } } do
      sent, state = {}, "wait"
      local text = line("tools/call", case[2], case[1])
      serve((text:gsub('"_meta":{"io', '"_meta":{"progressToken":"t","io')), send)
      repeat schedule.step() schedule.wait(1) until #sent == 3
      state = "sent"
      turn()
      for i = 1, #sent - 1 do
        assert.same({ "notifications/progress", case[1] and "t" or "7.0", i, case[1] and "string" or "nil" },
          { sent[i].method, sent[i].params.progressToken, sent[i].params.progress, type(sent[i].params.message) })
      end
      assert.is_table(sent[#sent].result)
      schedule.sleep(3)
      schedule.step()
      assert.is_table(sent[#sent].result)
    end
    sent, state = {}, "wait"
    serve(line("tools/call", '{"name":"look"}'), send) -- without a token
    for _ = 1, 5 do
      schedule.step()
      schedule.sleep(1)
    end
    assert.same({}, sent)
    state = "sent"
    turn()
  end)
end)
