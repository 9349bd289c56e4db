-- SPDX-License-Identifier: MIT
-- Payments that are undecided for want of a later answered call: the next run asks again by itself.

local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

describe("a payment that awaits a later answered call", function()
  local path, journal, sim, client, payouts

  before_each(function()
    path = files.path_in_memory()
    sim = purser.sim.new { seed = 5 }
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    journal = assert(purser.journal.open { sqlite = path })
    client = simulated.client(sim, account, { journal = journal, account = "treasury", rate_limit = false,
      retry = false })
    payouts = assert(purser.payouts.new { client = client, journal = journal, history_check = "never" })
    assert(payouts:add("p1", "sub_account.transfer", simulated.transfer "1"))
    assert(payouts:run())
  end)
  after_each(function()
    journal:close()
    files.remove_database(path)
  end)

  local function leave_undecided(why)
    assert(journal.db:rows("UPDATE purser_calls SET state = 'undecided', stage = 'undecided', record_id = '', "
      .. "record = '', answered = '', why = $1 WHERE payment = 'p1'", why))
  end

  local function state() return assert(payouts:list())[1].state end

  local function pay_later()
    sim:advance(1000)
    assert(client.sub_account:transfer(simulated.transfer "2"))
    sim:advance(120000)
  end

  it("is asked about by the next run, once a later call was answered", function()
    leave_undecided "next"
    assert(payouts:run())
    assert.equal("undecided", state())
    pay_later()
    assert(payouts:run())
    assert.equal("done", state())
    assert.equal(2, simulated.counted(sim, "sub_account.transfer", "received"))
  end)

  it("is left to a person where a later call would tell nothing", function()
    leave_undecided ""
    pay_later()
    assert(payouts:run())
    assert.equal("undecided", state())
  end)
end)
