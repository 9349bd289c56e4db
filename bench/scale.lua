-- SPDX-License-Identifier: MIT
--- The growth of costs: each work at a size and at four times that size, in processes of their own. A cost that grows
--- as the work does is four times as large; one above LIMIT times fails. Arguments: a report's file, and the name of a
--- work (all unless given). `scale.lua one WORK N` is one measurement: it prints processor seconds and megabytes; with
--- a further word also thousands of Lua's instructions, which another program on the machine does not change.

local LIMIT = 5
local NOW, DAY = 1700000000000, 86400000
local OWN = "TSampLeAddressThatNobodyHarzyqGjJi"

local core = require "purser.core"
local files = require "files"
local heap = require "purser.client.util.heap"
local log = require "purser.client.call.rate_limit.sliding_log"
local purser = require "purser"

local folder = files.folder()

local function status(name)
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match("^" .. name .. ":%s+(%d+)")
    if kilobytes then return tonumber(kilobytes) / 1024 end
  end
end

-- The cost of the service, which is in this process, is not the client's.
local served, instructions = 0, 0
local function count_instruction() instructions = instructions + 1 end

local function counted(inner, sim, moves)
  return { sleep = function(_, ms) return inner.sleep and inner:sleep(ms) end, close = function() end,
    send = function(_, request)
      local began, before = os.clock(), instructions
      if moves then sim:advance(moves) end
      local response, failure = inner:send(request)
      served, instructions = served + os.clock() - began, before
      return response, failure
    end }
end

local function world(options)
  options = options or {}
  local sim = purser.sim.new { seed = 7, record_requests = 1, start_time = NOW, max_sub_accounts = 0 }
  local owner = assert(sim:account { role = "broker", name = "treasury", balances = { USDT = "1000000000" } })
  local function client(more)
    local given = { base_url = "http://localhost", api_key = owner.api_key,
      transport = counted(sim:transport(), sim, options.moves), secret_key = owner.secret_key,
      clock = function() return sim:now() end, rate_limit = false, account = "treasury", journal = options.journal }
    for name, value in pairs(more or {}) do given[name] = value end
    return assert(purser.new(given))
  end
  return sim, client, owner
end

local function open_journal() return assert(purser.journal.open { sqlite = folder .. "/journal.db" }) end

local function rows_of(n, prefix)
  local rows = {}
  for i = 1, n do
    rows[i] = { key = ("%s-%07d"):format(prefix or "inv", i), operation = "wallet.withdraw",
      params = { coin = "USDT", netWork = "TRX", amount = ("%d.%02d"):format(10 + i % 40, i % 100),
        address = core.address_write("trx", "", ("%020d"):format(i)) } }
  end
  return rows
end

-- Returns what runs a list of n in a queue of its own.
local function list_of(n, journal, client, name)
  local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "w", queue = name,
    history_check = "never" })
  assert(payouts:add_all(rows_of(n, name)))
  return function() assert(payouts:run()) end
end

-- Half of n records are deposits and half withdrawals, over 85 days; with `own` all are of one address.
local function fill_history(sim, owner, n, own)
  for i = 1, n do
    local at = NOW - 85 * DAY + math.floor((i - 1) * 85 * DAY / n)
    local record = { uid = owner.uid, coin = "USDT", network = "Tron(TRC20)", time = at, updated = at + 60000,
      amount = ("%d.%02d"):format(10 + i % 90, i % 100), block_ms = 1000, needed = 20, tx_id = ("%064x"):format(i),
      held = true, address = own and OWN or core.address_write("trx", "", ("%020d"):format(i)) }
    if i % 2 == 0 then
      record.id, record.status = ("%024x"):format(i), 5
      sim.deposits:add(record)
    else
      record.id, record.fee, record.status = ("%032x"):format(i), "1", 7
      sim.withdrawals:add(record)
    end
  end
end

