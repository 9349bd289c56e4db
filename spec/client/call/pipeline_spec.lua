-- SPDX-License-Identifier: MIT
-- Every operation that moves money, creates or changes anything: one call puts at most one request on the wire,
-- wherever the service gives up, over HTTP/1.1, TLS and HTTP/2, by the blocking and the multi transport. A peer counts.
-- make test: 10 s, waits

local operations = require "purser.client.operations"
local patiently = require "patiently"
local purser = require "purser"
local stage = require("stage").new()

local ID32, MD5 = ("a1"):rep(16), ("0f"):rep(16)

-- Values that pass the check, by parameter.
local values = {
  clientTranId = ID32, fromAccountType = "SPOT", toAccountType = "SPOT", amount = "1.5", password = MD5,
  permissions = "SPOT_ACCOUNT_READ", ip = "203.0.113.7", areaCode = "86", asset = "USDT", subAccount = "subaccount01",
}

local function params_of(row)
  local params = {}
  for _, param in ipairs(row.params) do params[param[1]] = values[param[1]] or "text" end
  if row.full_name == "wallet.internal_transfer" then params.toAccountType, params.toAccount = "UID", "10000001" end
  return params
end

local moving = {}
for _, row in ipairs(operations.list) do
  if row.effect ~= "read" then moving[#moving + 1] = row end
end

-- Silence costs its time-out, so it is met by one operation of each form only.
local slow = { ["wallet.withdraw"] = true, ["broker.transfer"] = true, ["wallet.cancel_withdrawal"] = true }

local function rows_for(ending)
  if not ending:find "stall" then return moving end
  local rows = {}
  for _, row in ipairs(moving) do
    if slow[row.full_name] then rows[#rows + 1] = row end
  end
  return rows
end

local http1 = {
  greet = "", fine = "head body ok",
  "arrive close", "arrive reset", "head close", "head reset", "head body close", "head body reset",
  "head body send=HTTP%2F1%2E1%20200%20OK%0D%0AContent%2DLength%3A%2020%0D%0A%0D%0A%7B%22id close", "head body stall",
}
local http2 = {
  greet = "h2 ", fine = "headers data reply",
  "headers close", "headers reset", "headers data close", "headers data reset", "headers data rst=7",
  "headers data goaway close", "headers data stall",
}

local ways = {
  { name = "HTTP", scheme = "http", endings = http1 },
  { name = "TLS", scheme = "https", endings = http1, tls = true },
  { name = "HTTP/2", scheme = "https", endings = http2, tls = true, version = "h2" },
}

describe("an option that is wrong", function()
  it("names the operation of the call", function()
    local client = require("recorder").new({}, error)
    local _, err = client.wallet:coins(nil, { timeout_ms = 0 })
    assert.same({ "timeout_ms", "wallet.coins" }, { err.option, err.operation })
  end)
end)

describe("one call, at most one request", function()
  local peer, made

  setup(function() peer, made = stage.start() end)
  teardown(stage.stop)

  -- Makes the call against a peer that ends it as told; `kept`: on a connection that has served a read before.
  local function call_within(timeout_ms, way, make, row, ending, kept)
    local endings = way.endings
    local transport = assert(make {
      base_url = peer:url(way.scheme), ca_file = made.path "ca.crt", http_version = way.version and "2" or "1.1",
    })
    local client = assert(purser.new {
      base_url = peer:url(way.scheme), api_key = "key", secret_key = "secret", transport = transport,
      rate_limit = false,
      retry = { attempts = 5, base_ms = 1, max_ms = 1 },
    })
    if kept then
      peer:script(("%s%s;%s;%s"):format(endings.greet, endings.fine, ending, endings.fine))
      assert(client:ping())
    else
      peer:script(("%s%s;%s"):format(endings.greet, ending, endings.fine))
    end
    local mark = peer:count()
    local result, err = patiently(timeout_ms, function(ms)
      return client:call(row.full_name, params_of(row), { timeout_ms = ms })
    end)
    client:close()
    transport:close()
    peer:settle()
    return result, err, peer:count(mark).requests
  end

  -- A peer that has no processor may not have read a request yet when the time for its silent answer is over.
  local function call(way, make, row, ending, kept)
    if not ending:find "stall" then return call_within(5000, way, make, row, ending, kept) end
    local timeout_ms = 150
    while true do
      local result, err, sent = call_within(timeout_ms, way, make, row, ending, kept)
      timeout_ms = timeout_ms * 4
      if sent > 0 or timeout_ms > 100000 then return result, err, sent end
    end
  end

  for _, way in ipairs(ways) do
    for _, transport in ipairs { "curl", "multi" } do
      for _, kept in ipairs { false, true } do
        local title = ("%s, %s transport, %s connection"):format(way.name, transport, kept and "kept" or "new")
        it(("holds for %d operations at %d points (%s)"):format(#moving, #way.endings, title), function()
          if way.tls then
            peer:tls(made.path "good.crt", made.path "good.key", way.version)
          else
            peer:plain()
          end
          for _, ending in ipairs(way.endings) do
            for _, row in ipairs(rows_for(ending)) do
              local where = row.full_name .. " at " .. ending
              local result, err, sent = call(way, purser.transport[transport], row, ending, kept)
              assert.is_nil(result, where)
              assert.equal("transport", err.kind, where)
              assert.equal("unknown", err.outcome, where)
              assert.is_false(err.retryable, where)
              assert.is_string(err.advice, where)
              assert.is_true(sent <= 1, where .. ": sent " .. sent .. " times")
              -- seen at all, unless the end came before a byte could be read
              if not ending:find "arrive" then assert.equal(1, sent, where) end
            end
          end
        end)
      end
    end
  end

  it("is distinguished from a read, which is repeated until it succeeds", function()
    peer:plain()
    peer:script "head body close"
    local client = assert(purser.new {
      base_url = peer:url(), api_key = "key", secret_key = "secret", rate_limit = false,
      retry = { attempts = 4, base_ms = 1, max_ms = 1 },
    })
    local mark = peer:count()
    local result, err = client.wallet:deposit_history()
    assert.is_nil(result)
    assert.equal("unknown", err.outcome)
    assert.is_true(err.retryable)
    assert.equal(4, peer:count(mark).requests)
    client:close()
  end)
end)
