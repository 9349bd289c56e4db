-- SPDX-License-Identifier: MIT
-- Who may ask the simulator, and how a request must be signed, timed and placed.

local signed = require "signed"

local ask, get, rejection = signed.ask, signed.get, signed.rejection

describe("the simulator's authentication", function()
  local sim, main, broker

  before_each(function() sim, main, broker = signed.main_and_broker() end)

  it("accepts a request signed over the query exactly as it was sent", function()
    assert.equal(200, select(2, ask(sim, main, "C1")).status)
  end)

  it("takes parameters in any order, the signature anywhere", function()
    local now = ("%d"):format(sim:now())
    for _, order in ipairs { "timestamp=%s&coin=USDT", "coin=USDT&timestamp=%s" } do
      assert.equal(200, select(2, ask(sim, main, "C7", nil, { signed = order:format(now) })).status)
    end
    local rest = "coin=USDT&timestamp=" .. now
    local request = signed.request(sim, main, "C7", nil, { signed = rest })
    local path = request.target:match("^[^?]*")
    local signature = signed.sign(main.secret_key, rest)
    for _, query in ipairs { "signature=" .. signature .. "&" .. rest,
      "coin=USDT&signature=" .. signature .. "&timestamp=" .. now } do
      request.target = path .. "?" .. query
      assert.equal(200, sim:handle(request).status)
    end
  end)

  it("rejects a parameter that is not UTF-8, in words that are", function()
    for _, query in ipairs { "coin=%FF&timestamp=%d", "co%FEin=USDT&timestamp=%d" } do
      local text = query:gsub("%%d", ("%d"):format(sim:now()))
      local _, response = ask(sim, main, "C7", nil, { signed = text })
      assert.equal(400, response.status)
      assert.equal("700008", require("purser.core").decode(response.body).code .. "")
    end
  end)

  it("splits at the last signature; an earlier one belongs to the signed text", function()
    local text = "signature=first&coin=USDT&timestamp=" .. ("%d"):format(sim:now())
    assert.equal(200, select(2, ask(sim, main, "C7", nil, { signed = text })).status)
  end)

  it("rejects a key that is missing or no key at all (700001), and an unknown one (10072)", function()
    assert.equal("700001", rejection(sim, main, "C1", nil, { headers = { ["x-mexc-apikey"] = false } }))
    assert.equal("700001", rejection(sim, main, "C1", nil, { headers = { ["x-mexc-apikey"] = "no key!" } }))
    assert.equal("10072", rejection(sim, main, "C1", nil, { headers = { ["x-mexc-apikey"] = "mx0nobodysKey123" } }))
  end)

  it("shows the text it would have signed when a signature is wrong (700002), and no secret", function()
    local code, message = rejection(sim, main, "C7", { coin = "US/DT" }, { signature = ("0"):rep(64) })
    local text = ("coin=US%%2FDT&timestamp=%d"):format(sim:now())
    assert.equal("700002", code)
    assert.is_truthy(message:find(text, 1, true))
    assert.is_nil(message:find(signed.sign(main.secret_key, text), 1, true))
    assert.is_nil(message:find(main.secret_key, 1, true))
    local entry = sim:requests()[1]
    assert.equal(text, entry.signed_expected)
    assert.equal("rejected", entry.outcome)
    assert.is_truthy(entry.target:find("signature=***", 1, true))
  end)

  it("rejects a right signature in upper case: it is lower-case hexadecimal", function()
    local text = ("timestamp=%d"):format(sim:now())
    local upper = signed.sign(main.secret_key, text):upper()
    assert.equal("700002", rejection(sim, main, "C1", nil, { signature = upper }))
  end)

  it("rejects a leading & that was not signed", function()
    local request = signed.request(sim, main, "C1")
    request.target = request.target:gsub("%?", "?&")
    assert.is_truthy(sim:handle(request).body:find("700002", 1, true))
  end)

  describe("time rule", function()
    local function code(offset, window)
      local answer, response = ask(sim, main, "C1", nil, { timestamp = sim:now() + offset, recvWindow = window })
      return response.status == 200 and "ok" or ("%d"):format(answer.code)
    end

    it("accepts up to 999 ms ahead and no more (700003)", function()
      assert.equal("ok", code(999))
      assert.equal("700003", code(1000))
    end)

    it("accepts up to recvWindow behind, 5000 ms by default", function()
      assert.equal("ok", code(-5000))
      assert.equal("700003", code(-5001))
      assert.equal("ok", code(-60000, 60000))
      assert.equal("700003", code(-60001, 60000))
      assert.equal("700003", code(-11, 10))
      assert.equal("ok", code(-10, 10))
    end)

    it("rejects a recvWindow over 60000 (700005) or that is no number (700008)", function()
      assert.equal("700005", code(0, 60001))
      assert.equal("700008", rejection(sim, main, "C1", nil, { recvWindow = "soon" }))
    end)
  end)

  it("rejects a request without timestamp or signature (700004)", function()
    assert.equal("700004", rejection(sim, main, "C7", nil, { signed = "coin=USDT" }))
    local request = signed.request(sim, main, "C1")
    request.target = request.target:gsub("&signature=.*", "")
    assert.is_truthy(sim:handle(request).body:find("700004", 1, true))
    request.target = request.target .. "&signature="
    assert.is_truthy(sim:handle(request).body:find("700004", 1, true))
  end)

  it("rejects characters that must be encoded, even when signed so (700008)", function()
    for _, raw in ipairs { "coin=USDT&network=Tron(TRC20)", "coin=US DT", "coin=\"x\"", "coin=%zz", "coin=a%0Ab",
      "coin=x&coin=y" } do
      assert.equal("700008", rejection(sim, main, "C7", nil, { query = raw }))
    end
    assert(get(sim, main, "C7", { coin = "USDT", network = "Tron(TRC20)" }))
  end)

  it("wants application/json on POST and DELETE (700013), not on GET", function()
    local params = { coin = "USDT", network = "Tron(TRC20)" }
    for _, wrong in ipairs { false, "text/plain", "application/x-www-form-urlencoded" } do
      assert.equal("700013", rejection(sim, main, "C6", params, { headers = { ["content-type"] = wrong } }))
      assert.equal("700013", rejection(sim, main, "C3", { id = "1" }, { headers = { ["content-type"] = wrong } }))
    end
    assert(get(sim, main, "C6", params, { headers = { ["content-type"] = "application/json; charset=utf-8" } }))
    assert(get(sim, main, "C1", nil, { headers = { ["content-type"] = false } }))
  end)

  it("enforces a key's IP list (700006)", function()
    local bound = sim:account { ip = { "10.0.0.1", "2001:DB8::1" } }
    assert.equal("700006", rejection(sim, bound, "C1"))
    assert(get(sim, bound, "C1", nil, { ip = "10.0.0.1" }))
    assert(get(sim, bound, "C1", nil, { ip = "2001:db8::1" }))
  end)

  it("enforces the permission of every operation that names one (700007)", function()
    local powerless = sim:account { role = "broker", permissions = "CONTRACT_DEAL_READ" }
    local free = {
      A2 = true, A3 = true, A4 = true, A5 = true, A6 = true, A7 = true, A11 = true, A14 = true, A15 = true,
    }
    for id in pairs(signed.operations) do
      if not free[id] then assert.equal("700007", rejection(sim, powerless, id), id) end
    end
    assert(get(sim, powerless, "A3"))
  end)

  it("asks for exactly the permission the document names", function()
    local named = {
      SPOT_TRANSFER_READ = "A1 A12 A13 B7 B8 C10 C11", SPOT_DEPOSIT_WRITE = "A8", SPOT_DEPOSIT_READ = "A9",
      SPOT_ACCOUNT_READ = "B1 B2 B3 B4 B5 C12", SPOT_TRANSFER_WRITE = "B6 C9", SPOT_ACCOUNT_WRITE = "C13",
      SPOT_WITHDRAW_READ = "C1 C4 C5 C7 C8 C16", SPOT_WITHDRAW_WRITE = "C2 C3 C6 C15 C17", SPOT_DEAL_READ = "C14",
    }
    for permission, ids in pairs(named) do
      local parent = sim:account { role = "broker", permissions = permission }
      local sub = sim:account { role = "sub", parent = parent.uid, name = "x" .. permission, permissions = permission }
      for id in ids:gmatch("%S+") do
        local who = (id == "A8" or id == "A9" or id == "A12") and sub or parent
        local answer, response = ask(sim, who, id)
        assert.is_true(response.status == 200 or answer.code ~= 700007, id .. " with " .. permission)
      end
    end
  end)

  it("keeps groups A and B for the main account's key, and group A for brokers (730603)", function()
    local sub = sim:account { role = "sub", parent = broker.uid, name = "desk0001" }
    for _, id in ipairs { "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A11", "A13", "A14", "A15",
      "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8" } do
      assert.equal("700007", rejection(sim, sub, id), id)
    end
    for id in pairs(signed.operations) do
      if id:find("^A") then assert.equal("730603", rejection(sim, main, id), id) end
    end
    assert(get(sim, broker, "B2"))
  end)

  it("lets A8, A9, A10 and A12 act on the sub-account whose key signs, and on nothing else", function()
    local sub = sim:account { role = "sub", parent = broker.uid, name = "desk0001" }
    local other = sim:account { role = "sub", parent = broker.uid, name = "desk0002" }
    for _, id in ipairs { "A8", "A9", "A10", "A12" } do assert.equal("700007", rejection(sim, broker, id), id) end
    local address = get(sim, sub, "A8", { coin = "USDT", network = "Tron(TRC20)" })
    assert.equal(address.address, get(sim, sub, "A9", { coin = "USDT" })[1].address)
    assert.same({}, get(sim, other, "A9", { coin = "USDT" }))
    local cousin = sim:account { role = "sub", parent = main.uid, name = "desk0001" }
    assert.equal("730603", rejection(sim, cousin, "A10"))
  end)

  it("rejects every call of a frozen account (730100) until it is thawed", function()
    assert(sim:freeze(main.uid))
    assert.equal("730100", rejection(sim, main, "C1"))
    assert(sim:freeze(main.uid, false))
    assert(get(sim, main, "C1"))
  end)

  it("answers ping and time unsigned, 404 for what it does not know, 405 for a wrong method", function()
    local function plain(method, target)
      return sim:handle { method = method, target = target, headers = {}, body = "" }
    end
    assert.equal("{}", plain("GET", "/api/v3/ping").body)
    assert.equal(('{"serverTime":%d}'):format(sim:now()), plain("GET", "/api/v3/time").body)
    assert.equal(404, plain("GET", "/api/v3/other").status)
    assert.equal(405, plain("DELETE", "/api/v3/capital/config/getall").status)
    assert.equal("Tue, 14 Nov 2023 22:13:20 GMT", plain("GET", "/api/v3/ping").headers.Date)
  end)
end)
