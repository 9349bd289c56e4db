-- SPDX-License-Identifier: MIT
-- The processes beside a transport that is checked: they start, and nothing of them is left.

local core = require "purser.core"
local socket = require "socket"
local start = require "transport_check.start"

local function is_open(url)
  local connection = socket.connect("127.0.0.1", tonumber(url:match "%d+$"))
  return connection ~= nil and connection:close() ~= nil
end

describe("the start of the hostile service", function()
  it("gives its address and the port of its name server, and nothing of TLS where none is wanted", function()
    local service = assert(start.start { tls = false })
    assert.matches("^http://127%.0%.0%.1:%d+$", service.url)
    assert.is_number(service.name_port)
    assert.is_nil(service.tls)
    assert.is_true(is_open(service.url))
    service:stop()
    assert.is_false(is_open(service.url))
    service:stop()
  end)

  it("gives three servers of TLS under the name, and ends and removes all of it", function()
    local service = assert(start.start { tls_name = "peer.example" })
    local folder, ways = service.folder, {}
    for _, way in ipairs { "good", "other_name", "other_authority" } do
      assert.matches("^https://peer%.example:%d+$", service.tls[way])
      assert.is_true(is_open(service.tls[way]), way)
      ways[service.tls[way]] = true
    end
    assert.equal(service.tls.ca_file, folder .. "/good.ca.crt")
    local function names_of(certificate)
      local pipe = io.popen(("openssl x509 -noout -ext subjectAltName -in %s/%s.crt"):format(folder, certificate))
      local text = pipe:read "*a"
      pipe:close()
      return text:match "DNS:(%S+)"
    end
    assert.same({ "peer.example", "other.example", "peer.example" },
      { names_of "good", names_of "stranger", names_of "unknown" })
    local verified = os.execute(("cd %s && openssl verify -CAfile good.ca.crt good.crt stranger.crt >/dev/null 2>&1 && "
      .. "! openssl verify -CAfile good.ca.crt unknown.crt >/dev/null 2>&1"):format(folder))
    assert.is_true(verified == true or verified == 0)
    service:stop()
    assert.is_nil((core.file_mode(folder)))
    for url in pairs(ways) do assert.is_false(is_open(url), url) end
  end)

  it("that fails gives nil and what the program said", function()
    for lua, words in pairs { ["false"] = "did not start: $", ["echo no module named socket;"] = "named socket" } do
      local service, message = start.start { lua = lua, tls = false }
      assert.is_nil(service)
      assert.matches("^check: the hostile service did not start: ", message)
      assert.matches(words, message)
    end
  end)
end)
