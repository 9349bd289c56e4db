-- SPDX-License-Identifier: MIT
-- Every rule on a parameter's value, with the code that rejects it. A case names the operation, its good parameters,
-- and what is changed about them.

local purser = require "purser"
local signed = require "signed"

local TRON = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE"
local ID = "0123456789abcdefghijABCDEFGHIJ01"
local HOUR, DAY = 3600000, 86400000
local MISSING = {} -- stands for: not sent

local family = { fromAccountType = "SPOT", toAccountType = "SPOT" }
local transfer = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
  amount = "1" }
local key = { subAccount = "desk0001", note = "k", permissions = "SPOT_ACCOUNT_READ" }
local own = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
local withdrawal = { coin = "USDT", netWork = "TRX", address = TRON, amount = "10" }
local legacy = { coin = "USDT", network = "Tron(TRC20)", address = TRON, amount = "10" }
local internal = { toAccountType = "EMAIL", toAccount = "friend@mail.example", asset = "USDT", amount = "1" }

local amounts = { -- what an amount may not be
  { "amount", "-1", "10102" }, { "amount", "0", "10102" }, { "amount", "0.000", "10102" }, { "amount", "1e3" },
  { "amount", ".5" }, { "amount", "5." }, { "amount", "1,5" }, { "amount", "+1" }, { "amount", "0x10" },
  { "amount", "NaN" }, { "amount", MISSING, "700004" }, { "amount", "", "700004" },
}
local function counts(limit, max)
  local list = { { "page", "0" }, { "page", "-1" }, { "page", "1.5" }, { "page", "x" }, { limit, "0" },
    { limit, "ten" } }
  if max then list[#list + 1] = { limit, ("%d"):format(max + 1) } end
  return list
end
local times = {
  { "startTime", "1700000000" }, { "startTime", "yesterday" }, { "endTime", "17000000000000" },
  { "startTime", "0700000000000" },
}
local types = {
  { "fromAccountType", MISSING, "700004" }, { "toAccountType", MISSING, "700004" }, { "fromAccountType", "MARGIN" },
  { "toAccountType", "spot" },
}
local client_ids = { { "clientTranId", ID:sub(2) }, { "clientTranId", ID .. "x" },
  { "clientTranId", ID:sub(2) .. "-" } }
local networks = {
  { "coin", "NOPE", "10232" }, { "coin", MISSING, "700004" }, { "network", "Nowhere", "10232" },
}
local four, twenty = "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4", ("10.0.0.1,"):rep(19) .. "10.0.0.1"
local keys = {
  { "subAccount", MISSING, "730600" }, { "note", MISSING, "730700" }, { "permissions", MISSING, "730701" },
  { "permissions", "EVERYTHING", "730702" }, { "permissions", "SPOT_ACCOUNT_READ,,SPOT_DEAL_READ", "730702" },
  { "subAccount", "unknown01", "140001" }, { "ip", "10.0.0", "730704" }, { "ip", "10.0.0.256", "730704" },
  { "ip", "a::b::c", "730704" }, { "ip", "12345::1", "730704" },
  { "ip", "host.example", "730704" }, { "ip", "10.0.0.1, 10.0.0.2", "730704" },
}
local fifteen = "BTC,ETH,BNB,XRP,XLM,TON,TRX,SOL,DOGE,LTC,ADA,MATIC,SHIB,LINK,UNI"

-- id, good parameters, bad changes { name, value, code when not the group's own }, good changes { name, value }
local cases = {
  { "A1", family, { types, client_ids, times, counts("limit", 500), { { "fromAccount", "unknown01", "140001" } } },
    { { "limit", "500" }, { "fromAccountType", "FUTURE" }, { "clientTranId", ID } } },
  { "A2", { subAccount = "newdesk01", note = "n" }, { { { "subAccount", MISSING, "730600" },
    { "note", MISSING, "730602" }, { "subAccount", "desk0001", "730101" }, { "password", "secret" },
    { "password", ("g"):rep(32) } } },
    { { "password", ("Ab"):rep(16) } } },
  { "A3", {}, { counts("limit", 200) }, { { "limit", "200" }, { "subAccount", "unknown01" } } },
  { "A4", { subAccount = "desk0001" }, { { { "subAccount", MISSING, "730600" },
    { "subAccount", "other", "140001" } } } },
  { "A5", key, { keys, { { "ip", four .. ",10.0.0.5", "730703" } } },
    { { "ip", four }, { "ip", "2001:db8::1" }, { "ip", "1:2:3:4:5:6:7:8" },
      { "permissions", "SPOT_WITHDRAW_WRITE,SPOT_DEPOSIT_READ" } } },
  { "A6", { subAccount = "desk0001" }, { { { "subAccount", MISSING, "730600" },
    { "subAccount", "other", "140001" } } } },
  { "A7", { subAccount = "desk0001", apiKey = "mx0none" }, { { { "subAccount", MISSING, "730600" },
    { "apiKey", MISSING, "730707" }, { "apiKey", "mx0other", "730706" } } }, never = true },
  { "A8", { coin = "USDT", network = "Tron(TRC20)" }, { networks, { { "network", "TRX", "10232" },
    { "network", MISSING, "700004" } } }, sub = true },
  { "A9", { coin = "USDT" }, { { { "coin", MISSING, "700004" }, { "coin", "NOPE", "10232" } } }, sub = true },
  { "A10", {}, { times, counts("limit"), { { "status", "done" }, { "coin", "NOPE", "10232" } } },
    { { "limit", "5000" }, { "status", "5" }, { "coin", "USDT" }, { "status", "SMALL" }, { "status", "TIME_DELAY" },
      { "status", "LARGE_DELAY" }, { "status", "PENDING" }, { "status", "SUCCESS" }, { "status", "AUDITING" },
      { "status", "REJECTED" } }, sub = true },
  { "A11", {}, { times, counts("limit", 1000), { { "status", "x" } } }, { { "limit", "1000" } } },
  { "A12", { coin = "USDT", network = "Tron(TRC20)", address = TRON, amount = "10", password = ("a"):rep(32) },
    { amounts, networks, { { "address", MISSING, "700004" }, { "address", "0xabc" }, { "password", "plain" },
      { "network", MISSING, "700004" }, { "password", MISSING, "10212" }, { "amount", "9.9" } } }, sub = true },
  { "A13", transfer, { types, client_ids, amounts, { { "asset", "NOPE", "10232" }, { "asset", MISSING, "700004" },
    { "toAccount", MISSING, "700004" }, { "toAccount", "unknown01", "140001" }, { "amount", "1000001", "10101" } } },
    { { "clientTranId", ID } } },
  { "A14", { subAccount = "desk0001" }, { { { "subAccount", MISSING, "730600" }, { "subAccount", "x", "140001" } } } },
  { "A15", {}, { times, counts("pageSize") }, { { "pageSize", "100" } } },
  { "B1", { subAccount = "newdesk02", note = "n" }, { { { "subAccount", "short01", "730601" },
    { "subAccount", ("x"):rep(33), "730601" }, { "subAccount", "with-dash", "730601" }, { "note", "", "730602" },
    { "subAccount", MISSING, "730600" }, { "subAccount", "desk0001", "730101" } } },
    { { "subAccount", "exactly8" }, { "subAccount", ("x"):rep(32) } } },
  { "B2", {}, { counts("limit", 200), { { "isFreeze", "yes" } } }, { { "isFreeze", "false" }, { "limit", "200" } } },
  { "B3", key, { keys, { { "ip", twenty .. ",10.0.0.2", "730703" },
    { "permissions", "SPOT_WITHDRAW_READ", "730702" } } },
    { { "ip", twenty } } },
  { "B4", { subAccount = "desk0001" }, { { { "subAccount", MISSING, "730600" }, { "subAccount", "x", "140001" } } } },
  { "B5", { subAccount = "desk0001", apiKey = "mx0none" }, { { { "apiKey", MISSING, "730707" },
    { "apiKey", "mx0other", "730706" } } }, never = true },
  { "B6", transfer, { types, client_ids, amounts, { { "fromAccountType", "FUTURE" }, { "toAccount", MISSING, "700004" },
    { "amount", "1000001", "10101" } } }, { { "clientTranId", ID } } },
  { "B7", family, { types, client_ids, times, counts("limit", 500) }, { { "limit", "500" } } },
  { "B8", { subAccount = "desk0001", accountType = "SPOT" }, { { { "accountType", "FUTURES" },
    { "accountType", MISSING, "700004" }, { "subAccount", MISSING, "730600" } } } },
  { "C2", withdrawal, { amounts, { { "coin", "NOPE", "10232" }, { "netWork", "Tron(TRC20)", "10232" },
    { "netWork", "AVAX_CCHAIN" }, { "address", "0x" .. ("a"):rep(40) }, { "address", MISSING, "700004" },
    { "memo", "12" }, { "amount", "9.999999" }, { "amount", "10000001" }, { "amount", "10.0000001" },
    { "amount", "2000000", "10101" }, { "contractAddress", "0xother" } } },
    { { "netWork", MISSING }, { "contractAddress", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
      { "amount", "10.000001" } } },
  { "C3", { id = "unknown" }, { { { "id", MISSING, "700004" } } } },
  { "C4", {}, { times, { { "limit", "1001" }, { "limit", "0" }, { "status", "x" }, { "coin", "NOPE", "10232" } } },
    { { "limit", "1000" } } },
  { "C5", {}, { times, { { "limit", "1001" }, { "status", "x" }, { "coin", "NOPE", "10232" } } },
    { { "limit", "1000" } } },
  { "C6", { coin = "USDT", network = "Tron(TRC20)" }, { networks, { { "network", "TRX", "10232" } } } },
  { "C7", { coin = "USDT" }, { networks }, { { "network", "Tron(TRC20)" } } },
  { "C8", {}, { counts("limit") }, { { "coin", "USDT" } } },
  { "C9", own, { types, amounts, { { "toAccountType", "SPOT" }, { "asset", "NOPE", "10232" } } } },
  { "C10", { fromAccountType = "SPOT", toAccountType = "FUTURES" }, { types, times, counts("size", 100) },
    { { "size", "100" } } },
  { "C11", { tranId = "1" }, { { { "tranId", MISSING, "700004" }, { "tranId", "unknown", "22222" } } }, never = true },
  { "C13", { asset = fifteen }, { { { "asset", fifteen .. ",AAVE" }, { "asset", MISSING, "700004" },
    { "asset", "BTC,,ETH" } } } },
  { "C14", {}, { times, counts("limit", 1000) }, { { "limit", "1000" } } },
  { "C15", internal, { amounts, { { "toAccountType", "PIGEON" }, { "toAccountType", MISSING, "700004" },
    { "toAccountType", "MOBILE", "700004" }, { "toAccount", "nobody@mail.example", "22222" },
    { "asset", "NOPE", "10232" }, { "toAccount", "house@mail.example" }, { "areaCode", "x" } } } },
  { "C16", {}, { times, counts("limit") }, { { "tranId", "1" } } },
  { "C17", legacy, { amounts, { { "network", "TRX", "10232" },
    { "address", "0xabc" }, { "coin", MISSING, "700004" } } },
    { { "network", MISSING } } },
}

local function with(params, name, value)
  local changed = {}
  for other, text in pairs(params) do changed[other] = text end
  changed[name] = value ~= MISSING and value or nil
  return changed
end

describe("the simulator's parameter rules", function()
  local function world()
    local sim = purser.sim.new {}
    local house = assert(sim:account {
      role = "broker", email = "house@mail.example", balances = { USDT = "1000000" },
    })
    sim:account { email = "friend@mail.example" }
    local desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001",
      balances = { USDT = "100" } })
    return sim, house, desk
  end

  for _, case in ipairs(cases) do
    local id, good = case[1], case[2]
    it(id .. " rejects each value the interface forbids, and changes nothing by it", function()
      local sim, house, desk = world()
      local who = case.sub and desk or house
      local before = sim:snapshot()
      for _, changes in ipairs(case[3]) do
        for _, change in ipairs(changes) do
          local code = signed.rejection(sim, who, id, with(good, change[1], change[2]))
          local label = ("%s %s=%s"):format(id, change[1], change[2] == MISSING and "(missing)" or change[2])
          assert.equal(change[3] or (id:find("^C") and "33333" or "730002"), code, label)
        end
      end
      before.counts = sim:counts()
      assert.same(before, sim:snapshot())
      for _, counted in pairs(sim:counts()) do assert.equal(0, counted.applied) end
    end)

    if not case.never then
      it(id .. " accepts the values at its limits", function()
        local sim, house, desk = world()
        local who = case.sub and desk or house
        assert(signed.get(sim, who, id, good))
        for _, change in ipairs(case[4] or {}) do
          sim, house, desk = world()
          assert(signed.get(sim, case.sub and desk or house, id, with(good, change[1], change[2])))
        end
        assert(sim:verify())
      end)
    end
  end

  it("rejects a startTime after endTime in every history", function()
    local sim, house, desk = world()
    local window = { startTime = sim:now() - HOUR, endTime = sim:now() - 2 * HOUR }
    for _, id in ipairs { "A1", "A10", "A11", "A15", "B7", "C4", "C5", "C10", "C14", "C16" } do
      local params = with(window, "fromAccountType", "SPOT")
      params.toAccountType = "FUTURES"
      assert.equal(id:find("^C") and "33333" or "730002",
        signed.rejection(sim, id == "A10" and desk or house, id, params), id)
    end
  end)

  it("keeps C4 and C5 within 7 days at a time and 90 days back (400)", function()
    local sim, house = world()
    local now = sim:now()
    for _, id in ipairs { "C4", "C5" } do
      assert(signed.get(sim, house, id, { startTime = now - 7 * DAY, endTime = now }))
      assert.equal("33333", signed.rejection(sim, house, id, { startTime = now - 7 * DAY - 1, endTime = now }))
      assert(signed.get(sim, house, id, { startTime = now - 90 * DAY }))
      local code, message = signed.rejection(sim, house, id, { startTime = now - 90 * DAY - 1 })
      assert.equal("400", code)
      assert.equal("start time cannot be earlier than 90 days", message)
      assert.equal("400", signed.rejection(sim, house, id, { endTime = now - 90 * DAY }))
    end
  end)

  it("keeps C10 within the most recent 6 months", function()
    local sim, house = world() -- 2023-11-14 22:13:20
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", startTime = 1684102400000 } -- 2023-05-14
    assert(signed.get(sim, house, "C10", params))
    params.startTime = params.startTime - 1
    assert.equal("33333", signed.rejection(sim, house, "C10", params))
  end)
end)
