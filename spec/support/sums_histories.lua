-- SPDX-License-Identifier: MIT
-- Random histories of one account under a spending limit and a policy with `sum_over`, on virtual time: workers that
-- stop, die within a transaction and begin anew, lost and late answers, gateways that send two copies, histories that
-- fail and show records late, statements that fail, plain calls, equal payments of another program, and persons who
-- retry, force, drop, settle, correct lists and prune. After each transaction the sums that the journal keeps are those
-- that its rows count anew. Where persons say what is true, the service executes no more than limit and policy allow,
-- and nothing twice.
--
--   require "sums_histories" (50)   runs so many; PURSER_HISTORIES=N runs others, PURSER_SEED=N begins elsewhere

local checks = require "sums_checks"
local core = require "purser.core"
local files = require "files"
local lives = require "sums_lives"
local policies = require "policies"
local prng = require "purser.testing.sim.prng"
local purser = require "purser"
local simulated = require "simulated"
local virtual = dofile "spec/torture/virtual.lua"

local LAG_MS, LEASE_MS = 200, 3000
local TRANSFER, OWN, SPENT_NOTHING = lives.TRANSFER, lives.OWN, checks.SPENT_NOTHING
local roll, once_in, note = lives.roll, lives.once_in, lives.note

local state -- of a history

---------------------------------------------------------------------------------------------------------- what is there

