-- SPDX-License-Identifier: MIT
-- Random histories of runs: lists that grow, shrink, are renumbered and corrected, two workers, stale plans, runs that
-- are interrupted or killed anywhere, and what persons put back, drop and settle. What a run sends was on its screen,
-- with the amount shown; and each row that is not over is on each screen, with a command that is accepted.
--
-- PURSER_HISTORIES=2000 runs so many; PURSER_SEED=N begins elsewhere.

local at = require "payouts_setting"
local payments_plan = require "purser.cli.payments_plan"

local HISTORIES = tonumber(os.getenv "PURSER_HISTORIES") or 50
local FIRST = tonumber(os.getenv "PURSER_SEED") or 1
local NAMES = { "one", "two" }

local random -- of a history
local all_sent = 0

-- Returns a generator of numbers from 1 to n, always the same for a seed.
local function generator(seed)
  local state = seed * 7919 % 2147483647 + 1
  return function(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
end

-- A list changes as a person changes it between two runs.
local edits = {
  function(rows, n) rows[#rows + 1] = { "k" .. n, tostring(n + 10) } end,
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

-- Returns the id that a request to pay carries, and the amount.
local function asked(request)
  local text = request.target
  return text:match "clientTranId=(%w+)", text:match "amount=([%d.]+)"
end

-- Makes a world: a client whose requests to pay are noted, and interrupted at the number `stops_at`.
local function world()
  local of = { sent = {}, count = 0 }
  at.client:close()
  at.client = at.client_with { transport = at.transport(function(request, inner)
    local id, amount = asked(request)
    if request.method == "POST" and id then
      of.count = of.count + 1
      if of.stops_at == of.count then error("interrupted!", 0) end
      of.sent[#of.sent + 1], all_sent = { id = id, amount = amount }, all_sent + 1
      local response, err = inner:send(request)
      if of.loses_at == of.count then error("interrupted!", 0) end
      return response, err
    end
    return inner:send(request)
  end) }
  return of
end

local function payouts_of(name)
  return at.payouts_with { worker = name, history_check = "never", concurrency = 2, attempts = 3 }
end

-- Says what is wrong with what a run sent, beside what its plan showed.
local function check_sent(plan, of)
  local shown, sum, total = {}, 0, 0
  for _, row in ipairs(plan.send) do
    local made = require("purser").payouts.params("treasury", "default", row.key, row.operation, row.params)
    shown[made.clientTranId], total = row.params.amount, total + tonumber(row.params.amount)
  end
  local seen = {}
  for _, sent in ipairs(of.sent) do
    assert.equal(shown[sent.id] or "not shown", sent.amount)
    if not seen[sent.id] then sum = sum + tonumber(sent.amount) end
    seen[sent.id] = true
  end
  assert.is_true(sum <= total, ("%s were sent, and %s were shown"):format(sum, total))
end

-- Each row of queue and list that is not over is in one section, and the screen names it.
local function check_screen(payouts, plan)
  local sections = {}
  for _, section in ipairs { "left", "held", "refused", "send", "made" } do
    for _, row in ipairs(plan[section]) do
      assert.is_nil(sections[row.key], row.key)
      sections[row.key] = section
    end
  end
  local text = payments_plan.show(plan, "default", function(...) return table.concat({ ... }, " ") end)
    .. table.concat(payments_plan.refused(plan, function(...) return table.concat({ ... }, " ") end), "\n")
  for _, payment in ipairs(assert(payouts:list())) do
    local is_over = payment.state == "done" or payment.state == "dropped"
    assert.is_true(is_over or sections[payment.key] ~= nil, payment.key)
    local is_named = text:find(payment.key, 1, true) ~= nil
    assert.is_true(is_over or is_named or sections[payment.key] == "made", payment.key .. " is not in\n" .. text)
  end
end

-- Runs a plan, interrupted or killed perhaps. A killed run leaves its sign of life.
local function run(payouts, plan, of)
  of.sent = {}
  local fate = random(6)
  of.stops_at = fate == 1 and of.count + random(3) or nil
  of.loses_at = fate == 2 and of.count + random(3) or nil
  local leaves = require("purser.desk.payouts.runs").leave
  if fate < 3 and random(2) == 1 then require("purser.desk.payouts.runs").leave = function() end end
  local ok, report, err = pcall(payouts.run, payouts, plan)
  require("purser.desk.payouts.runs").leave = leaves
  of.stops_at, of.loses_at = nil, nil
  if not ok then
    assert.matches("interrupted!", tostring(report), 1, true)
    at.set "lease_until = ''" -- as time passes
  end
  if ok and not report then
    assert.equal("payouts.changed_since", err.code, tostring(err))
    assert.same({}, of.sent)
  end
  check_sent(plan, of)
end

-- A person answers for a row as its line on the screen says.
local function act(payouts, plan)
  local rows = {}
  for _, section in ipairs { "left", "held" } do
    for _, row in ipairs(plan[section]) do rows[#rows + 1] = row end
  end
  local row = rows[1] and rows[random(#rows)]
  if not row then return end
  local now = assert(payouts:find(row.key))
  if now.state ~= row.state then return end
  if row.state == "failed" then assert.is_true(payouts:retry(row.key))
  elseif row.state == "undecided" then assert.is_true(payouts:retry(row.key, { force = true }))
  elseif row.state == "waiting" then assert.is_true(payouts:drop(row.key)) end
end

local function history(seed)
  random = generator(seed)
  local of, rows, stale = world(), { { "k1", "11" }, { "k2", "12" }, { "k3", "13" } }, nil
  for n = 4, 9 do
    local payouts = payouts_of(NAMES[random(2)])
    local edit = edits[random(#edits)]
    if #rows > 1 or edit == edits[1] then edit(rows, n) end
    if random(5) == 1 then at.sim:fault { kind = "reject", operation = at.TRANSFER, code = "10212", times = 1 } end
    local of_queue = random(4) == 1 and #assert(payouts:list()) > 0
    local plan = assert(payouts:plan(not of_queue and { payments = payments_of(rows) } or nil))
    check_screen(payouts, plan)
    if stale and random(3) == 1 then run(payouts, stale, of) end
    if random(4) == 1 then stale = plan else run(payouts, plan, of) end
    at.sim:disarm()
    if random(2) == 1 then act(payouts, plan) end
  end
  -- the service made all that is done
  local payouts = payouts_of "one"
  assert(payouts:list "sent")
  local done = 0
  for _ in ipairs(assert(payouts:list "done")) do done = done + 1 end
  assert.is_true(at.counted(at.TRANSFER, "applied") >= done)
end

describe("histories of runs", function()
  it(("(%d) send nothing that was not shown, and show all that is left"):format(HISTORIES), function()
    for seed = FIRST, FIRST + HISTORIES - 1 do
      at.begin()
      assert(at.journal.db:rows "PRAGMA synchronous = OFF")
      local ok, problem = pcall(history, seed)
      at.finish()
      if not ok then error(("PURSER_SEED=%d: %s"):format(seed, tostring(type(problem) == "table" and problem.message
        or problem)), 0) end
    end
    assert.is_true(all_sent > HISTORIES, all_sent)
  end)
end)
