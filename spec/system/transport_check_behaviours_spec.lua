-- SPDX-License-Identifier: MIT
-- The hostile service's answers to names and requests.

local behaviours = require "transport_check.behaviours"
local http1 = require "purser.client.transport.http1"
local socket = require "socket"

describe("an answer of the hostile service", function()
  it("is whole HTTP, whatever bytes its body has", function()
    for _, body in ipairs { "", "{}", behaviours.every_byte } do
      local reader = http1.reader()
      assert.is_true(reader:feed(behaviours.answer(body, "418 x", "A: b\r\n")))
      local response = reader:response()
      assert.same({ 418, body }, { response.status, response.body })
      assert.matches("\r\nA: b\r\n", response.headers)
    end
    assert.equal(256, #behaviours.every_byte)
  end)
end)

describe("the name server", function()
  local server, client

  setup(function()
    server, client = assert(socket.udp()), assert(socket.udp())
    assert(server:setsockname("127.0.0.1", 0))
    server:settimeout(0)
    assert(client:setpeername(server:getsockname()))
    client:settimeout(5)
  end)
  teardown(function()
    server:close()
    client:close()
  end)

  -- Sends bytes, has them answered, and returns the answer; nil when there is none.
  local function ask(bytes, is_answered)
    assert(client:send(bytes))
    socket.select({ server }, nil, 5)
    behaviours.answer_name(server)
    client:settimeout(is_answered and 5 or 0)
    return (client:receive())
  end

  local HEAD, NAME = "\171\205\1\0\0\1\0\0\0\0\0\0", "\4host\7example\0"

  it("says of every name that its address is 127.0.0.1", function()
    local answer = ask(HEAD .. NAME .. "\0\1\0\1", true)
    assert.equal("\171\205\129\128\0\1\0\1\0\0\0\0" .. NAME .. "\0\1\0\1", answer:sub(1, 12 + #NAME + 4))
    assert.equal("\0\4\127\0\0\1", answer:sub(-6))
  end)

  it("has no address of IPv6", function()
    local answer = ask(HEAD .. NAME .. "\0\28\0\1", true)
    assert.equal("\0\0", answer:sub(7, 8))
    assert.equal(12 + #NAME + 4, #answer)
  end)

  it("answers nothing that is no question", function()
    for _, bytes in ipairs { "x", HEAD, HEAD .. ("x"):rep(40) } do assert.is_nil(ask(bytes)) end
    behaviours.answer_name(server) -- nothing has come
  end)
end)