local function new_content(key)
  state.count = state.count + 1
  local operation = roll(3) > 1 and TRANSFER or OWN
  local amount = ("%d.%05d1"):format(roll(8), state.count)
  if state.twins and operation == OWN and roll(3) == 1 then amount = ("%d.5"):format(roll(3)) end
  local params = operation == TRANSFER and simulated.transfer(amount)
    or { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
  return { key = key, operation = operation, params = params }
end

-- Remembers that a payment of the queue, or a call, is owed once with this content.
local function owe(payment, is_plain)
  local params = assert(purser.payouts.params("treasury", "default", payment.key, payment.operation, payment.params))
  local id = is_plain and payment.params.clientTranId or not is_plain and params.clientTranId
  local content = id or payment.operation .. " " .. payment.params.amount
  state.owed[content] = id and 1 or (state.owed[content] or 0) + 1
end

local function by_name(a, b) return a.payment .. a.key .. a.id < b.payment .. b.key .. b.id end

-- Returns the rows that are not emptied, in an order that the seed decides, or those for which is_wanted(row).
local function rows_of(is_wanted)
  local list = {}
  for _, row in ipairs(assert(state.observer.journal.db:rows "SELECT * FROM purser_calls")) do
    if row.params ~= "{}" and (not is_wanted or is_wanted(row)) then list[#list + 1] = row end
  end
  table.sort(list, by_name)
  return list
end

local function content_of_row(row)
  local params = core.decode(row.params)
  return params.clientTranId or row.operation .. " " .. tostring(params.amount)
end

-- Returns the id of a record of a row's content that no other row has, and whether one may still be made.
local function truth_of(row)
  local content, owned, found = content_of_row(row), {}, nil
  for _, other in ipairs(rows_of(function(other) return other.record_id ~= "" and other.id ~= row.id end)) do
    owned[other.record_id] = true
  end
  for _, one in ipairs(state.executed) do
    if one.content == content and not owned[one.record] then found = one.record end
  end
  return found, (state.pending[content] or 0) > 0
end

-- Returns how each history fails in a life; nil where they mostly do not.
local function spell_of() return once_in(4) and ({ 1, 2, 3, 3, 3, 4 })[roll(6)] or nil end

------------------------------------------------------------------------------------------------------------- the steps

-- A worker runs the whole queue, or the plan of a list.
local function worker(name, list)
  local life = lives.life_of(name, { fault_in = state.fault_in, read_fault_in = state.read_fault_in,
    spell = spell_of(), spell_from = roll(3) - 1, dies_once_in = state.dies_once_in,
    fails_once_in = state.fails_once_in, stops_once_in = state.stops_once_in })
  function life.act()
    life.payouts = assert(purser.payouts.new { client = life.client, journal = life.journal, worker = name,
      concurrency = roll(3), lease_ms = LEASE_MS, retry_ms = 5, idle_ms = 50, attempts = ({ 1, 2, 3, 20 })[roll(4)],
      history_check = state.checks and roll(4) > 1 and "unless_newest" or "never" })
    local what, err = { all = true }, nil
    if list then what, err = life.payouts:plan { payments = list } end
    if not what or what.bad and what.bad > 0 then return note("%s cannot plan: %s", name, tostring(err)) end
    local report
    report, err = life.payouts:run(what)
    note("%s ends: %s", name, report and ("done %d waiting %d blocked %d failed %d undecided %d sent %d"):format(
      report.done, report.waiting, report.blocked, report.failed, report.undecided, report.sent) or tostring(err))
  end
  return life
end

local function queue_of(life)
  return assert(purser.payouts.new { client = life.client, journal = life.journal, worker = "person",
    history_check = "never" })
end

local steps = {}

function steps.add()
  local list = {}
  for i = 1, 1 + roll(4) do
    list[i] = new_content("p" .. state.count + 1)
    owe(list[i])
    table.insert(state.list, list[i])
  end
  assert(queue_of(state.observer):add_all(list))
end

function steps.run() lives.run { worker "one" } end
function steps.run_two() lives.run { worker "one", worker "two" } end

-- A person corrects payments of the list that were not made, also to what they were before, and runs the list.
function steps.correct()
  local list, amounts, free = {}, {}, {}
  for _, row in ipairs(rows_of(function(row)
    return SPENT_NOTHING[row.state] and row.stage ~= "sent" and row.stage ~= "undecided"
  end)) do
    free[row.payment] = row
  end
  for i, payment in ipairs(state.list) do
    local row = free[payment.key]
    list[i] = payment
    if row and roll(2) == 1 then
      list[i] = roll(4) == 1 and state.before[payment.key] or new_content(payment.key)
      state.before[payment.key] = payment
      owe(list[i])
    end
  end
  local given = {}
  for i, payment in ipairs(list) do
    given[i] = { key = payment.key, operation = payment.operation, params = payment.params }
  end
  if given[1] then lives.run { worker("one", given) } end
  for _, row in ipairs(rows_of()) do amounts[row.payment] = core.decode(row.params).amount end
  for i, payment in ipairs(list) do
    if amounts[payment.key] == payment.params.amount then state.list[i] = payment end
  end
end

function steps.time()
  local to_next = checks.HOUR - state.machine.now % checks.HOUR
  state.machine:pass(math.max(1, ({ roll(3000), roll(60000), roll(checks.HOUR), to_next - roll(3000) })[roll(4)]))
end

-- Another program of the account makes a transfer that nothing tells from one of the queue.
function steps.stranger()
  local list = rows_of(function(row) return row.operation == OWN and row.queue ~= "" and SPENT_NOTHING[row.state] end)
  if not list[1] then return end
  local client = simulated.client(state.sim, state.account, { rate_limit = false })
  client:call(OWN, core.decode(list[roll(#list)].params))
end

-- The words of a person about a payment: honest persons say a false word of none.
local words = {
  function(payouts, row) return payouts:retry(row.payment) end,
  function(payouts, row) return payouts:drop(row.payment) end,
  function(payouts, row) return payouts:retry(row.payment, { force = true, by = "alice" }) end,
  function(payouts, row) return payouts:drop(row.payment, { force = true, by = "alice" }) end,
  function(payouts, row, record) return payouts:settle(row.payment, record, { by = "alice" }) end,
  function(payouts, row, record)
    return payouts.journal:settle(row.id, { outcome = "done", by = "alice", record_id = record,
      now = state.machine.now })
  end,
}
local STOPPED = { failed = true, undecided = true, dropped = true }

function steps.person()
  local list = rows_of(function(row) return row.queue ~= "" and STOPPED[row.stage] end)
  if not list[1] or roll(4) == 1 then list = rows_of(function(row) return row.queue ~= "" end) end
  local row = list[1] and list[roll(#list)]
  if not row then return end
  local record, is_pending = truth_of(row)
  local word = roll(#words)
  local is_false = is_pending or record and word < 5 or not record and word > 4
  if state.is_honest and word > 2 and is_false then word = word % 2 + 1 end
  local life = lives.open(lives.life_of("person", { spell = spell_of() }))
  local ok, err = words[word](queue_of(life), row, record or "none" .. row.id)
  note("alice says %d of %s (%s %s): %s %s", word, row.payment, row.stage, row.state, tostring(ok), tostring(err))
  life.journal:close()
end

-- A word about any row of the journal.
function steps.settle()
  local list = rows_of(function(row) return row.state ~= "done" and row.state ~= "planned" end)
  if not list[1] or roll(5) == 1 then list = rows_of() end
  local row = list[1] and list[roll(#list)]
  if not row then return end
  local record, is_pending = truth_of(row)
  local outcome = roll(2) == 1 and "done" or "not_done"
  if state.is_honest then outcome = record and "done" or "not_done" end
  if state.is_honest and is_pending then return end
  local ok, err = state.observer.journal:settle(row.id, { outcome = outcome, by = "bob", now = state.machine.now,
    record_id = outcome == "done" and roll(3) > 1 and (record or "none" .. row.id) or nil })
  note("bob settles %s%s (%s %s) as %s: %s %s", row.payment, row.key, row.stage, row.state, outcome, tostring(ok),
    tostring(err))
end

-- Plain calls, with keys or without, which are repeated, or recovered.
function steps.call()
  local life = lives.life_of("caller", { is_plain = true, fault_in = state.fault_in, spell = spell_of(),
    dies_once_in = state.dies_once_in, fails_once_in = state.fails_once_in })
  local job = state.jobs[1] and roll(2) == 1 and state.jobs[roll(#state.jobs)] or nil
  if not job then
    job = new_content("call" .. state.count + 1)
    job.has_key = roll(3) > 1
    if job.operation == TRANSFER then job.params.clientTranId = ("ownid%027d"):format(state.count) end
    owe(job, true)
    if job.has_key or job.params.clientTranId then table.insert(state.jobs, job) end
  end
  local recovers = roll(3) == 1
  function life.act()
    if recovers then return life.journal:recover(life.client) end
    local params = {}
    for name, value in pairs(job.params) do params[name] = value end
    local value, err = life.client:call(job.operation, params,
      job.has_key and not job.params.clientTranId and { key = job.key } or nil)
    note("the call %s: %s", job.key, value ~= nil and "done" or tostring(err))
  end
  lives.run { life }
end

function steps.prune()
  if not once_in(12) then return end
  state.machine:pass(190 * checks.DAY)
  state.pruned_before = state.machine.now - (roll(2) == 1 and 185 or 189) * checks.DAY
  assert(state.observer.journal:prune { before = state.pruned_before })
  note "prunes"
end

local names = {}
for name, weight in ("add 4 run 6 run_two 2 correct 3 time 4 stranger 2 person 6 settle 2 call 3 prune 1"):gmatch
  "([%a_]+) (%d)" do
  for _ = 1, weight do names[#names + 1] = name end
end

------------------------------------------------------------------------------------------------------------ a history

local folder -- of the policy

local function new_state(seed)
  local dice = prng.new(seed, "sums")
  return { roll = dice, LAG_MS = LAG_MS, folder = folder, path = files.path_in_memory(), machine = virtual.new(dice),
    executed = {}, pending = {}, list = {}, problems = {}, notes = {}, owed = {}, before = {}, jobs = {}, met = {},
    count = 0,
    is_honest = seed % 3 > 0, twins = seed % 4 == 1, checks = seed % 5 > 0, no_duplicates = seed % 7 == 3,
    fault_in = ({ 2, 2, 3 })[seed % 3 + 1], read_fault_in = seed % 2 == 0 and 30 or 0,
    dies_once_in = ({ 0, 500, 2000 })[math.floor(seed / 2) % 3 + 1],
    fails_once_in = ({ 0, 700, 3000 })[math.floor(seed / 5) % 3 + 1],
    stops_once_in = ({ 0, 6 })[math.floor(seed / 3) % 2 + 1] }
end

local function history(seed)
  state.began = state.machine.now
  state.sim = purser.sim.new { seed = seed, clock = "real", visibility_delay_ms = roll(LAG_MS) - 1,
    repeated_ids = "execute", key_days = 3650 }
  state.account = assert(state.sim:account { name = "Acme", role = "broker", balances = { USDT = "1000000" } })
  assert(state.sim:account { name = "tradingdesk1", role = "sub", parent = state.account.uid })
  state.observer = lives.open(lives.life_of "observer")
  steps.add()
  for _ = 1, 40 do
    local name = names[roll(#names)]
    note("step %s", name)
    steps[name]()
    lives.check(name)
    for _, text in ipairs(checks.sums_read_again(state, state.observer.journal.db)) do
      table.insert(state.problems, text)
    end
    if state.problems[1] then return end
  end
end

local function told(raised)
  return type(raised) == "table" and tostring(raised.message or raised) or debug.traceback(raised, 2)
end

local M = {}

--- Runs the history of a seed. Returns its state: `problems`, `notes` of what happened, what was `executed`, and how
--- often each fault was `met`.
---@param seed integer
---@return { problems: string[], notes: string[], executed: table[], met: table<string, integer> }
function M.history(seed)
  local sum_over = { amount = checks.SUM, hours = checks.SUM_HOURS, per = "account" }
  folder = folder or policies.folder({ rules = { { name = "all", effect = "allow", approvals = {} },
    { name = "few", effect = "forbid", when = { coin = "USDT", sum_over = sum_over } } } }, "alice", "bob")
  state = new_state(seed)
  lives.begin(state)
  local ok, raised = xpcall(function() history(seed) end, told)
  if not ok then table.insert(state.problems, "raised: " .. tostring(raised)) end
  if state.observer then state.observer.journal:close() end
  lives.leave()
  state.machine:leave()
  files.remove_database(state.path)
  return state
end

--- Removes the policy's folder.
function M.finish()
  if folder then files.remove(folder) end
  folder = nil
end

--- Runs so many histories. Raises what is wrong in the first that fails. Returns how often each fault was met.
---@param count integer
---@return table<string, integer> met
function M.run(count)
  count = tonumber(os.getenv "PURSER_HISTORIES") or count
  local first, met = tonumber(os.getenv "PURSER_SEED") or 1, {}
  for seed = first, first + count - 1 do
    local result = M.history(seed)
    for name, times in pairs(result.met) do met[name] = (met[name] or 0) + times end
    if result.problems[1] then
      M.finish()
      error(("PURSER_SEED=%d: %s\n%s"):format(seed, table.concat(result.problems, "\n"),
        table.concat(result.notes, "\n")), 0)
    end
  end
  return met
end

return M
