-- SPDX-License-Identifier: MIT
-- One round: a client makes all payments against a simulator of its own, under the list of faults; a supervisor starts
-- it, and starts it again where it was killed; the judge reads the simulator's ledger at the end.
--
--   lua5.4 bench/duel/round.lua FILE MODE FOLDER COUNT SEED REPEATED_IDS PROCESSES
--
-- Writes FOLDER/result.tsv: a line for each payment (key, operation, faults, how often it was made, how many of these
-- a proxy added, what the client said), and one of the requests, starts and seconds.

local core = require "purser.core"
local faults = dofile "bench/duel/faults.lua"
local files = dofile "tools/whole_files.lua"
local purser = require "purser"

local file, mode, folder, count, seed, repeated_ids, processes = table.unpack(arg)
count, seed, processes = tonumber(count), tonumber(seed), tonumber(processes)

local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
local RUNNERS = { mjs = "node", sh = "bash", lua = "lua5.4", py = "python3" }

local sim = assert(purser.sim.new { clock = "real", seed = seed, variant = "live", profile = "mexc",
  repeated_ids = repeated_ids })
local account = assert(sim:account { name = "House", role = "main", balances = { USDT = "1000000" } })
local signer = assert(core.signer("hmac-sha256", account.secret_key))
local drawn, began = faults.draw(count, seed), core.monotonic_ms()
local payments, workers, late, requests, starts, port = {}, {}, {}, 0, 0, nil

-- No two payments have the same amount: by that the judge knows a payment, and a client a transfer, which has no id.
local by_amount = {}
for i = 1, count do
  payments[i] = { key = ("duel%04d"):format(i), amount = 20 + i, faults = drawn[i], met = 0, by_proxy = 0,
    operation = math.random(4) == 1 and "transfer" or "withdraw" }
  by_amount[payments[i].amount] = payments[i]
end

---------------------------------------------------------------------------------------------------------- supervisor

local function read(path)
  local stream = io.open(path, "r")
  local text = stream and stream:read "*a" or ""
  if stream then stream:close() end
  return text
end

-- Returns what a worker said of its payments until now, by their keys.
local function said_by(worker)
  local said = {}
  for key, word in read(worker.folder .. "/said"):gmatch "(%w+) (%a+)\n" do said[key] = word end
  return said
end

