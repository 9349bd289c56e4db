-- SPDX-License-Identifier: MIT
-- luacheck: ignore 631
-- Bad input ends before anything is sent: a clear error that names the parameter and the cure.

local purser = require "purser"
local operations = require "purser.client.operations"

local ID32 = ("a1"):rep(16)
local MD5 = ("0f"):rep(16)

-- A transport that counts and never should.
local function counting_client(options)
  local transport = { sent = 0 }
  function transport:send()
    self.sent = self.sent + 1
    return { status = 200, body = "{}", headers = "" }
  end
  local settings = {
    base_url = "https://service.example", api_key = "key", secret_key = "secret", transport = transport,
  }
  for name, value in pairs(options or {}) do settings[name] = value end
  return assert(purser.new(settings)), transport
end

-- A value each parameter accepts, by kind, so that one at a time can be made bad.
local good = {
  text = "text", new_name = "subaccount01", client_id = ID32, amount = "1.5", time = 1700000000000, count = 1, status = 5,
  named_status = "PENDING",
  flag = true, choice = function(param)
    return require("purser.client.operations.parameters").choices[param.choices][1]
  end, permissions = { "SPOT_ACCOUNT_READ" }, ips = { "203.0.113.7" }, coins = { "DOGE" }, md5 = MD5, area_code = "86",
  address = "TSampLeAddress:with-memo_1", memo = "\228\189\153 77", own_id = "invoice 1",
}

-- Values that each kind rejects: value, and words the message must hold.
local bad = {
  text = { { "", "empty" }, { "a\r\nb", "control" }, { "\255", "UTF%-8" }, { ("x"):rep(1025), "1025 bytes" }, { {}, "table" },
    { 1.5, "float" }, { "a\0b", "control" }, { "\237\160\128", "UTF%-8" }, { true, "boolean" } },
  new_name = { { "short", "8 to 32" }, { ("x"):rep(33), "8 to 32" }, { "has blank 1", "8 to 32" }, { "", "empty" },
    { "umlaut\195\164\195\164", "8 to 32" } },
  client_id = { { ("a"):rep(31), "32" }, { ("a"):rep(33), "32" }, { ("-"):rep(32), "32" } },
  amount = { { 1.5, "float" }, { 0.1, "float" }, { "-1", "negative" }, { "0", "zero" }, { "0.000", "zero" }, { "1e3", "exponent" },
    { "1,5", "decimal" }, { "+1", "decimal" }, { ".5", "decimal" }, { "5.", "decimal" }, { "01", "leading" }, { "", "empty" },
    { " 1", "decimal" }, { "NaN", "decimal" }, { 0, "zero" }, { -3, "negative" }, { {}, "table" }, { "0x10", "decimal" } },
  time = { { 1700000000, "13 digits" }, { "soon", "time" }, { 1.5, "time" }, { {}, "time" }, { -1, "time" },
    { "17000000000000", "13 digits" } },
  count = { { 0, "less than 1" }, { -1, "less than 1" }, { "-1", "integer" }, { 1.5, "integer" }, { "many", "integer" }, { {}, "integer" } },
  status = { { "done", "number" }, { -1, "number" }, { 1.5, "number" } },
  named_status = { { "done", "number" }, { -1, "number" }, { "SUCESS", "did you mean" } },
  flag = { { "yes", "boolean" }, { 1, "boolean" } },
  choice = { { "spot", "allowed are" }, { "", "empty" }, { 7.5, "float" } },
  permissions = { { {}, "empty list" }, { { "SPOT_ACCOUNT_RED" }, "did you mean" }, { "SPOT_ACCOUNT_READ,,", "item 2" },
    { { x = "SPOT_ACCOUNT_READ" }, "plain list" } },
  ips = { { { "256.1.1.1" }, "IPv4" }, { "1.2.3.4;5.6.7.8", "IPv4" }, { { "host.example" }, "IPv4" }, { { "1:2::3::4" }, "IPv4" },
    { { "01.2.3.4" }, "IPv4" } },
  coins = { { {}, "empty list" }, { { "A,B" }, "comma" }, { "A,,B", "item 2" } },
  md5 = { { "plain", "funds_password" }, { ("g"):rep(32), "funds_password" }, { 5, "funds_password" } },
  -- a letter of another alphabet, what turns the text round, what is not seen, what is no letter at all
  address = { { "T\208\144ddr", "a character that is not ASCII %(byte 2%)" }, { "Taddr\226\128\174x", "bidirectional mark" },
    { "T\226\128\139addr", "zero%-width" }, { "T addr", "a blank" }, { "Taddr ", "a blank" }, { "", "empty" },
    { "T\194\160addr", "not ASCII" }, { "T\255addr", "UTF%-8" }, { "T\nx", "control" }, { {}, "table" } },
  own_id = { { "a ", "can be seen" }, { "a\226\128\139", "can be seen" }, { "", "empty" }, { ("x"):rep(201), "200 characters" } },
  memo = { { "77\226\128\139", "zero%-width character U%+200B" }, { "77\226\128\174", "bidirectional" },
    { "77\194\155", "control" }, { "77\n", "control" }, { "77\226\128\168", "line separator" },
    { "\227\133\164", "zero%-width" }, { "77\243\160\132\128", "zero%-width" }, { "", "empty" }, { "\255", "UTF%-8" } },
  area_code = { { "+", "digits" }, { "123456", "digits" }, { "8a", "digits" } },
}

