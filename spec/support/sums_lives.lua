-- SPDX-License-Identifier: MIT
-- The processes of sums_histories.lua, on virtual time: each has a connection of its own to the journal, may be stopped
-- at a request, and may die at each statement of its journal and each request. The network loses requests and answers,
-- delivers late, and sends two copies.

local checks = require "sums_checks"
local decimal = require "purser.decimal"
local purser = require "purser"
local schedule = require "purser.schedule"
local wire = require "purser.testing.sim.transport"

local M = { TRANSFER = "sub_account.transfer", OWN = "wallet.transfer" }

local WINDOW_MS = 1000

local state -- of a history

--- Returns a number of the history's dice, from 1 to n.
function M.roll(n) return state.roll:roll(n) end

--- Tells whether it happens now what happens once in n times (0: never).
function M.once_in(n) return n > 0 and M.roll(n) == 1 end

--- Notes what happened.
function M.note(...)
  table.insert(state.notes, ("%9d "):format(state.machine.now - state.began) .. string.format(...))
end

local roll, once_in, note = M.roll, M.once_in, M.note

--- Looks at the journal and at the service, until a problem was found.
function M.check(where)
  if state.problems[1] then return end
  local sums = checks.sums(state, state.observer.journal.db)
  for _, list in ipairs { sums, state.is_honest and checks.executed(state) or {} } do
    for _, text in ipairs(list) do
      table.insert(state.problems, text)
      note("PROBLEM after %s: %s", where, text)
    end
  end
end

------------------------------------------------------------------------------------------------- processes that may die

-- Every task belongs to the life that started it.
local owners = setmetatable({}, { __mode = "k" })
local function owner() return owners[coroutine.running() or false] end
local spawn, wake = schedule.spawn, schedule.wake

local function spawn_owned(fn, ...)
  local task = spawn(fn, ...)
  owners[task.co] = owner()
  return task
end

-- No task of a dead process gets a turn again.
local function wake_living(task, ...)
  local life = owners[task.co]
  if not life or not life.dead then wake(task, ...) end
end

local function never_go_on()
  while true do coroutine.yield() end
end

local function die(life)
  life.dead = true
  for db in pairs(life.databases) do -- as the kernel would: nothing is committed
    for _, statement in pairs(db.statements) do pcall(statement.close, statement) end
    pcall(db.handle.close, db.handle)
  end
end

-- Where a process may die: before and after whatever others can see.
local function point(what)
  local life = owner()
  if life and life.dead then never_go_on() end
  if not life or not once_in(life.dies_once_in) then return end
  note("%s dies at %s", life.name, what)
  die(life)
  never_go_on()
end

local Database, rows, transaction

local function watched_rows(self, sql, ...)
  local life = owner()
  if not life or state.observer and self == state.observer.journal.db then return rows(self, sql, ...) end
  life.databases[self] = true
  local word = sql:match "^%s*(%a+)"
  point(word)
  local fails = life.is_open and word ~= "ROLLBACK" and once_in(life.fails_once_in)
  if fails then note("%s FAILS %s", life.name, word) end
  if fails and (word ~= "COMMIT" or roll(2) == 1) then return nil, "the disk is full, for a test" end
  local result, second = rows(self, sql, ...)
  point(word)
  if fails then return nil, "the connection is lost, for a test" end
  return result, second
end

local function watched_transaction(self, fn, reads)
  local result, second = transaction(self, fn, reads)
  if state.observer and not reads and self ~= state.observer.journal.db then M.check "a transaction" end
  return result, second
end

local function watch(db)
  if Database then return end
  Database = getmetatable(db).__index
  rows, transaction = Database.rows, Database.transaction
  Database.rows, Database.transaction = watched_rows, watched_transaction
  schedule.spawn, schedule.wake = spawn_owned, wake_living -- luacheck: ignore 122
end

----------------------------------------------------------------------------------------------------------- the network

local function failure(outcome, phase, message)
  return nil, { kind = "transport", outcome = outcome, phase = phase, message = message }
end

local function answer(status, code, message)
  return { status = status, headers = { ["Content-Type"] = "application/json" },
    body = ('{"code":%s,"msg":"%s"}'):format(code, message) }
end

-- Returns what a request moves, as one text: the id that it carries, or its operation and amount.
local function content_of(request)
  return request.target:match "clientTranId=(%w+)" or request.operation .. " " .. request.target:match "amount=([%d.]+)"
end

-- Has the service do what a request says.
local function execute(request, life)
  local response = wire.ask(state.sim, request)
  local record = response.status == 200 and response.body:match '"tranId":"?(%w+)'
  if record then
    local one = { content = content_of(request), amount = decimal(request.target:match "amount=([%d.]+)"),
      sent_at = tonumber(request.target:match "timestamp=(%d+)"), record = record }
    table.insert(state.executed, one)
    note("executed %s %s for %s", one.content, tostring(one.amount), life.name)
  end
  return response
end

-- A copy arrives later than its answer was given up.
local function execute_later(request, life, ms)
  local content, pending = content_of(request), state.pending
  pending[content] = (pending[content] or 0) + 1
  state.machine:at(ms, function()
    pending[content] = pending[content] - 1
    execute(request, life)
  end)
end

local function give_up()
  schedule.sleep(500)
  return failure("unknown", "receive", "no answer in time")
end

local CODES = { "33333", "700004", "10212", "730002" }

