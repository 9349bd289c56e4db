-- SPDX-License-Identifier: MIT
-- The service's own book of withdrawal addresses, and its list of coins, where a rule of the policy asks for them.

local at = require "payouts_setting"
local core = require "purser.core"
local policies = require "policies"
local ssh_keys = require "ssh_keys"

local PAYEE, OTHER = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD", "TMQxETRvJYfvnH498Xd3ALapE6ZeWzsh6s"
local MEMO = { coin = "XRP", network = "XRP", address = "rMQ98K56yXJbDGv49ZSmW51sLn94Xe1mu1", memo = "7" }
local MINUTE = 60000

local monotonic_ms, log, is_down, coins = core.monotonic_ms, {}, false, nil

-- Begins a service with the book of two addresses, and a client under these rules.
local function begin(list)
  policies.begin(at, { rules = list })
  for _, saved in ipairs { { coin = "USDT", network = "TRX", address = PAYEE }, MEMO } do
    assert(at.sim:save_address { account = at.account.uid, coin = saved.coin, network = saved.network,
      address = saved.address, memo = saved.memo })
  end
  log, is_down = {}, false
  at.client = at.client_with { policy = at.policy, retry = false, transport = at.transport(function(request, inner)
    local is_book = request.target:find("withdraw/address", 1, true)
    local word = is_book and "book" or request.target:find("config/getall", 1, true) and "coins" or "call"
    if word == "call" or word ~= log[#log] then log[#log + 1] = word end -- reads are tried again
    if word == "coins" and coins then return coins end
    if is_book and is_down then return { status = 500, body = "", headers = "" } end
    return inner:send(request)
  end) }
end

local function withdraw(more)
  local params = { coin = "USDT", netWork = "TRX", amount = "20", address = PAYEE }
  for name, value in pairs(more or {}) do params[name] = value end
  return at.client.wallet:withdraw(params)
end

-- The parameters that withdraw to the address with a memo, with that one or another.
local function with_memo(memo)
  return { coin = "XRP", netWork = "XRP", address = MEMO.address, memo = memo }
end

local function refused(value, err)
  assert.is_nil(value)
  assert.equal("approval.rule", err.details.code, err.message)
  return err
end

local allow_all = { name = "all", effect = "allow", approvals = {} }
local saved_only = { name = "saved-only", effect = "forbid", when = { operation = "withdrawals" },
  unless = { { saved = true } } }

after_each(function()
  core.monotonic_ms = monotonic_ms
  policies.finish(at)
end)
teardown(ssh_keys.remove)

describe("the service's book of addresses", function()
  it("is asked where a rule does, by the name of a network that withdrawals want", function()
    begin { allow_all, saved_only }
    assert(withdraw())
    local _, err = withdraw(with_memo "7")
    assert.equal("rejected", err.outcome) -- by the service: the account has no such coins
    for _, more in ipairs { { address = OTHER }, with_memo(), with_memo "8", { memo = "7" },
      { netWork = "ETH" }, { netWork = "Optimism(TRC20)" }, { address = PAYEE:lower() },
      { contractAddress = "0x1" } } do
      assert.same({ "saved-only" }, refused(withdraw(more)).details.rules)
    end
    assert.same({ "coins", "book", "call", "call" }, log)
  end)

  it("does not let through by another spelling what it would forbid", function()
    begin { allow_all, { name = "no-saved", effect = "forbid", when = { saved = true } } }
    for _, more in ipairs { {}, with_memo "7", with_memo(), { memo = "7" }, { netWork = "ETH" },
      { address = PAYEE:lower() } } do
      refused(withdraw(more))
    end
    assert(withdraw { address = OTHER })
  end)

  it("has a network by each of its names", function()
    begin { allow_all, saved_only }
    for _, name in ipairs { "Tron(TRC20)", "TRC20", "trx" } do
      local ok, err = withdraw { netWork = name }
      assert.truthy(ok or err.code ~= "guard.approval", name)
    end
  end)

  it("is read once in ten minutes, and again at once where that failed", function()
    begin { { name = "saved", effect = "allow", when = { saved = true }, approvals = {} } }
    local now = monotonic_ms()
    function core.monotonic_ms() return now end
    is_down = true
    refused(withdraw())
    refused(withdraw())
    is_down = false
    assert(withdraw())
    now = now + 10 * MINUTE - 1
    assert(withdraw())
    assert.same({ "coins", "book", "call", "call" }, log)
    is_down, now = true, now + 1
    refused(withdraw()) -- an old book is none
  end)

  it("is not asked for what pays no address, nor where no rule asks for it", function()
    begin { allow_all, saved_only }
    assert(at.client:call("wallet.transfer", at.own "1"))
    assert.same({ "call" }, log)
    policies.finish(at)
    begin { allow_all }
    assert(withdraw { address = OTHER })
    assert.same({ "call" }, log)
  end)

  it("does not hold a payment for good where it cannot be read", function()
    begin { allow_all, saved_only }
    is_down = true
    assert.equal(10 * MINUTE, refused(withdraw()).details.due_in)
    is_down = false
    assert.is_nil(refused(withdraw { address = OTHER }).details.due_in) -- that waits for a person
  end)
end)

describe("the service's list of coins", function()
  -- Returns whether a policy with a rule about a network lets a withdrawal through.
  local function passes(effect, network, called)
    begin { { name = "that", effect = effect, when = { network = network },
      approvals = effect == "allow" and {} or nil },
      effect == "forbid" and allow_all or nil }
    local ok, err = withdraw { netWork = called, coin = "ETH", address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }
    return ok ~= nil or err.code ~= "guard.approval"
  end

  it("tells a network that not everybody knows, and is asked for no other", function()
    assert.is_true(passes("allow", "TRX", "TRC20"))
    assert.is_false(passes("forbid", "TRX", "TRC20"))
    assert.is_true(passes("forbid", "TRX", "ERC20"))
    assert.same({ "call" }, log)
    assert.is_false(passes("allow", "TRX", "NEW"))
    assert.same({ "coins" }, log)
    assert.is_false(passes("forbid", "TRX", "NEW"))
    coins = { status = 200, headers = "", body = '[{"coin":"ETH","networkList":[{"netWork":"NEW","network":"N(N1)"},'
      .. '{"netWork":"TRX","network":"Tron(TRC20)"}]}]' }
    assert.is_true(passes("forbid", "TRX", "N1"))
    assert.is_true(passes("allow", "NEW", "N1"))
    assert.is_false(passes("forbid", "NEW", "N1"))
    coins = { status = 500, headers = "", body = "" }
    assert.is_false(passes("forbid", "TRX", "N1"))
    assert.is_false(passes("allow", "NEW", "N1"))
    coins = nil
  end)
end)
