-- SPDX-License-Identifier: MIT
-- The environment of the process must not change these: each case is a process of its own, with files of that user.

local certificates = require "certificates"
local files = require "files"

local quote = require("command").quote

local folder, tls

setup(function()
  folder = files.folder()
  tls = certificates.make { good = { alt = "IP:127.0.0.1" } }
end)
teardown(function()
  files.remove(folder)
  certificates.remove(tls)
end)

-- Sends a request to a peer, in a process with these variables; `setting` makes `t`, the transport, of `peer`. Returns
-- what the program prints: what came to the peer, or the failure.
local function send(variables, setting)
  local program = folder .. "/program.lua"
  files.write(program, ([[
    package.path = "spec/support/?.lua;" .. package.path
    local peer = require("peer").start()
    local t
    %s
    local response, failure = t:send { method = "GET", target = "/" }
    print(response and peer:last() or failure.phase .. ": " .. failure.message)
    peer:stop()
  ]]):format(setting))
  local pipe = assert(io.popen(("env %s %s %s 2>&1"):format(variables, os.getenv "LUA" or "lua5.4", quote(program))))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

describe("the blocking transport", function()
  it("takes no password of a .netrc", function()
    files.write(folder .. "/.netrc", "machine 127.0.0.1 login someone password netrcsecret\n")
    assert(os.execute("chmod 600 " .. quote(folder .. "/.netrc")))
    local text = send("HOME=" .. quote(folder),
      't = require("purser.client.transport.curl").new { base_url = peer:url() }')
    assert.matches("^GET / HTTP/1.1\r\n", text)
    assert.is_nil(text:find("Authorization", 1, true))
  end)

  it("speaks TLS 1.2 or newer, also where OpenSSL would permit older versions", function()
    files.write(folder .. "/openssl.cnf", "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\n"
      .. "MinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
    local function over(version)
      return send("OPENSSL_CONF=" .. quote(folder .. "/openssl.cnf"), ([[
        peer:tls(%q, %q, %q)
        t = require("purser.client.transport.curl").new { base_url = peer:url "https", ca_file = %q }
      ]]):format(tls.path "good.crt", tls.path "good.key", version, tls.path "ca.crt"))
    end
    assert.matches("^GET / HTTP/1.1\r\n", over "1.2")
    assert.matches("^tls: TLS could not be agreed on", over "1.1")
  end)
end)
