-- SPDX-License-Identifier: MIT
-- Every write call under every guard rail: what is not allowed is rejected before anything is sent, and what is allowed
-- is sent.

local new = require("recorder").new
local own = require "own_journal"
local purser = require "purser"
local calls = require "write_calls"

local ADDRESS, MEMO_ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
local REJECTION = { status = 400, body = '{"code":10007,"msg":"no such coin"}', headers = "" } -- each copy gets it

local function set(...)
  local names = {}
  for _, name in ipairs { ... } do names[name] = true end
  return names
end

local withdrawals = set("broker.withdraw", "wallet.withdraw", "wallet.withdraw_legacy")
local sub_account_moves = set("broker.transfer", "sub_account.transfer")
local to_users = set "wallet.internal_transfer"
local names_sub_account = {}
for name, params in pairs(calls) do
  for _, value in pairs(params) do names_sub_account[name] = names_sub_account[name] or value == "deskdesk1" or nil end
end
local no_amount = set "wallet.convert"

local function any(...)
  local all = {}
  for _, names in ipairs { ... } do
    for name in pairs(names) do all[name] = true end
  end
  return all
end

local moves = any(withdrawals, sub_account_moves, to_users, no_amount, set "wallet.transfer")

-- Each guard, with the calls above that it rejects; all others are sent.
local guards = {
  { "nothing", {}, {} },
  { "read_only", { read_only = true }, calls },
  { "max_amount that is enough", { max_amount = { USDT = "5" } }, no_amount },
  { "max_amount that is not", { max_amount = { usdt = "4.999999999999999999" } }, moves },
  { "max_amount of another asset", { max_amount = { BTC = "5" } }, moves },
  { "max_amount of another asset, all others free", { max_amount = { BTC = "5" }, allow_unlisted_assets = true }, {} },
  { "spending limit that is enough", { spending_limit = { USDT = "5" } }, no_amount },
  { "spending limit that is not", { spending_limit = { USDT = "4.99" } }, moves },
  { "spending limit of another asset", { spending_limit = { BTC = "5" } }, moves },
  { "spending limit of another asset, all others free", { spending_limit = { BTC = "5" },
    allow_unlisted_assets = true }, {} },
  { "no_duplicates", { no_duplicates = true }, {} },
  { "addresses with the address", { addresses = { ADDRESS } }, any(sub_account_moves, to_users) },
  { "addresses without", { addresses = { MEMO_ADDRESS } }, any(sub_account_moves, to_users, withdrawals) },
  { "no addresses at all", { addresses = {} }, any(sub_account_moves, to_users, withdrawals) },
  { "sub_accounts with the account", { sub_accounts = { "deskdesk1" } }, any(withdrawals, to_users) },
  { "sub_accounts without", { sub_accounts = { "deskdesk2" } }, any(withdrawals, to_users, names_sub_account) },
  { "users with the user", { recipients = { "zed@mail.example" } }, any(withdrawals, sub_account_moves) },
  { "users without", { recipients = { "eve@mail.example" } }, any(withdrawals, sub_account_moves, to_users) },
  { "every destination rule", { addresses = { ADDRESS }, sub_accounts = { "deskdesk1" },
    recipients = { "zed@mail.example" } }, {} },
  { "every destination rule, empty", { addresses = {}, sub_accounts = {}, recipients = {} },
    any(withdrawals, names_sub_account, to_users) },
}

local journal

before_each(function() journal = own.begin() end)
after_each(own.finish)

local function client_with(guard, answer)
  return new({ guard = guard, journal = journal, account = "acme", rate_limit = false },
    answer or function() return REJECTION end)
end

local function call(client, name, params, opts)
  local group, method = name:match "^(.-)%.(.+)$"
  return client[group][method](client[group], params, opts)
end

local function rejected(rule, value, err)
  assert.is_nil(value)
  assert.same({ "argument", "not_sent" }, { err.kind, err.outcome })
  assert.matches("^guard%.", err.code or err.message)
  if rule then assert.equal("guard." .. rule, err.code) end
end

local function passed(value, err)
  assert.is_nil(value)
  assert.equal("rejected", err.outcome, tostring(err))
end