-- Writes n withdrawals that are done, a minute apart, into a journal. The last one is of the time `last`.
local function fill_calls(journal, n, last)
  local first = last - n * 60000
  assert(journal.db:transaction(function(tx)
    tx:rows(([[INSERT INTO purser_calls (id, account, operation, history, key, content, params, digest, sent_at,
      recv_window, queue, payment, state, attempt, first_sent_at, answered, ended_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
      SELECT 'i' || i, 'treasury', 'wallet.withdraw', 'wallet.withdrawal_history', '', 'c' || i,
        '{"address":"T' || (i %% 700) || '","amount":"' || (i %% 500 + 1) || '","coin":"USDT","netWork":"TRX"}',
        'i' || i, %d + i * 60000, '5000', '', '', 'done', '1', %d + i * 60000, 'yes', %d + i * 60000
      FROM n]]):format(n, first, first, first))
    return true
  end))
end

local function books_of(n, own)
  local sim, client, owner = world()
  fill_history(sim, owner, n, own)
  return assert(purser.books.open { sqlite = folder .. "/books.db", client = client() }), sim
end

local function statement_of(n, own)
  local books = books_of(n, own)
  assert(books:sync())
  return function()
    assert(books:statement { from = NOW - 86 * DAY, to = NOW, format = "hledger", write = function() end })
  end
end

-- Runs the command line in a process of its own, and returns its processor time.
local function command(words)
  local said = files.output_of(("%s bin/purser %s >/dev/null 2>%s/said; cat %s/said; times"):format(
    os.getenv "LUA" or "lua5.4", words, folder, folder))
  local user, user_s, system, system_s = said:match "(%d+)m([%d.]+)s (%d+)m([%d.]+)s%s*$"
  assert(user, said)
  return user * 60 + user_s + system * 60 + system_s
end

local works = {}
local names = {}
-- Adds a work. One `in_lua` has no database and no other process: its instructions are counted where its time, which a
-- busy machine stretches, is above the limit.
local function work(name, n, make, in_lua)
  names[#names + 1], works[name] = name, { n = n, make = make, in_lua = in_lua }
end

work("rate limit: calls that wait", 2048, function(n)
  local documents, now, asleep = {}, NOW, {}
  local kv = { get = function(name) return documents[name] end, put = function(name, one) documents[name] = one end }
  local takes = { "ip", 1, 100, 10240 }
  local function ask(number)
    local ms, ticket = log.reserve(kv, now, takes, 1, number, "1")
    if ms > 0 then heap.push(asleep, { at = now + ms, order = ticket }) end
  end
  return function()
    for _ = 1, n do ask(0) end
    while asleep[1] do
      local first = heap.pop(asleep)
      now = math.max(now, first.at)
      ask(first.order)
    end
  end
end)

work("payouts: plan", 1000, function(n)
  local _, client = world()
  local one, rows = client(), rows_of(n)
  return function() assert(purser.payouts.plan(one, rows, { unchecked = true })) end
end)

work("payouts: add_all", 2000, function(n)
  local journal = open_journal()
  local _, client = world { journal = journal }
  local payouts = assert(purser.payouts.new { client = client(), journal = journal, worker = "w", queue = "june" })
  return function() assert(payouts:add_all(rows_of(n))) end
end)

work("payouts: run", 250, function(n)
  local journal = open_journal()
  local _, client = world { journal = journal }
  return list_of(n, journal, client(), "june")
end)

work("payouts: run 100 after n of the last minutes", 250, function(n)
  local journal = open_journal()
  local _, client = world { journal = journal, moves = 100 } -- the milliseconds of the clock for a request
  list_of(n, journal, client(), "before")()
  local payouts = assert(purser.payouts.new { client = client(), journal = journal, worker = "w", queue = "after" })
  assert(payouts:add_all(rows_of(100, "after")))
  return function() assert(payouts:run()) end
end)

work("a call beside n of the journal", 1000, function(n)
  local journal = open_journal()
  local _, client = world { journal = journal }
  local one = client()
  list_of(n, journal, one, "before")()
  return function()
    for _ = 1, 200 do
      assert(one.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })
    end
  end
end)

for _, format in ipairs { "--csv", "--json" } do
  work("journal list " .. format, 1000, function(n)
    local journal = open_journal()
    local _, client = world { journal = journal }
    list_of(n, journal, client(), "june")()
    journal:close()
    return function()
      return command(("journal list --limit %d %s --journal %s/journal.db"):format(2 * n, format, folder))
    end
  end)
end

work("journal: each_entry", 1000, function(n)
  local journal = open_journal()
  local _, client = world { journal = journal }
  list_of(n, journal, client(), "june")()
  return function()
    for _ = 1, 10 do
      local count = 0
      for _ in journal:each_entry() do count = count + 1 end
      assert(count == n, count)
    end
  end
end)

work("journal: prune", 16000, function(n)
  local journal = open_journal()
  fill_calls(journal, n, NOW)
  return function() assert(assert(journal:prune { before = NOW + DAY }).intents == n) end
end)

-- Returns a client, and the errors of n equal transfers whose answers were lost.
local function lost_transfers(n, apart_ms)
  local journal = open_journal()
  local sim, client = world { journal = journal }
  local one, lost = client { retry = false }, {}
  for i = 1, n do
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    lost[i] = select(2, one.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "1" })
    sim:advance(apart_ms)
  end
  return one, lost
