-- SPDX-License-Identifier: MIT
-- What a journal knows of other calls: which can have made a record as well, and when those were sent whose records are
-- known. By these a look can show, after a restart too, that a history counts time as its clock does.

local intents = require "purser.write.intent"
local json = require "purser.json"
local operations = require "purser.api.operations"
local purser = require "purser"
local simulated = require "simulated"

local OPERATION, HISTORY = "sub_account.transfer", "sub_account.transfer_history"

local sim, account, path, journal, client

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal,
    account = "treasury" })
end

local function restart()
  client:close()
  journal:close()
  open()
end

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" } })
  open()
end)

after_each(function()
  client:close()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
end)

local function move(amount, id)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = id }))
end

local function received() return simulated.counted(sim, HISTORY, "received") end

describe("a look after a restart", function()
  -- Makes so many transfers, a second apart, and looks for one that never arrived. Returns how often it asked.
  local function requests(count, outcome)
    for i = 1, count do
      assert(move(("1.%05d"):format(i)))
      sim:advance(1000)
    end
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    local _, err = move "2"
    assert.equal("unknown", err.outcome)
    local before = received()
    restart()
    assert.equal(outcome or "not_done", assert(client:reconcile(err.intent)).outcome)
    return received() - before
  end

  it("asks for the window of the call alone, however long its history is", function()
    local few = requests(60)
    assert.equal(few, requests(700))
  end)

  it("asks for the hours around it where the journal knows none of its records", function()
    local known = requests(60)
    client:close()
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
    open()
    assert.is_true(requests(0, "undecided") > known) -- nobody claims the records of the other journal
  end)
end)

describe("a record is known", function()
  local function known(operation, first, last)
    return assert(journal:known_records(client:account(), operation or OPERATION, first or sim:now() - 60000,
      last or sim:now() + 60000, 5000))
  end

  it("with when the call was sent that made it", function()
    local at = sim:now()
    local made = assert(move "1")
    assert.same({ [made.tranId] = at }, known())
  end)

  it("only of the account, of the operation, and near either end of the window", function()
    local made = assert(move "1")
    assert.is_nil(next(known "wallet.transfer"))
    assert.is_nil(next(assert(journal:known_records("other", OPERATION, sim:now() - 60000, sim:now() + 60000,
      5000))))
    local hour = 3600000
    assert.is_nil(next(known(nil, sim:now() - hour, sim:now() + hour)))
    assert.is_nil(next(known(nil, sim:now() + 1000, sim:now() + hour)))
    assert.is_number(known(nil, sim:now() - hour, sim:now() + 1000)[made.tranId])
    assert.is_number(known(nil, sim:now() - 1000, sim:now() + hour)[made.tranId])
  end)

  it("only where no equal call can have made it", function()
    assert(move "1")
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    assert.is_nil((move "1.0"))
    assert.is_nil(next(known()))
  end)

  it("when it was found by the call's own id, and not when it was found by its content", function()
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    local _, err = move "1"
    local found = assert(client:reconcile(err)).record
    assert.is_number(known()[found.tranId])
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    _, err = client.wallet:transfer(params)
    assert.equal("done", assert(client:reconcile(err)).outcome)
    assert.is_nil(next(known "wallet.transfer"))
    params.amount = "3"
    local made = assert(client.wallet:transfer(params))
    assert.is_number(known("wallet.transfer")[made.tranId])
  end)
end)

local NOW = 1700000000000
local MOVE = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

