-- SPDX-License-Identifier: MIT
-- Plans and runs: what was shown is what is sent, or less.
--
--   plan   a list, or the queue, seen in one reading of the journal
--   run    a plan that a person confirmed, a row of `purser_runs`
--   mark   of each payment of a run: a worker takes no payment without it. The newest yes has the mark; a payment that
--          a person has to look at has none.

local add = require "purser.desk.payouts.add"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local files = require "purser.client.util.files"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

local M = {}

-- Every column is text. A mark has the payment's name, and outlives the payment's row. `payee` is a name for persons.
local TABLES = {
  [[CREATE TABLE IF NOT EXISTS purser_runs (number TEXT PRIMARY KEY, queue TEXT NOT NULL,
    source TEXT NOT NULL, person TEXT NOT NULL, begun_at TEXT NOT NULL)]],
  [[CREATE TABLE IF NOT EXISTS purser_workers (run TEXT NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL,
    host TEXT NOT NULL, pid TEXT NOT NULL, alive_until TEXT NOT NULL, PRIMARY KEY (run, name))]],
  [[CREATE TABLE IF NOT EXISTS purser_run_rows (of_queue TEXT NOT NULL,
    of_payment TEXT NOT NULL, run TEXT NOT NULL, payee TEXT NOT NULL DEFAULT '', PRIMARY KEY (of_queue, of_payment))]],
  "CREATE INDEX IF NOT EXISTS purser_run_rows_run ON purser_run_rows (run)",
  add.TABLE,
}

local HOST = (files.read "/proc/sys/kernel/hostname" or "this host"):match "^%S+" or "this host"

-- Without a sign of life for so long a worker begins nothing more.
local LIFE_MS = 60000

--- Makes the tables where they are missing. Returns true; or nil and an error.
function M.prepare(journal)
  local are_there = planned.within(journal, function(tx) return tx:rows "SELECT payee FROM purser_run_rows LIMIT 1" end,
    true)
  if are_there then return true end
  return planned.within(journal, function(tx)
    tx:lock(add.LOCK) -- another process may have made them meanwhile
    for _, sql in ipairs(TABLES) do tx:rows(sql) end
    return true
  end)
end

local OPEN = { waiting = true, taken = true, sent = true }
local OVER = { done = true, dropped = true }

-- Returns whether a payment was or may have been made.
local function may_be_made(row)
  return row.state == "done" or row.state == "sent" or row.state == "undecided" or not planned.UNDONE[row.call_state]
end

---@class purser.PayoutsRun  a confirmed plan
---@field number string
---@field person string   who confirmed it
---@field source string   the file; "" for the queue
---@field workers { name: string, person: string, host: string, pid: string }[]  living ones

-- Returns the runs of a queue by number.
local function runs_of(tx, self)
  local found = {}
  for _, row in ipairs(tx:rows("SELECT number, person, source FROM purser_runs WHERE queue = $1", self.queue)) do
    row.workers, found[row.number] = {}, row
  end
  for _, row in ipairs(tx:rows("SELECT * FROM purser_workers WHERE alive_until >= $1", planned.time_text(tx:now()))) do
    if found[row.run] then table.insert(found[row.run].workers, row) end
  end
  return found
end

