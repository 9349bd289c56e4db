-- SPDX-License-Identifier: MIT
--- Costs of a large journal next to a small one: bench/journal.lua KIND ROUNDS REPORT; KIND is sqlite or postgresql.
--
-- Two journals, one with 1,000 payments and 1,000 intents and one with 100,000 and 1,000,000, are used in turns by the
-- same program; a row shows the median time of each, and the median of the ratios of one round.

local core = require "purser.core"
local purser = require "purser"
local queue = require "purser.desk.payouts.queue"

local kind, rounds, report = arg[1], tonumber(arg[2]) or 9, arg[3]
local LIMIT = 1.5
local sizes = { small = { payments = 1000, intents = 1000 }, large = { payments = 100000, intents = 1000000 } }

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p " .. folder)

------------------------------------------------------------------------------------------------- two full journals

local PARAMS = '{"toAccount":"desk","fromAccountType":"SPOT","toAccountType":"SPOT","asset":"USDT","amount":"5"}'
local padded = { sqlite = "printf('%013d', {})", postgresql = "lpad(({})::text, 13, '0')" }

local function padded_text(expression)
  return (padded[kind]:gsub("{}", expression))
end

local numbers = {
  sqlite = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n)",
  postgresql = "generate_series(1, %d) AS n(i)",
}

-- The rows are made inside the database: each call a second after the one before, the first ones those of payments, and
-- equal calls once a day.
local FILL = [[INSERT INTO purser_calls (id, account, operation, history, key, content, params, digest, state, attempt,
    first_sent_at, sent_at, recv_window, record_id, record, answered, ended_at, queue, payment, stage, added_at)
  SELECT 'intent' || i, 'bench', 'sub_account.transfer', 'sub_account.transfer_history',
    CASE WHEN i <= {PAYMENTS} THEN 'client_id' || i WHEN i % 2 = 0 THEN 'own' || i ELSE '' END, 'content', '{PARAMS}',
    'digest' || (i % 86400), 'done', '1', {TIME}, {TIME}, '5000', 'record' || i, '{}', 'yes', {TIME},
    CASE WHEN i <= {PAYMENTS} THEN 'history' ELSE '' END, CASE WHEN i <= {PAYMENTS} THEN 'key' || i ELSE '' END,
    CASE WHEN i <= {PAYMENTS} THEN 'done' ELSE '' END, CASE WHEN i <= {PAYMENTS} THEN {TIME} ELSE '' END
  FROM ]]

local function fill(db, size, now)
  local values = { PAYMENTS = tostring(size.payments), PARAMS = PARAMS,
    TIME = padded_text(now - size.intents * 1000 .. " + i * 1000") }
  assert(db:rows((FILL:gsub("{(%u+)}", values)) .. numbers[kind]:format(size.intents)))
  if kind == "postgresql" then assert(db:rows "ANALYZE") end -- it does this by itself; SQLite does not
end

local server
local function open(name)
  if kind == "sqlite" then return assert(purser.journal.open { sqlite = folder .. "/" .. name }) end
  if not server then
    server = dofile("spec/torture/postgresql.lua").start(folder)
    os.execute(("echo \"shared_buffers = '512MB'\" >> %s/postgresql/postgresql.conf"):format(folder))
    server.restart() -- the default of 128 MB is less than the large journal
  end
  local options = { database = "postgres", user = "purser", host = "127.0.0.1", port = server.options.port }
  local admin = assert(require("purser.client.util.database").open { postgresql = options })
  assert(admin:rows("CREATE DATABASE " .. name))
  admin:close()
  options.database = name
  return assert(purser.journal.open { postgresql = options })
end

-- Answers every transfer with a record of its own; `lost` loses answers.
local function make_transport()
  local count = 0
  local transport = { lost = false }
  function transport:send()
    count = count + 1
    if self.lost then return nil, { code = "timeout", phase = "receive", message = "lost", outcome = "unknown" } end
    return { status = 200, body = ('{"tranId":"%d"}'):format(count), headers = "" }
  end
  transport.sleep = function() end
  return transport
end

local function make_side(name)
  local side = { journal = open(name), transport = make_transport(), count = 0, now = core.now_ms() }
  fill(side.journal.db, sizes[name], side.now)
  local function client(guard)
    return assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", rate_limit = false,
      retry = false, transport = side.transport, journal = side.journal, account = "bench", guard = guard })
  end
  side.client = client()
  side.guarded = client { no_duplicates = true, spending_limit = { USDT = "100000000" } }
  side.payouts = assert(purser.payouts.new { client = side.client, journal = side.journal, queue = "history",
    worker = "bench", history_check = "never" }) -- the service of this bench has no histories
  return side
end

------------------------------------------------------------------------------------------------------- what is timed

local function number(side)
  side.count = side.count + 1
  return side.count