end

-- Asked about one after another, each within a reading of the one before.
for apart, ms in pairs { ["20 hours"] = 20 * 3600000, ["an hour"] = 3600000, ["ten minutes"] = 600000 } do
  work(("reconcile: lost transfers, %s apart"):format(apart), 25, function(n)
    local one, lost = lost_transfers(n, ms)
    return function()
      for _, err in ipairs(lost) do assert(assert(one:reconcile(err)).outcome == "done") end
    end
  end)
end

-- A reading shows all n calls, and an equal call may own each record: several lie in the window of each.
work("reconcile: one of n equal transfers of an hour", 200, function(n)
  local one, lost = lost_transfers(n, math.floor(3600000 / n))
  return function() for i = 1, 10 do assert(one:reconcile(lost[i])) end end
end)

work("books: sync, first", 2000, function(n)
  local books = books_of(n)
  return function() assert(books:sync()) end
end)

work("books: sync, nothing new", 4000, function(n)
  local books, sim = books_of(n)
  assert(books:sync())
  sim:advance(60000)
  return function() for _ = 1, 3 do assert(books:sync()) end end
end)

work("books: each", 4000, function(n)
  local books = books_of(n)
  assert(books:sync())
  return function() for _ in books:each() do end end -- luacheck: ignore 542
end)

work("books: statement", 2000, function(n) return statement_of(n) end)
work("books: statement of withdrawals to one own address", 500, function(n) return statement_of(n, true) end)

work("walk: each_withdrawal", 4000, function(n)
  local sim, client, owner = world()
  fill_history(sim, owner, n)
  local one = client()
  return function()
    local count = 0
    for _ in one.wallet:each_withdrawal { from = NOW - 86 * DAY, to = NOW } do count = count + 1 end
    assert(count > 0)
  end
end)

work("approvals: plan and show", 200, function(n)
  local setting = require "approvals_setting"
  local journal = setting.begin { rules = { { name = "all", effect = "allow",
    approvals = { { group = "treasury", count = 2 } } } } }
  local one = assert(setting.client())
  return function()
    local text = assert(purser.approvals.plan { client = one, payments = rows_of(n), maker = "carol", queue = "june",
      policy = setting.folder, journal_id = assert(journal:id()) })
    assert(purser.approvals.show(text, { policy = setting.folder }))
  end, setting.finish
end)