--- Returns the runs of a queue with payments left, in the order of their numbers.
function M.open(tx, self)
  local list, runs = {}, runs_of(tx, self)
  for _, row in ipairs(tx:rows([[SELECT DISTINCT run FROM purser_run_rows WHERE of_queue = $1
    AND EXISTS (SELECT 1 FROM purser_calls WHERE queue = of_queue AND payment = of_payment
    AND queue <> '' AND stage IN ('waiting', 'taken', 'sent'))]], self.queue)) do
    list[#list + 1] = runs[row.run]
  end
  table.sort(list, function(a, b) return tonumber(a.number) < tonumber(b.number) end)
  return list
end

---@class purser.PlanRow  a payment as a plan shows it
---@field key string
---@field operation string
---@field params table
---@field state "new"|purser.payment_states
---@field now purser.Payment|nil       in the queue
---@field made table|nil  in the list, as add.prepare makes it
---@field difference string|nil        changed and refused: what differs
---@field run purser.PayoutsRun|nil    of its mark

--- Returns a text that is equal for keys that differ in case or blanks.
function M.fold(key) return (key:lower():gsub("%s+", "")) end

-- Returns the payee as a text.
local function payee_of(params)
  local address = params.address and params.address .. " " .. tostring(params.memo or "")
  return address or params.toAccount or params.toAccountType
end

-- Returns why payments may be a mistake beside what the queue holds, by key.
local function odd_of(wanted, rows, list)
  local odd, folded, gone = {}, {}, {}
  for _, row in ipairs(rows) do
    folded[M.fold(row.key)] = row.key
    if not wanted[row.key] and may_be_made(row) then gone[row.operation .. row.content] = row.key end
  end
  for _, entry in ipairs(list) do
    local key, row = entry.key, entry.now
    local texts, alike = {}, folded[M.fold(key)]
    if not row and alike and alike ~= key then
      texts[1] = ('the key differs only in case or blanks from "%s", which is in the queue'):format(alike)
    end
    local other = (not row or entry.difference) and gone[entry.operation .. entry.content]
    if other then
      texts[#texts + 1] = ('it pays the same as "%s", which may be paid and is no longer in the list'):format(other)
    end
    if entry.difference and row.state ~= "done" and payee_of(row.params) ~= payee_of(entry.params) then
      texts[#texts + 1] = ("the payee was %s"):format(tostring(payee_of(row.params)))
    end
    odd[key] = texts[1] and texts or nil
  end
  return odd
end

-- Returns the section of a payment of the list.
local function section_of(entry)
  local row = entry.now
  if not row then return "send" end
  if row.state == "dropped" then return "held" end
  if entry.difference then return may_be_made(row) and "refused" or "changed" end
  return row.state == "done" and "made" or OPEN[row.state] and "send" or "held"
end

-- Returns a payment of the queue as plans show it.
local function entry_of(row)
  return { key = row.key, operation = row.operation, params = row.params, content = row.content, now = row,
    state = row.state }
end

-- Returns the planned payments: of the list, or of the queue where they are not over.
local function entries_of(rows, list)
  local entries, by_key = {}, {}
  for _, row in ipairs(rows) do by_key[row.key] = row end
  for i, made in ipairs(list or {}) do
    local row = by_key[made.key]
    entries[i] = { key = made.key, operation = made.operation, params = made.params, content = made.content,
      made = made, now = row, state = row and row.state or "new",
      difference = row and add.differs(row, made) and add.difference(row, made) or nil }
  end
  for _, row in ipairs(list and {} or rows) do
    if OPEN[row.state] then entries[#entries + 1] = entry_of(row) end
  end
  return entries
end

--- Returns the sections of a plan: each payment of list and queue that is not over stands in one.
---@param list table[]|nil  as add.prepare makes them; nil: the queue
---@param before table|nil  an earlier view of this list, returned where nothing has changed
function M.draw(tx, self, list, before)
  local rows = queue.read(tx, self, before and before.rows)
  if before and rows == before.rows then return before end
  local runs, wanted = runs_of(tx, self), {}
  local view = { left = {}, changed = {}, refused = {}, held = {}, send = {}, made = {}, again = 0, new = 0,
    list = list, rows = rows, runs = runs, rest = {} }
  local entries = entries_of(rows, list)
  for _, entry in ipairs(entries) do
    local section = section_of(entry)
    wanted[entry.key], entry.run = section, entry.now and runs[entry.now.mark]
    table.insert(view[section], entry)
    if section == "changed" then table.insert(view.send, entry) end
    if entry.state == "sent" and section == "send" then view.again = view.again + 1 end
    if not entry.now then view.new = view.new + 1 end
  end
  for _, row in ipairs(rows) do
    local run = runs[row.mark]
    if OPEN[row.state] and run then view.rest[run.number] = (view.rest[run.number] or 0) + 1 end
    if not wanted[row.key] and not OVER[row.state] then
      local entry = entry_of(row)
      entry.run = run
      table.insert(view.left, entry)
    end
  end
  view.alike = odd_of(wanted, rows, list and entries or {})
  view.joins = M.joins(view, view.send)
  return view
end

--- Returns the run whose whole rest, unchanged, are the rows to send; or nil.
---@return string|nil number
function M.joins(view, send)
  local number
  for _, entry in ipairs(send) do
    local run = entry.run
    if not run or entry.difference or number and number ~= run.number then return nil end
    number = run.number
  end
  return number and view.rest[number] == #send and number or nil
end

-- Returns a queue's name, account and journal as one text; or nil and an error.
local function place_of(self)
  local id, err = self.journal:id()
  return id and table.concat({ id, self.account, self.queue }, "\n"), err
end

--- Returns the view of a list of payments that were checked, or of the queue; or nil and an error.
---@param payments purser.PlannedPayment[]|nil  those without problems get one where the queue cannot take them
function M.see(self, payments)
  local list = payments and {}
  for _, payment in ipairs(payments or {}) do
    if not payment.problems[1] then
      local made, err = add.prepare(self, payment.key, payment.operation, payment.params)
      list[#list + 1], payment.problems[1] = made, err and err.message
    end
  end
  local view, err = planned.within(self.journal, function(tx)
    local drawn = M.draw(tx, self, list)
    queue.with_names(tx, self, drawn.rows)
    return drawn
  end, true)
  if view then view.place, err = place_of(self) end
  return view and view.place and view, err
end

local function problem(code, message, hint, details)
  return errors.new { kind = "workflow", outcome = "not_sent", code = code, message = message, hint = hint,
    details = details }
end

-- Returns the payments that the run takes: as they were shown, or as shown by now. Ends the transaction where one
-- differs, or the queue holds a new odd or refused payment.
local function agreed(tx, shown, now)
  local taken, sends, differs = {}, {}, {}
  for _, entry in ipairs(now.send) do sends[entry.key] = entry end
  for _, entry in ipairs(now.refused) do differs[#differs + 1] = entry.key end
  for key in pairs(now.alike) do
    if not shown.alike[key] then differs[#differs + 1] = key end
  end
  for _, was in ipairs(shown.send) do
    local is = sends[was.key]
    local is_same = is and is.content == was.content and is.operation == was.operation
    -- replaces only what was shown as replaced
    if is_same and is.difference then is_same = was.now ~= nil and is.now.content == was.now.content end
    if is then table.insert(is_same and taken or differs, is_same and is or was.key) end
  end
  if differs[1] then
    table.sort(differs)
    tx:reject(problem("payouts.changed_since", ("the queue changed since this was shown (%s); nothing was sent")
      :format(table.concat(differs, ", ", 1, math.min(#differs, 5))), "look at the plan of now",
      { keys = differs, runs = now.runs }))
  end
  return taken
end

local NEXT_NUMBER = "SELECT CAST(coalesce(max(CAST(number AS INTEGER)), 0) + 1 AS TEXT) AS number FROM purser_runs"

-- Returns the columns of a payment of the list, made once: making takes longer than a statement.
local function columns_of(made)
  made.columns = made.columns or planned.columns(made.operation, made.params, made.id)
  return made.columns
end

-- Adds, replaces and frees the payments of a run, and gives them the run's mark.
local function enlist(tx, self, taken, names, add_new, number)
  local wanted, marked = {}, {}
  for i, entry in ipairs(taken) do
    wanted[entry.key], marked[i] = not entry.now, { entry.key, names[entry.key] or "" }
  end
  add_new(wanted)
  for _, entry in ipairs(taken) do
    if entry.difference then
      add.check_id(self, tx, entry.made)
      if not queue.replace(tx, self, entry.now, columns_of(entry.made)) then
        tx:reject(problem("payouts.changed_since", ('payment "%s" changed since this was shown'):format(entry.key)))
      end
    elseif entry.now then
      queue.free(tx, entry.now)
    end
  end
  queue.mark(tx, self, number, marked)
  queue.unblock(tx, self) -- what waited for a payment that is another now goes on
end

-- Writes a worker's first sign of life.
local SIGN_IN = [[INSERT INTO purser_workers (run, name, person, host, pid, alive_until) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (run, name) DO UPDATE SET person = $3, host = $4, pid = $5, alive_until = $6]]

--- Begins the run of a confirmed plan, in one transaction that reads again; most is read before, where nobody waits.
--- Returns the run's number; or nil and an error, and then nothing was changed.
---@return string|nil number, purser.Error|nil err
function M.begin(self, plan)
  local shown, person, new, names = plan, plan.person or os.getenv "USER" or self.worker, {}, {}
  local place, err = place_of(self)
  if place ~= plan.place then
    return nil, err or problem("payouts.other_queue", ('the plan is not of the queue "%s" of the account "%s" in this '
      .. "journal; nothing was sent"):format(self.queue, self.account), "make it by payouts:plan of this queue")
  end
  for _, entry in ipairs(plan.send) do
    local made = entry.made
    new[#new + 1] = not entry.now and made or nil
    if entry.difference then columns_of(made) end
    names[entry.key] = entry.payee or not entry.difference and entry.now and entry.now.payee
  end
  local seen
  seen, err = planned.within(self.journal, function(tx) return M.draw(tx, self, shown.list, shown) end, true)
  if not seen then return nil, err end
  return add.adding(self, new, function(tx, add_new)
    tx:lock(add.LOCK)
    planned.enter(tx, self.client)
    local now = M.draw(tx, self, shown.list, seen)
    local taken = agreed(tx, shown, now)
    local number = M.joins(now, taken)
    if not number then
      number = tx:rows(NEXT_NUMBER)[1].number
      tx:rows([[INSERT INTO purser_runs (number, queue, source, person, begun_at)
        VALUES ($1, $2, $3, $4, $5)]], number, self.queue, plan.path or "", person,
        planned.time_text(tx:now()))
      enlist(tx, self, taken, names, add_new, number)
    end
    tx:rows(SIGN_IN, number, self.worker, person, HOST, ("%d"):format(core.process_id()),
      planned.time_text(tx:now() + math.max(LIFE_MS, self.lease_ms)))
    return number
  end)
end

--- Writes a sign of life. Ends the transaction where the last is too old: worker and yes stood still.
function M.live(tx, self)
  local now = tx:now()
  local _, changed = tx:rows([[UPDATE purser_workers SET alive_until = $1 WHERE run = $2 AND name = $3
    AND alive_until >= $4]], planned.time_text(now + math.max(LIFE_MS, self.lease_ms)), self.mark, self.worker,
    planned.time_text(now))
  if changed == 1 then return end
  tx:reject(problem("payouts.stood_still", ("run %s stood still for longer than a worker may; it begins nothing more")
    :format(self.mark), "look at the plan of now, and run it"))
end

--- Ends a worker's part in a run.
function M.leave(self, number)
  planned.within(self.journal, function(tx)
    tx:rows("DELETE FROM purser_workers WHERE run = $1 AND name = $2", number, self.worker)
    return true
  end)
end

return M
