-- SPDX-License-Identifier: MIT
-- luacheck: ignore 631
-- Answers that are not what the document says: each ends as a clear error or as the documented result, for every
-- operation.

local purser = require "purser"
local operations = require "purser.client.operations"

local client = assert(purser.new {
  base_url = "https://service.example", api_key = "key", secret_key = "secret", retry = false,
  transport = { send = function() error "nothing is sent here" end },
})

local function parse(row, status, body, headers)
  return client:parse(row.full_name, status, body, headers)
end

-- The answer must be an error of this kind and outcome; an unknown outcome of anything but a read says what reconciles
-- it.
local function fails(row, status, body, kind, outcome, words)
  local result, err = parse(row, status, body)
  assert.is_nil(result)
  assert.equal(kind, err.kind)
  assert.equal(outcome, err.outcome)
  assert.equal(row.full_name, err.operation)
  assert.equal(status, err.http_status)
  if words then assert.matches(words, err.hint and err.message .. "; " .. err.hint or err.message) end
  if outcome == "unknown" and row.effect ~= "read" then
    assert.is_string(err.advice)
    assert.is_not_nil(tostring(err):find(err.advice, 1, true))
    assert.is_false(err.retryable)
  else
    assert.is_nil(err.advice)
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

    it("rejects a document nested without bound", function()
      fails(row, 200, ("["):rep(100000) .. ("]"):rep(100000), "decode", "unknown", "cannot be read")
      fails(row, 200, ('{"data":'):rep(100000) .. "1" .. ("}"):rep(100000), "decode", "unknown", "cannot be read")
    end)

    it("rejects a scalar where a result belongs", function()
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
        for _, body in ipairs { '{"msg":"Service unavailable"}', '{"success":true,"time":1}', "{}", '{"data":{}}',
          '[{"code":700002,"msg":"rejected","time":1}]', '{"code":"0","message":"","data":[{"msg":"rejected"}]}' } do
          fails(row, 200, body, "decode", "unknown", "lacks `" .. row.result.required_member .. "`")
        end
      end)

      it("takes an empty text for no proof that something was done", function()
        local member = row.result.required_member
        for _, text in ipairs { '""', '" "', "null", '"\\t"' } do
          local record = ('{"%s":%s,"note":"n"}'):format(member, text)
          for _, body in ipairs { record, "[" .. record .. "]", '{"code":0,"data":' .. record .. "}",
            '{"code":"200","msg":"","data":[' .. record .. "]}", '{"code":"0",' .. record:sub(2) } do
            fails(row, 200, body, "decode", "unknown", "`" .. member .. "`")
          end
        end
      end)

      it("takes no word or number that stands for nothing for an id", function()
        local member = row.result.required_member
        if not ({ id = true, tranId = true, apiKey = true, address = true })[member] then return end
        for _, value in ipairs { "false", "true", "0", '"0"', '"null"', '"NULL"', '"None"', '"undefined"', '"false"', "-1",
          '"-1"', "0.0", '"NaN"', '"00000000-0000-0000-0000-000000000000"', '"a\\u0000b"', '"\\u202ex"', '"error"', '"<html>"',
          '"-"', '"w1 w2"', '"w1\\n"', '"w1<br>"', '"' .. ("1"):rep(300) .. '"' } do
          local record = ('{"%s":%s}'):format(member, value)
          for _, body in ipairs { record, "[" .. record .. "]", '{"code":0,"data":' .. record .. "}" } do
            fails(row, 200, body, "decode", "unknown", "`" .. member .. "`")
          end
        end
      end)

      it("takes a text that is no id of this service for none", function()
        local member = row.result.required_member
        if not ({ id = true, tranId = true, apiKey = true })[member] then return end
        for _, id in ipairs { "abc", "internal-server-error", "1.5", "id:1", "w1,w2", ("1"):rep(65), "\195\169" .. "1" } do
          local record = ('{"%s":"%s"}'):format(member, id)
          fails(row, 200, record, "decode", "unknown", "`" .. member .. "`")
          if row.effect ~= "read" then -- next to an error it may name a record all the same
            fails(row, 200, '{"code":10101,' .. record:sub(2), "api", "unknown")
            fails(row, 400, '{"code":10101,' .. record:sub(2), "api", "unknown")
          end
        end
        for _, id in ipairs { "1", "7213fea8e94b4a5593d507237e5a555b", "mx0aBYs33eIilxBWC5", "w_1-a", ("1"):rep(64) } do
          local value = assert(parse(row, 200, ('{"%s":"%s"}'):format(member, id), ""))
          assert.equal(id, value[member])
        end
      end)

      it(row.effect == "read" and "takes the last of two equal members" or "believes no answer that has a member twice",
        function()
        local member = row.result.required_member
        if row.effect == "read" then
          local value = assert(parse(row, 200, ('{"%s":"12","x":1,"x":2,"%s":"13"}'):format(member, member), ""))
          assert.same({ "13", 2 }, { value[member], value.x })
          return fails(row, 200, ('{"%s":"12","code":0,"code":10101}'):format(member), "api", "rejected")
        end
        local twice = ('{"%s":"12","%s":"13"}'):format(member, member)
        for _, body in ipairs { twice, "[" .. twice .. "]", '{"code":0,"data":' .. twice .. "}",
          '{"code":"0","data":[' .. twice .. "]}", ('{"%s":null,"%s":"12"}'):format(member, member),
          ('{"code":0,"code":10101,"%s":"12"}'):format(member), ('{"code":10101,"data":%s}'):format(twice),
          ('{"data":{},"data":{"%s":"12"}}'):format(member), ('{"%s":"12","x":1,"x":2}'):format(member) } do
          fails(row, 200, body, "decode", "unknown", "twice")
        end
        local _, err = parse(row, 400, ('{"code":10101,"data":%s}'):format(twice), "")
        assert.equal("unknown", err.outcome)
        _, err = parse(row, 400, '{"code":10101,"code":0,"msg":"x"}', "")
        assert.equal("unknown", err.outcome)
      end)
    else
      it("takes the last of two equal members", function()
        local name = ({ list = "[%s]", rows = '{"rows":[%s],"total":1}', page = '{"data":[%s],"totalRecords":1}' })
        local body = (row.result.list and name.list or row.result.rows and name.rows or name.page)
        local twice = '{"amount":"1","amount":"2","coin":"A","coin":null,"x":{"y":1},"x":{"y":2}}'
        local value = assert(parse(row, 200, body:format(twice), ""))
        local record = (value.rows or value.data or value)[1]
        assert.same({ "2", nil, { y = 2 } }, { record.amount, record.coin, record.x })
      end)

      it("takes nothing but a list for a list", function()
        for _, body in ipairs { "{}", '{"code":200}', '{"code":200,"msg":"success"}', '{"code":"0","message":"","data":null}',
          '{"data":null}', '{"data":{}}', '{"result":{}}', '{"result":null}', '{"success":true,"code":0,"message":"busy"}',
          '{"code":0,"msg":"maintenance"}', '{"data":{"message":"busy"}}', '{"rows":{},"total":0}', '{"total":0}',
          '{"totalRecords":0,"page":1}', '{"rows":null,"total":0}', '{"data":null,"totalRecords":0}', '{"note":"[]"}' } do
          fails(row, 200, body, "decode", "unknown")
        end
        fails(row, 200, '{"success":false,"data":[],"rows":[]}', "decode", "unknown", "success = false")
      end)
    end

    if row.effect ~= "read" then
      it("is not believed beside a word of an error", function()
        fails(row, 200, '{"error":"busy","data":[{"id":"1"}]}', "decode", "unknown", "that there was an error")
      end)

      it("does not take a code that proves nothing for a rejection", function()
        for _, code in ipairs { "408", "500", "502", "503", "504", "524", "-1000", "-1006", "-1007", "10200", "10201",
          "10202", "10219", "20002", "730000" } do
          for _, status in ipairs { 200, 400, 403, 429 } do
            local kind = status == 429 and "throttled" or "api"
            assert.equal(code, fails(row, status, '{"code":' .. code .. ',"msg":"x"}', kind, "unknown", "^x$").code)
            fails(row, status, '{"code":"' .. code .. '","message":"x","data":null}', kind, "unknown", "^x$")
          end
        end
      end)

      it("does not take a code that means success, with the status of a rejection, for one", function()
        for _, code in ipairs { "0", "200" } do
          fails(row, 400, '{"code":' .. code .. ',"msg":"success"}', "api", "unknown", "this code means success")
        end
      end)

      it("takes no answer for a result that denies it in another member", function()
        for _, denial in ipairs { '"success":"false"', '"success":0', '"error":"balance"', '"error":{"code":1}',
          '"status":"FAILED"', '"status":"rejected"' } do
          local record = ('"%s":"15",%s'):format(row.result.required_member, denial)
          for _, form in ipairs { "{%s}", '{"code":0,"data":{%s}}', "[{%s}]" } do
            fails(row, 200, form:format(record), "decode", "unknown", "the answer says")
          end
        end
      end)

      it("takes no answer for a result that shows two", function()
        local form = '{"code":0,"%s":"15","data":{"%s":"16"}}'
        fails(row, 200, form:format(row.result.required_member, row.result.required_member), "decode", "unknown",
          "two different")
      end)

      it("does not take a code next to a result for a rejection", function()
        local member = row.result.required_member
        local record = ('"%s":"15"'):format(member)
        for _, status in ipairs { 200, 400 } do
          for _, body in ipairs { '{"code":1,' .. record .. "}", '{"code":"SUCCESS",' .. record .. "}",
            '{"code":"200000","data":{' .. record .. "}}",
            '{"code":1,' .. record .. ',"data":{' .. record:gsub("15", "16") .. "}}",
            '{"code":"200000","msg":"","data":[{' .. record .. "}]}" } do
            fails(row, status, body, "api", "unknown", "holds the id of a result")
          end
          fails(row, status, '{"code":1,"' .. member .. '":""}', "api", "unknown", "not among the known codes")
          fails(row, status, '{"code":10101,"' .. member .. '":""}', "api", "rejected")
        end
        for _, body in ipairs { '[{"code":1,' .. record .. "}]", '{"code":0,"data":{"code":"1",' .. record .. "}}",
          '{"data":[{"code":700002,' .. record .. "}]}" } do
          fails(row, 200, body, "decode", "unknown", "error code %d+ next to its record")
        end
      end)
    else
      it("may be read again after a code that proves nothing", function()
        for _, status in ipairs { 200, 400 } do
          assert.is_true(fails(row, status, '{"code":504,"msg":"Gateway Time-out"}', "api", "unknown").retryable)
        end
        assert.is_false(fails(row, 200, '{"code":33333,"msg":"x"}', "api", "rejected").retryable)
      end)
    end

    it("makes the texts of an answer plain in its error", function()
      local odd = '"a\\u001b[2J\\r\\nforged\\u202e\\u009b"'
      for _, status in ipairs { 200, 400, 500 } do
        local _, err = parse(row, status, '{"code":' .. odd .. ',"msg":' .. odd .. "}")
        assert.equal("a\\x1B[2J\\x0D\\x0Aforged\\u{202E}\\u{9B}", (err.message:gsub(" %(the code is not .*$", "")))
        assert.equal((err.message:gsub(" %(the code is not .*$", "")), err.code)
        _, err = parse(row, status, '{"code":700002,"message":"' .. ("x"):rep(70000) .. '"}')
        assert.equal(500, #err.message)
      end
      local _, err = parse(row, 503, "<html>", { ["content-type"] = "text/html\27[2J" })
      assert.matches("(text/html\\x1B[2J)", err.message, 1, true)
    end)

    it("takes a rejection out of a 4xx answer", function()
      local err = fails(row, 400, '{"code":700002,"msg":"Signature for this request is not valid."}', "api", "rejected",
        "Signature")
      assert.equal("700002", err.code)
      fails(row, 400, '{"code":9999999999999999999999,"msg":"x"}', "api", row.effect == "read" and "rejected" or "unknown")
    end)

    it("does not take a 4xx of somebody in between for the service's rejection", function()
      local outcome = row.effect == "read" and "rejected" or "unknown"
      local err = fails(row, 403, "<html>Access denied, ?signature=abc</html>", "throttled", outcome, "too often")
      assert.is_false(err.retryable) -- a firewall that is asked again at once stays closed
      assert.is_nil(tostring(err):find("Access denied", 1, true))
      fails(row, 404, "", "http", outcome, "404")
      fails(row, 404, "<html>Not found</html>", "http", outcome, "404")
      fails(row, 403, '{"message":"Forbidden"}', "http", outcome, "Forbidden")
    end)

    it("takes the code 429 in a body for a pause, whatever the HTTP status", function()
      for _, status in ipairs { 200, 400, 403 } do
        local err = fails(row, status, '{"code":429,"msg":"Too many requests"}', "throttled", "rejected", "Too many")
        assert.equal("429", err.code)
        assert.equal(row.effect == "read", err.retryable)
      end
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

  it("reject a structure where a scalar belongs, and name the member", function()
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
      for _, body in ipairs { "[]", ' [ ] ', '{"code":"0","message":"","data":[]}', '{"data" : [ ]}', '{"result":[]}' } do
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
      for list, requested in pairs { ["[]"] = {}, ['[{"asset":"A"}]'] = { { asset = "A" } } } do
        for _, form in ipairs { '{"%s":%s}', '{"code":0,"message":"","data":{"%s":%s}}' } do
          assert.same(requested, client:parse(name, 200, form:format(member, list)), name .. form)
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

  it("a transport whose response is no answer leaves the outcome unknown, and raises nothing", function()
    local body = '{"id":"1"}'
    for _, bad in ipairs { {}, { status = 200 }, { body = body }, { status = "200", body = body },
      { status = 200.5, body = body }, { status = 0 / 0, body = body }, { status = 1 / 0, body = body },
      { status = 7, body = body } } do
      local result, err = client:parse("wallet.withdraw", bad.status, bad.body)
      assert.is_nil(result)
      assert.same({ "transport", "unknown" }, { err.kind, err.outcome })
      assert.is_string(err.advice)
      assert.equal("unknown", select(2, client:parse("ping", bad.status, bad.body)).outcome)
    end
  end)

  it("headers may be anything a transport makes of them", function()
    local _, err = client:parse("wallet.coins", 429, "", { ["Retry-After"] = 7, ["Content-Type"] = false })
    assert.equal(7, err.retry_after)
    for _, headers in ipairs { 5, true, { { "Retry-After", "7" } }, "", "\0: \0", { ["retry-after"] = {} } } do
      err = select(2, client:parse("wallet.coins", 403, "<html>", headers))
      assert.is_nil(err.retry_after)
      assert.equal("rejected", err.outcome)
    end
  end)
end)
