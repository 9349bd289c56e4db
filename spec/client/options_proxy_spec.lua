-- SPDX-License-Identifier: MIT
-- The option `proxy`. build_spec.lua has what purser.new says of one that could read the key.

local options = require "purser.client.options"

describe("the form of a proxy", function()
  local function message_of(proxy)
    local message, option, hint = options.check_proxy("https://service.example", { proxy = proxy })
    if message then assert.same({ "proxy", true }, { option, hint:find("HOST:PORT", 1, true) ~= nil }) end
    return message
  end

  it("is a host, with a port and a kind that are known", function()
    for _, proxy in ipairs { "proxy.example", "proxy.example:3128", "http://127.0.0.1:1/", "HTTPS://u:p@host:443",
      "socks5h://[::1]:1080", "socks4a://h", "user:p@ss@host:65535", "host_name:0" } do
      assert.is_nil(message_of(proxy), proxy)
    end
  end)

  it("that cannot be is rejected, and never quoted, for it may hold a password", function()
    for proxy, words in pairs {
      ["ftp://hidden@host:1"] = "is of a kind that is not known", ["socks6://hidden"] = "is of a kind",
      ["http://hidden@"] = "names no host", ["http://"] = "names no host", ["http:///hidden"] = "names no host",
      ["hidden@host:"] = "has no port", ["hidden@host:65536"] = "has no port", ["host:1:hidden"] = "has no port",
      ["http://[::1]hidden"] = "has no port", ["host:1/hidden"] = "has no port",
    } do
      local message = message_of(proxy)
      assert.matches('option "proxy" ' .. words, message, 1, true)
      assert.is_nil(message:find("hidden", 1, true))
    end
  end)
end)
