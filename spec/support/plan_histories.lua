-- SPDX-License-Identifier: MIT
-- Random histories of runs: two persons with a list each, which grow, shrink, are renumbered and corrected; two queues;
-- two workers, one after the other or side by side; plans that are run late; runs that are interrupted or killed
-- anywhere; and persons who do what the screens print. What a run sends was on its screen, with the amount shown, and
-- is no more than the sum shown; no payment is made twice; each row that is not over is on each screen; each command
-- that is printed is understood, accepted, and does what it says; and by these commands all comes to an end.
--
--   require "plan_histories" (50)   runs so many; PURSER_HISTORIES=N runs others, PURSER_SEED=N begins elsewhere

local assert = require "luassert"
local at = require "payouts_setting"
local commands = require "purser.cli.commands"
local decimal = require "purser.decimal"
local grammar = require "purser.cli.grammar"
local payments_plan = require "purser.cli.payments_plan"
local purser = require "purser"
local runs = require "purser.desk.payouts.runs"
local schedule = require "purser.schedule"
local seeded = require "seeded"

local WORKERS, QUEUES = { "one", "two" }, { "june", "july" }
local OVER = { done = true, dropped = true }

local random -- of a history
local all_sent, followed = 0, {}

-- A list changes as a person changes it between two runs.
local edits = {
  function(rows, n)
    for i = 0, random(3) do rows[#rows + 1] = { ("k%d%d"):format(n, i), tostring(10 * n + i) } end
  end,
  function(rows) table.remove(rows, random(#rows)) end,
  function(rows) rows[random(#rows)][2] = tostring(100 + random(50)) end,
  function(rows) -- keys are line numbers
    table.remove(rows, 1)
    for i, row in ipairs(rows) do row[1] = "k" .. i end
  end,
  function() end,
}

local function payments_of(rows)
  local list = {}
  for i, row in ipairs(rows) do list[i] = { key = row[1], operation = at.TRANSFER, params = at.move(row[2]) } end
  return list
end

-- Returns the id that a payment of a queue carries.
local function id_of(queue, row)
  return purser.payouts.params("treasury", queue, row.key, row.operation, row.params).clientTranId
end

local world -- of a history: applied, how often the service made a payment, by id; killed, by worker

-- Makes a worker: its client, whose requests to pay are noted, and interrupted at the number `stops_at`, or behind the
-- number `loses_at`. Side by side with another it waits before each.
local function worker_of(name)
  local of = { name = name, sent = {}, count = 0 }
  of.client = at.client_with { transport = at.transport(function(request, inner)
    local id, amount = request.target:match "clientTranId=(%w+)", request.target:match "amount=([%d.]+)"
    if of.is_dead then error("interrupted!", 0) end
    if request.method ~= "POST" or not id then return inner:send(request) end
    if of.is_beside then schedule.sleep(1) end
    of.count = of.count + 1
    if of.stops_at == of.count then
      of.is_dead = world.killed[name]
      error("interrupted!", 0)
    end
    of.sent[#of.sent + 1], all_sent = { id = id, amount = amount }, all_sent + 1
    local response, err = inner:send(request)
    if response and response.body:find("tranId", 1, true) then world.applied[id] = (world.applied[id] or 0) + 1 end
    if of.loses_at == of.count then
      of.is_dead = world.killed[name]
      error("interrupted!", 0)
    end
    return response, err
  end) }
  return of
end

local function payouts_of(of, queue)
  return at.payouts_with { client = of.client, worker = of.name, queue = queue, history_check = "never",
    lease_ms = 1000, concurrency = 2, attempts = 3 } -- a second is what waits for a killed worker beside another
end

-- Says what is wrong with what a run sent, beside what its plan showed.
local function check_sent(plan, of, queue)
  local shown, sum, total = {}, decimal "0", decimal "0"
  for _, row in ipairs(plan.send) do
    shown[id_of(queue, row)], total = row.params.amount, total + decimal(row.params.amount)
  end
  local seen, sums = {}, decimal "0"
  for _, one in ipairs(plan.totals) do sums = sums + one.amount end
  assert.equal(tostring(total), tostring(sums))
  for _, sent in ipairs(of.sent) do
    assert.equal(shown[sent.id] or "not shown", sent.amount)
    if not seen[sent.id] then sum = sum + decimal(sent.amount) end
    seen[sent.id] = true
  end
  assert.is_true(sum:compare(total) <= 0, ("%s were sent, and %s were shown"):format(tostring(sum), tostring(total)))
  for id, times in pairs(world.applied) do assert.is_true(times == 1, id .. " was made twice") end
end

-- Returns the plan of a list, or of the queue, with the commands that its screen prints; each is understood. Each row
-- of queue and list that is not over is in one section, and the screen names it.
local function look(payouts, rows)
  local plan = assert(payouts:plan(rows and { payments = payments_of(rows) } or nil))
  local sections, printed = {}, {}
  for _, section in ipairs { "left", "held", "refused", "send", "made" } do
    for _, row in ipairs(plan[section]) do
      assert.is_nil(sections[row.key], row.key)
      sections[row.key] = section
    end
  end
  local function command(...)
    local words = { "payouts", ... }
    words[#words + 1], words[#words + 2] = "--queue", payouts.queue
    words[#words + 1], words[#words + 2] = "--journal", at.path
    assert(grammar.parse(commands.root(), words))
    printed[#printed + 1] = { ... }
    return table.concat({ ... }, " ")
  end
  local text = payments_plan.show(plan, payouts.queue, command)
    .. table.concat(payments_plan.refused(plan, command), "\n")
  local unnamed, more = {}, 0
  for _, payment in ipairs(assert(payouts:list())) do
    local is_over = OVER[payment.state]
    assert.is_true(is_over or sections[payment.key] ~= nil, payment.key)
    local is_named = text:find(payment.key, 1, true) ~= nil
    if not (is_over or is_named or sections[payment.key] == "made") then unnamed[#unnamed + 1] = payment.key end
  end
  for number in text:gmatch "and (%d+) more" do more = more + number end -- behind the twelfth of a section
  assert.is_true(#unnamed <= more, table.concat(unnamed, " ") .. " are not in\n" .. text)
  for _, row in ipairs(rows or {}) do assert.is_truthy(sections[row[1]], row[1]) end
  return plan, printed
end

-- Lets time pass: leases end, a worker that is gone gives no sign of life, and a run gives up what nothing decides.
local function pass_time()
  at.set "lease_until = ''"
  if random(3) == 1 then at.set "stage = 'undecided', state = 'undecided' WHERE stage = 'sent'" end
  assert(at.journal.db:rows "DELETE FROM purser_workers")
  at.sim:advance(60000)
end

-- Runs a plan, interrupted or killed perhaps: a killed run leaves its sign of life, and ends nothing.
local function run(of, queue, plan)
  of.sent, of.is_dead = {}, nil
  local fate = random(4)
  of.stops_at = fate == 1 and of.count + random(3) or nil
  of.loses_at = fate == 2 and of.count + random(3) or nil
  world.killed[of.name] = fate < 3 and random(3) > 1 or nil
  local ok, report, err = schedule.protect(function() return payouts_of(of, queue):run(plan) end)
  of.stops_at, of.loses_at, of.is_dead, world.killed[of.name] = nil, nil, nil, nil
  if not ok then assert.matches("interrupted!", tostring(report), 1, true) end
  if ok and not report then
    assert.equal("payouts.changed_since", err.code, tostring(err))
    assert.same({}, of.sent)
  end
  check_sent(plan, of, queue)
  return ok
end

-- Does what a screen prints for a row, at once: it is accepted, and the row stands as the command says.
local function follow(of, queue, words)
  local payouts, key = payouts_of(of, queue), words[2]
  followed[words[1]] = (followed[words[1]] or 0) + 1
  if words[1] == "run" then
    local plan = look(payouts)
    of.sent = {}
    assert(payouts:run(plan))
    return check_sent(plan, of, queue)
  elseif words[1] == "report" or words[1] == "status" then return end
  local before = assert(payouts:find(key))
  if words[1] == "settle" then
    local was_made = (world.applied[id_of(queue, before)] or 0) > 0
    if (words[3] == "done") ~= was_made then return end -- the other of the two is true
    if was_made then assert.is_true(payouts:settle(key, "record of " .. queue .. key))
    else assert.is_true(payouts:retry(key, { force = true })) end
    assert.equal(was_made and "done" or "waiting", assert(payouts:find(key)).state)
    return
  end
  local done, err = payouts[words[1]](payouts, key)
  if err and err.code == "payouts.done" then return assert.equal("done", assert(payouts:find(key)).state) end
  if err and err.code == "payouts.undecided" then return end -- the look found what decides nothing, and says so
  assert.is_true(done, tostring(err or words[1] .. " " .. before.state))
  assert.equal(words[1] == "drop" and "dropped" or "waiting", assert(payouts:find(key)).state)
end

-- All stops, and an honest person follows what is printed until the list is paid or held by a person's own word.
local function come_to_an_end(of, queue, rows)
  at.sim:disarm()
  for _ = 1, 12 do
    pass_time()
    local plan, printed = look(payouts_of(of, queue), rows)
    local is_over = not plan.send[1] and not plan.refused[1] and not plan.left[1]
    for _, row in ipairs(plan.held) do is_over = is_over and row.state == "dropped" end
    if is_over then return end
    for _, row in ipairs(plan.refused) do -- "put the old value back"
      for _, own in ipairs(rows) do
        if own[1] == row.key then own[2] = row.now.params.amount end
      end
    end
    local has_command = {}
    for _, words in ipairs(printed) do
      if words[2] and not (words[1] == "retry" and assert(payouts_of(of, queue):find(words[2])).state == "dropped") then
        follow(of, queue, words)
      end
      has_command[words[2] or words[1]] = true
    end
    for _, row in ipairs(plan.left) do assert.is_true(has_command[row.key] or has_command.run, row.key) end
    for _, row in ipairs(plan.held) do assert.is_true(has_command[row.key], row.key) end
    if has_command.run then follow(of, queue, { "run" }) end
    plan = look(payouts_of(of, queue), rows)
    if not plan.refused[1] then run(of, queue, plan) end
  end
  error("a list is never paid", 0)
end

-- Two runs side by side, each of the plan that its person was shown.
local function run_beside(workers, queues, plans)
  local tasks = {}
  schedule.run(function()
    for i, of in ipairs(workers) do
      of.is_beside = true
      tasks[i] = schedule.spawn(function() run(of, queues[i], plans[i]) end)
    end
    for _, task in ipairs(tasks) do schedule.join(task) end
  end)
  for _, of in ipairs(workers) do of.is_beside = nil end
end

local function history(seed)
  random = seeded(seed)
  world = { applied = {}, killed = {} }
  local workers, lists, stale = { worker_of "one", worker_of "two" }, {}, {}
  for i in ipairs(WORKERS) do lists[i] = { { "k1", "11" }, { "k2", "12" }, { "k3", "13" } } end
  for n = 4, 9 do
    local who, queue = random(2), QUEUES[random(5) == 1 and 2 or 1]
    local of, rows, edit = workers[who], lists[who], edits[random(#edits)]
    if #rows > 1 or edit == edits[1] then edit(rows, n) end
    if random(5) == 1 then at.sim:fault { kind = "reject", operation = at.TRANSFER, code = "10212", times = 1 } end
    local of_queue = random(4) == 1 and #assert(payouts_of(of, queue):list()) > 0
    local plan = look(payouts_of(of, queue), not of_queue and rows or nil)
    if stale[1] and random(3) == 1 then run(of, stale[2], stale[1]) end
    local fate = random(6)
    if fate == 1 then stale = { plan, queue }
    elseif fate == 2 then
      local other = workers[3 - who]
      run_beside({ of, other }, { queue, queue }, { plan, (look(payouts_of(other, queue), lists[3 - who])) })
    else run(of, queue, plan) end
    at.sim:disarm()
    if random(3) > 1 then pass_time() end
    if random(2) == 1 then
      local _, printed = look(payouts_of(of, queue), rows)
      if printed[1] then follow(of, queue, printed[random(#printed)]) end
    end
  end
  for _, queue in ipairs(QUEUES) do come_to_an_end(workers[1], queue, lists[1]) end
end

--- Runs so many histories. Raises what is wrong in one of them.
---@param count integer
---@param first integer|nil    the first one's seed. Default: 1
return function(count, first)
  count = tonumber(os.getenv "PURSER_HISTORIES") or count
  local leave = runs.leave
  first = tonumber(os.getenv "PURSER_SEED") or first or 1
  runs.leave = function(self, number) -- a killed process signs off from nothing
    if not world.killed[self.worker] then return leave(self, number) end
  end
  for seed = first, first + count - 1 do
    at.begin()
    local ok, problem = xpcall(function() history(seed) end, function(raised)
      return type(raised) == "table" and (raised.message or tostring(raised)) .. debug.traceback("", 2) or raised
    end)
    at.finish()
    if not ok then
      runs.leave = leave
      error(("PURSER_SEED=%d: %s"):format(seed, tostring(problem)), 0)
    end
  end
  runs.leave = leave
  assert.is_true(all_sent > count, all_sent)
  for _, word in ipairs(count < 50 and {} or { "run", "drop", "retry", "settle" }) do
    assert.is_true((followed[word] or 0) > 0, word)
  end
end