work("approvals: show --journal of 200 rows, n known to their payee", 250, function(n)
  local setting = require "approvals_setting"
  local journal = setting.begin { rules = { { name = "all", effect = "allow",
    approvals = { { group = "treasury", count = 2 } } } } }
  local one, rows = assert(setting.client()), rows_of(200)
  for _, row in ipairs(rows) do row.params.address = OWN end
  local text = assert(purser.approvals.plan { client = one, payments = rows, maker = "carol", queue = "june",
    policy = setting.folder, journal_id = assert(journal:id()) })
  assert(journal.db:transaction(function(tx)
    for i = 1, n do
      tx:rows([[INSERT INTO purser_calls (id, account, operation, history, key, content, params, digest, state, attempt,
        first_sent_at, sent_at, recv_window, record_id, record, answered, ended_at) VALUES ($1, 'treasury',
        'wallet.withdraw', 'wallet.withdrawal_history', '', 'content', $2, $1, 'done', '1', $3, $3, '5000', $1, '{}',
        'yes', $3)]], "known" .. i,
        ('{"coin":"USDT","netWork":"TRX","address":"%s","amount":"%d.5"}'):format(OWN, i + 3),
        ("%013d"):format(setting.NOW - i * 60000))
    end
    return true
  end))
  return function() assert(purser.approvals.show(text, { journal = journal, now = setting.NOW })) end, setting.finish
end)

work("policy: 50 calls under n rules", 50, function(n)
  local setting = require "approvals_setting"
  local rules = { { name = "all", effect = "allow", approvals = {} } }
  for i = 1, n do
    rules[i + 1] = { name = "r" .. i, effect = "forbid", when = { coin = "USDT", amount_over = tostring(1000 + i) } }
  end
  setting.begin { rules = rules }
  local one, rows = assert(setting.client()), rows_of(50)
  return function()
    for _, row in ipairs(rows) do assert(one:call(row.operation, row.params, { key = row.key })) end
  end, setting.finish
end)

work("policy: 50 calls beside n of the journal, with a sum of a day", 2000, function(n)
  local setting = require "approvals_setting"
  local journal = setting.begin { rules = { { name = "all", effect = "allow", approvals = {} },
    { name = "daily", effect = "forbid", when = { coin = "USDT",
      sum_over = { amount = "1000000000", hours = 24, per = "account" } } } } }
  fill_calls(journal, n, setting.NOW)
  local one, rows = assert(setting.client()), rows_of(51)
  assert(one:call(rows[51].operation, rows[51].params, { key = "first" })) -- counts what was made before the policy
  return function()
    for i = 1, 50 do assert(one:call(rows[i].operation, rows[i].params, { key = rows[i].key })) end
  end, setting.finish
end)

work("policy: try over n calls", 8000, function(n)
  local policies, journal = require "policies", open_journal()
  fill_calls(journal, n, NOW)
  local text = policies.text(policies.given { rules = { { name = "known", effect = "allow",
    when = { known_days = 1 }, approvals = {} }, { name = "new", effect = "allow",
    approvals = { { group = "finance", count = 1 } } } } })
  return function()
    local trial = assert(purser.approvals.try { journal = journal, account = "treasury", policy = text })
    assert(trial.payments == n)
  end
end)

-- n accounts of a key each; `declared` is their fleet.
local function fleet_of(n)
  local _, client = world()
  local accounts, secrets = {}, {}
  for i = 1, n do
    accounts[i] = { name = ("trader%05d"):format(i), note = "n",
      keys = { { note = "bot", permissions = { "SPOT_DEAL_READ" } } } }
  end
  return assert(purser.fleet.new { client = client { visibility_delay_ms = 0 }, group = "sub_account",
    accounts = accounts, vault = { store = function(secret) secrets[secret.apiKey] = secret end,
      holds = function(api_key) return secrets[api_key] ~= nil end } })
end

