-- SPDX-License-Identifier: MIT
-- A process of `purser agent` that a test talks to through a pipe with a name, and kills.

local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local json = require "purser.json"

local VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"

local M = {}

--- Starts a process that speaks a revision. `place` is a path that begins the names of its files.
function M.start(place, arguments, environment, revision)
  local self, number = {}, 0
  assert(os.execute(("mkfifo -m 600 %s.in && : >%s.out"):format(place, place)))
  assert(os.execute(("sh -c 'echo $$ >%s.pid; exec \"$@\"' sh %s <%s.in >%s.out 2>%s.err &"):format(place,
    command.line(arguments, environment), place, place, place)))
  local input = assert(io.open(place .. ".in", "w"))

  local function text_of(suffix)
    local file = assert(io.open(place .. suffix))
    local text = file:read "*a"
    file:close()
    return text
  end

  --- Sends a request and returns its id.
  function self.send(method, params)
    number = number + 1
    if revision == "2026-07-28" then
      params["_meta"] = { [VERSION] = revision, [CAPABILITIES] = json.object {} }
    end
    input:write(json.encode(json.object { { "jsonrpc", "2.0" }, { "id", number }, { "method", method },
      { "params", next(params) and params or json.object {} } }), "\n")
    input:flush()
    return number
  end

  --- Waits for the answer of an id.
  function self.answer(id)
    return eventually(function()
      for line in text_of ".out":gmatch "([^\n]+)\n" do
        local answer = core.decode(line)
        if answer.id == id then return answer end
      end
    end)
  end

  --- Calls a tool and waits. Returns the structured result, or the result that the text holds.
  function self.call(tool, given)
    local answer = self.answer(self.send("tools/call", { name = tool, arguments = given }))
    assert(answer.result, answer.error and answer.error.message)
    return answer.result.structuredContent or core.decode(answer.result.content[1].text)
  end

  --- Ends the process, in the middle of whatever it does.
  function self.kill()
    os.execute("kill -9 " .. text_of ".pid":match "%d+" .. " 2>/dev/null")
    input:close()
    os.execute(("rm -f %s.in %s.out %s.pid %s.err"):format(place, place, place, place))
  end

  if revision ~= "2026-07-28" then
    self.answer(self.send("initialize", { protocolVersion = revision }))
  end
  return self
end

return M
