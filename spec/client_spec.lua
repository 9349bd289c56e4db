-- The client itself: odd options, odd transports, and what happens to a call while the client changes under it.

local purser = require "purser"

local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }

-- A transport that keeps the requests it got and answers each by `answer(request)`.
local function recorder(answer)
  local transport = { requests = {} }
  function transport:send(request)
    self.requests[#self.requests + 1] = request
    if answer then return answer(request) end
    return { status = 200, body = '{"id":"1"}', headers = "" }
  end
  return transport
end

-- A client, or nil and its error, with that transport.
local function new(options, answer)
  local transport = recorder(answer)
  local settings = { base_url = "https://service.example", api_key = "key", secret_key = "secret", transport = transport }
  for name, value in pairs(options or {}) do settings[name] = value end
  if settings.credentials then settings.api_key, settings.secret_key = nil, nil end
  local client, err = purser.new(settings)
  return client, client and transport or err
end

describe("the options of a call", function()
  it("are a table; anything else is an argument error, and nothing is sent", function()
    for _, opts in ipairs { 5, "recv_window", true, function() end } do
      local client, transport = new()
      local result, err = client.wallet:withdraw(WITHDRAWAL, opts)
      assert.is_nil(result)
      assert.same({ "argument", "not_sent", "wallet.withdraw" }, { err.kind, err.outcome, err.operation })
      assert.matches("options of a call are a table", err.message)
      assert.equal(0, #transport.requests)
      assert.equal("argument", select(2, client:prepare("wallet.withdraw", WITHDRAWAL, opts)).kind)
    end
  end)
end)