local function is_integer_host()
  return math.type ~= nil
end

local function good_params(row)
  local params = {}
  for _, param in ipairs(row.params) do
    local value = good[param[2]]
    params[param[1]] = type(value) == "function" and value(param) or value
  end
  params.endTime = params.endTime and 1700000001000
  if params.toAccountType == "EMAIL" then params.toAccount = "name@example.org" end
  return params
end

local function rejected(row, params, opts, words, parameter)
  local client, transport = counting_client()
  local result, err = client:call(row.full_name, params, opts)
  assert.is_nil(result)
  assert.equal("argument", err.kind)
  assert.equal("not_sent", err.outcome)
  assert.equal(row.full_name, err.operation)
  assert.is_false(err.retryable)
  assert.matches(words, tostring(err))
  if parameter then
    assert.equal(parameter, err.option or err.parameter)
    assert.matches(parameter, err.message, 1, true)
  end
  assert.equal(0, transport.sent)
end

describe("a parameter without a note", function()
  it("is explained where its name says too little", function()
    local explained = {}
    local parameters = require "purser.client.operations.parameters"
    for _, row in ipairs(operations.every) do
      for _, param in ipairs(row.params) do
        if not param.note and parameters.help_of(param) then explained[param[1]] = true end
      end
    end
    assert.same({ address = true, asset = true, clientTranId = true, coin = true, contractAddress = true, remark = true,
      isFreeze = true, tranId = true }, explained)
    assert.is_nil(parameters.help_of { "amount" })
    assert.equal("a note", parameters.help_of { "coin", note = "a note" })
  end)
end)

describe("every kind of parameter", function()
  it("has values it rejects here", function()
    for _, kinds in ipairs { require("purser.client.operations.parameters").kinds, (require "purser.client.operations.write_kinds") } do
      for kind in pairs(kinds) do
        assert.is_not_nil(bad[kind], kind)
        assert.is_not_nil(good[kind], kind)
      end
    end
  end)
end)

