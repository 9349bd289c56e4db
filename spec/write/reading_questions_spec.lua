-- SPDX-License-Identifier: MIT
-- A reading asks the service for little or much, and finds out how the service spells a sub-account.

local errors = require "purser.client.call.errors"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"

local ID = ("Ab3"):rep(10) .. "Zz"

local function question(operation, params, by_id, spelled)
  return reading.question(operations.by_name[operation].reconcile, params, spelled or {}, by_id)
end

local transfer = { clientTranId = ID, toAccount = "Desk", fromAccountType = "spot", toAccountType = "futures",
  asset = "USDT", amount = "2" }

describe("the question of a list", function()
  it("has every filter where it is narrow, as they were sent", function()
    assert.same({ clientTranId = ID, toAccount = "Desk", fromAccountType = "spot", toAccountType = "futures" },
      question("sub_account.transfer", transfer, true))
    assert.same({}, question("wallet.withdraw", { coin = "usdt" }, true))
  end)

  it("has none that a person may spell in another way where it is broad", function()
    assert.same({ toAccount = "Desk", fromAccountType = "SPOT", toAccountType = "FUTURES" },
      question("sub_account.transfer", transfer))
    assert.same({}, question("wallet.withdraw", { coin = "usdt" }))
    assert.same({ coin = "USDT" }, question("wallet.create_deposit_address", { coin = "usdt" }))
    assert.same({ subAccount = "Desk" }, question("broker.create_api_key", { subAccount = "Desk" }))
  end)

  it("has the service's own spelling of a sub-account, or none where the name is listed nowhere", function()
    assert.equal("desk", question("sub_account.transfer", transfer, false, { toAccount = "desk" }).toAccount)
    assert.is_nil(question("sub_account.transfer", transfer, false, { toAccount = false }).toAccount)
    assert.is_nil(question("sub_account.transfer", transfer, true, { toAccount = false }).toAccount)
  end)

  it("is for the call's own id by each row's filter of the narrow question", function()
    for _, row in ipairs(operations.every) do
      local reconcile = row.reconcile or {}
      assert.same(reconcile.narrow and { reconcile.client_id }, reconcile.narrow, row.full_name)
    end
  end)
end)

describe("the spelling of a sub-account", function()
  -- Asks for "Desk" where the service lists these names: with the filter by that name, and without.
  local function spelling_of(filtered, listed, fields)
    local service = listing_service(function(row, asked)
      assert.equal("sub_account.list_sub_accounts", row.full_name)
      local names, list = asked.subAccount and filtered or listed, {}
      for i, name in ipairs(asked.page == 1 and names or {}) do list[i] = { subAccount = name } end
      return list
    end, fields)
    local function run(...) return service:read(...) end
    return reading.spelling_of(run, "sub_account.list_sub_accounts", "Desk", service.readings), service
  end

  it("is that of the list, and its own where both are there", function()
    assert.equal("Desk", (spelling_of({ "Desk" }, {})))
    assert.equal("desk", (spelling_of({ "desk" }, {})))
    assert.equal("DESK", (spelling_of({}, { "other", "DESK" })))
    assert.equal("Desk", (spelling_of({ "desk", "Desk" }, {})))
    assert.is_false((spelling_of({ "Desk2" }, { "other" })))
  end)

  it("is not asked for again by others who share the readings, for a while, where it is its own", function()
    local shared = reading.share()
    local _, service = spelling_of({ "Desk" }, {}, { readings = shared })
    assert.is_true(service.reads > 0)
    _, service = spelling_of({ "Desk" }, {}, { readings = shared })
    assert.equal(0, service.reads)
    shared = reading.share()
    spelling_of({ "desk" }, {}, { readings = shared })
    _, service = spelling_of({ "desk" }, {}, { readings = shared })
    assert.is_true(service.reads > 0)
  end)

  it("may be refused to a key by two codes", function()
    assert.same({ ["700007"] = true, ["730603"] = true }, reading.MAY_NOT_LIST)
  end)

  it("is an error where the sub-accounts cannot be listed", function()
    local failure = errors.new { kind = "api", outcome = "rejected", code = "700007", message = "no permission" }
    local service = listing_service(function() return nil, failure end)
    local spelled, err = reading.spelling_of(function(...) return service:read(...) end,
      "sub_account.list_sub_accounts", "Desk",
      service.readings)
    assert.same({ nil, failure }, { spelled, err })
  end)
end)
