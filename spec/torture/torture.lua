--- The torture: workers make payments at a simulator that answers badly, and are killed with SIGKILL while they do.
--
--     local result = torture.run { payments = 300, workers = 1, kill_every = 40, seed = 1, seconds = 60 }
--
-- At the end the service's ledger and the journal have to agree: every payment exactly once, none lost, no unit
-- created or destroyed, and what is undecided is listed and cannot be told from another. `result.problems` lists what
-- does not hold. API keys are made, too, each once, and none of which the secret was lost remains. Which payments
-- there are, which faults happen and after how many requests a worker is killed come from the seed.

local core = require "purser.core"
local decimal = require "purser.decimal"
local dice = require "purser.sim.dice"
local operations = require "purser.operations"
local purser = require "purser"
local scan = require "purser.settle.scan"
local service = require "service"

local M = {}

local SUBS = 8
local KINDS = {
  "refuse", "lost_answer", "reset", "truncate", "slow", "throttle", "ban", "server_error", "garbage",
}
local TWIN = "7"
local WITHDRAW_TO = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

--------------------------------------------------------------------------------------------------------- the world

local function sub_name(number) return ("tradingdesk%d"):format(number) end

local function open_accounts(world)
  local payer = assert(world:account { name = "Payer", role = "broker", balances = { USDT = "900000000" } })
  for i = 1, SUBS do assert(world:account { name = sub_name(i), role = "sub", parent = payer.uid }) end
  assert(world:account { name = "Payee", role = "main", email = "payee@mail.example" })
  return payer
end

-- Faults of every kind, so that `share` of all requests meets one.
local function arm(world, share)
  local each = 1 - (1 - share) ^ (1 / #KINDS)
  for _, kind in ipairs(KINDS) do
    local fault = { kind = kind, probability = each }
    if kind == "throttle" or kind == "ban" then fault.retry_after = 0 end
    if kind == "slow" then fault.delay_ms = 800 end
    if kind == "garbage" then fault.bytes = 100000 end
    assert(world:fault(fault))
  end
end

-- The payments: transfers to sub-accounts, withdrawals, and transfers to another user, which nothing but their content
-- identifies; of these a few are equal.
local function payments(count, roll)
  local list = {}
  for i = 1, count do
    local amount = tostring(decimal(("%d.%06d"):format(10 + roll:roll(90), i)))
    local which = roll:roll(10)
    if which <= 6 then
      list[i] = { key = "p" .. i, operation = "sub_account.transfer", params = {
        toAccount = sub_name(roll:roll(SUBS)), fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = amount } }
    elseif which <= 8 then
      list[i] = { key = "p" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX",
        address = WITHDRAW_TO, amount = amount } }
    else
      if roll:roll(20) == 1 then amount = TWIN end
      list[i] = { key = "p" .. i, operation = "wallet.internal_transfer", params = { toAccountType = "EMAIL",
        toAccount = "payee@mail.example", asset = "USDT", amount = amount } }
    end
  end
  return list
end

--------------------------------------------------------------------------------------------------------- processes