work("fleet: apply", 160, function(n)
  local fleet = fleet_of(n)
  return function() assert(#assert(fleet:apply()) == 2 * n) end
end)

work("fleet: plan of what is there", 320, function(n)
  local fleet = fleet_of(n)
  assert(fleet:apply())
  return function()
    for _ = 1, 5 do assert(assert(fleet:plan()).changes == 0) end -- one takes 10 ms
  end
end, true)

work("clients in a process", 500, function(n)
  local _, client = world()
  return function()
    local list = {}
    for i = 1, n do list[i] = client() end
    assert(#list == n)
  end
end)

work("calls in flight at once", 64, function(n)
  local server = require("service").start { "--variant", "live" }
  local account = assert(server.world:account { role = "main", balances = { USDT = "1" } })
  local transport = assert(purser.transport.multi { max_in_flight = n })
  local one = assert(purser.new { base_url = server.url, transport = transport, api_key = account.api_key,
    secret_key = account.secret_key, rate_limit = false, clock = function() return server.world:now() end })
  return function()
    local list = {}
    for i = 1, n do list[i] = function() for _ = 1, 8 do assert(one.wallet:deposit_history()) end end end
    purser.all(list)
  end, server.stop
end)

if arg[1] == "one" then
  local fn, done = works[arg[2]].make(tonumber(arg[3]))
  collectgarbage()
  collectgarbage()
  local memory = status "VmRSS"
  local clear = io.open("/proc/self/clear_refs", "w")
  if clear then clear:write "5" clear:close() end
  local began, by_service = os.clock(), served
  if arg[4] then debug.sethook(count_instruction, "", 1000) end
  local own = fn()
  debug.sethook()
  own = type(own) == "number" and own or os.clock() - began - (served - by_service)
  print(("%.4f %.1f %d"):format(own, math.max(0, status "VmHWM" - memory), instructions))
  if done then done() end
  files.remove(folder)
  os.exit(0, false)
end

files.remove(folder)
local wanted = arg[2]
if wanted and not works[wanted] then
  io.stderr:write(("no work is named %q; the works are:\n  %s\n"):format(wanted, table.concat(names, "\n  ")))
  os.exit(1)
end
local report = arg[1] and assert(io.open(arg[1], "w"))
local passed, failed = 0, 0

-- Measures a work in a process of its own: seconds, megabytes, and thousands of instructions of a run that counts them.
local function measure(name, n, is_counted)
  local said = files.output_of(("%s bench/scale.lua one '%s' %d %s 2>&1"):format(os.getenv "LUA" or "lua5.4", name, n,
    is_counted and "counted" or ""))
  local seconds, megabytes, thousands = said:match "([%d.]+) ([%d.]+) (%d+)\n$"
  assert(seconds, said)
  return tonumber(seconds), tonumber(megabytes), tonumber(thousands)
end

local RUNS, MOST_RUNS = 2, 6

-- Writes a work's line, or raises the line. Takes the least of some runs, as what else the machine does only adds.
local function judge(name)
  local n, few, many, memory = works[name].n, math.huge, math.huge, 0
  for run = 1, MOST_RUNS do
    if run > RUNS and many / few <= LIMIT then break end
    few = math.min(few, (measure(name, n)))
    local seconds, megabytes = measure(name, 4 * n)
    many, memory = math.min(many, seconds), megabytes
  end
  local line = ("%-62s %7d %8.0f %8.0f %6.1f %7.0f"):format(name, n, few * 1000, many * 1000, many / few, memory)
  if report then report:write(line, "\n") end
  if many / few > LIMIT then
    local times = select(3, measure(name, 4 * n, true)) / select(3, measure(name, n, true))
    line = ("%s  above the limit; Lua's instructions: %.1f times"):format(line, times)
    if times > LIMIT or not works[name].in_lua then error(line, 0) end
  end
  print(line)
end

print(("%-62s %7s %8s %8s %6s %7s"):format("work", "n", "ms at n", "at 4n", "times", "MB at 4n"))
for _, name in ipairs(wanted and { wanted } or names) do
  local went, problem = pcall(judge, name)
  if went then passed = passed + 1 else
    failed = failed + 1
    print(problem)
  end
  io.stdout:flush()
end
if report then report:close() end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
