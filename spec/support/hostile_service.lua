-- SPDX-License-Identifier: MIT
-- A service whose answers have the right form and hostile texts: `lua hostile_service.lua SEED` prints its port and
-- answers until it is stopped, or nobody asks for five minutes.

package.path = "spec/support/?.lua;" .. package.path

local answers = require "answers"
local json = require "purser.json"
local operations = require "purser.client.operations"
local serve = require "purser.testing.sim.serve"
local texts = require "hostile_texts"

local random = texts.random(tonumber(arg[1]))

-- As JSON, half of it with escapes: what hides may arrive either way.
local function quoted(text)
  local encoded = json.encode(text)
  if random(2) == 1 then return encoded end
  return (require("purser.client.util.plain_text").as_json(encoded))
end

-- The answer with some of its texts replaced, and at times with a member that nobody knows.
local function hostile(answer)
  local share = random(3)
  answer = answer:gsub('(":%s*)"[^"\\]*"', function(before)
    return random(8) <= share and before .. quoted(texts.text(random)) or nil
  end)
  if random(3) == 1 then
    local member = quoted(texts.text(random)) .. ":" .. quoted(texts.text(random)) .. ","
    answer = answer:gsub('{"', function() return "{" .. member .. '"' end, 1)
  end
  return answer
end

local rows = {}
for _, row in ipairs(operations.list) do rows[row.method .. " " .. row.path] = row end

local function rejection()
  return { status = 400, headers = { ["content-type"] = "application/json" },
    body = ('{"code":%s,"msg":%s}'):format(quoted(texts.text(random)), quoted(texts.text(random))) }
end

local function page_of_a_proxy()
  local word = texts.text(random):gsub("[%z\r\n]", "")
  return { status = 403, headers = { ["content-type"] = "text/html" .. word }, body = "<html>" .. texts.text(random) }
end

local function handler(request)
  local path = request.target:match "^[^?]*"
  if path:find "/time$" then
    return { status = 200, body = ('{"serverTime":%d}'):format(require("purser.core").now_ms()) }
  end
  local row, what = rows[request.method .. " " .. path], random(10)
  if not row or what == 1 then return rejection() end
  if what == 2 then return page_of_a_proxy() end
  return { status = 200, headers = { ["content-type"] = "application/json" }, body = hostile(answers[row.id].json) }
end

serve.run(handler, {
  idle_timeout_ms = 300000,
  on_listen = function(port)
    io.stdout:write(port, "\n")
    io.stdout:flush()
  end,
})
