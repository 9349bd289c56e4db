-- SPDX-License-Identifier: MIT
-- Guard rails: what a client rejects whatever it is asked, and what a restart does not make it forget.

local purser = require "purser"
local simulated = require "simulated"

local TRON, ADDRESS = "Tron(TRC20)", "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

local sim, account, path, journal

local function client_with(guard, options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end, retry = false, rate_limit = false,
    guard = guard, account = "acme" }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.new(all)
end

local function reopen()
  if journal then journal:close() end
  journal = assert(purser.journal.open { sqlite = path })
  return journal
end

local function transfer(client, amount, fields)
  return client.sub_account:transfer(simulated.transfer(amount, fields))
end

local function withdraw(client, fields)
  local params = { coin = "USDT", netWork = "TRX", address = ADDRESS, amount = "20" }
  for name, value in pairs(fields or {}) do params[name] = value end
  return client.wallet:withdraw(params)
end

local function rejected(rule, result, err)
  assert.is_nil(result)
  assert.equal("argument", err.kind)
  assert.equal("not_sent", err.outcome)
  assert.equal("guard." .. rule, err.code)
  assert.matches("guard rail " .. rule, tostring(err))
end

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker({ seed = 9 }, { balances = { USDT = "10000", DOGE = "20", XRP = "500" },
    futures_balances = { USDT = "100" } })
  assert(sim:account { name = "tradingdesk2", role = "sub", parent = account.uid })
end)

