-- SPDX-License-Identifier: MIT
-- The diagnosis of a wrong signature: the text that a client signed.

local core = require "purser.core"
local purser = require "purser"
local auth = require "purser.testing.sim.auth"

describe("a wrong signature", function()
  local sim, account

  before_each(function()
    sim = purser.sim.new { seed = 1 }
    account = assert(sim:account { name = "Acme", role = "broker" })
  end)

  -- Sends `query` under the signature of `text`, and returns how the request is remembered.
  local function send(query, text, change, body)
    local signer = assert(core.signer("hmac-sha256", account.secret_key))
    local signature = (change or tostring)(signer:sign(text))
    local response = sim:handle {
      method = body and "POST" or "GET", ip = "127.0.0.1", body = body or "",
      target = (body and "/api/v3/broker/sub-account/futures" or "/api/v3/capital/deposit/hisrec") .. "?" .. query
        .. "&signature=" .. signature,
      headers = { ["x-mexc-apikey"] = account.api_key, ["content-type"] = "application/json" },
    }
    local all = sim:requests()
    return all[#all], response
  end

  local function query_of(sim_now)
    return ("coin=A%%2CB&limit=5&recvWindow=5000&timestamp=%d"):format(sim_now)
  end

  it("is explained when it belongs to a usual mistake", function()
    local query = query_of(sim:now())
    local stamp = ("&timestamp=%d"):format(sim:now())
    local cases = {
      { "&" .. query, "a leading &" },
      { (query:gsub("%%2C", ",")), "the values before they were percent-encoded" },
      { (query:gsub("%%2C", "%%2c")), "percent-encoding in lower case" },
      { (query:gsub("&timestamp=%d+", "")), "everything but the timestamp" },
      { "coin=A%2CB&limit=5" .. stamp, "everything but recvWindow" },
      { "/api/v3/capital/deposit/hisrec?" .. query, "the path, too" },
      { "", "an empty text" },
    }
    for _, case in ipairs(cases) do
      local request = send(query, case[1])
      assert.equal("700002", request.code)
      assert.equal(case[1], request.signed_received)
      assert.equal(case[2], request.mistake)
      assert.equal(query, request.signed_expected)
    end
  end)

  it("is explained when the body was signed, and when it came in upper case", function()
    local query, body = ("timestamp=%d"):format(sim:now()), '{"subAccount":"shop"}'
    assert.equal("the query and the body", send(query, query .. body, nil, body).mistake)
    assert.equal("the body alone", send(query, body, nil, body).mistake)
    assert.equal("the right text, in upper-case hexadecimal", send(query, query, string.upper).mistake)
  end)

  it("is left unexplained when another secret made it", function()
    local query = query_of(sim:now())
    local request = send(query, query, function() return ("0"):rep(64) end)
    assert.equal("700002", request.code)
    assert.equal(query, request.signed_expected)
    assert.is_nil(request.signed_received)
    assert.is_nil(request.mistake)
  end)

  it("is no longer one when the right text is signed", function()
    local query = query_of(sim:now())
    local request, response = send(query, query)
    assert.not_equal("700002", request.code)
    assert.is_nil(request.signed_expected)
    assert.is_nil(response.body:find("Signature", 1, true))
  end)
end)

describe("the text that a wrong signature belongs to", function()
  local signer = core.signer("hmac-sha256", "key")
  local QUERY, BODY = "b=2%20%2F&a=1&timestamp=5", '{"x":1}'

  local function found(text, body)
    local names = { timestamp_name = "timestamp", recv_window_name = "recvWindow" }
    local shown, mistake = auth.diagnose(signer, signer:sign(text), QUERY, body or "", "/p", names)
    if mistake then assert.equal(text, shown) end
    return mistake
  end

  it("is named for each usual mistake", function()
    for text, mistake in pairs {
      ["b=2 /&a=1&timestamp=5"] = "the values before they were percent-encoded",
      ["a=1&b=2%20%2F&timestamp=5"] = "the parameters sorted by name",
      ["a=1&b=2 /&timestamp=5"] = "the parameters sorted by name, before they were percent-encoded",
      ["b=2%20%2f&a=1&timestamp=5"] = "percent-encoding in lower case",
      ["b=2+%2F&a=1&timestamp=5"] = "blanks as + instead of %20",
      ["&" .. QUERY] = "a leading &", ["?" .. QUERY] = "the question mark, too", ["/p?" .. QUERY] = "the path, too",
      ["b=2%20%2F&a=1"] = "everything but the timestamp", [""] = "an empty text",
    } do assert.equal(mistake, found(text)) end
    assert.equal("the query and the body", found(QUERY .. BODY, BODY))
    assert.equal("the query and the body, joined by &", found(QUERY .. "&" .. BODY, BODY))
    assert.equal("the body alone", found(BODY, BODY))
  end)

  it("is not guessed when it is none of these", function()
    assert.is_nil(found "b=2%20%2F&a=1&timestamp=6")
    assert.is_nil(found(QUERY .. BODY)) -- there was no body
  end)
end)
