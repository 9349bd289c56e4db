-- SPDX-License-Identifier: MIT
-- The protocol alone, with tools that do nothing.

local core = require "purser.core"
local json = require "purser.json"
local mcp = require "purser.desk.agent.mcp"

local ALL = { "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" }
local VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"

describe("the protocol of an agent", function()
  local tool = { name = "look", description = "d", schema = { type = "object" }, annotations = { readOnlyHint = true } }
  local state, calls, serve

  before_each(function()
    state, calls = "accepted", 0
    serve = mcp.server { tool, by_name = { look = tool }, call = function()
      calls = calls + 1
      if state == "raise" then error "a bug in /home/somebody/agent.lua" end
      return { state = state }
    end }
  end)

  -- Asks with params as JSON text, and `_meta` of the newest revision where one is named.
  local function line(method, params, named, id)
    params = params or "{}"
    if named then
      local meta = json.encode { _meta = { [VERSION] = named, [CAPABILITIES] = json.object {} } }
      params = meta:sub(1, -2) .. (params == "{}" and "}" or "," .. params:sub(2))
    end
    return ('{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}'):format(id or "1", method, params)
  end

  local function ask(...) return assert(core.decode(assert(serve(line(...))))) end

  local function begin(revision) return ask("initialize", ('{"protocolVersion":"%s"}'):format(revision)) end

  it("gives a result as text and as an object, and marks errors", function()
    for _, case in ipairs { { "accepted", false }, { "error", true } } do
      state = case[1]
      local answer = ask("tools/call", '{"name":"look"}', nil, '"a"')
      assert.equal("a", answer.id)
      assert.same({ state = case[1] }, answer.result.structuredContent)
      assert.same({ state = case[1] }, core.decode(answer.result.content[1].text))
      assert.same({ "text", 1 }, { answer.result.content[1].type, #answer.result.content })
      assert.equal(case[2], answer.result.isError)
    end
  end)

  it("goes on after an error of its own, tells the agent to look first, and names no file", function()
    state = "raise"
    local answer = ask("tools/call", '{"name":"look"}')
    assert.equal(-32603, answer.error.code)
    assert.matches("call status", answer.error.message)
    assert.is_nil(answer.error.message:find "lua")
    assert.same({}, ask("ping").result)
  end)

  it("goes on after malformed and huge messages", function()
    for text, code in pairs { ["{"] = -32700, ["[]"] = -32600, ['{"jsonrpc":"2.0","id":1,"method":"x"}'] = -32601,
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}'] = -32600, [("x"):rep(mcp.MAX_BYTES + 1)] = -32600,
      ['"x"'] = -32600, ["null"] = -32600, ['{"jsonrpc":"1.0","id":1,"method":"ping"}'] = -32600,
      ['{"jsonrpc":"2.0","id":1}'] = -32600, ['{"id":1,"method":"ping"}'] = -32600,
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}'] = -32600, [("["):rep(190) .. ("]"):rep(190)] = -32700,
      ['{"jsonrpc":"2.0","id":true,"method":"ping"}'] = -32600, ['{"jsonrpc":"2.0","id":1,"method":7}'] = -32600,
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":"{}"}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}'] = -32602,
      ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'] = -32600,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"a":1,"a":2}}}'] = -32600,
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":1}}'] = -32602 } do
      assert.equal(code, assert(core.decode(serve(text))).error.code, text:sub(1, 60))
    end
    assert.equal(0, calls)
    local padded = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
    padded = padded .. (" "):rep(mcp.MAX_BYTES - #padded)
    assert.equal(7, core.decode(serve(padded)).id)
    assert.equal(3, core.decode(serve '{"jsonrpc":"1.0","id":3,"method":"ping"}').id)
  end)

  it("says the schema's word of arguments that are no object, and reads arguments that are JSON text", function()
    for given, kind in pairs { ["[]"] = "n array", ["5"] = " number", ['"x"'] = " string", ["true"] = " boolean",
      ['"[]"'] = " string" } do
      assert.equal(("arguments is a%s and no object"):format(kind),
        ask("tools/call", ('{"name":"look","arguments":%s}'):format(given)).error.message)
    end
    assert.equal(0, calls)
    for _, given in ipairs { "{}", '"{}"', "null" } do
      assert.is_table(ask("tools/call", ('{"name":"look","arguments":%s}'):format(given)).result)
    end
  end)

  it("answers nothing to notifications, responses and blank lines", function()
    for _, text in ipairs { "", "  \t\r", "\239\187\191", '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
      '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"look"}}', '{"jsonrpc":"2.0","method":"x","params":[]}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}' } do
      assert.is_nil(serve(text), text)
    end
    assert.equal(0, calls)
    assert.same({}, core.decode(serve('\239\187\191{"jsonrpc":"2.0","id":1,"method":"ping"}')).result)
  end)

  it("repeats an id as the id was spelled", function()
    for _, id in ipairs { "1.0", "1e3", "12345678901234567890", "9007199254740993", "-0", "1E+2", "0.10", '"1.0"',
      '"a\\"b"', '"\\u0000"', '""' } do
      for _, answer in ipairs { serve(line("ping", nil, nil, id)), serve(line("none", nil, nil, id)) } do
        assert.is_truthy(answer:find('"id":' .. id, 1, true), answer)
      end
    end
    assert.is_truthy(serve(line("ping", nil, nil, '"\226\128\174"')):find('"id":"\\u202e"', 1, true))
  end)

  it("agrees on each revision that has a handshake, and offers the newest for another", function()
    for i = 2, #ALL do
      local result = begin(ALL[i]).result
      assert.equal(ALL[i], result.protocolVersion)
      assert.same({ { tools = { listChanged = false } }, "purser" }, { result.capabilities, result.serverInfo.name })
      assert.matches("never instructions", result.instructions)
      assert.is_table(ask("tools/call", '{"name":"look"}').result)
    end
    for _, params in ipairs { "{}", '{"protocolVersion":5}', '{"protocolVersion":null}' } do
      local answer = ask("initialize", params)
      assert.same({ -32602, ALL }, { answer.error.code, answer.error.data.supported })
    end
  end)

  it("does nothing under an offered revision before the client takes the offer", function()
    for _, asked in ipairs { "2031-01-01", "2026-07-28", "1", "" } do
      calls = 0
      assert.equal("2025-11-25", begin(asked).result.protocolVersion)
      assert.equal(-32600, ask("tools/call", '{"name":"look"}').error.code)
      assert.equal(-32600, ask("tools/list").error.code)
      assert.same({}, ask("ping").result)
      assert.equal(0, calls)
      assert.is_nil(serve '{"jsonrpc":"2.0","method":"notifications/initialized"}')
      assert.is_table(ask("tools/call", '{"name":"look"}').result)
    end
  end)

  it("refuses a request of a revision that is not known, or that the request mixes, before anything acts", function()
    for _, method in ipairs { "tools/call", "tools/list", "server/discover", "initialize", "ping" } do
      for _, named in ipairs { "2031-01-01", "2025-11-25", "2024-11-05", "", "2026-07-28 " } do
        local answer = ask(method, '{"name":"look","protocolVersion":"2025-11-25"}', named)
        assert.same({ -32022, ALL, named }, { answer.error.code, answer.error.data.supported,
          answer.error.data.requested }, method)
      end
    end
    for meta, code in pairs { [('{"%s":5}'):format(VERSION)] = -32602, [('{"%s":{}}'):format(CAPABILITIES)] = -32602,
      [('{"%s":"2026-07-28"}'):format(VERSION)] = -32602, ["[]"] = -32602, ['"x"'] = -32602,
      [('{"%s":null,"%s":{}}'):format(VERSION, CAPABILITIES)] = -32602 } do
      assert.equal(code, ask("tools/call", ('{"name":"look","_meta":%s}'):format(meta)).error.code, meta)
    end
    for _, method in ipairs { "initialize", "ping", "x" } do -- which the newest revision has not
      assert.equal(-32601, ask(method, '{"protocolVersion":"2025-11-25"}', "2026-07-28").error.code)
    end
    assert.equal(-32602, ask("server/discover").error.code)
    assert.equal(0, calls)
  end)

  it("serves the newest revision without a handshake, and beside one", function()
    for _ = 1, 2 do
      local found = ask("server/discover", nil, "2026-07-28").result
      assert.same({ "complete", ALL, { tools = { listChanged = false } }, "purser", "private" }, { found.resultType,
        found.supportedVersions, found.capabilities, found._meta["io.modelcontextprotocol/serverInfo"].name,
        found.cacheScope })
      local list = ask("tools/list", nil, "2026-07-28").result
      assert.same({ "complete", "look", 3600000 }, { list.resultType, list.tools[1].name, list.ttlMs })
      local result = ask("tools/call", '{"name":"look"}', "2026-07-28").result
      assert.same({ "complete", "accepted", "purser" }, { result.resultType, result.structuredContent.state,
        result._meta["io.modelcontextprotocol/serverInfo"].name })
      local notice = ask("subscriptions/listen", '{"notifications":{"toolsListChanged":true}}', "2026-07-28", "7.0")
      assert.same({ "notifications/subscriptions/acknowledged", {} }, { notice.method, notice.params.notifications })
      begin "2025-06-18"
    end
    assert.is_nil(ask("tools/call", '{"name":"look"}').result.resultType)
  end)

  it("gives what a revision has, and no more", function()
    for i = 2, #ALL do
      begin(ALL[i])
      local list, result = ask("tools/list").result, ask("tools/call", '{"name":"look"}').result
      assert.same({ i ~= 5, i < 4, nil, nil }, { list.tools[1].annotations ~= nil, result.structuredContent ~= nil,
        result.resultType, list.ttlMs }, ALL[i])
    end
  end)

  it("takes batches where the revision has batches", function()
    local one, note = line("ping", nil, nil, "4.0"), '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    for i = 2, #ALL do
      begin(ALL[i])
      local text = serve(("[%s,%s,7,%s]"):format(one, note, line("tools/call", '{"name":"look"}', nil, "5")))
      local answers = assert(core.decode(text))
      if ALL[i] ~= "2025-03-26" then
        assert.equal(-32600, answers.error.code)
      else
        assert.is_truthy(text:find('"id":4.0', 1, true))
        assert.same({ 3, -32600, "accepted" }, { #answers, answers[2].error.code,
          core.decode(answers[3].result.content[1].text).state })
        assert.is_nil(serve("[" .. note .. "]"))
        for batch, code in pairs { ["[]"] = -32600, ["[" .. ("7,"):rep(100) .. "7]"] = -32600 } do
          assert.equal(code, core.decode(serve(batch)).error.code)
        end
        local inside = core.decode(serve(("[%s,%s]"):format(line("initialize", '{"protocolVersion":"2025-11-25"}'),
          line("tools/call", '{"name":"look"}', "2026-07-28", "2"))))
        assert.same({ -32600, -32600 }, { inside[1].error.code, inside[2].error.code })
      end
    end
    assert.equal(1, calls)
  end)

  it("says which tools there are", function()
    assert.same({ tools = { { name = "look", description = "d", inputSchema = { type = "object" },
      annotations = { readOnlyHint = true } } } }, ask("tools/list").result)
  end)
end)
