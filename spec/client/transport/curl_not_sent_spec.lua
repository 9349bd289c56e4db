-- SPDX-License-Identifier: MIT
-- When the blocking transport is sure that nothing was sent: names, connections, proxies and TLS that fail.

local certificates = require "certificates"
local curl = require "purser.client.transport.curl"
local money_request = require "money_request"
local new_stage = require("stage").new
local send = require("peer").send

describe("the blocking transport", function()
  local stage = new_stage(curl.new, {
    good = { alt = "IP:127.0.0.1,DNS:localhost" },
    other = { alt = "DNS:other.example" },
    old = { alt = "IP:127.0.0.1", expired = true },
  })
  local transport = stage.transport
  local peer, made

  setup(function() peer, made = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

  describe("proves `not_sent`", function()
    local function assert_not_sent(phase, code, _, failure)
      assert.equal("not_sent", failure.outcome)
      assert.equal(code, failure.code)
      assert.equal(phase, failure.phase)
      assert.equal(0, failure.sends)
      assert.is_false(money_request.leaks(failure))
      return failure.message
    end

    it("when the host has no address", function()
      local label = ("a"):rep(64) -- no resolver asks for it
      local t = transport { base_url = "http://" .. label .. ".invalid", allow_insecure = true }
      assert.matches("check `base_url`", assert_not_sent("resolve", "curl 6", t:send(money_request.new())))
    end)

    it("when the proxy has no address", function()
      local t = transport { proxy = "http://" .. ("a"):rep(64) .. ".invalid", allow_insecure = true }
      assert.matches("`proxy`", assert_not_sent("resolve", "curl 5", t:send(money_request.new())))
    end)

    it("when the proxy cannot be understood, without its password", function()
      local t = transport { proxy = "ht!tp://user:hunter2@proxy.invalid:8080", allow_insecure = true }
      local response, failure = t:send(money_request.new())
      assert_not_sent("resolve", "curl 5", response, failure)
      assert.is_nil(failure.message:find("hunter2", 1, true))
    end)

    it("when nobody listens", function()
      local t = transport { base_url = "http://127.0.0.1:1" }
      assert.matches("purser sim", assert_not_sent("connect", "curl 7", t:send(money_request.new())))
    end)

    it("when the proxy rejects the tunnel", function()
      peer:script("head " .. send "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n" .. " close")
      local t = transport { base_url = "https://service.example", proxy = peer:url() }
      local message = assert_not_sent("connect", "curl 56", t:send(money_request.new()))
      assert.matches("the proxy 127.0.0.1:" .. peer.port .. " answered CONNECT with HTTP 403", message, 1, true)
      assert.matches("^$", peer:last():match("signature") or "")
    end)

    it("when the proxy wants a password, without the one that was given", function()
      peer:script("head " .. send "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n" .. " close")
      local t = transport { base_url = "https://service.example", proxy = "http://joe:hunter2@127.0.0.1:" .. peer.port }
      local message = assert_not_sent("connect", "curl 56", t:send(money_request.new()))
      assert.matches("the proxy 127.0.0.1:" .. peer.port .. " answered CONNECT with HTTP 407", message, 1, true)
      assert.matches("check the user and the password", message, 1, true)
      assert.is_nil(message:find("hunter2", 1, true))
      assert.is_nil(message:find("joe", 1, true))
    end)

    it("when the proxy closes the tunnel without an answer", function()
      peer:script "head close"
      local t = transport { base_url = "https://service.example", proxy = peer:url() }
      local message = assert_not_sent("connect", "curl 56", t:send(money_request.new()))
      assert.matches("by the proxy 127.0.0.1:" .. peer.port .. " broke before the request was sent", message, 1, true)
    end)

    it("when a SOCKS proxy rejects", function()
      peer:script("arrive send=%05%FF close")
      local t = transport { base_url = "http://127.0.0.1:1", proxy = "socks5://127.0.0.1:" .. peer.port,
        allow_insecure = true }
      assert.matches("`proxy`", assert_not_sent("connect", "curl 97", t:send(money_request.new())))
    end)

    it("when the option interface names an address that is not this machine's", function()
      local t = transport { interface = "host!192.0.2.1" }
      assert.matches("`interface`", assert_not_sent("connect", "curl 45", t:send(money_request.new())))
    end)

    it("when TLS is never agreed on", function()
      peer:script "stall"
      local t = transport { base_url = peer:url "https", connect_timeout_ms = 80 }
      local _, failure = t:send(money_request.new())
      assert.equal("not_sent", failure.outcome)
      assert.equal("curl 28", failure.code)
      assert.matches("connect_timeout_ms", failure.message)
    end)

    local function tls(certificate, options, version)
      peer:tls(made.path(certificate .. ".crt"), made.path(certificate .. ".key"), version)
      options.base_url = peer:url("https", options.host)
      options.host, options.connect_timeout_ms = nil, 20000 -- a slow machine's handshake
      return transport(options):send(money_request.new())
    end

    it("when the certificate is another host's", function()
      local message = assert_not_sent("tls", "curl 60", tls("other", { ca_file = made.path "ca.crt" }))
      assert.matches("another host name; check `base_url`", message)
    end)

    it("when the authority is unknown to the system", function()
      local message = assert_not_sent("tls", "curl 60", tls("good", {}))
      assert.matches("package ca%-certificates", message)
      assert.matches("`ca_file`, `ca_path` or `ca_pem`", message)
    end)

    it("when the certificate has expired", function()
      local message = assert_not_sent("tls", "curl 60", tls("old", { ca_file = made.path "ca.crt" }))
      assert.matches("clock", message)
    end)

    it("when the peer knows only TLS 1.1", function()
      local message = assert_not_sent("tls", "curl 35", tls("good", { ca_file = made.path "ca.crt" }, "1.1"))
      assert.matches("TLS 1.2 or newer", message)
    end)

    it("when the peer shows another key than the pinned one", function()
      local pin = certificates.pin(made, "other")
      local message = assert_not_sent("tls", "curl 90", tls("good", { ca_file = made.path "ca.crt", pinned_key = pin }))
      assert.matches("`pinned_key`", message)
    end)

    it("when the authorities cannot be read", function()
      local message = assert_not_sent("tls", "curl 77", tls("good", { ca_file = made.path "none" }))
      assert.matches("`ca_file`", message)
      assert_not_sent("tls", "curl 77", tls("good", { ca_pem = "-----BEGIN nothing" }))
    end)

    it("and trusts what it is asked to trust", function()
      local pin = certificates.pin(made, "good")
      assert.equal(200, assert(tls("good", { ca_file = made.path "ca.crt" })).status)
      assert.equal(200, assert(tls("good", { ca_path = made.path "authorities" })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt" })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt", pinned_key = pin })).status)
      assert.equal(200, assert(tls("good", { ca_pem = made.text "ca.crt", host = "localhost" })).status)
      assert.equal(0, select(2, tls("other", { ca_path = made.path "authorities" })).sends)
    end)
  end)
end)