-- Writes a call into the journal. A member that is given takes the place of these.
local function write(id, fields)
  local row = { account = "treasury", operation = "wallet.transfer", params = MOVE, sent_at = NOW,
    recv_window = "5000", state = "done", record_id = "", record = "" }
  for name, value in pairs(fields) do row[name] = value end
  assert(journal.db:rows([[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window,
    queue, payment, charges, state, record_id, record, message, ended_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', '', $8, $9, $10, '', '')]], id, row.account, row.operation,
    json.encode(row.params), intents.digest(operations.by_name[row.operation], row.params),
    ("%013d"):format(row.sent_at), row.recv_window, row.state, row.record_id, row.record))
end

local own = { id = "own", operation = "wallet.transfer", params = MOVE, account = "treasury", sent_at = NOW,
  recv_window = 5000 }

local function with(fields)
  local params = {}
  for name, value in pairs(MOVE) do params[name] = value end
  for name, value in pairs(fields) do params[name] = value end
  return params
end

describe("equal calls in a journal", function()
  local function equal_calls(first, later)
    return { assert(journal:equal_calls(own, first or NOW, later or 0)) }
  end

  it("are open while their end is not known, and have made the records that are written of them", function()
    write("own", {})
    assert.same({ {}, 0 }, equal_calls())
    for _, state in ipairs { "open", "unknown", "undecided", "done" } do write(state, { state = state }) end
    for _, state in ipairs { "rejected", "not_sent", "not_done" } do write(state, { state = state }) end
    assert.same({ {}, 4 }, equal_calls()) -- one that is done and shows no id made some record
    write("known", { record_id = "r1", sent_at = NOW - 5 })
    write("failed", { record_id = "r2", state = "not_done" })
    assert.same({ { r1 = NOW - 5, r2 = NOW }, 4 }, equal_calls())
  end)

  it("are those of the account and of equal content", function()
    write("stranger", { account = "other", state = "open" })
    write("another", { params = with { amount = "2.1" }, state = "open" })
    write("spelled", { params = with { amount = "2.0", asset = "usdt" }, state = "open" })
    assert.same({ {}, 1 }, equal_calls())
  end)

  it("that can have made no record so late do not matter", function()
    write("other", { state = "open" })
    assert.same({ {}, 1 }, equal_calls(NOW + 5000))
    assert.same({ {}, 0 }, equal_calls(NOW + 5001))
    assert.same({ {}, 1 }, equal_calls(NOW + 5001, 1))
    write("yesterday", { record_id = "r1", sent_at = NOW - 86400000 })
    write("before", { record_id = "r2", sent_at = NOW - 86400001 })
    assert.same({ { r1 = NOW - 86400000 }, 1 }, equal_calls())
  end)

  it("are a message where the journal cannot be read", function()
    local names = { ["wallet.transfer"] = true }
    journal:close()
    for _, found in ipairs { { journal:equal_calls(own, NOW, 0) }, { journal:other_calls(own, names, NOW, NOW, 0) },
      { journal:known_records("treasury", "wallet.transfer", NOW, NOW, 5000) } } do
      assert.is_nil(found[1])
      assert.is_string(found[2])
    end
  end)
end)

describe("other calls in a journal", function()
  local function other_calls(first, last, later)
    local found = assert(journal:other_calls(own, { ["wallet.transfer"] = true, ["wallet.withdraw"] = true },
      first or NOW, last or NOW + 1000, later or 0))
    local seen = {}
    for _, other in ipairs(found) do
      seen[#seen + 1] = ("%s %s %s"):format(other.intent.params.amount, tostring(other.id), tostring(other.is_certain))
    end
    table.sort(seen)
    return seen
  end

  it("are those of the account and the history that are not equal and may have been executed", function()
    write("own", {})
    write("equal", { state = "open" })
    write("stranger", { account = "other", params = with { amount = "3" }, state = "open" })
    write("elsewhere", { operation = "wallet.convert", params = { asset = "BTC" }, state = "open" })
    for _, state in ipairs { "rejected", "not_sent", "not_done" } do
      write(state, { params = with { amount = "4" }, state = state })
    end
    assert.same({}, other_calls())
    write("open", { params = with { amount = "5" }, state = "unknown" })
    assert.same({ "5 nil false" }, other_calls())
  end)

  it("certainly made a record that was their answer, or was found by their own id, and no other", function()
    write("answered", { params = with { amount = "1" }, record_id = "r1", record = '{"tranId":"r1"}' })
    write("matched", { params = with { amount = "3" }, record_id = "r2", record = '{"tranId":"r2","timestamp":5}' })
    write("bare", { params = with { amount = "4" }, record_id = "r3" })
    write("wide", { params = with { amount = "5" }, record_id = "r4", record = '{"tranId":"r4"}',
      recv_window = "60001" })
    write("named", { operation = "wallet.withdraw", params = { amount = "6", withdrawOrderId = "o" }, record_id = "r5",
      record = '{"id":"r5","applyTime":5}' })
    assert.same({ "1 r1 true", "3 r2 false", "4 r3 false", "5 r4 false", "6 r5 true" }, other_calls())
  end)

  it("can have made a record between the two times", function()
    write("other", { params = with { amount = "3" }, state = "open" })
    for _, case in ipairs { { NOW + 5000, NOW + 9000, 0, 1 }, { NOW + 5001, NOW + 9000, 0, 0 },
      { NOW + 5001, NOW + 9000, 1, 1 }, { NOW - 9000, NOW, 0, 1 }, { NOW - 9000, NOW - 1, 0, 0 } } do
      assert.equal(case[4], #other_calls(case[1], case[2], case[3]))
    end
    write("slow", { params = with { amount = "4" }, state = "open", recv_window = "60000", sent_at = NOW - 60000 })
    assert.equal(2, #other_calls(NOW))
  end)
end)

describe("records that are known by the journal", function()
  it("are no more than those of two hundred calls near either end, and within a quarter of an hour", function()
    local QUARTER = 900000
    for name, at in pairs { first = NOW, ["near first"] = NOW + QUARTER, middle = NOW + QUARTER + 1,
      ["near last"] = NOW + 8 * QUARTER, last = NOW + 9 * QUARTER, before = NOW - 1, after = NOW + 9 * QUARTER + 1 } do
      write(name, { params = with { amount = "1." .. (at - NOW + 1) % 100003 }, sent_at = at, record_id = name,
        record = '{"tranId":"x"}' })
    end
    local known = assert(journal:known_records("treasury", "wallet.transfer", NOW, NOW + 9 * QUARTER, 5000))
    assert.same({ first = NOW, ["near first"] = NOW + QUARTER, ["near last"] = NOW + 8 * QUARTER,
      last = NOW + 9 * QUARTER }, known)
    assert.is_nil(next(assert(journal:known_records("treasury", "wallet.transfer", NOW, NOW + 9 * QUARTER, 4999))))
  end)
end)