end

local function transfer(n)
  return { toAccount = "desk", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = ("%d.%05d"):format(1 + n % 7, n) }
end

local function payment(side, id)
  local n = number(side)
  local params = transfer(n)
  params.clientTranId = id and ("own%029d"):format(n) or nil
  return { key = ("new%08d"):format(n), operation = "sub_account.transfer", params = params }
end

local function payments(side, count, id)
  local list = {}
  for i = 1, count do list[i] = payment(side, id) end
  return list
end

-- Each: what it is, how often in a round, what is timed, and what is made ready before.
local works = {
  { "add one payment", 20, function(side) assert(side.payouts:add_all(payments(side, 1))) end },
  { "add one payment with an id of one's own", 20, function(side)
    assert(side.payouts:add_all(payments(side, 1, true)))
  end },
  { "add 100 payments with ids of one's own", 2, function(side)
    assert(side.payouts:add_all(payments(side, 100, true)))
  end },
  { "run a queue of some 160 payments", 1, function(side) assert(side.payouts:run()) end },
  { "a transfer, recorded and ended", 20, function(side)
    assert(side.client.sub_account:transfer(transfer(number(side))))
  end },
  { "the same with spending_limit and no_duplicates", 20, function(side)
    assert(side.guarded.sub_account:transfer(transfer(number(side))))
  end },
  { "the open calls", 20, function(side) assert(#side.journal:entries { state = "open" } == 0) end },
  { "recover with nothing open", 20, function(side) assert(side.journal:recover(side.client)) end },
  { "take over what was left behind, and reconcile it", 20, function(side)
    local n = number(side) % 900 + 1
    local intent = assert(side.journal:entries { id = "intent" .. n })[1].intent
    assert(side.journal.db:transaction(function(tx) return queue.find(tx, side.payouts, "key" .. n) end))
    intent.params = transfer(n)
    assert(side.journal:open_calls(intent.account, nil, intent.sent_at - 60000, intent.sent_at + 60000))
    assert(side.journal:owners("record_id", intent.account, { "1", "2", "3" }))
    assert(side.journal:made_calls(intent.account, { [intent.operation] = true }, intent.sent_at - 60000,
      intent.sent_at + 60000))
    assert(side.journal:reconciled(intent, { outcome = "done", record = { tranId = "found" .. n } }))
  end },
  { "entries { id = }", 200, function(side)
    assert(#side.journal:entries { id = "intent" .. 1 + number(side) % 900 } == 1)
  end },
  { "a page of 100 entries", 5, function(side) assert(#side.journal:entries { limit = 100 } == 100) end },
}

local function timed(work, side)
  local started = core.monotonic_us()
  for _ = 1, work[2] do work[3](side) end
  return (core.monotonic_us() - started) / work[2] / 1000
end

local function median(list)
  table.sort(list)
  return list[math.floor((#list + 1) / 2)]
end

----------------------------------------------------------------------------------------------------------- the table

local ok, message = pcall(function()
  local sides = { small = make_side "small", large = make_side "large" }
  local measured = {}
  for i = 1, #works do measured[i] = { small = {}, large = {}, ratio = {} } end
  for round = -1, rounds do -- the first two warm up
    for i, work in ipairs(works) do
      local order = round % 2 == 0 and { "small", "large" } or { "large", "small" }
      local time = {}
      for _, name in ipairs(order) do time[name] = timed(work, sides[name]) end
      if round > 0 then
        for name, list in pairs(measured[i]) do list[round] = time[name] or time.large / time.small end
      end
    end
  end
  local lines, over = { "work\tsmall ms\tlarge ms\tratio\tleast\tgreatest" }, 0
  print(("%s, %d rounds: 1,000 payments and 1,000 intents, and 100,000 and 1,000,000"):format(kind, rounds))
  for i, work in ipairs(works) do
    local m = measured[i]
    local ratio = median(m.ratio)
    over = over + (ratio > LIMIT and 1 or 0)
    lines[#lines + 1] = ("%s\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f"):format(work[1], median(m.small), median(m.large), ratio,
      m.ratio[1], m.ratio[rounds])
    print(("%-52s %9.3f ms %9.3f ms   %5.2f  (%.2f - %.2f)"):format(work[1], median(m.small), median(m.large), ratio,
      m.ratio[1], m.ratio[rounds]))
  end
  if report then
    local file = assert(io.open(report, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
  end
  print(over == 0 and ("all within %.1f times"):format(LIMIT) or ("%d of them above %.1f times"):format(over, LIMIT))
  for _, side in pairs(sides) do side.journal:close() end
  return over == 0
end)
if server then pcall(server.stop) end
os.execute("rm -r " .. folder)
if not ok then error(message, 0) end
os.exit(message and 0 or 1)
