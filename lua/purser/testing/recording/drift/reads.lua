-- SPDX-License-Identifier: MIT
-- The harmless reads of `purser doctor --drift`, and the simulator's answers.

local core = require "purser.core"
local form = require "purser.testing.recording.drift.form"
local purser = require "purser"

local M = {}

local spot = { fromAccountType = "SPOT", toAccountType = "SPOT", limit = 20 }

-- Returns the parameters of a client's key that asks for its own record.
local function own_key(client)
  return { accessKey = assert(client:prepare "wallet.convertible_balances").headers[client.profile.key_header] }
end

local API_KEY = { "live.api_key", own_key, live = true }

-- Operations with the parameters of one small page, or a function that makes the parameters. A `probe` is rejected, and
-- shows the code and the form of an error. A `live` operation needs a profile with live operations.
M.list = {
  { "ping" }, { "server_time" }, { "wallet.coins" }, { "wallet.deposit_history", { limit = 20 } },
  { "wallet.withdrawal_history", { limit = 20 } }, { "wallet.deposit_addresses", { coin = "USDT" } },
  { "wallet.withdrawal_addresses", { limit = 20 } },
  { "wallet.transfer_history", { fromAccountType = "SPOT", toAccountType = "FUTURES", size = 20 } },
  { "wallet.convertible_balances" }, { "wallet.conversion_history", { limit = 5 } },
  { "wallet.internal_transfer_history", { limit = 20 } }, { "sub_account.list_sub_accounts", { limit = 20 } },
  { "sub_account.transfer_history", spot }, { "broker.list_sub_accounts", { limit = 20 } },
  { "broker.transfer_history", spot }, { "broker.rebates" },
  { "wallet.get_transfer", { tranId = ("0"):rep(32) }, probe = true },
  { "wallet.deposit_addresses", { coin = "NOSUCHCOIN" }, probe = true },
  { "sub_account.balances", { subAccount = "nosuchname01", accountType = "SPOT" }, probe = true },
  { "live.account", live = true }, API_KEY, { "live.kyc_status", live = true },
  { "live.uid", live = true },
}

--- Returns the reads that the profile of a client allows.
---@param client purser.Client
function M.of(client)
  local list = {}
  for _, read in ipairs(M.list) do
    if not read.live or client.profile.live_operations then list[#list + 1] = read end
  end
  return list
end

--- Returns a transport that keeps the last response, and sends reads alone.
function M.capture(inner)
  local capture = { last = nil }
  function capture:send(request)
    self.last = nil
    if request.method ~= "GET" then
      return nil, { kind = "argument", outcome = "not_sent", message = "only reads are sent to compare", sends = 0 }
    end
    local response, failure = inner:send(request)
    self.last = response
    return response, failure
  end
  if inner.sleep then function capture.sleep(_, ms) return inner:sleep(ms) end end
  if inner.discard then function capture.discard(_, response) return inner:discard(response) end end
  function capture.close() if inner.close then inner:close() end end -- luacheck: ignore self
  return capture
end

--- Makes a read. Returns the client's results.
function M.run(client, read)
  if read[1] == "ping" then return client:ping() end
  if read[1] == "server_time" then return client:server_time() end
  local params = read[2]
  if type(params) == "function" then params = params(client) end
  return client:call(read[1], params)
end

------------------------------------------------------------------------------------------------------- the simulator

local SUB, OTHER, FAR = "driftdesk01", "other@mail.example", "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

local to_sub = { toAccount = SUB, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "7.5" }
local withdrawal = { coin = "USDT", netWork = "TRX", address = FAR, amount = "50" }

-- Calls that make a record of each kind in the reading account.
local calls = {
  { "sub_account.create_sub_account", { subAccount = SUB, note = "desk" } },
  { "sub_account.transfer", to_sub }, { "broker.transfer", to_sub },
  { "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "12.25" } },
  { "wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = OTHER, asset = "USDT", amount = "3.5" } },
  { "wallet.convert", { asset = { "DOGE" } } }, { "wallet.withdraw", withdrawal },
}

local function fill(sim, client, owner)
  assert(sim:account { name = "Other", role = "user", email = OTHER })
  for _, call in ipairs(calls) do assert(client:call(call[1], call[2])) end
  assert(sim:save_address { account = owner.uid, coin = "USDT", network = "TRX", address = FAR })
  assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "20.5" })
  assert(sim:rebate { account = owner.uid, asset = "USDT", amount = "0.5", type = "spot" })
  sim:advance(3600000)
  assert(client:call("wallet.withdraw", withdrawal)) -- the first has left, this one has not
end

local function add_exchange(expected, read, response)
  local known = expected[read] or { form = {}, statuses = {}, codes = {} }
  expected[read] = known
  form.learn(known.form, form.of(response.body))
  known.statuses[response.status] = true
  local value = core.decode(response.body)
  if type(value) == "table" and value.code ~= nil then known.codes[tostring(value.code)] = true end
end

-- The forms of the simulator's answers, and an error as the service's web server writes it.
local variants = { "document", "live" }
local WEB_ERROR = '{"success":false,"code":10101,"message":"no","_extend":null,"traceId":"7f000001-0"}'

-- Makes the reads of every variant.
local function make_expected(profile)
  local expected = {}
  add_exchange(expected, "error", { status = 400, body = WEB_ERROR })
  for _, variant in ipairs(variants) do
    local sim = purser.sim.new { seed = 11, variant = variant, profile = profile }
    local owner = assert(sim:account { name = "Drift", role = "broker", email = "drift@mail.example",
      balances = { USDT = "1000", TRX = "0.5", DOGE = "1.25", MX = "3" } })
    local capture = M.capture(sim:transport())
    local options = { base_url = "http://127.0.0.1:1", profile = profile, transport = sim:transport(), retry = false,
      rate_limit = false, api_key = owner.api_key, secret_key = owner.secret_key,
      clock = function() return sim:now() end }
    local maker = assert(purser.new(options))
    fill(sim, maker, owner)
    options.transport = capture
    local client = assert(purser.new(options))
    local function expect(read)
      M.run(client, read)
      add_exchange(expected, read, capture.last)
      if read.probe then add_exchange(expected, "error", capture.last) end
    end
    for _, read in ipairs(M.of(client)) do expect(read) end
    if client.profile.live_operations then -- a key with a list of addresses, which does not end
      assert(maker.live:change_api_key { apiKey = owner.api_key, ipWhiteList = "127.0.0.1" })
      expect(API_KEY)
    end
  end
  return expected
end

local known_of = {} -- by profile

--- Returns { form =, statuses =, codes = } of the simulator's answers by read, and of all errors by "error".
---@param profile string|nil
---@return table
function M.expected(profile)
  local name = profile or "default"
  known_of[name] = known_of[name] or make_expected(profile)
  return known_of[name]
end

return M
