-- SPDX-License-Identifier: MIT
-- The redactor: what stays, what becomes a token, and that no secret is left in any form.
-- make test: 3 s, on lua5.4 and luajit

local utc = require "purser.client.util.utc"
local core = require "purser.core"
local json_tree = require "purser.client.util.json_tree"
local record = require "purser.testing.recording.record"
local redact = require "purser.testing.recording.redact"
local redaction = require "redaction"

describe("what stays in a recording", function()
  local redactor = assert(redact.new())

  it("is no name, and its token reads as no word of failure", function()
    for i = 1, 500 do assert.is_nil(redactor:name("hiddenMemberOfNobody" .. i):lower():match "[aeos]") end
  end)

  it("is a value whose member and form are listed", function()
    local body = '{"coin":"USDT","symbol":"BTCUSDT","network":"Tron(TRC20)","status":5,"fromAccountType":"SPOT",'
      .. '"code":"0","totalCount":7,'
      .. '"isFreeze":false,"permissions":"SPOT_ACCOUNT_READ,SPOT_DEAL_READ","unlockConfirm":"20"}'
    assert.equal(body, redactor:body(body))
  end)

  it("is no value of another form in the same member", function()
    for _, pair in ipairs { { "coin", "TLongAddressOfSomeone1234567890abcd" }, { "network", "payroll01" },
      { "status", "alice@mail.example" }, { "code", "8842117733" }, { "totalCount", "12345.67" },
      { "permissions", "alice,bob" }, { "fromAccountType", "MYNAME" }, { "timestamp", "mx0vgl" },
      { "isFreeze", "alice" }, { "withdrawFee", "12.25" }, { "asset", "12345678" },
      { "asset", "MTIZNDU2NZG5" }, { "symbol", "ODI5NDY1OTI4NDQ1" } } do
      local kept = redactor:value(pair[1], pair[2])
      assert.are_not.equal(pair[2], kept)
      assert.equal(#pair[2], #kept)
    end
  end)

  it("is no total of an amount, and is one of pages", function()
    local redacted = assert(redact.new())
    local kept = redacted:body '{"total":1234567,"limit":100,"rows":[{"asset":"USDT","total":"7654321","size":555555}]}'
    assert.matches('"total":1234567,"limit":100', kept, 1, true)
    assert.is_nil(kept:find("7654321", 1, true))
    assert.is_nil(kept:find("555555", 1, true))
  end)

  it("is of a failure no code but one of libcurl's", function()
    local line
    local recorder = assert(record.new({ send = function() return nil, { code = "curl 104448219" } end },
      { write = function(text) line = text return true end }))
    recorder:send { method = "GET", target = "/" }
    assert.is_nil(line:find("104448219", 1, true))
  end)

  it("is the same of headers, in a block as they came or by name", function()
    local kept = redactor:headers("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nRetry-After:  7\r\nServer: x\r\n\r\n")
    assert.same({ ["content-type"] = "text/html", ["retry-after"] = "7" }, kept)
    assert.same({ ["content-type"] = "text/html" }, redactor:headers { ["Content-Type"] = "text/html", Server = "x" })
    assert.same({}, redactor:headers(nil))
  end)

  it("is no name of a member that is made of other words than a service's", function()
    local body = redactor:body '{"networkFee":1,"payroll0001":{"TREASURY":"5"},"alice@mail.example":null}'
    assert.matches('^{"networkFee":%d,"%w+":{"%u+":"%d"},"%l+":null}$', body)
    assert.is_nil(body:find "payroll" or body:find "alice" or body:find "TREASURY")
  end)

  it("is nothing of a message; the code beside it says which it is", function()
    local body = redactor:body '{"code":10072,"msg":"Invalid parameter for account transfer@corp.example"}'
    assert.matches('^{"code":10072,"msg":".+"}$', body)
    for _, word in ipairs { "Invalid", "parameter", "account", "transfer", "corp" } do
      assert.is_nil(body:find(word, 1, true), word)
    end
  end)

  it("moves all times by one number of days, in answers and requests", function()
    local target = redactor:target "/api/v3/capital/deposit/hisrec?startTime=1700000000000&timestamp=1700000005123"
    local from, at = target:match "startTime=(%d+)&timestamp=(%d+)"
    assert.equal(5123, tonumber(at) - tonumber(from))
    assert.equal(0, (1700000000000 - tonumber(from)) % 86400000)
    assert.are_not.equal("1700000000000", from)
    assert.equal('{"insertTime":' .. from .. ',"timestamp":"' .. from .. '"}',
      redactor:body '{"insertTime":1700000000000,"timestamp":"1700000000000"}')
  end)

  it("moves the day of a time that is written as a text by the same number", function()
    local body = redactor:body '{"createTime":"2026-03-01T23:59:58.072+00:00","timestamp":1700000000000}'
    local day, rest, at = body:match '^{"createTime":"(%d+%-%d+%-%d+)(T[^"]+)","timestamp":(%d+)}$'
    assert.equal("T23:59:58.072+00:00", rest)
    local shift = 1700000000000 - tonumber(at)
    local before = utc.days(2026, 3, 1) * 86400000 - shift
    local civil = utc.civil(before)
    assert.equal(("%04d-%02d-%02d"):format(civil.year, civil.month, civil.day), day)
    assert.are_not.equal("2026-03-01", day)
    for _, other in ipairs { "2026-03-01T23:59:58.07212345678", "2026-03-01T23:59:58alice",
      "alice2026-03-01T23:59:58" } do
      assert.is_nil(redactor:value("createTime", other):find("23:59:58", 1, true))
    end
  end)

  it("is of what the live service alone has the path and the days that are left", function()
    local target = redactor:target "/api/v3/apiKeyInfo?accessKey=mx0vglCut1234567"
    assert.matches("^/api/v3/apiKeyInfo%?accessKey=%w+$", target)
    assert.is_nil(target:find "mx0vgl")
    assert.equal("/api/v3/kyc/status", redactor:path "/api/v3/kyc/status")
    assert.equal('{"remainingValidity":-999,"accountType":"SPOT"}',
      redactor:body '{"remainingValidity":-999,"accountType":"SPOT"}')
    assert.is_nil(redactor:body('{"uid":"48812734"}'):find "48812734")
  end)

  it("is of a body that is no JSON its length alone", function()
    assert.matches("^<html>x+</html>$", redactor:body "<html>secret page</html>")
    assert.equal("xxxxxxxxxxx", redactor:body "secret text")
    assert.equal(("x"):rep(20), redactor:body '{"apiKey":"mx0vglCut')
    assert.equal(("x"):rep(18), redactor:body '{"msg":"a\255secret"}')
  end)

  it("is of a number in JSON a number in JSON", function()
    for number = 1, 300 do
      local text = tostring(number * 7919)
      local body = redactor:body(('{"tranId":%s,"n":[0,-0.5,%s.10,1e%s]}'):format(text, text, number % 9))
      assert(json_tree.read(body), body)
      assert(core.decode(body), body)
    end
  end)

  it("keeps the form of JSON: order, repeated members, numbers as numbers, null, empty lists", function()
    assert.matches('^{"tranId":%d%d%d,"tranId":"%d%d%d","rows":%[%],"memo":null,"data":{},"success":true}$',
      redactor:body ' { "tranId" : 123 , "tranId":"456", "rows":[ ],"memo":null,"data":{}, "success":true}\n')
  end)
end)

describe("random exchanges that are full of secrets", function()
  local function lines_of(seed)
    local next_exchange = redaction.exchanges(seed)
    local request, response, failure, secrets = next_exchange()
    local lines = {}
    local recorder = assert(record.new({ send = function() return response, failure end },
      { write = function(line) lines[1] = line return true end }))
    recorder:send(request)
    return lines[1], secrets, recorder
  end

  -- FUZZ_SECONDS=600 goes on for ten minutes, with seeds that differ from run to run.
  it("leave none of them in the recording, in no form", function()
    local seconds = tonumber(os.getenv "FUZZ_SECONDS" or "")
    local first = seconds and core.random_integer(1000000000) or 1
    local last, ends = first + 1999, core.monotonic_ms() + (seconds or 0) * 1000
    local seed, searched = first, 0
    while seed <= last or core.monotonic_ms() < ends do
      local line, secrets, recorder = lines_of(seed)
      assert(line, "seed " .. seed .. ": " .. tostring(recorder.problem))
      assert(core.decode(line), "seed " .. seed)
      local leak = redaction.leak(line, secrets)
      assert(not leak, ("seed %d: %s in %s"):format(seed, tostring(leak), line))
      seed, searched = seed + 1, searched + #secrets
    end
    if seconds then print(("%d exchanges, %d secrets, from seed %d"):format(seed - first, searched, first)) end
    assert.is_true(searched > 20000)
  end)

  it("would be found where they are kept: in each form", function()
    local secret = "TSecret/Address0f€Someone"
    for _, form in ipairs(redaction.forms(secret)) do
      assert.equal(secret, redaction.leak("before " .. form .. " after", { secret }), form)
    end
    local inside = redaction.base64("a note: " .. secret .. "; end")
    assert.equal(secret, redaction.leak(inside, { secret }))
    assert.is_nil(redaction.leak("nothing of it", { secret }))
  end)
end)
