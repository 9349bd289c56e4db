-- SPDX-License-Identifier: MIT
-- The two operations that are not signed: their requests, and what an answer to one may be.

local new = require("recorder").new
local profiles = require "purser.client.operations.profiles"
local unsigned = require "purser.client.call.unsigned"

local function answer(name, status, body)
  return unsigned.answer(unsigned.rows[name], profiles.default, status, body, "")
end

describe("an operation that is not signed", function()
  it("is a GET of the profile's path, with no timestamp, no signature and no recvWindow", function()
    local client, transport = new({ base_url = "https://service.example/prefix", profile = { time_path = "/x/now" } },
      function(request)
        return { status = 200, body = request.target:find "now" and '{"serverTime":1700000000000}' or "{}",
          headers = "" }
      end)
    assert.is_true(client:ping())
    assert.equal(1700000000000, client:server_time())
    for i, target in ipairs { "/prefix/api/v3/ping", "/prefix/x/now" } do
      local request = transport.requests[i]
      assert.same({ "GET", target, "", false }, { request.method, request.target, request.body, request.at_most_once })
    end
  end)

  it("is answered by any object for ping, and by a time for server_time", function()
    assert.is_true(answer("ping", 200, "{}"))
    assert.is_true(answer("ping", 201, '{"x":1}'))
    assert.equal(5, answer("server_time", 201, '{"serverTime":5}'))
    for _, body in ipairs { "{}", '{"serverTime":"5"}', '{"serverTime":-1}', '{"serverTime":5.5}',
      '{"serverTime":null}',
      "[]", "5", "<html>", "", "null", '{"serverTime":1e13}' } do
      local time, err = answer("server_time", 200, body)
      assert.is_nil(time, body)
      assert.same({ "decode", "unknown", true }, { err.kind, err.outcome, err.retryable })
    end
  end)

  it("answers any status with a result or an error", function()
    for _, status in ipairs { 200, 201, 204, 301, 400, 429, 500 } do
      for _, name in ipairs { "ping", "server_time" } do
        local result, err = answer(name, status, "")
        assert.is_nil(result)
        assert.same({ name, status }, { err.operation, err.http_status })
      end
    end
    for _, status in ipairs { 199, 300 } do assert.is_nil((answer("ping", status, "{}"))) end
    for _, status in ipairs { "200", 0 / 0, 7, 200.5 } do
      assert.equal("transport", select(2, answer("ping", status, "{}")).kind)
    end
    assert.equal("transport", select(2, answer("ping", 200, nil)).kind)
  end)
end)
