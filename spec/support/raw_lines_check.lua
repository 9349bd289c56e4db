-- SPDX-License-Identifier: MIT
-- Holds the server of an agent to its promises over random lines: nothing raises, each answer is one line of JSON of
-- harmless characters with the id of its request, and nothing moves.

local agent_world = require "agent_world"
local core = require "purser.core"
local plain_text = require "purser.client.util.plain_text"
local raw_lines = require "raw_lines"

local function is_scalar_id(id) return id:find '^"' or id:find "^%-?%d" end

--- Returns how many of `count` lines were answered, and how many of the answers were results.
return function(seed, count)
  local world = agent_world.new()
  local server, next_line = world.server(), raw_lines.of(seed)
  local answered, results = 0, 0
  for number = 1, count do
    local line, id = next_line()
    local ok, answer = pcall(server.serve, line)
    assert(ok, ("line %d of seed %d raised: %s\n%s"):format(number, seed, tostring(answer), line))
    if answer then
      answered = answered + 1
      local read = core.decode(answer)
      local function must(holds, what)
        if not holds then error(("line %d of seed %d: %s\n%s\n%s"):format(number, seed, what, line, answer), 0) end
      end
      must(type(read) == "table", "the answer is no JSON")
      must(not answer:find "[%c]" and plain_text.is_utf8(answer), "the answer has odd characters")
      must(not (read.error and read.error.code == -32603), "an error of Purser's own")
      must(not answer:find(".lua:", 1, true), "the answer names a file")
      local is_notice = read.method == "notifications/subscriptions/acknowledged"
      if id and is_scalar_id(id) and core.decode(line) ~= nil and not is_notice and not id:find "\\u"
        and not answer:find('"id":null', 1, true) then
        must(answer:find('"id":' .. plain_text.as_json(id), 1, true), "the answer has another id than " .. id)
      end
      if read.result then results = results + 1 end
    end
  end
  assert(world.moved() == 0, "funds moved")
  server.close()
  world.close()
  return answered, results
end
