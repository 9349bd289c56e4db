-- SPDX-License-Identifier: MIT
-- An intent keeps what a call is found by; and calls are equal of which each may have made a record that the other
-- looks for.

local core = require "purser.core"
local copy_of = require "copy_of"
local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local withdrawal = { coin = "USDT", network = "Tron(TRC20)", address = "TSample", amount = "12", remark = "rent" }
local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local transfer = { clientTranId = "one", toAccount = "Desk", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "2" }

describe("an intent", function()
  it("keeps what travelled, but no password and no value that the operation does not know", function()
    local values = copy_of(withdrawal, { password = "correct horse", funds_password = "correct horse", timestamp = 5,
      tag = "7" })
    local intent = intents.new(operations.by_name["broker.withdraw"], values, { "tag" }, 1700000000000, 5000, "a", "c")
    assert.same({ operation = "broker.withdraw", params = withdrawal, extra = { "tag" }, sent_at = 1700000000000,
      recv_window = 5000, account = "a", id = "c" }, intent)
    assert.are_not.equal(values, intent.params)
  end)
end)

describe("what names a record", function()
  it("is its id, whatever that is called; an empty one names nothing", function()
    for _, case in ipairs { { { tranId = "t", id = "i" }, "t" }, { { id = "i", apiKey = "k" }, "i" },
      { { apiKey = "k" }, "k" }, { {}, nil }, { { id = "" }, nil } } do
      assert.equal(case[2], intents.id_of(case[1]))
    end
  end)
end)

describe("a record shows a call's id", function()
  it("in any letters' case, as keys that differ in it alone are one", function()
    local call = { operation = "sub_account.transfer", params = transfer }
    for shown, expected in pairs { one = true, ONE = true, ["one "] = false, two = false, [""] = false } do
      assert.equal(expected, intents.shows_id(call, { clientTranId = shown }), shown)
    end
    assert.is_false(intents.shows_id(call, {}))
    assert.is_false(intents.shows_id({ operation = "sub_account.transfer", params = move }, { clientTranId = "one" }))
  end)
end)