after_each(function()
  if journal then journal:close() end
  journal = nil
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

local function nothing_moved()
  for name, count in pairs(sim:counts()) do
    assert.is_truthy(name:find "list" or name:find "coins" or count.applied == 0, name)
  end
end

describe("a guard", function()
  it("reads the policy of its client, and there is none without", function()
    local client, err = client_with(nil, { policy = path .. "/no-such-folder", journal = reopen() })
    assert.is_nil(client)
    assert.same({ "config", "guard" }, { err.kind, err.option })
    assert.matches("no-such-folder", err.message, 1, true)
    assert(client_with(nil, { journal = journal }))
  end)
end)

describe("a guard rail", function()
  it("max_amount is the most one call may move", function()
    local client = assert(client_with { max_amount = { USDT = "10.5" } })
    rejected("max_amount", transfer(client, "10.50000000000000000001"))
    rejected("max_amount", transfer(client, "1", { asset = "XRP" }))
    rejected("max_amount", transfer(client, "11", { asset = "usdt" }))
    rejected("max_amount", client.wallet:convert { asset = "DOGE" })
    nothing_moved()
    assert(transfer(client, "10.500"))
    client = assert(client_with { max_amount = { USDT = "10.5" }, allow_unlisted_assets = true })
    assert(transfer(client, "100", { asset = "XRP" }))
    assert(client.wallet:convert { asset = "DOGE" })
    rejected("max_amount", client.wallet:convert { asset = "DOGE,USDT" })
  end)

  it("addresses says where withdrawals may go", function()
    local client = assert(client_with { addresses = { ADDRESS, { address = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh",
      memo = "77" } } })
    assert(withdraw(client))
    rejected("addresses", withdraw(client, { address = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf" }))
    rejected("addresses", withdraw(client, { coin = "XRP", netWork = "XRP",
      address = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh", memo = "78" }))
    assert(withdraw(client, { coin = "XRP", netWork = "XRP", address = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh",
      memo = "77" }))
    rejected("addresses", client.broker:withdraw { coin = "USDT", network = TRON, address = "Tother", amount = "20" })
  end)

  it("holds with all others, where several sets of rules are given", function()
    local narrow, wide = { max_amount = { USDT = "5" } }, { max_amount = { USDT = "50", XRP = "50" },
      sub_accounts = { "tradingdesk1" } }
    for _, sets in ipairs { { narrow, wide }, { wide, narrow } } do
      local client = assert(client_with(sets))
      rejected("max_amount", transfer(client, "6"))
      rejected("max_amount", transfer(client, "1", { asset = "XRP" }))
      rejected("sub_accounts", transfer(client, "1", { toAccount = "tradingdesk2" }))
      rejected("addresses", withdraw(client, { amount = "1" }))
      assert(transfer(client, "5"))
    end
    rejected("read_only", transfer(assert(client_with { {}, { read_only = true } }), "1"))
  end)

  it("spending_limit is the least of several over one period, and each of several periods", function()
    reopen()
    local client = assert(client_with({ { spending_limit = { USDT = "30" } }, { spending_limit = { USDT = "10" } },
      { no_duplicates = true } }, { journal = journal }))
    assert(transfer(client, "9"))
    rejected("spending_limit", transfer(client, "2"))
    assert(transfer(client, "1"))
    sim:advance(86400000)
    client = assert(client_with({ { spending_limit = { USDT = "9" } },
      { spending_limit = { USDT = { amount = "5", period_ms = 3600000 } } } }, { journal = journal }))
    assert(transfer(client, "5"))
    rejected("spending_limit", transfer(client, "1"))
    sim:advance(3600000)
    assert(transfer(client, "4"))
    rejected("spending_limit", transfer(client, "1"))
  end)

  it("sub_accounts and users say who may take part", function()
    local client = assert(client_with { sub_accounts = { "tradingdesk1" }, recipients = { "zed@mail.example" } })
    assert(transfer(client, "1"))
    rejected("sub_accounts", transfer(client, "1", { toAccount = "tradingdesk2" }))
    rejected("sub_accounts", transfer(client, "1", { fromAccount = "tradingdesk2" }))
    rejected("sub_accounts", client.broker:create_api_key { subAccount = "tradingdesk2", note = "x",
      permissions = "SPOT_DEAL_READ" })
    local params = { toAccountType = "EMAIL", toAccount = "eve@mail.example", asset = "USDT", amount = "1" }
    rejected("recipients", client.wallet:internal_transfer(params))
    params.toAccount = "zed@mail.example"
    local _, err = client.wallet:internal_transfer(params)
    assert.equal("rejected", err.outcome) -- there is no such user, but the guard let it pass
  end)
end)

describe("a spending limit", function()
  local guard = { spending_limit = { USDT = { amount = "100", period_ms = 3600000 } } }
  local client

  before_each(function()
    reopen()
    client = assert(client_with(guard, { journal = journal }))
  end)

  it("is spent to the last unit and no further", function()
    assert(transfer(client, "99.99"))
    rejected("spending_limit", transfer(client, "0.02"))
    assert(transfer(client, "0.01"))
    rejected("spending_limit", transfer(client, "0.000000000000000001"))
  end)

  it("survives a restart, and begins again with the next period", function()
    assert(transfer(client, "60"))
    reopen()
    client = assert(client_with(guard, { journal = journal }))
    rejected("spending_limit", transfer(client, "41"))
    sim:advance(3600000)
    assert(transfer(client, "41"))
  end)

  it("gets back what was certainly not spent", function()
    rejected("spending_limit", transfer(client, "101"))
    local _, err = transfer(client, "100", { toAccount = "nobody01" })
    assert.equal("rejected", err.outcome)
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    _, err = transfer(client, "100")
    assert.equal("unknown", err.outcome)
    rejected("spending_limit", transfer(client, "1")) -- until it is known
    assert.equal("not_done", assert(client:reconcile(err)).outcome)
    assert(transfer(client, "100"))
  end)

  it("is shared by all operations that move the asset, and needs to know how much", function()
    assert(withdraw(client, { amount = "90" }))
    rejected("spending_limit", client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES",
      asset = "USDT",
      amount = "11" })
    rejected("spending_limit", client.wallet:convert { asset = "USDT" })
    rejected("spending_limit", transfer(client, "1", { asset = "XRP" }))
  end)
end)

describe("no_duplicates", function()
  it("lets no second equal move start while the first has no known end", function()
    reopen()
    local client = assert(client_with({ no_duplicates = true }, { journal = journal }))
    assert(transfer(client, "5"))
    assert(transfer(client, "5")) -- the first has ended
    sim:fault { kind = "lost_answer", operation = "transfer" }
    local _, err = transfer(client, "5")
    rejected("no_duplicates", transfer(client, "5"))
    assert(transfer(client, "6"))
    reopen()
    client = assert(client_with({ no_duplicates = true }, { journal = journal }))
    rejected("no_duplicates", transfer(client, "5"))
    assert.equal("done", assert(client:reconcile(err)).outcome)
    assert(transfer(client, "5"))
  end)
end)

describe("a guard that cannot be made", function()
  it("is an error of the configuration", function()
    for expected, guard in pairs { ['did you mean "spending_limit"'] = { spending_limits = {} },
      ["have no journal, and a restart"] = { no_duplicates = true } } do
      local client, err = client_with(guard)
      assert.is_nil(client)
      assert.equal("config", err.kind)
      assert.matches(expected, tostring(err))
    end
  end)
end)
