-- luacheck: ignore 631
-- Answers that are not what the document says: each ends as a clear error or as the documented result, for every operation.

local purser = require "purser"
local operations = require "purser.operations"

local client = assert(purser.new {
  base_url = "https://service.example", api_key = "key", secret_key = "secret", retry = false,
  transport = { send = function() error "nothing is sent here" end },
})

local function parse(row, status, body, headers)
  return client:parse(row.full_name, status, body, headers)
end

-- The answer must be an error of this kind and outcome; an unknown outcome of anything but a read says what settles it.
local function fails(row, status, body, kind, outcome, words)
  local result, err = parse(row, status, body)
  assert.is_nil(result)
  assert.equal(kind, err.kind)
  assert.equal(outcome, err.outcome)
  assert.equal(row.full_name, err.operation)
  assert.equal(status, err.http_status)
  if words then assert.matches(words, err.message) end
  if outcome == "unknown" and row.effect ~= "read" then
    assert.is_string(err.settle)
    assert.is_not_nil(tostring(err):find(err.settle, 1, true))
    assert.is_false(err.retryable)
  else
    assert.is_nil(err.settle)
  end
  return err
end

for _, row in ipairs(operations.list) do
  describe(row.id .. " " .. row.full_name, function()
    it("reads no result out of a body that is not JSON", function()
      for _, body in ipairs { "<html><body>busy</body></html>", "{", "[{\"id\":\"1\"", "{\"id\":\"1\"} x", "{'id':1}",
        "\239\187\191{}", "{\"id\":\"\255\"}", "{\"id\":01}", "\0", "{\"id\":\"a\nb\"}", "NaN" } do
        local err = fails(row, 200, body, "decode", "unknown", "cannot be read")
        assert.is_number(err.offset)
      end
      fails(row, 200, "", "decode", "unknown", "empty body")
      fails(row, 204, "", "decode", "unknown", "empty body")
    end)

    it("refuses a document nested without bound", function()
      fails(row, 200, ("["):rep(100000) .. ("]"):rep(100000), "decode", "unknown", "cannot be read")
      fails(row, 200, ('{"data":'):rep(100000) .. "1" .. ("}"):rep(100000), "decode", "unknown", "cannot be read")
    end)

    it("refuses a scalar where a result belongs", function()
      for _, body in ipairs { "1", '"text"', "true", "null", "1e999", ("9"):rep(40) } do
        fails(row, 200, body, "decode", "unknown", "cannot be read")
      end
    end)

    it("takes an error code out of a 2xx answer", function()
      for _, body in ipairs {
        '{"code":730002,"msg":"parameter error"}', '{"code":"730002","message":"parameter error"}',
        '{"msg":"parameter error","extra":[{"x":1}],"code":730002}', ' { "message" : "parameter error" , "code" : "730002" } ',
        '{"code":"730002","msg":"parameter error","data":null}', '{"code":730002,"msg":"parameter error","subAccount":{}}',
      } do
        local err = fails(row, 200, body, "api", "rejected", "parameter error")
        assert.equal("730002", err.code)
      end
    end)

    if row.result.record then
      it("takes no answer for a result that lacks what the result is for", function()
        for _, body in ipairs { '{"msg":"Service unavailable"}', '{"success":false,"time":1}', "{}", '{"data":{}}',
          '[{"code":700002,"msg":"refused","time":1}]', '{"code":"0","message":"","data":[{"msg":"refused"}]}' } do
          fails(row, 200, body, "decode", "unknown", "lacks `" .. row.result.essential .. "`")
        end
      end)

      it("takes an empty text for no proof that something was done", function()
        local member = row.result.essential
        for _, text in ipairs { '""', '" "', "null", '"\\t"' } do
          local record = ('{"%s":%s,"note":"n"}'):format(member, text)
          for _, body in ipairs { record, "[" .. record .. "]", '{"code":0,"data":' .. record .. "}",
            '{"code":"200","msg":"","data":[' .. record .. "]}", '{"code":"0",' .. record:sub(2) } do
            fails(row, 200, body, "decode", "unknown", "lacks `" .. member .. "`")
          end
        end
      end)
    end

    it("takes a refusal out of a 4xx answer", function()
      local err = fails(row, 400, '{"code":700002,"msg":"Signature for this request is not valid."}', "api", "rejected",
        "Signature")
      assert.equal("700002", err.code)
      fails(row, 400, '{"code":9999999999999999999999,"msg":"x"}', "api", "rejected")
    end)

    it("does not take a 4xx of somebody in between for the service's refusal", function()
      local outcome = row.effect == "read" and "rejected" or "unknown"
      local err = fails(row, 403, "<html>Access denied, ?signature=abc</html>", "http", outcome, "firewall")
      assert.is_nil(tostring(err):find("Access denied", 1, true))
      fails(row, 404, "", "http", outcome, "404")
      fails(row, 403, '{"message":"Forbidden"}', "http", outcome, "Forbidden")
    end)

    it("does not know what became of the call after a 5xx, a 408 or a redirect", function()
      for _, status in ipairs { 500, 502, 503, 504, 408, 301, 302, 307 } do
        fails(row, status, "<html></html>", "http", "unknown")
      end
      local err = fails(row, 500, '{"code":500,"msg":"Internal"}', "api", "unknown", "Internal")
      assert.equal(row.effect == "read", err.retryable)
    end)

    it("reads the pause the service asks for", function()
      for _, status in ipairs { 429, 418 } do
        local result, err = parse(row, status, '{"code":429,"msg":"Too many requests"}', "Retry-After: 7\r\n")
        assert.is_nil(result)
        assert.equal("throttled", err.kind)
        assert.equal("rejected", err.outcome)
        assert.equal(7, err.retry_after)
        -- white space may follow a header's value
        assert.equal(7, select(2, parse(row, status, "", "HTTP/1.1 429 \r\nRetry-After:7 \t\r\n\r\n")).retry_after)
        assert.is_true(err.retryable)
        result, err = parse(row, status, "<html>", { ["retry-after"] = "Wed, 21 Oct 2026 07:28:00 GMT" })
        assert.is_nil(result)
        assert.is_nil(err.retry_after)
      end
    end)
  end)
