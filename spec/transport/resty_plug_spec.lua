-- SPDX-License-Identifier: MIT
-- The plug for lua-resty-http in docs/transports.md, with a module of the same interface in its place: what it
-- is asked, and what its answers and failures become.

package.path = "tools/?.lua;" .. package.path

local blocks = require("docs.run").blocks
local purser = require "purser"

local function the_plug()
  for _, block in ipairs(blocks "docs/transports.md") do
    if block.text:find("resty.http", 1, true) then
      return assert((loadstring or load)(block.text .. "\nreturn resty()"))() -- luacheck: ignore 113
    end
  end
end

-- Headers of lua-resty-http: kept as they came, found by any spelling.
local function headers_of(map)
  return setmetatable(map, { __index = function(self, name)
    for key, value in next, self do
      if key:lower() == name:lower() then return value end
    end
  end })
end

describe("the plug for lua-resty-http", function()
  local calls, fails, body, client

  before_each(function()
    calls, fails, body = {}, {}, '[{"coin":"USDT","amount":"1.50"}]'
    local function note(name)
      return function(_, value)
        calls[#calls + 1] = name
        calls[name] = value
        if fails[name] then return nil, fails[name] end
        return true
      end
    end
    package.loaded["resty.http"] = {
      new = function()
        return {
          set_timeout = note "set_timeout", connect = note "connect", close = note "close",
          request = function(self, parameters)
            local ok, message = note "request"(self, parameters)
            if not ok then return nil, message end
            return {
              status = 200, headers = headers_of { ["Content-Type"] = "application/json", ["Retry-After"] = "3" },
              read_body = function()
                if fails.read_body then return nil, fails.read_body end
                return body
              end,
            }
          end,
        }
      end,
    }
    client = assert(purser.new {
      base_url = "https://service.example", api_key = "k", secret_key = "s", retry = false, transport = the_plug(),
      timeout_ms = 4000,
    })
  end)

  after_each(function() package.loaded["resty.http"] = nil end)

  local function withdraw()
    return client.wallet:withdraw { coin = "USDT", address = "TAddr", amount = "1", netWork = "TRX" }
  end

  it("sends what was signed to where it belongs, over verified TLS, and gives the answer back", function()
    local info = {}
    local deposits = assert(client.wallet:deposit_history({ coin = "USDT" }, { info = info }))
    assert.equal("1.50", deposits[1].amount)
    assert.equal("3", info.headers["retry-after"])
    assert.equal("set_timeout connect request close", table.concat(calls, " "))
    assert.equal(4000, calls.set_timeout)
    assert.same({ scheme = "https", host = "service.example", port = 443, ssl_verify = true }, calls.connect)
    assert.equal("GET", calls.request.method)
    assert.matches("^/api/v3/capital/deposit/hisrec%?coin=USDT&.*signature=%x+$", calls.request.path)
    assert.equal("string", type(calls.request.headers["Content-Type"]))
  end)

  it("knows that nothing was sent when there was no connection", function()
    fails.connect = "connection refused"
    local _, err = withdraw()
    assert.equal("not_sent", err.outcome)
    assert.matches("connection refused", tostring(err))
    assert.is_nil(calls.request)
  end)

  it("knows that nobody knows when a later step failed, and asks once", function()
    for _, step in ipairs { "request", "read_body" } do
      fails = { [step] = "timeout" }
      for i = #calls, 1, -1 do calls[i] = nil end
      local _, err = withdraw()
      assert.equal("unknown", err.outcome)
      assert.equal("set_timeout connect request close", table.concat(calls, " "))
    end
  end)
end)
