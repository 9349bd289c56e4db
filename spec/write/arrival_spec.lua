-- SPDX-License-Identifier: MIT
-- The state that the record of an accepted call shows later is kept beside the call. The history is read for the
-- state at most once a minute, by all programs of a journal together.

local arrival = require "purser.write.arrival"
local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

describe("the word of a record", function()
  it("has a word for each state, and accepted for all that is no end", function()
    for status, word in pairs { [7] = "sent", [8] = "failed", [9] = "cancelled", [1] = "accepted", [3] = "accepted",
      ["7"] = "sent", SUCCESS = "sent", FAILED = "failed", WAIT = "accepted", odd = "accepted" } do
      assert.equal(word, arrival.word { status = status })
    end
    assert.equal("accepted", arrival.word {})
  end)
end)

describe("a later look at an accepted call", function()
  local sim, client, journal

  before_each(function()
    journal = own.begin()
    local account
    sim = purser.sim.new { seed = 61 }
    account = assert(sim:account { role = "main", balances = { USDT = "1000" } })
    client = simulated.client(sim, account, { journal = journal, account = "treasury", retry = false })
  end)

  after_each(own.finish)

  local function pay(key, amount)
    local made = assert(client.wallet:withdraw({ coin = "USDT", netWork = "TRX", address = ADDRESS,
      amount = amount or "20" }, { key = key }))
    return made.id, function() return journal:entries { key = key }[1] end
  end

  local function reads() return simulated.counted(sim, "wallet.withdrawal_history", "received") end

  it("reads once a minute at most, and no more after an end", function()
    local id, entry = pay "inv-1"
    assert.is_nil(entry().arrival)
    assert.equal("accepted", arrival.look(client, journal, entry()))
    assert.equal("accepted", entry().arrival)
    assert(sim:set_withdrawal(id, 7))
    local before = reads()
    sim:advance(59000)
    assert.equal("accepted", arrival.look(client, journal, entry()))
    assert.equal(before, reads())
    sim:advance(1000)
    local other = assert(purser.journal.open { sqlite = own.path })
    assert.same({ "sent", "sent" }, { arrival.look(client, other, entry()), entry().arrival })
    other:close()
    before = reads()
    sim:advance(120000)
    assert.equal("sent", arrival.look(client, journal, entry()))
    assert.equal(before, reads())
  end)

  it("is not taken away by a clock that goes back", function()
    local id, entry = pay "inv-1"
    arrival.look(client, journal, entry())
    assert(sim:set_withdrawal(id, 8))
    journal.db:rows("UPDATE purser_arrivals SET looked_at = $1", own.time_text(sim:now() + 3600000))
    assert.equal("failed", arrival.look(client, journal, entry()))
  end)

  it("says the error of a history that cannot be read, and asks again in a minute", function()
    local id, entry = pay "inv-1"
    assert(sim:set_withdrawal(id, 9))
    sim:fault { kind = "reject", code = "700", message = "no", operation = "wallet.withdrawal_history" }
    local word, err = arrival.look(client, journal, entry())
    assert.same({ nil, "700" }, { word, err and err.code })
    assert.equal("accepted", arrival.look(client, journal, entry()))
    sim:advance(60000)
    assert.equal("cancelled", arrival.look(client, journal, entry()))
  end)

  it("is an error where the journal cannot be read, and no reading of the service", function()
    local _, entry = pay "inv-1"
    local kept, before = entry(), reads()
    journal:close()
    local word, err = arrival.look(client, journal, kept)
    assert.same({ nil, "journal" }, { word, err and err.phase })
    assert.equal(before, reads())
  end)

  it("is accepted where no history shows the call", function()
    own.within(function(tx) own.write(tx, "odd", 1700000000000, { operation = "wallet.withdraw" }) end)
    assert.equal("accepted", arrival.look(client, journal, journal:entries { id = "odd" }[1]))
  end)

  it("keeps what others saw: a wait, or whoever reads the history", function()
    local id, entry = pay "inv-1"
    assert(sim:set_withdrawal(id, 8))
    assert.is_nil(client.wallet:wait_withdrawal(id))
    assert.equal("failed", entry().arrival)
    arrival.note(journal, { id = id, status = 3 }, sim:now()) -- no end: a page that is late
    assert.equal("failed", entry().arrival)
    arrival.note(journal, { id = id, status = 7 }, sim:now())
    assert.equal("sent", entry().arrival)
    arrival.note(journal, { id = "another", status = 7 }, sim:now())
    arrival.note(nil, { id = id, status = 7 }, sim:now())
    assert.equal(1, #journal.db:rows "SELECT call FROM purser_arrivals")
  end)

  it("keeps nothing of a record that is the call's no longer", function()
    local id, entry = pay "inv-1"
    arrival.note(journal, { id = id, status = 7 }, sim:now())
    journal.db:rows "UPDATE purser_calls SET record_id = 'other'"
    assert.is_nil(entry().arrival)
    assert.equal("accepted", arrival.look(client, journal, entry()))
    journal.db:rows "UPDATE purser_calls SET state = 'unknown'"
    assert.is_nil(entry().arrival)
  end)

  it("goes with its call", function()
    local at = sim:now() - 400 * 86400000
    own.within(function(tx)
      for _, key in ipairs { "", "kept" } do
        own.write(tx, "id" .. key, at, { operation = "wallet.withdraw", key = key })
        own.arrived(tx, "id" .. key, "sent")
      end
    end)
    assert(journal:prune { before = at + 1 })
    assert.same({ { call = "idkept" } }, (journal.db:rows "SELECT call FROM purser_arrivals"))
  end)
end)