-- Starts a client in a process group of its own, with the payments of which it has said nothing.
local function start(worker)
  local said, list = said_by(worker), {}
  for _, payment in ipairs(worker.payments) do
    if not said[payment.key] then
      list[#list + 1] = ("%s %s %d %s\n"):format(payment.key, payment.operation, payment.amount, PAYEE)
    end
  end
  worker.is_over, worker.was_killed = #list == 0 or worker.starts > 20, false
  if worker.is_over then return end
  files.write(worker.folder .. "/payments", table.concat(list))
  os.remove(worker.folder .. "/code")
  os.remove(worker.folder .. "/pid")
  worker.starts, starts = worker.starts + 1, starts + 1
  os.execute(([[{ cd build/duel && DUEL_URL=http://127.0.0.1:%d DUEL_API_KEY=%s DUEL_SECRET_KEY=%s DUEL_FOLDER=%s \
    DUEL_SHARED=%s DUEL_TIMEOUT_MS=%d setsid sh -c 'echo $$ >$DUEL_FOLDER/pid; exec %s %s %s $DUEL_FOLDER/payments' \
    >>%s/said 2>>%s/errors </dev/null; echo $? >%s/code; } 2>/dev/null &]]):format(port, account.api_key,
    account.secret_key, worker.folder, folder, faults.TIMEOUT_MS, RUNNERS[file:match "%.(%w+)$"], file, mode,
    worker.folder, worker.folder, worker.folder))
end

local function kill(worker)
  worker.was_killed = true
  local pid = tonumber(read(worker.folder .. "/pid"))
  if pid then os.execute(("kill -s KILL -- -%d 2>/dev/null"):format(pid)) end
end

-- Executes what is due. Starts clients that ended. Returns whether the round is over: when every client has said
-- something of each of its payments, or failed four times.
local function is_over()
  while late[1] and late[1].at <= core.monotonic_ms() do late[1].execute() end
  local all_over = true
  for _, worker in ipairs(workers) do
    if not worker.is_over and read(worker.folder .. "/code") ~= "" then
      if not worker.was_killed then worker.failures = worker.failures + 1 end
      worker.is_over = worker.failures > 3
      if not worker.is_over then start(worker) end
    end
    all_over = all_over and worker.is_over
  end
  return all_over and not late[1]
end

------------------------------------------------------------------------------------------------------------- service

-- Returns a request as of now: its age was judged when it arrived.
local function renewed(request)
  local path, query = request.target:match "^(.-)%?(.*)$"
  query = query:gsub("&signature=%x+", ""):gsub("timestamp=%d+", ("timestamp=%d"):format(sim:now()))
  local copy = setmetatable({ target = ("%s?%s&signature=%s"):format(path, query, signer:sign(query)) },
    { __index = request })
  return copy
end

-- Has a request executed later: when the client sends the payment again, and in `late_ms` at the latest. The service's
-- own answer comes into the place of one that waits so long.
local function execute_late(payment, request, fault)
  local answer = fault.answer or { status = 200, fault = "close", delay_ms = fault.delay_ms }
  local entry = { at = core.monotonic_ms() + fault.late_ms }
  function entry.execute()
    for i = #late, 1, -1 do
      if late[i] == entry then table.remove(late, i) end
    end
    payment.late = nil
    local own = sim:handle(renewed(request))
    if fault.answer then return end
    answer.fault = nil
    for name, value in pairs(own) do answer[name] = value end
  end
  payment.late = entry
  table.insert(late, entry)
  table.sort(late, function(a, b) return a.at < b.at end)
  return answer
end

-- Returns the answer of the last execution, and how many of them made a payment.
local function execute(request, fault)
  local answer, made = nil, 0
  for _ = 1, fault.executes or 1 do
    answer = sim:handle(request)
    if answer.status == 200 and not answer.code then made = made + 1 end
  end
  return answer, made
end

local function handle(_, request)
  requests = requests + 1
  local amount = request.method == "POST" and request.target:match "[?&]amount=([%d.]+)"
  local payment = by_amount[tonumber(amount or 0)]
  if not payment then return sim:handle(request) end
  if payment.late then payment.late.execute() end
  payment.met = payment.met + 1
  local fault = payment.faults[payment.met] or faults.kinds[1]
  if fault.late_ms then return execute_late(payment, request, fault) end
  if fault.throttles then sim:fault { kind = "throttle" } end
  local answer, made = execute(request, fault)
  payment.by_proxy = payment.by_proxy + math.max(0, made - 1)
  if fault.kills then kill(payment.worker) end
  if fault.answer then return fault.answer end
  if fault.delay_ms then answer.delay_ms = fault.delay_ms end
  return answer
end

--------------------------------------------------------------------------------------------------------------- round

for i = 1, processes do
  local worker = { folder = ("%s/%d"):format(folder, i), payments = {}, starts = 0, failures = 0 }
  for k = i, count, processes do
    payments[k].worker = worker
    table.insert(worker.payments, payments[k])
  end
  assert(os.execute(("rm -rf %s && mkdir -p %s"):format(worker.folder, worker.folder)))
  workers[i] = worker
end
assert(purser.sim.serve(setmetatable({ handle = handle }, { __index = sim }), { stop = is_over, control = false,
  on_listen = function(free_port)
    port = free_port
    for _, worker in ipairs(workers) do start(worker) end
  end }))
assert(sim:verify())

local lines, made = {}, {}
local ledger = sim:snapshot().histories
for _, name in ipairs { "withdrawals", "wallet_transfers" } do
  for _, record in ipairs(ledger[name]) do
    local amount = tonumber(record.amount)
    made[amount] = (made[amount] or 0) + 1
  end
end
for i, payment in ipairs(payments) do
  local names = {}
  for k = 1, math.max(1, math.min(payment.met, #payment.faults)) do names[k] = payment.faults[k].name end
  lines[i] = table.concat({ payment.key, payment.operation, table.concat(names, "; "), made[payment.amount] or 0,
    payment.by_proxy, said_by(payment.worker)[payment.key] or "nothing" }, "\t")
end
lines[#lines + 1] = ("requests\t%d\t%d\t%.0f"):format(requests, starts, (core.monotonic_ms() - began) / 1000)
files.write(folder .. "/result.tsv", table.concat(lines, "\n") .. "\n")
