-- SPDX-License-Identifier: MIT
-- Every convention of a profile, changed alone and together, end to end: the simulator takes the same profile and
-- checks what arrives over the raw bytes.

local purser = require "purser"

local function key_of(case)
  local file = assert(io.open("spec/golden/" .. case .. "/key", "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local NAME = "sub 1 \195\164(x)+&=" -- what percent-encoding is for

local cases = {
  { "default", "default" }, { "mexc", "mexc" }, { "a base", { base = "mexc" } },
  { "the query instead of an object", { object_body = "query" } },
  { "an object instead of an array", { array_body = "object" } },
  { "the query instead of an array", { array_body = "query" } },
  { "the query for everything", { object_body = "query", array_body = "query" } },
  { "the body signed", { sign_body = true } },
  { "the query sorted", { order = "sorted" } },
  { "sorted, and the body signed", { order = "sorted", sign_body = true } },
  { "other names", { key_header = "X-Key", timestamp_name = "ts", recv_window_name = "rw", signature_name = "a" } },
  { "other names, sorted", { order = "sorted", timestamp_name = "a", recv_window_name = "z", signature_name = "m" } },
  { "a longer content type", { content_type = "application/json; charset=utf-8" } },
  { "base64", { encoding = "base64" } },
  { "HMAC-SHA512", { algorithm = "hmac-sha512" } },
  { "Ed25519", { algorithm = "ed25519", encoding = "base64" }, "ed25519" },
  { "Ed25519, sorted, the query", { algorithm = "ed25519", order = "sorted", object_body = "query" }, "ed25519" },
  { "RSA-SHA256, the body signed", { algorithm = "rsa-sha256", sign_body = true }, "rsa-sha256" },
}

describe("a profile", function()
  for _, case in ipairs(cases) do
    it("works end to end: " .. case[1], function()
      local sim = purser.sim.new { seed = 3, profile = case[2] }
      local owner = assert(sim:account { role = "broker", balances = { USDT = "100" },
        secret_key = case[3] and key_of(case[3]) })
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

  it("asks for a key its algorithm can use, from the client and from the simulator", function()
    local profile = { algorithm = "ed25519" }
    local client, err = purser.new { base_url = "https://service.example", profile = profile, api_key = "k",
      secret_key = "text" }
    assert.is_nil(client)
    assert.matches("Ed25519 private key in PEM", err.message)
    local sim = purser.sim.new { profile = profile }
    local account, wrong = sim:account { role = "main" }
    assert.is_nil(account)
    assert.matches("secret_key cannot be used by ed25519", wrong)
  end)

  it("rejects a key that the service made for another algorithm, and goes on", function()
    local profile, secret = { algorithm = "ed25519" }, key_of "ed25519"
    local sim = purser.sim.new { profile = profile }
    local owner = assert(sim:account { role = "broker", secret_key = secret })
    local function client_of(api_key)
      return assert(purser.new { base_url = "https://service.example", profile = profile, transport = sim:transport(),
        api_key = api_key, secret_key = secret, clock = function() return sim:now() end })
    end
    local client = client_of(owner.api_key)
    assert(client.broker:create_sub_account { subAccount = "sub1", note = "n" })
    local key = assert(client.broker:create_api_key { subAccount = "sub1", note = "n", permissions = "SPOT_DEAL_READ" })
    local _, err = client_of(key.apiKey).wallet:coins()
    assert.same({ "api", "700001" }, { err.kind, err.code })
    assert(client.wallet:coins())
  end)
end)

describe("a funds password", function()
  it("is masked where a wrong signature is explained, in the query and in a body, signatures under any name", function()
    for _, profile in ipairs { { sign_body = true, signature_name = "sign" },
      { object_body = "query", signature_name = "si.gn" }, {} } do
      local sim = purser.sim.new { profile = profile }
      local owner = assert(sim:account { role = "broker" })
      for _, signing in ipairs { false, true } do
        local theirs = { base = "default" }
        for name, value in pairs(profile) do theirs[name] = value end
        theirs.sign_body = signing -- once as the simulator wants it, once the mistake it recognises
        local client = assert(purser.new { base_url = "https://service.example", transport = sim:transport(),
          api_key = owner.api_key, secret_key = signing == (profile.sign_body or false) and "wrong" or owner.secret_key,
          profile = theirs, clock = function() return sim:now() end })
        local _, err = client.broker:create_sub_account { subAccount = "sub1", note = 'a"password":"b\\',
          funds_password = "plain" }
        local shown = { tostring(err) }
        for _, request in ipairs(sim:requests()) do
          for _, value in pairs(request) do shown[#shown + 1] = tostring(value) end
        end
        local text = table.concat(shown, "\n")
        assert.is_nil(text:find(require("purser.core").md5_hex "plain", 1, true))
        assert.is_nil(text:find "si%.?gn=%x")
        assert.is_nil(text:find "signature=%x")
      end
    end
  end)
end)
