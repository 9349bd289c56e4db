-- SPDX-License-Identifier: MIT
-- What a look asks the service for, narrow and broad, and how the service spells a sub-account.

local errors = require "purser.call.errors"
local listing_service = require "listing_service"
local operations = require "purser.api.operations"
local queries = require "purser.write.reconcile.queries"
local readings = require "purser.write.reconcile.readings"

local ID = ("Ab3"):rep(10) .. "Zz"

local function look_at(operation, params, fields)
  local look = { reconcile = operations.by_name[operation].reconcile, intent = { params = params }, spelled = {} }
  for name, value in pairs(fields or {}) do look[name] = value end
  return look
end

local transfer = { clientTranId = ID, toAccount = "Desk", fromAccountType = "spot", toAccountType = "futures",
  asset = "USDT", amount = "2" }

describe("the question of a look", function()
  it("has every filter where it is narrow, as they were sent", function()
    assert.same({ clientTranId = ID, toAccount = "Desk", fromAccountType = "spot", toAccountType = "futures" },
      queries.ask(look_at("sub_account.transfer", transfer), true))
    assert.same({ coin = "usdt" }, queries.ask(look_at("wallet.withdraw", { coin = "usdt" }), true))
  end)

  it("has none that a person may spell in another way where it is broad", function()
    assert.same({ toAccount = "Desk", fromAccountType = "SPOT", toAccountType = "FUTURES" },
      queries.ask(look_at("sub_account.transfer", transfer), false))
    assert.same({}, queries.ask(look_at("wallet.withdraw", { coin = "usdt" }), false))
    assert.same({ coin = "USDT" }, queries.ask(look_at("wallet.create_deposit_address", { coin = "usdt" })))
    assert.same({ subAccount = "Desk" }, queries.ask(look_at("broker.create_api_key", { subAccount = "Desk" })))
  end)

  it("has the service's own spelling of a sub-account, or none where the name is listed nowhere", function()
    local look = look_at("sub_account.transfer", transfer, { spelled = { toAccount = "desk" } })
    assert.equal("desk", queries.ask(look, false).toAccount)
    look.spelled.toAccount = false
    assert.is_nil(queries.ask(look, false).toAccount)
    assert.is_nil(queries.ask(look, true).toAccount)
  end)

  it("is the same in both ways where the broad one leaves out and changes nothing", function()
    assert.is_false(queries.are_same(look_at("sub_account.transfer", transfer)))
    assert.is_true(queries.are_same(look_at("broker.create_api_key", { subAccount = "Desk" })))
    assert.is_true(queries.are_same(look_at("wallet.transfer", { fromAccountType = "SPOT" })))
    assert.is_false(queries.are_same(look_at("wallet.transfer", { fromAccountType = "spot" })))
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
    return queries.spelling_of(look_at("sub_account.transfer", transfer, { service = service }), "Desk"), service
  end

  it("is that of the list, and its own where both are there", function()
    assert.equal("Desk", (spelling_of({ "Desk" }, {})))
    assert.equal("desk", (spelling_of({ "desk" }, {})))
    assert.equal("DESK", (spelling_of({}, { "other", "DESK" })))
    assert.equal("Desk", (spelling_of({ "desk", "Desk" }, {})))
    assert.is_false((spelling_of({ "Desk2" }, { "other" })))
  end)

  it("is not asked for again by others who share the readings, for a while, where it is its own", function()
    local shared = readings.new()
    local _, service = spelling_of({ "Desk" }, {}, { readings = shared })
    assert.is_true(service.reads > 0)
    _, service = spelling_of({ "Desk" }, {}, { readings = shared })
    assert.equal(0, service.reads)
    shared = readings.new()
    spelling_of({ "desk" }, {}, { readings = shared })
    _, service = spelling_of({ "desk" }, {}, { readings = shared })
    assert.is_true(service.reads > 0)
  end)

  it("is an error where the sub-accounts cannot be listed", function()
    local failure = errors.new { kind = "api", outcome = "rejected", code = "700007", message = "no permission" }
    local service = listing_service(function() return nil, failure end)
    local spelled, err = queries.spelling_of(look_at("sub_account.transfer", transfer, { service = service }), "Desk")
    assert.same({ nil, failure }, { spelled, err })
  end)
end)
