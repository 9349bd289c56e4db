-- SPDX-License-Identifier: MIT
-- Leases of payments, over random turns of workers: whatever order they work in, however late, and also where a lease
-- that has ended is prolonged, a payment is executed once.

local prng = require "purser.testing.sim.prng"
local own = require "own_journal"
local queue = require "purser.desk.payouts.queue"

local WINDOW_MS, VISIBLE_MS, LEASE_MS = 6000, 9000, 20000
local KEYS = 3

local journal, roll, now, sent, executed, workers, next_id, prolonged

local function choose(list) return list[roll:roll(math.max(1, #list))] end

-- A transaction at the time of this model.
local function transaction(fn) return (own.within(fn, now)) end

local function new_worker(name)
  return { worker = name, queue = "q", account = "a", lease_ms = LEASE_MS, held = {} }
end

local actions = {}

function actions.take(self)
  for _, name in ipairs { "take_waiting", "take_abandoned" } do
    for _, payment in ipairs(transaction(function(tx) return queue[name](tx, self, 2) end)) do
      table.insert(self.held, payment)
    end
  end
end

function actions.renew(self)
  transaction(function(tx)
    local _, ended = tx:rows([[UPDATE purser_calls SET key = key WHERE worker = $1 AND stage IN ('taken', 'sent')
      AND lease_until <> '' AND lease_until < $2]], self.worker, ("%013d"):format(now))
    prolonged = prolonged + ended
    queue.renew(tx, self)
  end)
end

-- A request is stamped, then recorded, then sent; what was recorded may leave later, or never.
function actions.send(self)
  local payment = choose(self.held)
  if not payment or payment.state ~= "taken" then return end
  local stamped = now
  now = now + (roll:roll(3) - 1) * 4000
  local intent = own.mark_sent(own.at(function() return now end), payment, self.worker, stamped)
  if not intent then return end
  next_id = next_id + 1
  payment.state, payment.sent = "sent", next_id
  sent[next_id] = { key = payment.key, stamped = stamped, intent = intent }
end

-- Some request that was recorded arrives. The service takes it while it is young.
function actions.arrive()
  local ids = {}
  for id in pairs(sent) do ids[#ids + 1] = id end
  table.sort(ids)
  local id = choose(ids)
  local request = id and sent[id]
  if not request or request.arrived or now > request.stamped + WINDOW_MS then return end
  request.arrived = true
  executed[request.key] = (executed[request.key] or 0) + 1
end

-- A worker finds out what became of a payment that was sent: not_done only when its record would be visible.
function actions.reconcile(self)
  local payment = choose(self.held)
  if not payment or payment.state ~= "sent" or not payment.sent then return end
  local request = sent[payment.sent]
  local stage = request.arrived and "done" or now >= request.stamped + VISIBLE_MS and "waiting"
  if stage then
    assert(own.at(function() return now end):reconciled(request.intent, { outcome = stage == "done" and "done"
      or "not_done" }, { stage = stage }))
  end
end

-- Puts back, unsent, what was taken.
function actions.put_back(self)
  local payment = choose(self.held)
  if not payment or payment.state ~= "taken" then return end
  transaction(function(tx) queue.move(tx, self, payment, { stage = "waiting" }) end)
end

function actions.restart(self)
  transaction(function(tx) queue.reclaim(tx, self) end)
  table.insert(workers, new_worker(self.worker)) -- the earlier life may still be at work
end

function actions.pass() now = now + choose { 10, 1000, 5000, 15000, 40000 } end

local TURNS = { "take", "take", "send", "send", "send", "arrive", "arrive", "reconcile", "reconcile", "renew", "renew",
  "put_back", "pass", "pass" }

local function begin(seed, names)
  roll, now, sent, executed, workers, next_id = prng.new(seed), 1700000000000, {}, {}, {}, 0
  transaction(function(tx)
    tx:rows "DELETE FROM purser_calls"
    for i = 1, KEYS do
      queue.insert(tx, { queue = "q", account = "a" }, { key = "k" .. i, operation = "wallet.transfer",
        params = { amount = "1" } })
    end
  end)
  for i, name in ipairs(names) do workers[i] = new_worker(name) end
end

describe("payments with leases", function()
  before_each(function()
    prolonged = 0
    journal = own.begin()
    assert(journal.db:rows "PRAGMA synchronous = OFF")
  end)
  after_each(own.finish)

  local function check(names, turns)
    for seed = 1, 60 do
      begin(seed, names)
      for _ = 1, 150 do
        actions[choose(turns)](choose(workers))
        for key, count in pairs(executed) do assert.equal(1, count, ("seed %d: %s"):format(seed, key)) end
      end
    end
    assert.is_true(prolonged > 0)
  end

  it("are executed once by workers of two names", function() check({ "one", "two" }, TURNS) end)

  it("are executed once where two runs have one name by mistake, and are started again", function()
    local turns = { "restart", "restart" }
    for i, turn in ipairs(TURNS) do turns[i + 2] = turn end
    check({ "one", "one", "two" }, turns)
  end)
end)
