-- SPDX-License-Identifier: MIT
-- Events without a request, and the mistakes in what a program asks for.

local purser = require "purser"
local signed = require "signed"

local get, rejection, free = signed.get, signed.rejection, signed.free

describe("the simulator's world", function()
  local sim, house, main

  before_each(function()
    sim = purser.sim.new { seed = 2 }
    house = assert(sim:account { role = "broker", name = "House", balances = { USDT = "10" },
      email = "house@mail.example", mobile = "86139" })
    main = assert(sim:account { role = "main", balances = { USDT = "10" } })
  end)

  it("says what is wrong with what the world is given", function()
    for _, call in ipairs {
      { "account", { roll = "main" }, 'did you mean "role"' },
      { "account", { role = "king" }, 'is "king"; it must be one of broker, main' },
      { "account", { balances = { USDT = "-1" } }, "balance of USDT" },
      { "account", { balances = "all" }, '"balances" is a string; it must be a table' },
      { "account", { name = 5 }, '"name" is a number; it must be a string' },
      { "account", { uid = "1/SPOT" }, "letters and digits" }, { "account", { uid = main.uid }, "uid is taken" },
      { "account", { email = "HOUSE@mail.example" }, "email is taken" },
      { "account", { mobile = "86139" }, "mobile is taken" },
      { "account", { funds_password = "secret" }, "MD5" }, { "account", { parent = house.uid }, 'role = "sub"' },
      { "account", { role = "sub", parent = house.uid }, "needs a name" },
      { "account", { role = "sub" }, "needs its parent" },
      { "account", { balances = { "5" } }, "under the coin's name" },
      { "account", { balances = { USDT = 5 } }, "text" },
      { "account", { ip = { {} } }, "ip must be a list" },
      { "account", { permissions = { a = "x" } }, "a list of texts" },
      { "account", { futures_balances = { USDT = "x" } }, "text" },
      { "account", { parent = 5 }, "it must be a string or table" }, { "account", "king", "give a table" },
      { "account", { api_key = "short" }, "8 to 64" }, { "account", { api_key = main.api_key }, "is taken" },
      { "deposit", { account = main.uid, time = "soon" }, "it must be a time in epoch milliseconds" },
      { "deposit", { account = main.uid, time = 1.5 }, "epoch milliseconds" },
      { "deposit", { account = main.uid, address = "T", coin = "USDT", network = "TRX", amount = "1" }, "not both" },
      { "deposit", { coin = "USDT", network = "TRX", amount = "1" }, "belongs to no account" },
      { "deposit", { account = main.uid, coin = "USDT", network = "TRX", amount = "0" }, "positive" },
      { "deposit", { account = main.uid, coin = "USDT", network = "TRX", amount = "1", time = 1800000000000 },
        "future" },
      { "save_address", { account = main.uid, coin = "USDT", network = "TRX" }, "needs an address" },
      { "save_address", { account = "nobody" }, "no account" },
      { "freeze", {}, "no account" },
      { "rebate", { account = main.uid, asset = "USDT", amount = "1" }, "only a broker" },
      { "rebate", { account = house.uid, asset = "USDT", amount = 1 }, "text of an amount" },
      { "rebate", { account = house.uid, amount = "1" }, "needs an asset" },
      { "rebate", { account = main.uid, time = -1 }, "epoch milliseconds" },
      { "account", { role = "sub", parent = "nobody", name = "x" }, "parent" },
      { "deposit", { account = "nobody", coin = "USDT", network = "TRX", amount = "1" }, "no account" },
      { "deposit", { account = main.uid, coin = "USDT", network = "TRX", amount = 1.5 }, "text" },
      { "deposit", { account = main.uid, coin = "NOPE", network = "TRX", amount = "1" }, "does not exist" },
    } do
      local done, message = sim[call[1]](sim, call[2])
      assert.is_nil(done, call[3])
      assert.is_truthy(message:find(call[3], 1, true), message)
    end
  end)

  it("is as it was before when an account cannot be opened", function()
    local before = sim:snapshot()
    for _, fields in ipairs {
      { balances = { USDT = "5" }, futures_balances = { USDT = "-1" } },
      { balances = { USDT = "5" }, api_key = "short" }, { balances = { USDT = "5" }, email = "house@mail.example" },
    } do assert.is_nil((sim:account(fields))) end
    assert.same(before, sim:snapshot())
  end)

  it("has accounts with what they are opened with", function()
    local desk = assert(sim:account { role = "sub", parent = { name = "House" }, name = "desk0001",
      balances = { USDT = "7.10" }, futures_balances = { BTC = "0.5" },
      permissions = { "SPOT_DEAL_READ", "SPOT_TRANSFER_READ" }, ip = { "127.0.0.1", "192.0.2.7" },
      api_key = "mx0ofMyOwnChoice", secret_key = "s" })
    assert.same({ "7.1", "0.5" }, { free(sim, desk, "USDT"), free(sim, desk, "BTC", "FUTURES") })
    local key = sim.keys.by_id.mx0ofMyOwnChoice
    assert.same({ "SPOT_DEAL_READ,SPOT_TRANSFER_READ", "127.0.0.1,192.0.2.7", "s" },
      { key.permissions, key.ip, key.secret_key })
    local shown = sim:state().accounts[3]
    assert.same({ desk.uid, "sub", "desk0001", house.uid, false },
      { shown.uid, shown.role, shown.name, shown.parent, shown.frozen })
    assert(sim:verify())
  end)

  it("checks a funds password whatever the case of its digits", function()
    local desk = assert(sim:account { role = "sub", parent = house.uid, name = "desk0001", balances = { USDT = "50" },
      funds_password = ("AB"):rep(16) })
    local payment = { coin = "USDT", network = "Tron(TRC20)", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      amount = "10", password = ("ab"):rep(16) }
    assert(get(sim, desk, "A12", payment))
    payment.password = ("ac"):rep(16)
    assert.equal("730002", rejection(sim, desk, "A12", payment))
  end)

  it("freezes and thaws by name, uid and account, and rejects what is neither true nor false", function()
    for _, form in ipairs { "House", house.uid, house, { name = "House" } } do
      assert.is_true(assert(sim:freeze "House").frozen)
      assert.is_false(assert(sim:freeze(form, false)).frozen)
    end
    assert.matches('"frozen" is a string', select(2, sim:freeze("House", "no")), 1, true)
    assert(get(sim, house, "A3"))
  end)

  it("lets a deposit arrive at an address or an account, now or before, also when the time is a float", function()
    local at = sim:now() - 86400000 + 0.0
    local early = assert(sim:deposit { account = "House", coin = "USDT", network = "Tron(TRC20)", amount = "3.10",
      time = at, tx_id = "ab" })
    assert.same({ 5, "3.1", "ab" }, { early.status, early.amount, early.txId })
    assert.equal("13.1", free(sim, house, "USDT"))
    assert(sim:deposit { address = early.address, coin = "USDT", network = "TRX", amount = "2" })
    sim:advance(3600000)
    assert.equal("15.1", free(sim, house, "USDT"))
    assert.equal(at, get(sim, house, "C4")[2].insertTime)
  end)
end)