for _, row in ipairs(operations.list) do
  describe(row.id .. " " .. row.full_name, function()
    it("takes good parameters to the wire", function()
      local client, transport = counting_client()
      client:call(row.full_name, good_params(row))
      assert.equal(1, transport.sent)
    end)

    it("rejects an unknown parameter and names the nearest", function()
      local params = good_params(row)
      local first = row.params[1]
      local misspelt = first and first[1]:sub(1, -2) .. "q" or "coinn"
      params[misspelt] = "x"
      rejected(row, params, nil, first and 'did you mean "' .. first[1] or "has none", misspelt)
    end)

    it("rejects parameters that Purser sets itself, and parameters without names", function()
      for _, name in ipairs { "timestamp", "signature", "recvWindow" } do
        rejected(row, { [name] = "1" }, nil, name, name)
      end
      rejected(row, { "USDT" }, nil, "by name")
      rejected(row, "USDT", nil, "table")
    end)

    for _, param in ipairs(row.params) do
      local name, kind = param[1], param[2]
      if param.required then
        it("does not go without " .. name, function()
          local params = good_params(row)
          params[name] = nil
          rejected(row, params, nil, "required", name)
        end)
      end

      it("rejects a bad " .. name, function()
        for _, case in ipairs(bad[kind]) do
          local value, words = case[1], case[2]
          -- hosts without integers cannot distinguish 1.0 from 1, but they can distinguish 1.5
          if is_integer_host() or type(value) ~= "number" or value ~= math.floor(value) or value <= 0 then
            local params = good_params(row)
            params[name] = value
            rejected(row, params, nil, words, name)
          end
        end
      end)

      if param.max then
        it(("rejects more than %d in %s"):format(param.max, name), function()
          local params = good_params(row)
          if kind == "count" then
            params[name] = param.max + 1
          else
            local items = {}
            for i = 1, param.max + 1 do items[i] = kind == "ips" and "203.0.113." .. i or "COIN" .. i end
            params[name] = items
          end
          rejected(row, params, nil, "at most " .. param.max, name)
          if kind == "count" then params[name] = param.max else table.remove(params[name]) end
          local client, transport = counting_client()
          client:call(row.full_name, params)
          assert.equal(1, transport.sent)
        end)
      end
    end

    it("rejects unknown and bad options of the call", function()
      rejected(row, good_params(row), { timeout = 5 }, "timeout_ms")
      rejected(row, good_params(row), { timeout_ms = 0 }, "timeout_ms")
      rejected(row, good_params(row), { recv_window = 60001 }, "60000")
      rejected(row, good_params(row), { recv_window = 1.5 }, "recv_window")
      rejected(row, good_params(row), { extra_params = { timestamp = "1" } }, "timestamp")
      rejected(row, good_params(row), { extra_params = { [row.names[1] or "signature"] = "1" } }, row.names[1]
        or "signature")
      rejected(row, good_params(row), { extra_params = { x = "a\nb" } }, "control")
    end)
  end)
end

describe("a funds password", function()
  it("travels as its MD5 in hexadecimal: digits that were given as they were given, a plain one hashed", function()
    local client = counting_client()
    for _, case in ipairs { { { password = MD5 }, MD5 }, { { password = ("0F"):rep(16) }, ("0F"):rep(16) },
      { { funds_password = "plain" }, "ac7938d40cfc2307e2bf325d28e7884e" } } do
      case[1].subAccount, case[1].note = "desk", "n"
      local body = assert(client:prepare("broker.create_sub_account", case[1])).body
      assert.equal('{"subAccount":"desk","note":"n","password":"' .. case[2] .. '"}', body)
    end
  end)
end)

describe("rules over several parameters", function()
  local wallet = operations.by_name

  it("ask for the area code of a phone number", function()
    rejected(wallet["wallet.internal_transfer"],
      { toAccountType = "MOBILE", toAccount = "13800000000", asset = "USDT", amount = "1" }, nil, "MOBILE", "areaCode")
  end)

  it("reject a window that ends before it begins", function()
    rejected(wallet["wallet.deposit_history"], { startTime = 1700000000001, endTime = 1700000000000 }, nil, "later",
      "startTime")
  end)

  it("reject a funds password given twice", function()
    rejected(wallet["broker.create_sub_account"],
      { subAccount = "desk", note = "n", password = MD5, funds_password = "plain" }, nil, "together", "funds_password")
    rejected(wallet["broker.create_sub_account"], { subAccount = "desk", note = "n", funds_password = "" }, nil,
      "empty", "funds_password")
  end)
end)

