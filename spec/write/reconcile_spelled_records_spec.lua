-- SPDX-License-Identifier: MIT
-- Records that a service shows in another way than the document: they are not proof that the call was not executed.

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
local ID = ("Ab3"):rep(10) .. "Zz"

local calls = {
  ["wallet.transfer"] = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "0.3" },
  ["wallet.internal_transfer"] = { toAccountType = "UID", toAccount = "1", asset = "USDT", amount = "0.3" },
  ["wallet.withdraw"] = { coin = "USDT", address = ADDRESS, amount = "0.3", withdrawOrderId = ID },
  ["sub_account.transfer"] = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "0.3" },
}

-- Reconciles a call long after it was made, whose history shows one record: the call's content with other members.
local function reconciled(operation, requested, shown)
  local row = operations.by_name[operation]
  local record = { tranId = "t1", id = "t1", [row.reconcile.time_member] = NOW + 400 }
  local params = {}
  for name, value in pairs(calls[operation]) do params[name], record[name] = value, value end
  for name, value in pairs(requested) do params[name], record[name] = value, value end
  for name, value in pairs(shown) do record[name] = value or nil end
  return assert(reconcile.reconcile(listing_service(function(through, asked)
    return page_of(through, { record }, row.reconcile.time_member, asked)
  end), { operation = operation, params = params, sent_at = NOW, recv_window = 5000 }))
end

local function check(operation, requested, shown, outcome)
  local answer = reconciled(operation, requested, shown)
  assert.are.equal(outcome, answer.outcome, operation .. ": " .. tostring(answer.reason))
end

local matched = { "wallet.transfer", "wallet.internal_transfer" }

describe("a record of a call without an id leaves it undecided", function()
  local function undecided(requested, shown)
    for _, operation in ipairs(matched) do check(operation, requested, shown, "undecided") end
  end

  it("where the amount has the sign of what leaves the account", function() undecided({}, { amount = "-0.3" }) end)

  it("where the amount has the wrong last digits of binary floating point", function()
    undecided({}, { amount = "0.30000000000000004" })
    undecided({ amount = "5000" }, { amount = "4999.9999999999991" })
    undecided({ amount = "999999999999999999" }, { amount = "1000000000000000000" })
  end)

  it("where the asset has blanks around it, or its network after it", function()
    undecided({}, { asset = " USDT " })
    undecided({}, { asset = "USDT-TRX" })
  end)

  it("where a kind of account has a name that no document has", function()
    check("wallet.transfer", {}, { toAccountType = "CONTRACT" }, "undecided")
  end)
end)

describe("a record of other content", function()
  it("leaves a call undecided where no witness proves the difference", function()
    for _, operation in ipairs(matched) do
      check(operation, {}, { amount = "-0.4" }, "undecided")
      check(operation, {}, { amount = "0.30000000000400004" }, "undecided")
      check(operation, {}, { asset = "BTC" }, "undecided")
    end
    check("wallet.transfer", {}, { fromAccountType = "FUTURES", toAccountType = "SPOT" }, "undecided")
    check("wallet.withdraw", {}, { withdrawOrderId = false, address = "TQrY****4STx" }, "undecided")
  end)

  it("leaves it not executed where coin and amount differ beyond any fee", function()
    for _, operation in ipairs(matched) do check(operation, {}, { amount = "0.7", asset = "BTC" }, "not_done") end
  end)
end)

describe("a withdrawal's record without an id leaves it undecided", function()
  for _, shown in ipairs { "TQrY****4STm", "TQrY...4STm", "tqry8t*", "*****" } do
    it("where it shows the address as " .. shown, function()
      check("wallet.withdraw", {}, { withdrawOrderId = false, address = shown }, "undecided")
    end)
  end
end)

it("A record with the call's id and its address hidden in part is the call's", function()
  check("wallet.withdraw", {}, { address = "TQrY****4STm" }, "done")
end)

describe("a transfer whose record says in other words that it failed", function()
  for _, status in ipairs { "failed", "FAIL", "REJECTED", "CANCELED", "ERROR", "REFUNDED" } do
    it("is undecided: " .. status, function()
      check("sub_account.transfer", {}, { status = status }, "undecided")
      check("wallet.transfer", {}, { status = status }, "undecided")
    end)
  end

  it("is done where it is under way or succeeded, and not executed where it is FAILED", function()
    for status, outcome in pairs { PROCESSING = "done", SUCCESS = "done", FAILED = "not_done" } do
      check("sub_account.transfer", {}, { status = status }, outcome)
      check("wallet.transfer", {}, { status = status }, outcome)
    end
  end)
end)
