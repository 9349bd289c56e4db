-- SPDX-License-Identifier: MIT
-- IP addresses as texts, and which hosts are this machine.

local core = require "purser.core"
local loopback = require "purser.client.util.loopback"

describe("the family of an IP address", function()
  it("is 4 or 6, and nil for any other text", function()
    for text, family in pairs {
      ["203.0.113.7"] = 4, ["0.0.0.0"] = 4, ["2001:db8::1"] = 6, ["::"] = 6, ["::ffff:1.2.3.4"] = 6,
    } do
      assert.equal(family, (core.ip_family(text)), text)
    end
    for _, text in ipairs { "", "1.2.3", "256.1.1.1", "01.2.3.4", "1:2::3::4", "fe80::1%eth0", "1.2.3.4\0", " ::1",
      "localhost", "[::1]" } do
      assert.is_nil((core.ip_family(text)), text)
    end
  end)
end)

describe("this machine", function()
  it("is localhost and the addresses that never leave it, and no name that a resolver is asked about", function()
    for host, address in pairs { localhost = "127.0.0.1", LocalHost = "127.0.0.1", ["127.0.0.1"] = "127.0.0.1",
      ["127.255.1.2"] = "127.255.1.2", ["::1"] = "::1", ["[::1]"] = "::1", ["[0::1]"] = "0::1" } do
      assert.equal(address, loopback.address(host), host)
    end
    for _, host in ipairs { "", "127.1", "127.00.0.1", "127.0.0.256", "[127.0.0.1]", "::", "10.0.0.1", "localhost.",
      "127.0.0.1.example", "::ffff:127.0.0.1", "[localhost]", "localhost.example" } do
      assert.is_nil(loopback.address(host), host)
    end
  end)
end)