describe("a client that cannot be made", function()
  local base = { base_url = "https://service.example", api_key = "key", secret_key = "secret" }

  local function rejects(change, words)
    local options = {}
    for name, value in pairs(base) do options[name] = value end
    for name, value in pairs(change) do
      if value == "nil" then value = nil end
      options[name] = value
    end
    local client, err = purser.new(options)
    assert.is_nil(client)
    assert.equal("config", err.kind)
    assert.equal("not_sent", err.outcome)
    assert.matches(words, tostring(err))
    assert.is_nil(tostring(err):find("s3cr3t", 1, true))
  end

  it("says what is missing", function()
    rejects({ secret_key = "nil" }, "secret_key")
    rejects({ api_key = "nil" }, "api_key")
    rejects({ base_url = "nil" }, "base_url")
    rejects({ secret_key = "" }, "secret_key")
    rejects({ api_key = "" }, "api_key")
  end)

  it("rejects a line break in a key, without quoting it", function()
    rejects({ api_key = "key\r\nHost: evil" }, "api_key")
    rejects({ secret_key = "s3cr3t\n" }, "secret_key")
    rejects({ user_agent = "a\r\nb" }, "user_agent")
    rejects({ api_key = ("k"):rep(5000) }, "api_key")
  end)

  it("rejects plain HTTP to another machine, and allows it to this one", function()
    rejects({ base_url = "http://service.example" }, "https")
    rejects({ base_url = "http://127.0.0.1.example" }, "https")
    rejects({ base_url = "http://10.0.0.1" }, "https")
    for _, url in ipairs { "http://127.0.0.1:8080", "http://localhost", "http://[::1]:99", "HTTP://127.8.9.1/prefix/" } do
      local client = assert(purser.new { base_url = url, api_key = "k", secret_key = "s" })
      client:close()
    end
    assert(purser.new { base_url = "http://service.example", api_key = "k", secret_key = "s", allow_insecure = true })
      :close()
  end)

  it("rejects a base URL with anything but scheme, host, port and path", function()
    for _, url in ipairs { "service.example", "ftp://service.example", "https://", "https://user:pw@service.example",
      "https://service.example?x=1", "https://service.example#x", "https://service.example:port", "https://a b",
      "https://a\r\nb", "https://a:0", "https://a:65536", "https://a:999999999999999999999", "https://a/\195\164" } do
      rejects({ base_url = url }, "base_url")
    end
  end)

  it("names the nearest option, profile, convention", function()
    rejects({ secretkey = "s3cr3t" }, "secret_key")
    rejects({ profile = "mexcc" }, "mexc")
    rejects({ profile = { time_paths = "X" } }, "time_path")
    rejects({ timeout_ms = "10" }, "timeout_ms")
    rejects({ timeout_ms = 0 }, "timeout_ms")
    rejects({ recv_window = 60001 }, "60000")
    rejects({ retry = { attempt = 3 } }, "attempts")
    rejects({ retry = { attempts = 0 } }, "attempts")
    rejects({ hooks = { befor = print } }, "before")
    rejects({ transport = {} }, "send")
    rejects({ profile = { object_body = "form" } }, "form")
  end)
end)

describe("a number of a parameter", function()
  local kinds = require("purser.client.operations.parameters").kinds

  it("travels as its digits, given as a number or as text", function()
    for _, value in ipairs { 1700000000000, "1700000000000" } do
      assert.equal("1700000000000", kinds.time.check(value, {}))
    end
    for _, value in ipairs { 7, "7" } do
      assert.equal("7", kinds.count.check(value, {}))
      assert.equal("7", kinds.count.check(value, { max = 7 }))
      assert.is_nil(kinds.count.check(value, { max = 6 }))
    end
    for _, value in ipairs { 0, "0", -1, "x", 1.5, ("1"):rep(16) } do assert.is_nil(kinds.count.check(value, {})) end
    for _, value in ipairs { 999999999999, 10000000000000, "soon" } do assert.is_nil(kinds.time.check(value, {})) end
    assert.same({ "1000000000000", "9999999999999" }, { kinds.time.check(1000000000000), kinds.time.check(9999999999999) })
  end)

  it("of a state travels as the number, or as the name where names travel", function()
    local param = { choices = "deposit_states" }
    for _, value in ipairs { 5, "5", "SUCCESS" } do assert.equal("5", (kinds.status.check(value, param))) end
    assert.same({ "5", "SUCCESS" }, { kinds.named_status.check(5, param), (kinds.named_status.check("SUCCESS", param)) })
    local nothing, message, hint = kinds.status.check("SUCCES", param)
    assert.is_nil(nothing)
    assert.matches('^is "SUCCES"', message)
    assert.matches(", or the number$", hint)
    for _, value in ipairs { -1, 1.5, true } do
      assert.equal("is not a status", select(2, kinds.named_status.check(value, param)))
    end
  end)
end)