describe("two calls", function()
  local function are_equal(name, params, other)
    local row = operations.by_name[name]
    return digests.likeness(row, params) == digests.likeness(row, other)
  end

  it("are equal where a record of one shows all that the other would", function()
    for words, case in pairs {
      ["the same"] = { "wallet.transfer", move, {}, true },
      ["zeros after an amount"] = { "wallet.transfer", move, { amount = "2.00" }, true },
      ["another amount"] = { "wallet.transfer", move, { amount = "2.01" }, false },
      ["an asset in another case"] = { "wallet.transfer", move, { asset = "usdt" }, true },
      ["another asset"] = { "wallet.transfer", move, { asset = "USDC" }, false },
      ["another account"] = { "wallet.transfer", move, { toAccountType = "SPOT" }, false },
      ["what no record shows"] = { "broker.withdraw", withdrawal, { network = "TRX" }, true },
      ["a coin in another case"] = { "broker.withdraw", withdrawal, { coin = "usdt" }, true },
      ["an address in another case"] = { "broker.withdraw", withdrawal, { address = "TSAMPLE" }, true },
      ["another address"] = { "broker.withdraw", withdrawal, { address = "TSimple" }, false },
      ["another remark"] = { "broker.withdraw", withdrawal, { remark = "Rent" }, false },
      ["no remark"] = { "broker.withdraw", withdrawal, { remark = false }, false },
      ["another id of its own"] = { "sub_account.transfer", transfer, { clientTranId = "two" }, true },
      ["no id of its own"] = { "sub_account.transfer", transfer, { clientTranId = false }, true },
      ["an account in another case"] = { "sub_account.transfer", transfer, { toAccount = "desk" }, true },
      ["another name of an account"] = { "sub_account.transfer", transfer, { toAccount = "desk2" }, false },
      ["another user, in another case"] = { "wallet.internal_transfer", { toAccountType = "EMAIL",
        toAccount = "A@b.example", asset = "USDT", amount = "2" }, { toAccount = "a@B.example" }, true },
      ["another kind of user"] = { "wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "1",
        asset = "USDT", amount = "2" }, { toAccountType = "UID" }, false },
      ["another note"] = { "broker.create_api_key", { subAccount = "Desk", note = "a" }, { note = "b" }, false },
    } do
      assert.equal(case[4], are_equal(case[1], case[2], copy_of(case[2], case[3])), words)
    end
  end)

  it("of two operations are equal where both make it in one history", function()
    local function face(name, params) return digests.likeness(operations.by_name[name], params) end
    assert.equal(face("broker.transfer", transfer), face("sub_account.transfer", transfer))
    assert.are_not.equal(face("wallet.transfer", move), face("sub_account.transfer", move))
    local memo = { coin = "XRP", netWork = "XRP", contractAddress = "c", address = "rSample", memo = "7", amount = "1" }
    local old = { coin = "xrp", network = "Ripple(XRP)", address = "rSample", memo = "7", amount = "1.0",
      withdrawOrderId = "other" }
    local behind = { coin = "XRP", network = "XRP", address = "rSample:7", amount = "1" }
    assert.equal(face("wallet.withdraw", memo), face("wallet.withdraw_legacy", old))
    assert.equal(face("wallet.withdraw", memo), face("broker.withdraw", behind))
    for name, value in pairs { coin = "XLM", address = "rSimple", memo = "8", amount = "2", remark = "rent" } do
      assert.are_not.equal(face("wallet.withdraw", memo),
        face("wallet.withdraw_legacy", copy_of(old, { [name] = value })), name)
    end
  end)

  it("have one content under a key where all but the id is alike, however amount and coin are written", function()
    local function is_one(name, params, fields)
      local row = operations.by_name[name]
      return digests.content(row, params) == digests.content(row, copy_of(params, fields))
    end
    assert.is_true(is_one("wallet.transfer", move, { amount = "2.0", asset = "usdt" }))
    assert.is_true(is_one("sub_account.transfer", transfer, { clientTranId = "two" }))
    assert.is_false(is_one("wallet.transfer", move, { amount = "2.1" }))
    assert.is_false(is_one("broker.withdraw", withdrawal, { network = "TRX" })) -- though no record shows it
  end)

  it("are not equal for texts that run together", function()
    assert.is_false(are_equal("broker.create_api_key", { subAccount = "a", note = "b\n10:subAccount=1:c" },
      { subAccount = "c", note = "b" }))
    assert.is_false(are_equal("broker.create_api_key", { note = "a", permissions = "b" }, { note = "ab" }))
  end)
end)

describe("ids of calls", function()
  it("are all different", function()
    local seen = {}
    for _ = 1, 4 do
      local id = assert(intents.new_id())
      assert.matches("^%w+$", id)
      assert.is_nil(seen[id])
      seen[id] = true
    end
  end)

  it("are not made where no random text can be made", function()
    local random_token = core.random_token
    finally(function() core.random_token = random_token end)
    core.random_token = function() return nil, "no entropy" end
    assert.same({ nil, "no entropy" }, { intents.new_id() })
  end)
end)

-- An earlier attempt's record that only agrees by content may be the later attempt's.
describe("an end that a process reports of an earlier attempt", function()
  local function judge(later, ending)
    return intents.judge_end({ state = "not_done" }, later, ending, function() return false end)
  end

  it("is over where a record agrees by content alone", function()
    assert.same({ is_over = true }, judge(1, { state = "done", record_id = "r1", answered = false }))
  end)

  it("is not over, and does not count, where the record is the call's own by answer or id", function()
    assert.same({}, judge(1, { state = "done", record_id = "r1", answered = true }))
  end)

  it("counts where no later attempt was made", function()
    assert.same({ counts = true }, judge(0, { state = "done", record_id = "r1", answered = false }))
  end)
end)