describe("the guard", function()
  it("has a call of every write operation below", function()
    for _, row in ipairs(purser.operations) do
      assert.equal(row.effect ~= "read", calls[row.full_name] ~= nil, row.full_name)
      assert.equal(row.effect == "transfer", moves[row.full_name] ~= nil, row.full_name)
    end
  end)

  for _, entry in ipairs(guards) do
    local what, guard, closed = entry[1], entry[2], entry[3]
    it("of " .. what .. " rejects what it must and nothing else", function()
      local client, transport = client_with(guard)
      for name, params in pairs(calls) do
        local before = #transport.requests
        local value, err = call(client, name, params)
        if closed[name] then rejected(nil, value, err) else passed(value, err) end
        assert.equal(before + (closed[name] and 0 or 1), #transport.requests, name)
      end
      passed(client.wallet:coins())
    end)

    it("of " .. what .. " binds prepared requests alike", function()
      local client = client_with(guard)
      for name, params in pairs(calls) do
        local request, err = client:prepare(name, params)
        if closed[name] then
          rejected(nil, request, err)
        elseif not request then -- what was prepared counts
          rejected(guard.spending_limit and "spending_limit", request, err)
        end
      end
      assert(client:prepare "wallet.coins")
    end)
  end
end)

describe("a payment of a queue", function()
  it("that the guard rejects is listed as failed, or waits for another day, and nothing is sent", function()
    -- each rejected payment is looked for once its record must be visible, and the histories are empty
    local client, transport = new({ guard = { addresses = { ADDRESS }, spending_limit = { USDT = "5" } },
      journal = journal,
      account = "acme", rate_limit = false, recv_window = 1, visibility_delay_ms = 0 }, function(request)
      local empty = request.operation == "wallet.transfer_history" and '{"rows":[],"total":0}' or "[]"
      return request.method == "POST" and REJECTION or { status = 200, body = empty, headers = "" }
    end)
    local payouts = assert(purser.payouts.new { client = client, journal = journal, history_check = "never" })
    for name in pairs(moves) do
      if name ~= "wallet.withdraw" then assert(payouts:add(name, name, calls[name])) end
    end
    local one, other = {}, {}
    for word, value in pairs(calls["wallet.withdraw"]) do one[word], other[word] = value, value end
    one.memo, other.amount = "77", "6"
    assert(payouts:add("memo", "wallet.withdraw", one))
    assert(payouts:add("amount", "wallet.withdraw", other))
    assert(payouts:run())
    local held = assert(payouts:list "waiting") -- above a limit a day: they wait for the next
    for _, payment in ipairs(held) do assert.matches("guard rail spending_limit", payment.message) end
    assert.equal(2, #held)
    assert.equal(7, #assert(payouts:list "failed"))
    for _, payment in ipairs(assert(payouts:list "failed")) do
      local service = payment.message == "no such coin"
      local passes = withdrawals[payment.operation] and payment.key == payment.operation
        or payment.operation == "wallet.transfer"
      assert.equal(passes, service, payment.key .. ": " .. payment.message)
      if not passes then assert.matches("guard rail", payment.message) end
    end
    local posted = 0
    for _, request in ipairs(transport.requests) do posted = posted + (request.method == "POST" and 1 or 0) end
    assert.equal(3, posted)
  end)
end)

describe("parameters that Purser does not know", function()
  local extras = { { coin = "," }, { coin = " " }, { asset = "XRP" }, { amount = "1" }, { amount = "x" },
    { address = ADDRESS }, { memo = "77" }, { addressTag = "77" }, { network = "TRX" }, { toAccount = "deskdesk1" } }

  it("are rejected in write calls of a guarded client, and sent in its reads", function()
    local client, transport = client_with { no_duplicates = true }
    for name, params in pairs(calls) do
      rejected("allow_extra", call(client, name, params, { extra_params = { other = "1" } }))
      rejected("allow_extra", client:prepare(name, params, { extra_params = { other = "1" } }))
    end
    assert.equal(0, #transport.requests)
    passed(client.wallet:withdraw(calls["wallet.withdraw"], { extra_params = {} }))
    client.wallet:coins({}, { extra_params = { other = "1" } })
    assert.equal(2, #transport.requests)
  end)

  it("change no decision where the guard allows them", function()
    for _, rule in ipairs { "max_amount", "spending_limit" } do
      local client, transport = client_with { [rule] = { USDT = "1" }, allow_extra = true }
      for name, params in pairs(calls) do
        for _, extra in ipairs(extras) do
          local ok, value, err = pcall(call, client, name, params, { extra_params = extra })
          assert.is_true(ok, tostring(value))
          if moves[name] then
            assert.is_nil(value)
            assert.is_true(err.code == "guard." .. rule or err.parameter ~= nil, tostring(err))
          end
        end
      end
      for _, request in ipairs(transport.requests) do assert.is_nil(moves[request.operation]) end
    end
  end)

  it("change no destination where the guard allows them", function()
    local client, transport = client_with { addresses = {}, recipients = {}, sub_accounts = {}, allow_extra = true }
    for name, params in pairs(calls) do
      for _, extra in ipairs(extras) do
        if withdrawals[name] or to_users[name] or names_sub_account[name] then
          local value, err = call(client, name, params, { extra_params = extra })
          assert.is_nil(value)
          assert.equal("not_sent", err.outcome, name)
        end
      end
    end
    assert.equal(0, #transport.requests)
  end)
end)

describe("an asset", function()
  it("that a service could read as another is rejected where amounts are limited", function()
    for _, guard in ipairs { { max_amount = { USDT = "1" } }, { max_amount = { USDT = "1" },
      allow_unlisted_assets = true },
      { spending_limit = { USDT = "1" }, allow_unlisted_assets = true } } do
      local client, transport = client_with(guard)
      for _, asset in ipairs { ",", " ", "USDT,", " USDT", "USDT ", "usdt", "U%53DT", "USDT;",
        "U\226\128\139SDT", "\239\188\181SDT" } do
        for name in pairs(moves) do
          local params = {}
          for word, value in pairs(calls[name]) do params[word] = value end
          local word = params.coin and "coin" or "asset"
          params[word] = asset
          local value, err = call(client, name, params)
          assert.is_nil(value)
          assert.equal("not_sent", err.outcome, name .. " " .. asset)
        end
      end
      assert.equal(0, #transport.requests)
    end
  end)
end)

describe("options of a guard", function()
  it("are read once: what becomes of the tables changes no rule", function()
    local addresses, limits = { { address = ADDRESS } }, { USDT = "1" }
    local guard = { addresses = addresses, max_amount = limits }
    local client, transport = client_with(guard)
    limits.USDT, addresses[1].address, addresses[2] = "100", MEMO_ADDRESS, MEMO_ADDRESS
    guard.addresses, guard.max_amount = nil, nil
    rejected("max_amount", call(client, "wallet.withdraw", calls["wallet.withdraw"]))
    rejected("addresses", client.wallet:withdraw { coin = "USDT", address = MEMO_ADDRESS, amount = "1" })
    assert.equal(0, #transport.requests)
  end)
end)
