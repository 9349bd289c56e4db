-- SPDX-License-Identifier: MIT
-- The error of an answer without a result. unwrap_spec.lua asks the same of every operation.

local failure = require "purser.client.call.failure"
local operations = require "purser.client.operations"
local outcome_cases = require "outcome_cases"
local profiles = require "purser.client.operations.profiles"
local purser = require "purser"
local whole = dofile "tools/whole_files.lua"

local WEEK_S = 604800
local read, write = operations.by_name["wallet.deposit_history"], operations.by_name["wallet.withdraw"]

local function of_status(row, status, body, headers)
  return failure.of_status(row, profiles.default, status, body, headers)
end

describe("the error of an answer", function()
  it("is known for each status, and a write call is rejected only where that is proved", function()
    for i, case in ipairs(outcome_cases.list) do
      for j, row in ipairs { read, write } do
        local err = of_status(row, case[1], case[2], "")
        assert.same({ case[2 * j + 1], case[2 * j + 2], case[1] }, { err.kind, err.outcome, err.http_status }, i)
        assert.is_true(#err.message > 0)
        if row == write then assert.equal(err.retryable, err.kind == "throttled" and case[1] ~= 400
          and err.outcome == "rejected") end
      end
    end
  end)

  it("is shown by the table of docs/write/outcomes.md, which has the cases of this spec", function()
    assert.truthy(whole.read "docs/write/outcomes.md":find(outcome_cases.rows(), 1, true), outcome_cases.rows())
  end)

  it("is retryable for a read call alone, where the service had no time or does not know", function()
    for code, retryable in pairs { ["429"] = true, ["504"] = true, ["700002"] = false } do
      local body = ('{"code":%s,"msg":"x"}'):format(code)
      assert.equal(retryable, of_status(read, 400, body, "").retryable, code)
      assert.is_false(of_status(write, 400, body, "").retryable, code)
    end
    assert.is_true(of_status(read, 500, '{"code":700002,"msg":"x"}', "").retryable)
    assert.is_false(of_status(read, 499, '{"code":700002,"msg":"x"}', "").retryable)
  end)

  it("says what to do where that is known", function()
    assert.equal("check base_url", of_status(read, 301, "", "").hint)
    assert.matches("base_url may end in a path", of_status(write, 404, "", "").hint)
    assert.matches("the service does not serve the place", of_status(read, 451, "<html>", "").hint, 1, true)
    assert.matches("stop calling", of_status(read, 403, "<html>", "").hint)
    assert.matches("^wait before the next call", of_status(write, 429, "", "").hint)
    assert.is_nil(of_status(write, 429, '{"id":"1"}', "").hint)
    local cure = require("purser.codes").get("33333").cure
    assert.equal(cure .. "; a window is at most 7 days here: `each_deposit` walks longer ones",
      of_status(read, 400, '{"code":33333,"msg":"x"}', "").hint)
    assert.matches("a window is at most 7 days here: `each_deposit`",
      of_status(read, 400, '{"code":33333,"msg":"x"}', "").hint, 1, true)
    assert.matches("call it again later", of_status(read, 500, '{"code":500,"msg":"x"}', "").hint, 1, true)
    assert.is_nil(of_status(write, 500, '{"code":500,"msg":"x"}', "").hint) -- the advice says what to do
  end)

  it("shows the words of a page, and how another text begins, of what is not JSON", function()
    local page = "<html><head><style>p { color: red }</style><script>f('x')</script></head><body>\n<h1>System "
      .. "maintenance &amp; upgrade</h1>until&nbsp;10:00</body></html>"
    local err = of_status(read, 503, page, "Content-Type: text/html\r\n")
    assert.matches('(text/html): "System maintenance & upgrade until 10:00"', err.message, 1, true)
    assert.equal("try again later", err.hint)
    local function of_body(body)
      return failure.of_body(read, profiles.default, 200, body, "a value was expected", 0).message
    end
    assert.equal('the answer cannot be read: it is a web page, as a network that wants a login or a proxy shows: "'
      .. 'Welcome to Hotel WiFi"', of_body " <!DOCTYPE html><p>Welcome to <b>Hotel</b> WiFi</p>")
    assert.equal('the answer cannot be read: it is no JSON; it begins "no gzip at all"',
      of_body "no gzip at all")
    assert.matches('signature=***"', of_body "GET /api?signature=0123456789abcdef", 1, true)
    assert.is_true(#of_body(("x"):rep(5000)) < 400)
    for _, body in ipairs { '{"apiKey":"mx0hidden","secretKey":"hidden"', '["hidden"' } do
      assert.is_nil(of_body(body):find("hidden", 1, true)) -- it may be the result of a call
    end
  end)

  it("holds so much of the service's texts and no signature, and in no other form than plain", function()
    local err = of_status(read, 400, ('{"code":"%s","msg":"%s"}'):format(("c"):rep(100), ("m"):rep(1000)), "")
    assert.same({ 60, 500 }, { #err.code, #err.message })
    err = of_status(read, 400, '{"code":1,"msg":"?signature=0aB%2F+=&x=1 \\u001b[2J"}', "")
    assert.equal("?signature=***&x=1 \\x1B[2J", err.message)
    for _, case in ipairs { "a signature%%3D%s%%26b", "<p>password&#61;%s</p>", 'body {"password":"%s"}',
      "form {signature=[%s], signature=[%s]}", "X-MEXC-APIKEY: %s" } do
      local text = case:format(("0aB9"):rep(8), ("1aB9"):rep(8))
      for _, body in ipairs { text, ('{"code":1,"msg":"%s"}'):format((text:gsub('"', '\\"'))) } do
        err = of_status(read, 400, body, "")
        assert.is_nil(err.message:find "aB9", err.message)
        assert.matches("***", err.message, 1, true)
      end
    end
    local plain = "Signature for this request is not valid: the password is wrong, for 0123456789abcdef0123"
    assert.equal(plain, of_status(read, 400, '{"code":1,"msg":"' .. plain .. '"}', "").message)
  end)

  it("is unknown where the transport gave no answer, or its body shows no result", function()
    local err = failure.no_answer(write)
    assert.same({ "transport", "unknown", false }, { err.kind, err.outcome, err.retryable })
    for row, retryable in pairs { [read] = true, [write] = false } do
      err = failure.undecodable(row, 200, "the answer lacks `id`\27", 7)
      assert.same({ "decode", "unknown", retryable, 7 }, { err.kind, err.outcome, err.retryable, err.offset })
      assert.equal("the answer lacks `id`\\x1B", err.message)
    end
    assert.matches("the answer says status = FAILED without an error code: the service gave no reason",
      failure.denied(write, 200, {}, "status = ", "FAILED").message, 1, true)
  end)

  it("whose body does not fit is a rejection all the same where it has an error code", function()
    local err = failure.of_body(write, profiles.default, 200, '{"code":10101,"id":{}}', "bad id", 5)
    assert.same({ "api", "rejected", "10101" }, { err.kind, err.outcome, err.code })
    for _, body in ipairs { '{"code":0,"id":{}}', '{"id":{}}', "null" } do
      assert.equal("unknown", failure.of_body(write, profiles.default, 200, body, "bad id", 5).outcome)
    end
  end)
end)

describe("a pause that an answer asks for", function()
  it("is not known of a text that is neither a number nor a date beside the answer's own date", function()
    for _, text in ipairs { "", "soon", "1e3", "-1", "+5", "inf", "1,5", "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sun, 31 Feb 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:47:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 CET\r\nDate: Sun, 06 Nov 1994 08:47:37 GMT" } do
      local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
        retry = false, rate_limit = false, correct_clock = false, transport = { send = function()
          return { status = 429, body = "", headers = "Retry-After: " .. text .. "\r\n" }
        end } })
      assert.is_nil(select(2, client.wallet:deposit_history()).retry_after, text)
    end
  end)

  -- The headers of an answer, and the seconds that are read.
  local DATE = "Wed, 21 Oct 2026 07:47:37 GMT"
  local ASKED = {
    { { ["Retry-After"] = "Wed, 21 Oct 2026 07:49:37 GMT", Date = DATE }, 120 },
    { { ["Retry-After"] = DATE, Date = DATE }, 0 },
    { { ["Retry-After"] = "Wed, 21 Oct 2026 07:47:36 GMT", Date = DATE }, 0 }, -- gone by
    { { ["Retry-After"] = "Fri, 31 Dec 9999 23:59:59 GMT", Date = DATE }, WEEK_S },
    { { ["Retry-After"] = "Wed, 21 Oct 2026 07:49:37 GMT" } },
    { { ["Retry-After"] = "Wed, 21 Oct 2026 07:49:37 GMT", Date = "soon" } },
    { { ["Retry-After"] = "Wednesday, 21-Oct-26 07:49:37 GMT", Date = DATE }, 120 },
    { { ["Retry-After"] = "Wed Oct 21 07:49:37 2026", Date = "Wednesday, 21-Oct-26 07:47:37 GMT" }, 120 },
    { { ["Retry-After"] = "Wed, 21 Oct 2026 07:49:37 GMT", Date = "Wed Oct 21 07:47:37 2026" }, 120 },
    { { ["Retry-After"] = "Wednesday, 32-Oct-26 07:49:37 GMT", Date = DATE } },
    { { ["Retry-After"] = "7", Date = DATE }, 7 }, { { ["Retry-After"] = "7.0" }, 7 },
    { { ["Retry-After"] = "7.01" }, 8 }, { { ["Retry-After"] = "0.0001" }, 1 },
    { { ["Retry-After"] = "-7", Date = DATE } }, { { ["Retry-After"] = "-0.5" } }, { { ["Retry-After"] = "much" } },
    { { ["Retry-After"] = "1e400" } }, { { ["Retry-After"] = ("8"):rep(40) }, WEEK_S },
    { { ["Retry-After"] = ("8"):rep(40) .. ".5" }, WEEK_S },
  }

  it("is read of raw headers and of a map, whatever the host's clock, and of an error with HTTP 200", function()
    for i, case in ipairs(ASKED) do
      local raw, small = "HTTP/1.1 429 Too Many Requests\r\n", {}
      for name, text in pairs(case[1]) do raw, small[name:lower()] = raw .. name .. ": " .. text .. "\r\n", text end
      for j, headers in ipairs { raw .. "\r\n", case[1], small } do
        for status, body in pairs { [429] = "", [503] = "<html></html>", [400] = '{"code":429,"msg":"x"}',
          [200] = '{"code":429,"msg":"x"}', [201] = '{"code":429,"msg":"x","data":7}' } do
          local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
            retry = false, rate_limit = false, correct_clock = false,
            clock = function() return 1792568857000 + 3600000 end, -- an hour after DATE
            transport = { send = function() return { status = status, body = body, headers = headers } end } })
          local where = ("case %d, headers %d, HTTP %d"):format(i, j, status)
          assert.equal(case[2], select(2, client.wallet:deposit_history()).retry_after, where)
          local _, err = client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }
          assert.equal(case[2], err.retry_after, where)
        end
      end
    end
  end)

  it("lasts a week at most", function()
    for text, seconds in pairs {
      ["999999999"] = WEEK_S, ["604801"] = WEEK_S, ["604800"] = WEEK_S, ["604799"] = 604799, ["7"] = 7,
      [("9"):rep(400)] = WEEK_S, ["299.997"] = 300, ["300.000"] = 300, ["0.2"] = 1,
      ["Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:47:37 GMT"] = 120,
      ["Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sat, 01 Oct 1994 08:47:37 GMT"] = WEEK_S,
    } do
      local now, sent = 1000, 0
      local client = assert(purser.new {
        base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false, correct_clock = false,
        rate_limit = { now = function() return now end },
        transport = { send = function()
          sent = sent + 1
          if sent > 1 then return { status = 200, body = "[]", headers = "" } end
          return { status = 429, body = "", headers = "Retry-After: " .. text .. "\r\n" }
        end },
      })
      assert.equal(seconds, select(2, client.wallet:deposit_history()).retry_after)
      now = now + seconds * 1000 - 1
      assert.equal("not_sent", select(2, client.wallet:deposit_history()).outcome)
      now = now + 1
      assert(client.wallet:deposit_history())
    end
  end)
end)
