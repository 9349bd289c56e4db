-- SPDX-License-Identifier: MIT
-- Planned calls: what a room on top may do with calls that stand in the journal before they are sent.

local own = require "own_journal"
local planned = require "purser.write.planned"
local setbacks = require "purser.client.call.setbacks"
local simulated = require "simulated"

local MOVE = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }

describe("a planned call", function()
  local journal

  before_each(function() journal = own.begin() end)
  after_each(own.finish)

  local function insert(key, fields)
    return planned.within(journal, function(tx)
      local columns = planned.columns("wallet.transfer", MOVE, key)
      columns.stage, columns.queue, columns.payment = "waiting", "q", "p"
      for name, value in pairs(fields or {}) do columns[name] = value end
      return planned.insert(tx, columns)
    end)
  end

  it("has one row a key and one row a place in a queue", function()
    assert.is_true(insert("k1", { queue = "q", payment = "p1" }))
    assert.is_false(insert("k1", { queue = "q", payment = "p2" }))
    assert.is_false(insert("k2", { queue = "q", payment = "p1" }))
    assert.is_true(insert("k3", { queue = "r", payment = "p1" }))
  end)

  it("is no entry of the journal before it is sent", function()
    assert(insert("k1", { queue = "q", payment = "p1" }))
    assert.same({}, (assert(journal:entries())))
  end)

  it("has the content of any other spelling of it", function()
    local lower = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "usdt", amount = "1.0" }
    assert.equal(planned.content("wallet.transfer", MOVE), planned.content("wallet.transfer", lower))
  end)

  it("ends in nothing, and says so, where its transaction fails", function()
    local result, err = planned.within(journal, function(tx) return tx:rows "no SQL" end)
    assert.is_nil(result)
    assert.same({ "config", "not_sent", "journal" }, { err.kind, err.outcome, err.phase })
    assert.matches("readable and writable", err.hint)
    assert.is_nil(planned.error("the journal is older than it was; open it again").hint)
    result, err = planned.within(journal, function(tx) tx:reject(planned.error "it must not be") end)
    assert.is_nil(result)
    assert.matches("it must not be", err.message, 1, true)
  end)

  it("is sent by a client that records in its journal, and by no other", function()
    local sim, account = simulated.broker()
    assert.is_true(planned.has_journal(simulated.client(sim, account, { journal = journal, account = "a" }), journal))
    assert.is_false(planned.has_journal(simulated.client(sim, account), journal))
    assert.is_false(planned.has_journal({}, journal))
  end)

  it("was sent too late where the service's code says so, and where it waits long, the wait has words", function()
    assert.same({ true, false, false }, { planned.was_too_late { code = "700003" },
      planned.was_too_late { code = "700004" }, planned.was_too_late(nil) })
    local sim, account = simulated.broker()
    local client, room_ms, left = simulated.client(sim, account), setbacks.room_ms, nil
    finally(function() setbacks.room_ms = room_ms end)
    setbacks.room_ms = function() return left end
    assert.is_nil(planned.wait_text(client))
    left = 999
    assert.is_nil(planned.wait_text(client))
    left = 1000
    assert.matches("1", planned.wait_text(client))
  end)

  it("has an equal call in one without a known end, an undecided one before others", function()
    local function equal() return planned.within(journal, function(tx)
      return planned.equal_call(tx, "wallet.transfer", MOVE, 1700000000000) or false end) end
    assert.is_false(equal())
    local digest = planned.columns("wallet.transfer", MOVE).digest
    own.within(function(tx)
      for i, state in ipairs { "done", "open", "undecided", "unknown" } do
        own.write(tx, "i" .. i, 1700000000000 + i, { state = state, digest = digest })
      end
    end)
    assert.equal("undecided", equal().state)
  end)

  it("has the columns of its operation, and times as its client has them", function()
    local columns = planned.columns("wallet.transfer", MOVE)
    assert.same({ "wallet.transfer", "", "wallet.transfer_history" },
      { columns.operation, columns.key, columns.history })
    assert.equal(planned.content("wallet.transfer", MOVE), columns.content)
    assert.equal("wallet.transfer", planned.operation "wallet.transfer".full_name)
    assert.is_nil(planned.operation "wallet.gift")
    assert.equal("1", planned.check("wallet.transfer", MOVE).amount)
    assert.equal("amount", select(2, planned.check("wallet.transfer", { asset = "USDT", fromAccountType = "SPOT",
      toAccountType = "FUTURES" })).parameter)
    local sim, account = simulated.broker()
    local client = simulated.client(sim, account, { recv_window = 7000, visibility_delay_ms = 2000 })
    assert.same({ 7000, 10000 }, { planned.times(client) })
    assert.same({ 5000, 8000 }, { planned.times(simulated.client(sim, account, { visibility_delay_ms = 2000 })) })
    assert.same({ "7", "8" }, { planned.record_id { tranId = "7", id = "9" }, planned.record_id { id = "8" } })
  end)
end)