end

describe("results", function()
  it("keep the documented type whatever arrives", function()
    local deposits = assert(client:parse("wallet.deposit_history", 200, '[{"amount":' .. ("1"):rep(40) .. '.5,"coin":"USDT",'
      .. '"status":"5","insertTime":"1700000000000","txId":' .. ("7"):rep(40) .. ',"memo":null,"extra":' .. ("8"):rep(40)
      .. ',"confirmTimes":12}]'))
    assert.same({
      amount = ("1"):rep(40) .. ".5", coin = "USDT", status = 5, insertTime = 1700000000000, txId = ("7"):rep(40),
      extra = ("8"):rep(40), confirmTimes = "12",
    }, deposits[1])
  end)

  it("refuse a structure where a scalar belongs, and name the member", function()
    local result, err = client:parse("wallet.deposit_history", 200, '[{"amount":{"x":1}}]')
    assert.is_nil(result)
    assert.equal("decode", err.kind)
    assert.matches("amount", err.message)
    assert.equal(11, err.offset)
  end)

  it("lack nothing that proves that something was made", function()
    for name, member in pairs {
      ["wallet.withdraw"] = "id", ["wallet.transfer"] = "tranId", ["broker.create_api_key"] = "apiKey",
      ["wallet.create_deposit_address"] = "address",
    } do
      for _, body in ipairs { "{}", "[]", '{"code":"0","message":""}', '{"code":0,"data":[]}', '{"data":null}' } do
        local result, err = client:parse(name, 200, body)
        assert.is_nil(result)
        assert.equal("unknown", err.outcome)
        assert.matches(member, err.message)
      end
    end
  end)

  it("are empty tables when a list is empty, in whatever envelope", function()
    for _, name in ipairs { "broker.list_sub_accounts", "wallet.deposit_history", "sub_account.balances" } do
      for _, body in ipairs { "[]", '{"code":"0","message":"","data":[]}', '{"code":0,"data":null}', '{"result":[]}' } do
        assert.same({}, client:parse(name, 200, body))
      end
    end
  end)

  it("come out of every envelope that was seen", function()
    local want = { { apiKey = "k", note = "n", createTime = 5 } }
    for _, body in ipairs {
      '{"subAccount":[{"apikey":"k","note":"n","creatTime":5}]}', '[{"apiKey":"k","note":"n","createTime":"5"}]',
      '{"code":200,"message":"","data":[{"apiKey":"k","note":"n","creatTime":5}]}',
      '{"code":"0","data":{"subAccount":null,"apiKey":"k","note":"n","creatTime":5}}',
    } do
      assert.same(want, client:parse("broker.list_api_keys", 200, body))
    end
    assert.same({ { subAccount = "s", apiKey = "k" } },
      client:parse("sub_account.list_api_keys", 200, '[{"subAccount":"s","apiKey":"k"}]'))
    for name, member in pairs { ["sub_account.list_sub_accounts"] = "subAccounts", ["sub_account.balances"] = "balances",
      ["broker.transfer_history"] = "result" } do
      for list, wanted in pairs { ["[]"] = {}, ['[{"asset":"A"}]'] = { { asset = "A" } } } do
        for _, form in ipairs { '{"%s":%s}', '{"code":0,"message":"","data":{"%s":%s}}' } do
          assert.same(wanted, client:parse(name, 200, form:format(member, list)), name .. form)
        end
      end
    end
    assert.same({ { subAccount = "s", isFreeze = true } }, client:parse("sub_account.list_sub_accounts", 200,
      '{"code":"0","data":{"subAccounts":[{"subAccount":"s","isFreeze":"true"}]}}'))
    for _, body in ipairs { '{"id":12345678901234567890}', '[{"id":"12345678901234567890"}]',
      '{"code":0,"data":{"id":"12345678901234567890"}}', '{"code":"200","data":[{"id":12345678901234567890}]}',
      '{"code":"0","msg":"","id":"12345678901234567890"}' } do
      assert.same({ id = "12345678901234567890" }, client:parse("wallet.withdraw", 200, body))
    end
    for _, body in ipairs { '{"rows":[],"total":0}', '[{"rows":[],"total":0}]', '{"code":0,"data":{"rows":[],"total":"0"}}' } do
      assert.same({ rows = {}, total = 0 }, client:parse("wallet.transfer_history", 200, body))
    end
    assert.same({ data = {}, page = 1, totalRecords = 0, totalPageNum = 0 },
      client:parse("wallet.conversion_history", 200, '{"data":[],"totalRecords":0,"page":1,"totalPage":"0"}'))
  end)
end)