local function rejection() return answer(400, CODES[roll(#CODES)], "no") end

local function not_now() return answer(({ 429, 418, 400 })[roll(3)], "429", "too many") end

-- Fates of a request to pay.
local fates = {
  lost = function(request, life)
    execute(request, life)
    return give_up()
  end,
  never_arrives = give_up,
  late = function(request, life)
    execute_later(request, life, 500 + roll(700))
    return give_up()
  end,
  not_sent = function() return failure("not_sent", "connect", "refused") end,
  rejected = rejection,
  second_copy_rejected = function(request, life)
    execute(request, life)
    return rejection()
  end,
  first_copy_is_late = function(request, life)
    execute_later(request, life, roll(WINDOW_MS - 100))
    return rejection()
  end,
  too_late = function() return answer(400, "700003", "too late") end,
  second_copy_is_too_late = function(request, life)
    execute(request, life)
    return answer(400, "700003", "too late")
  end,
  throttled = not_now,
  second_copy_throttled = function(request, life)
    execute(request, life)
    return not_now()
  end,
  first_copy_is_late_throttled = function(request, life)
    execute_later(request, life, roll(WINDOW_MS - 100))
    return not_now()
  end,
  firewall = function()
    return { status = 403, headers = { ["Content-Type"] = "text/html" }, body = "<html>no</html>" }
  end,
  unsure = function(request, life)
    if roll(2) == 1 then execute(request, life) end
    return answer(400, "500", "busy")
  end,
}

local LIST = { "lost", "never_arrives", "late", "not_sent", "rejected", "rejected", "second_copy_rejected",
  "second_copy_rejected", "first_copy_is_late", "too_late", "second_copy_is_too_late", "throttled",
  "second_copy_throttled", "first_copy_is_late_throttled", "firewall", "unsure" }

local function send_money(request, life)
  life.paid = life.paid + 1
  if not once_in(life.fault_in) then return execute(request, life) end
  local fate = LIST[roll(#LIST)]
  note("%s: %s is %s", life.name, content_of(request), fate)
  state.met[fate] = (state.met[fate] or 0) + 1
  return fates[fate](request, life)
end

-- A life with a `spell` reads no history after so many payments, always for the one reason.
local function read(request, life)
  local which = life.paid >= (life.spell_from or 0) and life.spell or once_in(life.read_fault_in) and roll(4)
  if which == 1 then return failure("unknown", "receive", "no answer in time") end
  if which == 2 then return answer(500, "500", "busy") end
  if which == 3 then return answer(400, "700007", "no right") end
  if which == 4 then return { status = 200, headers = {}, body = "{}" } end
  return wire.ask(state.sim, request)
end

local function transport_of(life)
  return {
    sleep = function(_, ms)
      schedule.sleep(ms)
      point "sleep"
    end,
    send = function(_, request)
      point("sending " .. request.operation)
      schedule.sleep(roll(20))
      local is_money = request.operation == M.TRANSFER or request.operation == M.OWN
      local response, problem = (is_money and send_money or read)(request, life)
      schedule.sleep(roll(20))
      if is_money and life.payouts and once_in(life.stops_once_in) then
        note("%s is stopped", life.name)
        life.payouts:stop()
      end
      point("hearing of " .. request.operation)
      if not response then return nil, problem end
      return { status = response.status, body = response.body, headers = response.headers or {} }
    end,
    close = function() end,
  }
end

-------------------------------------------------------------------------------------------------------------- the lives

--- Returns a life; 0 is a fault that never happens.
function M.life_of(name, fields)
  local life = { name = name, databases = {}, dies_once_in = 0, fails_once_in = 0, fault_in = 0, read_fault_in = 0,
    stops_once_in = 0, paid = 0 }
  for field, value in pairs(fields or {}) do life[field] = value end
  return life
end

--- Opens journal and client: those of a process, or of a person who only looks on. Returns the life.
function M.open(life)
  life.journal = assert(purser.journal.open { sqlite = state.path })
  watch(life.journal.db)
  life.client = assert(purser.new { base_url = "http://localhost", api_key = state.account.api_key,
    secret_key = state.account.secret_key, journal = life.journal, account = "treasury", policy = state.folder,
    transport = transport_of(life), rate_limit = false, recv_window = WINDOW_MS, timeout_ms = 500,
    visibility_delay_ms = state.LAG_MS, retry = { attempts = 2, base_ms = 5, max_ms = 50 },
    guard = { spending_limit = { USDT = { amount = checks.LIMIT, period_ms = checks.HOUR } },
      no_duplicates = state.no_duplicates } })
  life.is_open = true
  return life
end

-- Looks whether a life goes on: a worker is stopped after a while, and killed when that does not end it.
local function goes_on(life, task, stops_at)
  if task.failed and not life.dead then
    local raised = task.problem
    error(life.name .. " raised " .. tostring(type(raised) == "table" and raised.message or raised), 0)
  end
  if life.dead or task.done then return false end
  if life.payouts and state.machine.now > stops_at then life.payouts:stop() end
  if state.machine.now > stops_at + 300000 then
    note("%s is killed, since it does not end", life.name)
    die(life)
  end
  return true
end

--- Runs processes side by side, each its `act`, until each has ended or died.
function M.run(lives)
  local tasks = {}
  for i, life in ipairs(lives) do
    tasks[i] = spawn(function()
      M.open(life)
      life.act(life)
      life.journal:close()
    end)
    tasks[i].joined = true
    owners[tasks[i].co] = life
  end
  local stops_at = state.machine.now + 60000 + roll(60000)
  repeat
    local working = false
    for i, life in ipairs(lives) do working = goes_on(life, tasks[i], stops_at) or working end
    schedule.step()
    schedule.wait(1000)
  until not working
end

--- Begins a history.
function M.begin(of_history) state = of_history end

--- Gives back what the history changed in Purser's modules.
function M.leave()
  if not Database then return end
  Database.rows, Database.transaction = rows, transaction
  schedule.spawn, schedule.wake = spawn, wake -- luacheck: ignore 122
  Database = nil
end

return M
