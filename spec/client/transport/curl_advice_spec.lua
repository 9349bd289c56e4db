-- SPDX-License-Identifier: MIT
-- The words of an error about a proxy, a port that speaks TLS or none, and a file of authorities.

local purser = require "purser"

local function new(options)
  local all = { api_key = "k", secret_key = "s", base_url = "http://127.0.0.1:1", retry = false }
  for name, value in pairs(options) do all[name] = value end
  return purser.new(all)
end

describe("an error", function()
  local service

  setup(function() service = require("service").start() end)
  teardown(function() service.stop() end)

  it("names the proxy when it is the proxy that cannot be reached", function()
    local _, err = assert(new { proxy = "http://127.0.0.1:1", allow_insecure = true, base_url = service.url })
      .wallet:coins()
    assert.matches("no connection to the proxy could be made; check `proxy`", err.message, 1, true)
    _, err = assert(new {}).wallet:coins()
    assert.matches("no connection could be made; check `base_url`", err.message, 1, true)
    assert.matches("(the simulator: `purser sim`)", err.message, 1, true) -- nothing listens on this machine
  end)

  -- The environment of a process is read by libcurl in C.
  it("names the proxy of the environment when that cannot be reached, and the options of the shell", function()
    local command = require "command"
    local keys = { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s", https_proxy = "http://127.0.0.1:1" }
    local code, _, err = command.process({ "wallet", "coins", "--base-url", "https://service.invalid" }, keys)
    assert.equal(3, code)
    assert.matches("no connection to the proxy of the environment could be made; check https_proxy and", err, 1, true)
    keys.https_proxy = nil
    code, _, err = command.process({ "wallet", "coins", "--base-url", "https://service.invalid", "--proxy",
      "http://127.0.0.1:1" }, keys)
    assert.equal(3, code)
    assert.matches("no connection to the proxy could be made; check --proxy", err, 1, true)
    code, _, err = command.run({ "wallet", "coins", "--base-url", "https://service.invalid", "--ca-file", "/no/such" },
      keys)
    assert.equal(2, code)
    assert.matches("--ca-file: /no/such cannot be read", err, 1, true)
  end)

  it("says that a port may speak no TLS, and that one may want it", function()
    local _, err = assert(new { base_url = (service.url:gsub("^http", "https")) }).wallet:coins()
    assert.matches("perhaps this port speaks no TLS: check `base_url`", err.message, 1, true)
    local account = assert(service.world:account { role = "main" })
    assert(service.world:fault { kind = "lost_answer", operation = "wallet.coins", times = 1 })
    _, err = assert(new { base_url = service.url, api_key = account.api_key, secret_key = account.secret_key })
      .wallet:coins()
    assert.matches("perhaps this port wants https:// in `base_url`", err.message, 1, true)
  end)

  it("says at once what is wrong with ca_file and proxy, and quotes no password", function()
    local _, err = new { ca_file = "/no/such/file" }
    assert.same({ "config", "ca_file" }, { err.kind, err.option })
    for _, proxy in ipairs { "127.0.0.1:port", "ftp://127.0.0.1:1", "http://", "http://hidden:word@", "a b",
      "http://127.0.0.1:70000" } do
      _, err = new { proxy = proxy, allow_insecure = true }
      assert.same({ "config", "proxy" }, { err.kind, err.option }, proxy)
      assert.is_nil(tostring(err):find("hidden", 1, true))
    end
    for _, proxy in ipairs { "", "127.0.0.1:3128", "http://proxy.example", "socks5h://user:word@[::1]:1080",
      "https://proxy.example:443/" } do
      assert(new { proxy = proxy, allow_insecure = true })
    end
  end)
end)
