-- SPDX-License-Identifier: MIT
-- Answers that reject a write call and show its result as well, or a code that is not the service's: a machine in
-- between may have answered after the service had executed the call, so it is looked for before it is sent again.

local purser = require "purser"

local function client_of(status, body)
  return assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret", rate_limit = false,
    retry = false, clock = function() return 1700000000000 end, transport = { send = function()
      return { status = status, headers = "", body = body }
    end } })
end

local withdrawal = { coin = "USDT", address = "TSample", amount = "5", netWork = "TRX" }

describe("an answer 429 or 418 to a write call", function()
  it("proves nothing where it shows a result", function()
    for _, body in ipairs { '{"id":"7a1"}', '{"data":{"id":"7a1"}}', '[{"id":"7a1"}]', '{"msg":"slow down","id":"7a1"}',
      '{"success":true}', '{"success": "TRUE", "msg": "x"}', '{"id":"a1","id":"b2"}' } do
      for _, status in ipairs { 429, 418 } do
        local _, err = client_of(status, body).wallet:withdraw(withdrawal)
        assert.equal("unknown", err.outcome, body)
        assert.equal("throttled", err.kind)
        assert.is_false(err.retryable)
        assert.is_table(err.intent)
      end
    end
  end)

  it("is a rejection where it shows none", function()
    for _, body in ipairs { "", "{}", '{"msg":"slow down"}', '{"id":""}', '{"success":false}', "<html></html>" } do
      local _, err = client_of(429, body).wallet:withdraw(withdrawal)
      assert.equal("rejected", err.outcome, body)
      assert.is_true(err.retryable)
    end
  end)
end)

describe("a code that repeats the HTTP status", function()
  it("proves nothing of a write call where the service has no such code: a gateway wrote it", function()
    for _, status in ipairs { 404, 409, 421, 425, 499 } do
      for _, body in ipairs { '{"code":%d}', '{"code":"%d","message":"closed"}' } do
        local _, err = client_of(status, body:format(status)).wallet:withdraw(withdrawal)
        assert.equal("unknown", err.outcome, body)
        assert.matches("a machine in between", err.message)
        _, err = client_of(status, body:format(status)).wallet:withdrawal_history {}
        assert.equal("rejected", err.outcome, body)
      end
    end
  end)

  it("is a rejection where the service has it, and so is every other code", function()
    for status, code in pairs { [400] = 400, [401] = 401, [403] = 403, [429] = 429, [418] = 418, [404] = 33333,
      [409] = 10101 } do
      local _, err = client_of(status, ('{"code":%d}'):format(code)).wallet:withdraw(withdrawal)
      assert.equal("rejected", err.outcome, code)
    end
  end)
end)

it("An answer 429 to a read call is a rejection whatever it shows", function()
  local _, err = client_of(429, '[{"id":"7a1"}]').wallet:withdrawal_history {}
  assert.equal("rejected", err.outcome)
end)
