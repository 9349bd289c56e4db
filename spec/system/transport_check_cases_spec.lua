-- SPDX-License-Identifier: MIT
-- The checks of transport_check: a transport on LuaSocket passes, and with one planted defect each it does not.
-- make test: 22 s, waits, on lua5.4 and luajit

local behaviours = require "transport_check.behaviours"
local cases = require "transport_check.cases"
local check = require "transport_check"
local core = require "purser.core"
local curl = require "purser.client.transport.curl"
local files = require "files"
local http1 = require "purser.client.transport.http1"
local socket = require "socket"

local service

setup(function() service = assert(check.start()) end)
teardown(function() if service then service:stop() end end)

-- Accepts any certificate: what openssl does unless it is asked to verify.
local function send_unverified(request)
  local place = request.base_url:match "//(.*)$"
  local command = "printf 'GET %s HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect %s 2>/dev/null"
  local pipe = io.popen(command:format(request.target, place))
  local reader = http1.reader()
  reader:feed(pipe:read "*a")
  pipe:close()
  return reader:response()
end

-- A transport on LuaSocket. Without a defect it keeps what is asked of one; each defect is looked for by its name.
local function on_luasocket(defects)
  local methods = {}
  local kept, is_closed

  local function over_tls(request, options)
    if defects.any_certificate then return send_unverified(request) end
    local inner = assert(curl.new(options))
    local response, failure = inner:send(request)
    inner:close()
    return response, failure
  end

  local function exchange(request, url, ends)
    local connection = kept or socket.tcp()
    connection:settimeout(math.max(ends - core.monotonic_ms(), 1) / 1000)
    local ok, message = true, nil
    if not kept then ok, message = connection:connect(url.host, url.port) end
    kept = nil
    if not ok then return nil, message, defects.connect_is_unknown and "unknown" or "not_sent" end
    ok, message = connection:send(http1.request(request, defects.keeps))
    local reader = http1.reader { max_body = defects.unbounded and 2 ^ 40 or 1000000 * 4 }
    local whole
    while ok and not whole do
      local left = defects.time_per_read and request.timeout_ms or math.max(ends - core.monotonic_ms(), 1)
      local ready = socket.select({ connection }, nil, left / 1000)
      if not ready[1] then message = "timeout" break end
      connection:settimeout(0)
      local text, why, part = connection:receive(65536)
      text = text or part
      if text ~= "" then whole, message = reader:feed(text) end
      if not whole and not message and why == "closed" then whole, message = reader:finish() end
      if core.monotonic_ms() >= ends and not defects.time_per_read then message = "timeout" end
      if message then break end
    end
    if whole and defects.keeps then
      kept = (reader.reusable or defects.keeps == "always") and connection or nil
    end
    if not kept then connection:close() end
    if whole then return reader:response() end
    if defects.takes_parts and reader.status then
      return { status = reader.status, body = table.concat(reader.parts), headers = "" }
    end
    return nil, message or "no answer", defects.always_not_sent and "not_sent" or "unknown"
  end

  function methods:send(request)
    if is_closed and not defects.sends_when_closed then return nil, { message = "closed", outcome = "not_sent" } end
    if request.base_url:find "^https" then return over_tls(request, self.options) end
    local url = assert(http1.url(request.base_url))
    local ends = core.monotonic_ms() + request.timeout_ms
    local response, message, outcome = exchange(request, url, ends)
    if defects.sends_again and outcome == "unknown" then response, message, outcome = exchange(request, url, ends) end
    if defects.follows and response and response.status == 302 then
      request.target = response.headers:match "Location: (%S+)"
      response = exchange(request, url, ends)
    end
    if response and defects.drops_headers then response.headers = "" end
    if response and defects.text_body then response.body = response.body:match "^[^%z]*" end
    if response then return response end
    if defects.raises then error(message) end
    return nil, defects.bare_message and message or { message = message, outcome = outcome }
  end

  function methods:discard() -- luacheck: ignore self
    if kept and not defects.ignores_discard then
      kept:close()
      kept = nil
    end
  end

  function methods:close() -- luacheck: ignore self
    is_closed = true
    if kept then kept:close() end
    kept = nil
  end

  return function(options)
    kept, is_closed = nil, false
    return setmetatable({ options = options }, { __index = methods })
  end
end

describe("the cases of the check", function()
  it("are all passed by a transport on plain sockets", function()
    local report = check.run(service, on_luasocket {})
    assert.equal(0, report.failed, tostring(report))
    assert.equal(#cases, report.passed)
  end)

  for defect, found in pairs {
    sends_again = "sent once: lost", always_not_sent = "sent once: cut_body", connect_is_unknown = "nothing listens",
    time_per_read = "timeout_ms: slow_body", unbounded = "bounded: endless_body", takes_parts = "sent once: cut_body",
    follows = "redirect", drops_headers = "rejects is a response", text_body = "returned as it came",
    raises = "sent once: reset", bare_message = "sent once: lost", sends_when_closed = "after close",
    any_certificate = "another name",
  } do
    it(("find the planted defect %s"):format(defect), function()
      local report = check.run(service, on_luasocket { [defect] = true }, { only = found })
      assert.equal(1, report.failed, tostring(report))
      assert.is_true(check.run(service, on_luasocket {}, { only = found }).passed > 0)
    end)
  end

  it("find connections that are kept although they must not be", function()
    local report = check.run(service, on_luasocket { keeps = "always" }, { only = "without a request" })
    assert.equal(1, report.failed, tostring(report))
    local keeps = { keeps = true, ignores_discard = true }
    assert.equal(1, check.run(service, on_luasocket(keeps), { only = "was discarded" }).failed)
    assert.equal(0, check.run(service, on_luasocket { keeps = true }, { only = "was discarded" }).failed)
  end)

  it("find an unknown authority accepted, and an unknown one reported as sent", function()
    assert.equal(1, check.run(service, on_luasocket { any_certificate = true }, { only = "unknown authority" }).failed)
    local function says_unknown(options)
      local inner = assert(curl.new(options))
      return { send = function(_, request)
        local response, failure = inner:send(request)
        if failure then failure.outcome = "unknown" end
        return response, failure
      end }
    end
    assert.equal(2, check.run(service, says_unknown, { only = "certificate of an" }).failed)
  end)

  it("have one name each, and provoke every way in which the service can answer", function()
    local names, text = {}, files.read "spec/support/transport_check/cases.lua"
    for _, case in ipairs(cases) do
      assert.is_nil(names[case.name], case.name)
      names[case.name] = true
    end
    for name in pairs(behaviours.list) do
      assert.is_truthy(text:find('"' .. name .. '"', 1, true) or text:find("%f[%w]" .. name .. " = %d"), name)
    end
  end)
end)