-- Found by `make fuzz-answer`, or by reading what it reads.
describe("regression:", function()
  local move = operations.by_name["wallet.withdraw"]

  it("an empty reason or code of the service is none", function()
    fails(move, 200, '{"code":"10101","msg":"","message":""}', "api", "rejected", "gave no reason")
    fails(move, 200, '{"code":"10101","msg":"","message":"too little"}', "api", "rejected", "too little")
    fails(move, 400, '{"code":"10101","msg":"","message":"too little"}', "api", "rejected", "too little")
    fails(move, 200, '{"code":"","msg":"maybe"}', "decode", "unknown", "lacks")
  end)

  it("a list of scalars where an envelope's data belongs is no result", function()
    for _, row in ipairs(operations.list) do
      if not row.result.list then
        for _, data in ipairs { "[5]", '["x"]', "[true]", '{"rows":"x"}', "5" } do
          local result, err = parse(row, 200, '[{"data":' .. data .. "}]")
          if result then
            assert.is_true(type(result) == "table" and type(result.rows or {}) == "table")
          else
            assert.equal("decode", err.kind)
          end
        end
      end
    end
  end)

  it("ping and server_time answer any status with a result or an error", function()
    assert.is_true(client:parse("ping", 200, "{}"))
    assert.equal(5, client:parse("server_time", 201, '{"serverTime":5}'))
    for _, status in ipairs { 200, 201, 204, 301, 400, 429, 500 } do
      for _, name in ipairs { "ping", "server_time" } do
        local result, err = client:parse(name, status, "")
        assert.is_nil(result)
        assert.equal(name, err.operation)
        assert.equal(status, err.http_status)
      end
    end
    assert.equal("unknown", select(2, client:parse("server_time", 200, '{"serverTime":"x"}')).outcome)
  end)

  it("a transport whose response is no answer leaves the outcome unknown, and raises nothing", function()
    local body = '{"id":"1"}'
    for _, bad in ipairs { {}, { status = 200 }, { body = body }, { status = "200", body = body },
      { status = 200.5, body = body }, { status = 0 / 0, body = body }, { status = 1 / 0, body = body },
      { status = 7, body = body } } do
      local result, err = client:parse("wallet.withdraw", bad.status, bad.body)
      assert.is_nil(result)
      assert.same({ "transport", "unknown" }, { err.kind, err.outcome })
      assert.is_string(err.settle)
      assert.equal("unknown", select(2, client:parse("ping", bad.status, bad.body)).outcome)
    end
  end)

  it("headers may be anything a transport makes of them", function()
    local _, err = client:parse("wallet.coins", 429, "", { ["Retry-After"] = 7, ["Content-Type"] = false })
    assert.equal(7, err.retry_after)
    for _, headers in ipairs { 5, true, { { "Retry-After", "7" } }, "", "\0: \0", { ["retry-after"] = {} } } do
      _, err = client:parse("wallet.coins", 403, "<html>", headers)
      assert.is_nil(err.retry_after)
      assert.equal("rejected", err.outcome)
    end
  end)
end)
