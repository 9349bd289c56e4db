-- SPDX-License-Identifier: MIT
-- The checks of transport_check, in order: { name, run(check), tls }. `check` has the methods of transport_check.lua.

local behaviours = require "transport_check.behaviours"
local core = require "purser.core"
local failure = require "purser.client.call.failure"
local operations = require "purser.client.operations"
local profiles = require "purser.client.operations.profiles"

local list = {}

local function add(name, run, tls)
  list[#list + 1] = { name = name, run = run, tls = tls or false }
end

local function header_of(response, name)
  if type(response.headers) == "table" then
    for key, value in pairs(response.headers) do
      if tostring(key):lower() == name then return value end
    end
    return nil
  end
  for key, value in response.headers:gmatch "\n([^:\r\n]+):[ \t]*([^\r\n]*)" do
    if key:lower() == name then return value end
  end
end

-- Requests --------------------------------------------------------------------------------------------------------

add("the request arrives byte for byte", function(check)
  local transport = check:transport()
  local body = '{"a":"b c\195\164"}'
  local changes = { method = "POST", body = body, headers = { ["User-Agent"] = "check", ["X-Check"] = "a,b; c=d" } }
  local exchange = check:answered(transport, "plain", changes)
  local raw = check:count(exchange).raw
  check:expect(raw:find("POST /plain/" .. exchange.id .. " HTTP/1.1\r\n", 1, true) == 1,
    "the first line is not the request's")
  check:expect(raw:find("\r\nX%-Check: a,b; c=d\r\n"), "the header X-Check is missing or changed")
  check:expect(raw:sub(-#body - 4) == "\r\n\r\n" .. body, "the body is changed")
  exchange = check:answered(transport, "plain", { query = "?a=%2F%2f+b&c=%E2%82%AC&d=~!*'()" })
  raw = check:count(exchange).raw
  check:expect(raw:find("GET " .. exchange.request.target .. " HTTP/1.1\r\n", 1, true) == 1, "the target is changed")
end)

-- Answers ---------------------------------------------------------------------------------------------------------

add("an answer is returned as it came", function(check)
  local response = check:answered(check:transport(), "bytes").response
  check:expect(response.status == 200 and response.body == behaviours.every_byte, "the body is changed")
  check:expect(header_of(response, "x-check") == "a b", "a header is missing or changed")
end)

add("an answer in chunks is joined", function(check)
  local response = check:answered(check:transport(), "chunks").response
  check:expect(response.body == "{}abcde", "the body is not that of the chunks")
end)

add("interim answers are passed over", function(check)
  local response = check:answered(check:transport(), "interim").response
  check:expect(response.status == 200 and response.body == "{}", "status %d of an interim answer", response.status)
end)

add("a large answer is whole", function(check)
  local response = check:answered(check:transport(), "large").response
  check:expect(response.body == ("y"):rep(behaviours.LARGE), "%d bytes came of %d", #response.body, behaviours.LARGE)
end)

add("what the service rejects is a response", function(check)
  for behaviour, status in pairs { rejection = 400, throttled = 429, unavailable = 503 } do
    local response = check:answered(check:transport(), behaviour, { method = "POST", at_most_once = true }).response
    check:expect(response.status == status, "status %d, and the service sent %d", response.status, status)
    local err = failure.of_status(operations.by_name["wallet.withdraw"], profiles.default, status, "", response.headers)
    check:expect(err.retry_after == (status == 429 and 7 or nil), "Retry-After or Date is missing or changed")
  end
end)

add("a redirect is not followed", function(check)
  local transport = check:transport()
  local exchange = check:answered(transport, "redirect")
  local status = exchange.response.status
  check:expect(check:count({ id = exchange.id .. "0" }).received == 0, "the other address was asked")
  check:expect(status == 302, "status %d, and the service sent 302", status)
end)

-- Outcomes --------------------------------------------------------------------------------------------------------

local broken = { "lost", "reset", "cut_status", "cut_header", "cut_body", "cut_chunk", "not_http", "only_body",
  "two_lengths", "no_length", "broken_chunk" }

for _, behaviour in ipairs(broken) do
  add(("the outcome is unknown, and the request sent once: %s"):format(behaviour), function(check)
    for _, warm in ipairs { false, true } do
      local transport = check:transport()
      if warm then check:answered(transport, "plain") end
      local exchange = check:failed(transport, behaviour, "unknown", { method = "POST", at_most_once = true })
      check:expect(check:count(exchange).received == 1, "the request did not come")
    end
  end)
end

add("a read of a broken answer fails", function(check)
  local transport = check:transport()
  for _, behaviour in ipairs { "cut_body", "cut_chunk", "not_http", "two_lengths", "no_length" } do
    check:failed(transport, behaviour, "unknown")
  end
end)

add("nothing was sent where nothing listens", function(check)
  check:failed(check:transport(), "plain", "not_sent", { base_url = "http://127.0.0.1:1", at_most_once = true })
end)

add("nothing was sent where the name does not exist", function(check)
  check:failed(check:transport(), "plain", "not_sent", { base_url = "http://a..invalid:1", at_most_once = true })
end)

-- Time and bounds -------------------------------------------------------------------------------------------------

local SHORT_MS, LATEST_MS = 600, 11000 -- an exchange that drips would take 12 seconds

for _, behaviour in ipairs { "silent", "slow_header", "slow_body", "slow_chunks" } do
  add(("the whole exchange is bounded by timeout_ms: %s"):format(behaviour), function(check)
    local exchange = check:failed(check:transport(), behaviour, "unknown",
      { timeout_ms = SHORT_MS, method = "POST", at_most_once = true }, LATEST_MS)
    check:expect(exchange.ms < LATEST_MS, "it took %d ms, and timeout_ms was %d", exchange.ms, SHORT_MS)
    check:expect(not check:count(exchange).ended, "the answer was awaited to its end")
  end)
end

local BOUND = 128 * 1024 * 1024

for _, behaviour in ipairs { "endless_headers", "endless_body", "endless_chunks" } do
  add(("an answer is bounded: %s"):format(behaviour), function(check)
    local exchange = check:failed(check:transport(), behaviour, "unknown", { at_most_once = true, method = "POST" })
    local count = check:count(exchange)
    check:expect(not count.ended and count.sent < BOUND, "more than %d MiB were taken", BOUND / 1024 / 1024)
  end)
end

-- Kept connections ------------------------------------------------------------------------------------------------

-- Waits until the service has done what it does after its answer. The host's loop turns meanwhile, or stands still, as
-- where the host computes, from the end of a sleep on.
local function await(check, transport, exchange, stands_still)
  local ends = core.monotonic_ms() + 60000
  local function rest(ms)
    if transport.sleep then transport:sleep(ms) else core.sleep_ms(ms) end
  end
  if stands_still then rest(1) end
  repeat
    if stands_still then core.sleep_ms(20) else rest(20) end
    if check:count(exchange).ended then return end
  until core.monotonic_ms() > ends
  check:fail "the hostile service did not come to its end"
end

for _, behaviour in ipairs { "twice", "twice_at_once" } do
  add(("an answer without a request is not taken: %s"):format(behaviour), function(check)
    for i = 1, 4 do
      local transport, once = check:transport(), i <= 2
      local first = check:answered(transport, behaviour, { at_most_once = once })
      check:expect(first.response.body == "first", "the first answer is not the first")
      await(check, transport, first, i % 2 == 0)
      local second = check:answered(transport, "plain", { at_most_once = once })
      local body = second.response.body
      check:expect(body == "{}", "the body `%s` belongs to another request", body:sub(1, 20))
    end
  end)
end

add("a connection that the service has left is not used", function(check)
  local transport = check:transport()
  await(check, transport, check:answered(transport, "left"))
  check:answered(transport, "plain", { method = "POST", at_most_once = true })
end)

add("no request goes out on a connection whose answer was discarded", function(check)
  local transport = check:transport()
  local before = check:answered(transport, "plain")
  local first = check:answered(transport, "plain")
  local used = check:count(first).connection
  if used ~= check:count(before).connection then return end -- it keeps none
  check:expect(type(transport.discard) == "function", "it keeps connections and has no method `discard`")
  transport:discard(first.response)
  for _ = 1, 3 do
    check:expect(check:count(check:answered(transport, "plain")).connection ~= used, "the connection was used again")
  end
end)

-- Names -----------------------------------------------------------------------------------------------------------

local function over_tls(check, way)
  local url = tostring(check.tls[way])
  check:expect(url:find "^https://", "the address for this, %s, is none of TLS", url)
  local transport = check:transport { ca_file = check.tls.ca_file }
  return check:exchange(transport, "plain", { base_url = check.tls[way], target = "/plain", method = "GET",
    at_most_once = true })
end

add("a certificate of the right name and authority is accepted", function(check)
  local exchange = over_tls(check, "good")
  check:expect(exchange.response, "no response: %s", exchange.failure and exchange.failure.message)
  check:expect(exchange.response.body == "{}", "the body is changed")
end, true)

for way, words in pairs { other_name = "of another name", other_authority = "of an unknown authority" } do
  add(("a certificate %s is not accepted"):format(words), function(check)
    local exchange = over_tls(check, way)
    check:expect(not exchange.response, "the certificate was accepted")
    check:expect(exchange.failure.outcome == "not_sent", "the outcome is %s and must be not_sent: %s",
      exchange.failure.outcome, exchange.failure.message)
  end, true)
end

-- Closing ---------------------------------------------------------------------------------------------------------

add("after close nothing is sent", function(check)
  local transport = check:transport()
  if not transport.close then return end
  check:answered(transport, "plain")
  transport:close()
  transport:close()
  check:failed(transport, "plain", "not_sent", { at_most_once = true })
end)

return list