local function lines_of(path)
  local file, lines = io.open(path, "r"), {}
  if not file then return lines end
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function literal(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts = {}
  for name, member in pairs(value) do parts[#parts + 1] = ("[%q] = %s"):format(name, literal(member)) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function start_worker(worker)
  os.remove(worker.log)
  local pipe = assert(io.popen(("sh -c '%s spec/torture/worker.lua %s >%s 2>&1 & echo $!'"):format(
    os.getenv "LUA" or "lua5.4", worker.config, worker.log)))
  worker.pid = tonumber(pipe:read "*l")
  pipe:close()
end

-- Whether a process is there. One that has ended and whom nobody asked yet (Z) is not.
local function is_alive(pid)
  local file = io.open(("/proc/%d/stat"):format(pid), "r")
  if not file then return false end
  local state = (file:read "*l" or ""):match "%) (%a)"
  file:close()
  return state ~= nil and state ~= "Z" and state ~= "X"
end

local function kill(worker)
  os.execute(("kill -KILL %d 2>/dev/null"):format(worker.pid))
  while is_alive(worker.pid) do core.sleep_ms(1) end
end

local function has_ended_well(worker)
  local lines = lines_of(worker.log)
  return lines[#lines] == "done"
end

-------------------------------------------------------------------------------------------------------- the run

local function received(world)
  local counts, total = assert(world:counts()), 0
  for _, count in pairs(counts) do total = total + count.received end
  return total
end

-- Lets the workers work until all have ended well, and kills one of them now and then. Returns whether they did in
-- time.
local function let_work(state, workers, started)
  for _, worker in ipairs(workers) do
    start_worker(worker)
    worker.over = false
  end
  local function after_now(now)
    return state.kill_every > 0 and now + state.roll:roll(2 * state.kill_every) or math.huge
  end
  local next_kill = after_now(received(state.world))
  local left = #workers
  while left > 0 do
    if core.monotonic_ms() - started > state.seconds * 1000 then return false end
    core.sleep_ms(20)
    for _, worker in ipairs(workers) do
      if not worker.over and not is_alive(worker.pid) then
        if has_ended_well(worker) then
          worker.over, left = true, left - 1
        else
          state.deaths[#state.deaths + 1] = table.concat(lines_of(worker.log), " ")
          if #state.deaths > 20 then return false end
          start_worker(worker)
        end
      end
    end
    local now = left > 0 and state.kill_every > 0 and received(state.world) or 0
    if now >= next_kill then
      next_kill = after_now(now)
      local victim = workers[state.roll:roll(#workers)]
      if not victim.over then
        kill(victim)
        state.kills = state.kills + 1
        start_worker(victim)
      end
    end
  end
  return true
end

------------------------------------------------------------------------------------------------------- the reckoning

local function client_for(state, journal)
  return assert(purser.new { base_url = state.url, api_key = state.payer.api_key, secret_key = state.payer.secret_key,
    limits = false, journal = journal, account = "torture" })
end

-- All records the service keeps of payments, by what identifies them (a handle, or an amount that occurs once) -> how
-- many, and the total.
local function read_histories(client, started)
  local function read(row, params) return client:call(row.full_name, params) end
  local found, total = {}, {}
  local function take(operation, through, params, member, time_name)
    local records, err, why = scan.all(read, operations.by_name[through], params, started - 60000,
      core.now_ms() + 60000, time_name)
    assert(records, tostring(err or why))
    total[operation] = (total[operation] or 0) + #records
    for _, record in ipairs(records) do
      local id = operation .. " " .. (record[member] or "none")
      found[id] = (found[id] or 0) + 1
    end
  end
  for i = 1, SUBS do
    take("sub_account.transfer", "sub_account.transfer_history",
      { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = sub_name(i) }, "clientTranId", "timestamp")
  end
  take("wallet.withdraw", "wallet.withdrawal_history", { coin = "USDT" }, "withdrawOrderId", "applyTime")
  take("wallet.internal_transfer", "wallet.internal_transfer_history", {}, "amount", "timestamp")
  return found, total
end

local function id_of(payment)
  local handle = operations.by_name[payment.operation].settle.handle
  return payment.operation .. " " .. payment.params[handle or "amount"]
end

-- Who received how much by the list of payments that are done.
local function add_up(done)
  local sums = {}
  for _, payment in ipairs(done) do
    local to = payment.params.toAccount
    if to then sums[to] = (sums[to] or decimal "0") + payment.params.amount end
  end
  return sums
end

-- Equal payments that nothing identifies: how many there are is checked with the totals.
local function is_twin(payment) return payment.params.amount == TWIN end

local function check_payments(list, found, problem)
  local done, undecided = {}, {}
  for _, payment in ipairs(list) do
    local times = found[id_of(payment)] or 0
    if payment.state == "done" then
      done[#done + 1] = payment
      if times ~= 1 and not is_twin(payment) then
        problem("%s is done, and the service has it %d times", payment.key, times)
      end
    elseif payment.state == "undecided" then
      undecided[#undecided + 1] = payment
      if not is_twin(payment) then
        problem("%s (%s) is undecided, and has no twin: %s", payment.key, payment.operation, payment.message)
      end
    else
      problem("%s is %s: %s", payment.key, payment.state, tostring(payment.message))
      if times ~= 0 then problem("%s is %s, and the service has it %d times", payment.key, payment.state, times) end
    end
  end
  return done, undecided
end

local function check_totals(done, undecided, total, counts, problem)
  local by_operation, open = {}, {}
  for _, payment in ipairs(done) do
    by_operation[payment.operation] = (by_operation[payment.operation] or 0) + 1
  end
  for _, payment in ipairs(undecided) do open[payment.operation] = (open[payment.operation] or 0) + 1 end
  for operation, number in pairs(total) do
    local known = by_operation[operation] or 0
    if number < known or number > known + (open[operation] or 0) then
      problem("%s: the service keeps %d, the journal says %d are done", operation, number, known)
    end
    if (counts[operation] or { applied = 0 }).applied ~= number then
      problem("%s: %d were applied and %d are kept", operation, counts[operation].applied, number)
    end
  end
end

local function check_balances(accounts, done, undecided, problem)
  local sums, open = add_up(done), add_up(undecided)
  for _, account in ipairs(accounts) do
    local name = account.email or account.name
    local expected = sums[name]
    local held = decimal "0"
    for _, balance in ipairs(account.spot) do
      if balance.asset == "USDT" then held = held + balance.free end
    end
    local surplus = account.role ~= "broker" and held - (expected or "0") or decimal "0"
    -- Lua 5.1 compares two decimals, not a decimal and a text
    if surplus:sign() < 0 or (surplus - (open[name] or "0")):sign() > 0 then
      problem("%s holds %s and should hold %s, and %s undecided", name, tostring(held), tostring(expected or "0"),
        tostring(open[name] or "0"))
    end
  end
end

local function reckon(state, payouts, journal, client, problem)
  local sound, wrong = state.world:verify()
  if not sound then problem("the simulator's books: %s", wrong) end
  local list = assert(payouts:list())
  local found, total = read_histories(client, state.started)
  local done, undecided = check_payments(list, found, problem)
  check_totals(done, undecided, total, assert(state.world:counts()), problem)
  check_balances(assert(state.world:state()).accounts, done, undecided, problem)
  for _, name in ipairs { "open", "unknown" } do
    local left = #assert(journal:entries { state = name })
    if left > 0 then problem("%d journal entries are still %s", left, name) end
  end
  return #done, #undecided
end

--------------------------------------------------------------------------------------------------------------- all

-- Runs the queue again and again until the service's refusals, which are faults here, have been overcome.
local function work_off(state, workers, payouts)
  local started = core.monotonic_ms()
  for _ = 1, 8 do
    if not let_work(state, workers, started) then return false end
    local failed = assert(payouts:list "failed")
    if #failed == 0 then return true end
    if state.tell then state.tell(("%d payments were refused; they are put back"):format(#failed)) end
    for _, payment in ipairs(failed) do assert(payouts:retry(payment.key)) end
  end
  return false
end

-- The keys that a worker makes: note -> sub-account.
local function keys_of(state, worker)
  local keys = {}
  for i = worker, state.keys, state.workers do keys["bot" .. i] = sub_name(i % SUBS + 1) end
  return keys
end

-- Every key once at the service, and it is the one whose secret the worker kept.
local function check_keys(state, client, workers, problem)
  for number, worker in ipairs(workers) do
    local kept = {}
    for _, line in ipairs(lines_of(worker.keys_file)) do
      local note, api_key = line:match "^(%S+) (%S+)$"
      kept[note or ""] = api_key
    end
    for note, sub in pairs(keys_of(state, number)) do
      local found = {}
      for _, key in ipairs(assert(client.sub_account:list_api_keys { subAccount = sub })) do
        if key.note == note then found[#found + 1] = key.apiKey end
      end
      if #found ~= 1 or found[1] ~= kept[note] then
        problem("key %s: the service has %s, the worker kept %s", note, table.concat(found, " "), tostring(kept[note]))
      end
    end
  end
end

local function make_workers(state)
  local workers = {}
  for i = 1, state.workers do
    local base = ("%s/worker-%d"):format(state.folder, i)
    workers[i] = { config = base .. ".conf", log = base .. ".log", keys_file = base .. ".keys" }
    write(workers[i].keys_file, "")
    write(workers[i].config, "return " .. literal {
      url = state.url, api_key = state.payer.api_key, secret_key = state.payer.secret_key, journal = state.journal,
      worker = "worker-" .. i, concurrency = state.concurrency, recv_window = 1000, timeout_ms = 500, lag_ms = 200,
      lease_ms = 5000, keys_file = workers[i].keys_file, keys = keys_of(state, i),
    })
  end
  return workers
end

local function faults_by_kind(world)
  local kinds = {}
  for _, fault in ipairs(assert(world:faults())) do kinds[fault.kind] = (kinds[fault.kind] or 0) + 1 end
  return kinds
end

---@class torture.Options
---@field payments integer
---@field workers integer
---@field journal table       options of purser.journal.open
---@field folder string       for configurations and logs
---@field seed integer
---@field kill_every integer  requests, on the average; 0: never
---@field seconds integer     the most it may take
---@field share number|nil    of requests that meet a fault (0.3)
---@field keys integer|nil     API keys that are to be made beside the payments (0)
---@field concurrency integer|nil payments in flight, each worker (16)
---@field tell fun(line: string)|nil

--- Runs it. Returns { problems, done, undecided, kills, requests, faults, deaths, seconds }.
---@param options torture.Options
function M.run(options)
  local state = { kills = 0, deaths = {}, concurrency = 16, keys = 0, started = core.now_ms() }
  for name, value in pairs(options) do state[name] = value end
  state.roll = dice.new(state.seed, "torture")
  local simulator = service.start { "--seed", tostring(state.seed), "--clock", "real" }
  state.world, state.url = simulator.world, simulator.url
  local workers = {}
  local ok, result = pcall(function()
    state.payer = open_accounts(state.world)
    local journal = assert(purser.journal.open(state.journal))
    local client = client_for(state, journal)
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    assert(payouts:add_all(payments(state.payments, state.roll)))
    if state.share ~= 0 then arm(state.world, state.share or 0.3) end
    workers = make_workers(state)
    local before = core.monotonic_ms()
    local finished = work_off(state, workers, payouts)
    local took = core.monotonic_ms() - before
    for _, worker in ipairs(workers) do kill(worker) end
    assert(state.world:disarm())
    local problems = {}
    local function problem(text, ...) problems[#problems + 1] = text:format(...) end
    local done, undecided = reckon(state, payouts, journal, client, problem)
    check_keys(state, client, workers, problem)
    if not finished then table.insert(problems, 1, "the workers did not end in time, or not well") end
    for _, death in ipairs(state.deaths) do problems[#problems + 1] = "a worker died by itself: " .. death end
    client:close()
    journal:close()
    return { problems = problems, done = done, undecided = undecided, kills = state.kills, deaths = state.deaths,
      requests = received(state.world), faults = faults_by_kind(state.world), seconds = math.ceil(took / 1000) }
  end)
  for _, worker in ipairs(workers) do
    if worker.pid then kill(worker) end
  end
  simulator.stop()
  if not ok then error(result, 0) end
  return result
end

return M
