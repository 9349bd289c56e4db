-- SPDX-License-Identifier: MIT
-- After the first write call was sent no file may be needed any more to find out what became of it.

local operations = require "purser.client.operations"

-- Loses the answer of one call of every write operation, in a process that loads no module after the first was sent,
-- and prints what reconciling says of each.
local PROGRAM = [[
  local purser = require "purser"
  local calls, now, asked = dofile "spec/support/write_calls.lua", 1700000000000, 0
  local searchers = package.searchers or package.loaders
  local answers = { { 400, '{"code":10101,"msg":"no"}' }, { 200, "[]" }, { 200, "no JSON" },
    { 503, "busy" } }
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    clock = function() return now end,
    rate_limit = { pools = { ip = { capacity = 1000000, window_ms = 1000 } } }, transport = {
      sleep = function(_, ms) now = now + ms end,
      send = function(_, request)
        while searchers[1] do table.remove(searchers) end
        if request.method ~= "GET" then return nil, { message = "lost" } end
        asked = asked + 1
        local answer = answers[asked % #answers + 1]
        return { status = answer[1], headers = "", body = answer[2] }
      end,
    } })
  for name, params in pairs(calls) do
    local group = client[name:match "^(.*)%."]
    local _, err = group[name:match "[^.]*$"](group, params)
    local answer, problem = client:reconcile(err)
    print(name, err.outcome, (tostring(answer and answer.outcome or problem.message):gsub("\n.*", "")))
  end
]]

describe("the modules that reconciling needs", function()
  it("are all loaded before the first write call is sent", function()
    local program = os.tmpname()
    local file = assert(io.open(program, "w"))
    file:write(PROGRAM)
    file:close()
    local pipe = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", program)))
    local seen = 0
    for line in pipe:lines() do
      local name, outcome, answer = line:match "^(%S+)\t(%S+)\t(.*)$"
      assert.equal("unknown", outcome, line)
      assert.is_nil(answer:find "module '", line)
      assert.truthy(operations.by_name[name], line)
      seen = seen + 1
    end
    pipe:close()
    os.remove(program)
    local write_calls = 0
    for _, row in ipairs(operations.list) do write_calls = write_calls + (row.effect ~= "read" and 1 or 0) end
    assert.equal(write_calls, seen)
  end)
end)
