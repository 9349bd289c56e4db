-- SPDX-License-Identifier: MIT
-- Every convention of a profile, changed alone and together, end to end: the simulator takes the same profile and
-- checks what arrives over the raw bytes.

local purser = require "purser"
local signed = require "signed"

local NAME = "sub 1 \195\164(x)+&=" -- what percent-encoding is for

local cases = {
  { "default", "default" }, { "mexc", "mexc" }, { "a base", { base = "mexc" } },
  { "the query instead of an object", { object_body = "query" } },
  { "an object instead of an array", { array_body = "object" } },
  { "the query instead of an array", { array_body = "query" } },
  { "the query for everything", { object_body = "query", array_body = "query" } },
  { "a longer content type", { content_type = "application/json; charset=utf-8" } },
}

describe("the codes that prove nothing", function()
  -- Transcribed a second time, from the service's pages and the findings of live clients.
  local PROVE_NOTHING = "408 500 502 503 504 520 522 524 599 -1000 -1001 -1006 -1007 10098 10200 10201 10202 10219 "
    .. "10259 20002 730000"

  it("are these, and where the codes' list has one it says so", function()
    local expected = {}
    for code in PROVE_NOTHING:gmatch "%S+" do expected[code] = true end
    for _, name in ipairs { "default", "mexc" } do
      assert.same(expected, require("purser.client.operations.profile_rules").resolve(name).unknown_codes, name)
    end
    for code, entry in pairs(purser.codes.list) do
      assert.equal(expected[code] == true, entry.meaning:find("It proves nothing", 1, true) ~= nil, code)
    end
  end)

  it("have a cure, as have those of a rejection that live clients met", function()
    for _, code in ipairs { "10255", "16021", "30004", "30005", "152073", "602", "10265", "60005" } do
      local entry = assert(purser.codes.get(code), code)
      assert.is_true(#entry.cure > 10)
      assert.is_nil(entry.meaning:find("proves nothing", 1, true))
    end
  end)
end)

describe("a profile", function()
  for _, case in ipairs(cases) do
    it("works end to end: " .. case[1], function()
      local sim = purser.sim.new { seed = 3, profile = case[2] }
      local owner = assert(sim:account { role = "broker", balances = { USDT = "100" } })
      local client = assert(purser.new {
        base_url = "https://service.example", profile = case[2], transport = sim:transport(), recv_window = 4000,
        api_key = owner.api_key, secret_key = owner.secret_key, clock = function() return sim:now() end,
      })
      assert(client.wallet:coins())
      assert(client.broker:create_sub_account { subAccount = NAME, note = "n", funds_password = "p" })
      local name = NAME
      assert(client.broker:create_api_key { subAccount = name, note = "(1)", permissions = { "SPOT_ACCOUNT_READ" } })
      assert(client.sub_account:create_api_key { subAccount = name, note = "@/,", permissions = "SPOT_DEAL_READ",
        ip = { "203.0.113.7", "2001:db8::1" } })
      local keys = assert(client.sub_account:list_api_keys { subAccount = name })
      assert.same({ "(1)", "@/," }, { keys[#keys - 1].note, keys[#keys].note })
      assert(client.sub_account:delete_api_key { subAccount = name, apiKey = keys[#keys].apiKey })
      assert(client.broker:transfer({ toAccount = name, fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "0.000000000000000001" }, { extra_params = { later = "v 1" } }))
      local balances = assert(client.sub_account:balances { subAccount = name, accountType = "SPOT" })
      assert.equal("0.000000000000000001", balances[1].free)
    end)
  end
end)

describe("the conventions of a profile", function()
  local profiles = require "purser.client.operations.profiles"

  -- The codes that do not say whether a write call was executed, written down a second time: what HTTP's servers and
  -- proxies mean by 5xx and 408, what is said of a timeout or an unknown state, and what is in use.
  local UNKNOWN = "408 500 502 503 504 520 522 524 599 -1000 -1001 -1006 -1007 10098 10200 10201 10202 10219 10259 "
    .. "20002 730000"

  it("are those that were written down a second time", function()
    local unknown = {}
    for code in UNKNOWN:gmatch "%S+" do unknown[code] = true end
    assert.same({
      hosts = {}, key_header = "X-MEXC-APIKEY", content_type = "application/json", timestamp_name = "timestamp",
      recv_window_name = "recvWindow", signature_name = "signature", max_recv_window = 60000, object_body = "object",
      array_body = "array", key_days = 90, live_operations = false, ping_path = "/api/v3/ping",
      time_path = "/api/v3/time", success_codes = { ["0"] = true, ["200"] = true }, unknown_codes = unknown,
      pools = { ip = { capacity = 500, window_ms = 10000 } }, weights = {},
    }, profiles.default)
    assert.same({
      base = "default", base_url = "https://api.mexc.com", hosts = { ["api.mexc.com"] = true }, array_body = "query",
      live_operations = true, pools = { ip = { capacity = 300, window_ms = 10000 },
        account = { capacity = 500, window_ms = 10000, scope = "account" } },
      weights = { ["broker.transfer"] = 50, ["sub_account.transfer"] = 50, ["wallet.transfer"] = 50,
        ["wallet.deposit_history"] = 10, ["wallet.withdraw_legacy"] = 10 },
    }, profiles.mexc)
  end)
end)

describe("a funds password", function()
  it("is masked where a wrong signature is explained, in the query and in a body", function()
    for _, profile in ipairs { { object_body = "query" }, {} } do
      local sim = purser.sim.new { profile = profile }
      local owner = assert(sim:account { role = "broker" })
      for _, signs_the_body in ipairs { false, true } do -- a wrong secret, and a mistake that the simulator recognises
        local inner = sim:transport()
        local transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
          if signs_the_body then
            local query, rest = request.target:match "^[^?]*%?(.*)(&[^=]*=)%x+$"
            local path = request.target:match "^[^?]*%?"
            request.target = path .. query .. rest .. signed.sign(owner.secret_key, query .. request.body)
          end
          return inner:send(request)
        end }
        local client = assert(purser.new { base_url = "https://service.example", transport = transport,
          api_key = owner.api_key, secret_key = "wrong", profile = profile, clock = function() return sim:now() end })
        local _, err = client.broker:create_sub_account { subAccount = "sub1", note = 'a"password":"b\\',
          funds_password = "plain" }
        local shown = { tostring(err) }
        for _, request in ipairs(sim:requests()) do
          for _, value in pairs(request) do shown[#shown + 1] = tostring(value) end
        end
        local text = table.concat(shown, "\n")
        local explained = signs_the_body and profile.object_body ~= "query"
        assert.equal(explained, text:find("the query and the body", 1, true) ~= nil)
        assert.is_nil(text:find(require("purser.core").md5_hex "plain", 1, true))
        assert.is_nil(text:find "si%.?gn=%x")
        assert.is_nil(text:find "signature=%x")
      end
    end
  end)
end)
