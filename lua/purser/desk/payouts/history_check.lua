-- SPDX-License-Identifier: MIT
-- Looks whether the service already holds a payment, for a journal that may lack its last commits: a new or restored
-- journal, or another server. Before the first payment of a kind, a pause makes all earlier calls visible; then the
-- history is read, and client:reconcile is asked of each payment.
--
-- The witness file is a database beside the journal that shows whether the journal is the newest:
--   mark       file and journal get one random mark when a run ends; a copy from before that run has another mark
--   running    the file names each worker at work: the end of a killed worker's run is not known
--   histories  what was read, until the journal is found not to be the newest: later additions prove nothing
--   runs       how many runs began: a witness of the file's own (client/util/database/witness.lua) shows a copied file

local core = require "purser.core"
local database = require "purser.client.util.database"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local json = require "purser.json"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"
local schedule = require "purser.schedule"
local utc = require "purser.client.util.utc"
local witnesses = require "purser.client.util.database.witness"

local M = {}

local DAY, HOUR = 86400000, 3600000
local MAX_SLEEP_MS = 1000
local REJECTIONS = 10 -- in a row, until the question is at fault

--- Lets `ms` pass by the transport's clock, unless the run ends.
function M.sleep(self, ms)
  while ms > 0 and not self.stopping and not self.problem do
    local slice = math.min(ms, MAX_SLEEP_MS)
    self.client:sleep(slice)
    schedule.sleep(0) -- other tasks wait while a transport blocks
    ms = ms - slice
  end
end

--- Lets the pause between two looks for work pass, for one task of the run; the others wait until one wakes them.
function M.rest(self)
  if self.is_resting then
    table.insert(self.resting, schedule.current())
    schedule.suspend()
  else
    self.is_resting = true
    schedule.sleep(self.idle_ms)
    self.is_resting = false
  end
end

--- Wakes a resting task where there is work in the hand, or where no task looks for work; or wakes all.
---@param all boolean|nil
function M.wake(self, all)
  local number = all and #self.resting or (self.hand[1] or not self.is_resting) and 1 or 0
  for _ = 1, math.min(number, #self.resting) do schedule.wake(table.remove(self.resting, 1)) end
end

--- Lets a second of `ms` at most pass, for one task of the run; for the others a pause. Returns how many passed.
function M.nap(self, ms)
  local slice = self.is_sleeping and 0 or math.max(1, math.min(ms, MAX_SLEEP_MS))
  if self.is_sleeping then
    M.rest(self)
  else
    self.is_sleeping = true
    M.wake(self)
    M.sleep(self, slice)
    self.is_sleeping = false
  end
  return slice
end

--- Returns the time from a request's stamp until its record must be visible (ms).
function M.visible_ms(self) return select(2, planned.times(self.client)) end

local function reconcile_of(payment) return planned.operation(payment.operation).reconcile end

-- Returns the earliest time of the look into a payment's history.
local function earliest(self, payment, now)
  local lookup = reconcile_of(payment).lookup
  return math.max(now - self.look_back_days * DAY, self.client:earliest(lookup, now) or 0)
end

--- Returns the window of all attempts of a payment. With an id the window ends at the question; without a history check
--- it holds attempts that the journal does not know.
---@param as_of integer|nil  the time of the question, epoch ms; now
---@return purser.reconcile.Window window
function M.window_of(self, payment, as_of)
  local now = as_of or self.client:now()
  local since = math.min(payment.first_sent_at or now, payment.sent_at or now)
  if payment.client_id and self.history_check == "never" then
    -- two hours behind the history's end
    since = math.min(since, math.max(payment.added_at, earliest(self, payment, now) + 2 * HOUR))
  end
  -- only a record with this id contradicts the service's rejection
  return { since = math.floor(since), to = payment.client_id and now or nil, was_rejected = payment.rejection ~= nil }
end

--- Returns whether an error concerns all calls, whatever is tried again.
function M.ends_run(err) return err.kind == "config" or err.kind == "closed" end

--- Asks until there is an answer, and tells the run why it waits. Returns the answer; nil and an error where the
--- service rejects for good; or nothing where the run ends.
---@param ask fun(): purser.Reconciliation|nil, purser.Error|nil
function M.ask(self, ask)
  local tries, rejections, waiting_for = 0, 0, self.waiting_for
  while not self.stopping and not self.problem do
    local answer, err = ask()
    self.waiting_for = waiting_for
    if answer then return answer end
    if M.ends_run(err) or err.phase == "journal" then
      self.problem = err
      return nil
    end
    local is_rejection = err.kind == "argument" or err.kind == "decode" or err.phase == "history" -- no list
      or err.kind == "api" and err.outcome == "rejected"
    tries, rejections = tries + 1, is_rejection and rejections + 1 or 0
    if rejections >= REJECTIONS then return nil, err end
    self.waiting_for = "a history that cannot be read: " .. err.message
    M.sleep(self, math.floor(math.min(30000, self.retry_ms * 2 ^ math.min(tries, 10))))
  end
end

local tables = {
  "CREATE TABLE IF NOT EXISTS purser_marks (scope TEXT PRIMARY KEY, mark TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS purser_running (scope TEXT NOT NULL, worker TEXT NOT NULL, PRIMARY KEY (scope, worker))",
  "CREATE TABLE IF NOT EXISTS purser_histories (scope TEXT NOT NULL, history TEXT NOT NULL, content TEXT NOT NULL, "
    .. "PRIMARY KEY (scope, history))",
  "CREATE TABLE IF NOT EXISTS purser_witness (name TEXT PRIMARY KEY, value TEXT NOT NULL)", -- `runs`: how many began
}

local function witness_error(message) return planned.error("the witness file: " .. tostring(message)) end

--- Opens it. Returns nil and a message when it cannot be.
function M.open_witness(path)
  local db, message = database.open({ sqlite = path }, "purser_witness")
  if not db then return nil, message end
  local ok
  ok, message = db:transaction(function(tx)
    for _, sql in ipairs(tables) do tx:rows(sql) end
    return true
  end)
  db.witness = witnesses.of(db)
  if ok then return db end
  db:close()
  return nil, message
end

--- Locks the worker's name by a file beside the witness, which the system unlocks when the process ends: an earlier run
--- of the name is over. Returns a function that unlocks; or nil and an error.
function M.lock_worker(self)
  if not self.witness_db then return function() end end
  local unlock, message = database.lock_file(("%s-worker-%s"):format(self.witness_db.files[1].path,
    digest.id("purser worker", self.worker)))
  if unlock then return unlock end
  if unlock == nil then return nil, witness_error(message) end
  return nil, errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.worker",
    message = ('payouts: another run of worker "%s" is under way'):format(self.worker),
    hint = "wait until it ends, or give this one a worker name of its own" }
end

local function mark_name(scope) return "payouts mark " .. scope end

-- Gives the journal a new mark. Returns it; or nil and an error.
local function mark_journal(self)
  return planned.within(self.journal, function(tx)
    local mark, message = core.random_token(24)
    if not mark then tx:reject(message) end
    tx:set_meta(mark_name(self.scope), mark)
    return mark
  end)
end

-- Ends the run, for the witness cannot be used.
local function fail(self, message) self.problem = self.problem or witness_error(message) end

local function write(self, change)
  local ok, message = self.witness_db:transaction(function(tx)
    change(tx)
    return true
  end)
  if not ok then fail(self, message) end
end

-- A person's answer after this long may follow runs of other hosts: the screen's time counts no more.
local SCREEN_MS = 300000

-- Returns how much of the wait passed since the plan of the run was made, of the same journal.
local function waited_ms(self)
  local wait = self.planned_wait
  local passed = wait and wait.place == self.journal.db.place and core.monotonic_ms() - wait.since or 0
  return passed < SCREEN_MS and math.max(0, math.floor(passed)) or 0
end

-- Returns nothing where the run ends: the next one learns the clock.
local function new_state(self, newest)
  -- the service's clock is learned first: a time of another clock, an hour ahead, would be waited for
  if not newest then
    local learned, err = M.ask(self, function() return self.client:sync_clock() end)
    self.problem = self.problem or err
    if not learned then return nil end
  end
  local passed = newest and M.visible_ms(self) or math.min(M.visible_ms(self), waited_ms(self))
  local state = { place = self.journal.db.place, newest = newest, sent_at = self.client:now() - passed,
    rejections = {}, renewed_at = 0, sleep_ms = M.visible_ms(self) - passed }
  self.payouts.history = state
  if self.scope and not newest then
    write(self, function(tx) tx:rows("DELETE FROM purser_histories WHERE scope = $1", self.scope) end)
  end
  return state
end

-- Returns whether a state is of this journal: a connection that is opened again may lead to another one.
local function is_of_now(self, state)
  return state and self.history == state and state.place == self.journal.db.place
end

-- Returns the readings of the histories, which the witness keeps.
local function readings_of(self, state)
  local db, store = self.scope and self.witness_db, {}

  function store.load(history)
    if not (db and state.newest) then return nil end
    local rows, message = db:rows("SELECT content FROM purser_histories WHERE scope = $1 AND history = $2", self.scope,
      history)
    if not rows then fail(self, message) end
    local reading = rows and rows[1] and core.decode(rows[1].content) or nil
    if not reading or (reading.days or 0) < self.look_back_days then return nil end -- it reached less far back
    reading.by_id, reading.learned, reading.is_kept = {}, {}, true
    return reading
  end

  function store.save(history, reading)
    if not db then return end
    local records = json.list {}
    for i, record in ipairs(reading.records) do
      records[i] = {}
      for name, value in pairs(record) do -- nothing compares members that are tables
        if type(value) ~= "table" and type(value) ~= "userdata" then records[i][name] = value end
      end
    end
    local text = json.encode { records = records, first = reading.first, last = reading.last, began = reading.began,
      days = self.look_back_days }
    write(self, function(tx)
      if not is_of_now(self, state) then return end -- asked last, when nothing else can be written any more
      tx:rows([[INSERT INTO purser_histories (scope, history, content) VALUES ($1, $2, $3)
        ON CONFLICT (scope, history) DO UPDATE SET content = $3]], self.scope, history, text)
    end)
  end

  return planned.readings(self.client:now(), self.client:now() - self.look_back_days * DAY, store)
end

-- Notes in the witness that a run begins, before the run sends anything. A witness that was copied, or lacks runs,
-- speaks for no journal any more.
local function note_run(self, tx, scope, is_newest)
  local witness = self.witness_db.witness
  if not is_newest then
    tx:rows "DELETE FROM purser_marks"
    witness:renew(tx)
  end
  local runs = ("%d"):format(tonumber(tx:meta "runs" or "0") + 1)
  tx:set_meta("runs", runs)
  local ok, message = witness:note(runs)
  if not ok then tx:reject(message) end
  tx:rows("INSERT INTO purser_running (scope, worker) VALUES ($1, $2) ON CONFLICT DO NOTHING", scope, self.worker)
end

-- Compares the marks of journal and witness; `begins` notes a run in the witness. Returns { newest, scope, killed },
-- the last where a run had no end; or nil and a problem.
local function compare(self, begins)
  local journal_id, problem = self.journal:id()
  if not journal_id then return nil, problem end
  local scope = digest.id("purser marks", journal_id, self.account, self.queue)
  local rows, message = self.journal.db:rows("SELECT value FROM purser_meta WHERE name = $1", mark_name(scope))
  if not rows then return nil, message end
  local found
  found, message = self.witness_db:transaction(function(tx)
    local state, why = self.witness_db.witness:check(tx, tx:meta "runs" or "0")
    if not state then tx:reject(why) end
    local kept = tx:rows("SELECT mark FROM purser_marks WHERE scope = $1", scope)[1]
    local running = tx:rows("SELECT worker FROM purser_running WHERE scope = $1", scope)[1]
    if begins then note_run(self, tx, scope, state == "newest") end
    return { newest = state == "newest" and kept ~= nil and not running and rows[1] ~= nil
      and kept.mark == rows[1].value, scope = scope, killed = running ~= nil }
  end)
  if not found then return nil, witness_error(message) end
  return found
end

--- Notes that a run begins, in the witness, too. Returns nothing, or a problem.
function M.begin(self)
  if self.history then self.history.rejections = {} end
  if not self.witness_db then return nil end
  local found, problem = compare(self, true)
  if not found then return problem end
  self.scope, self.began_newest = found.scope, found.newest
  if found.newest and not self.history then new_state(self, true) end
end

--- Returns how long the first payment of a run waits that begins now, and why: { ms, why, since, place }. Nil where
--- nothing waits, or the marks cannot be compared: then the run says why.
---@param payments table[]  with `operation`
function M.wait_of(self, payments)
  local looks = false
  for _, payment in ipairs(self.history_check ~= "never" and payments or {}) do
    local row = planned.operation(payment.operation)
    looks = looks or row ~= nil and row.reconcile ~= nil and row.reconcile.strategy ~= "conversion"
  end
  if not looks then return nil end
  local found = self.witness_db and compare(self) or not self.witness_db and {} or nil
  local state = self.history and is_of_now(self, self.history) and self.history
  local ms = state and state.sleep_ms or M.visible_ms(self)
  if not found or found.newest or ms == 0 then return nil end
  return { ms = ms, since = core.monotonic_ms(), place = self.journal and self.journal.db.place,
    why = found.killed and "an earlier run did not end" or "the journal cannot show that it is the newest" }
end

--- Notes that a run has ended well, with a mark; with none where it did not look, so that the next one must. Returns
--- nothing, or a problem.
function M.finish(self)
  if not self.witness_db then return nil end
  local mark = false
  if self.history_check ~= "never" or self.began_newest then
    local message
    mark, message = mark_journal(self)
    if not mark then return message end
  end
  write(self, function(tx)
    if mark then
      tx:rows("INSERT INTO purser_marks (scope, mark) VALUES ($1, $2) ON CONFLICT (scope) DO UPDATE SET mark = $2",
        self.scope, mark)
    else
      tx:rows("DELETE FROM purser_marks WHERE scope = $1", self.scope)
    end
    tx:rows("DELETE FROM purser_running WHERE scope = $1 AND worker = $2", self.scope, self.worker)
  end)
  return self.problem
end

--- Returns whether what the journal lacks is still being looked for.
function M.is_searching(self)
  local state = self.history_check ~= "never" and self.history
  return state and not state.newest and not state.is_searched
end

function M.end_search(self) if self.history then self.history.is_searched = true end end

local READABLE = "make the history readable, and run it again"

-- Returns the histories' answer; nil and why they cannot be asked for this payment; or nothing where the run ends.
local function answer_of(self, state, payment)
  local key = payment.operation -- and what else names a history
  for _, name in ipairs(reconcile_of(payment).copy_params or {}) do
    key = key .. "\n" .. tostring(payment.params[name])
  end
  if state.rejections[key] then return nil, state.rejections[key] end
  local intent = { operation = payment.operation, params = payment.params, account = self.account,
    sent_at = state.sent_at, recv_window = planned.times(self.client) }
  local window = { readings = state.readings, is_planned = true, to = state.readings.as_of,
    since = earliest(self, payment, self.client:now()) }
  local answer, err = M.ask(self, function() return self.client:reconcile(intent, nil, window) end)
  if err then state.rejections[key] = err.message:gsub("%.$", "") .. (err.hint and "; " .. err.hint or "") end
  if not answer or not answer.incomplete then return answer, state.rejections[key] end
  self.problem = errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.history", message =
    ("payouts: whether payments were made before cannot be looked for in %s: %s; they were not sent")
    :format(reconcile_of(payment).lookup, answer.reason),
    hint = READABLE }
end

local function describe(reconcile, records)
  local words = {}
  for i = 1, math.min(3, #records) do
    local at = records[i][reconcile.time_member]
    words[i] = ("%s of %s"):format(tostring(planned.record_id(records[i]) or "no id"), utc.text(at) or tostring(at))
  end
  local more = #records > 3 and (" and %d more"):format(#records - 3) or ""
  return #records > 0 and (": %s shows %s%s"):format(reconcile.lookup, table.concat(words, ", "), more) or ""
end

-- Returns whether as many equal payments without an id stand undecided as there are candidates: none is left for this.
local function is_spared(self, payment, answer)
  if payment.client_id then return false end
  local number, err = planned.within(self.journal, function(tx)
    return queue.undecided_equals(tx, payment)
  end, true)
  self.problem = self.problem or err
  return number ~= nil and number >= #answer.candidates
end

--- Returns the change of a payment that is not sent, because each reading of its history is rejected.
function M.unreadable(payment, why)
  return { stage = "waiting", blocked = true, message = ("whether it was made before cannot be looked for in %s: %s; "
    .. READABLE):format(reconcile_of(payment).lookup, why) }
end

-- Returns the payment's change by an answer; nil where the payment may be sent.
local function judge(self, payment, answer, rejection)
  local reconcile = reconcile_of(payment)
  if answer and answer.outcome == "done" then
    return { record = answer.record }
  elseif not answer then
    return rejection and M.unreadable(payment, rejection) or nil
  elseif payment.disowned or answer.outcome == "not_done" then
    return nil
  elseif answer.is_busy then
    return { stage = "waiting", due_in = 500, message = "an equal payment is looked for" }
  elseif not payment.put_off_at then
    return { put_off = answer.why }
  elseif not is_spared(self, payment, answer) then
    return { stage = "undecided", message = answer.reason .. describe(reconcile, answer.candidates),
      candidates = answer.candidates, why = answer.why }
  end
end

-- Lets the histories be read again for a payment that was put off for want of a witness, when another payment was
-- answered since and its record must be visible.
local function renew(self, state, payment)
  local since = payment.put_off_at
  if not since or not state.readings or state.renewed_at >= since then return end
  local witness_at, err = planned.within(self.journal, function(tx)
    -- kept histories may lack every witness
    return queue.answered_since(tx, payment.operation, state.newest and 0 or state.readings.as_of) or false
  end, true)
  self.problem = self.problem or err
  if not witness_at then return end
  local visible_ms = M.visible_ms(self)
  M.sleep(self, math.min(visible_ms, witness_at + visible_ms - self.client:now()))
  if state.renewed_at >= since then return end -- by another task
  state.readings, state.newest, state.renewed_at = nil, false, self.client:now()
end

--- Looks for a payment before it is sent. Returns nil where the payment may be sent, its `record` where it was made,
--- `put_off`, the word of the reason, where it is to be asked about later, or a change for queue.move. The run may have
--- ended meanwhile (self.stopping, self.problem).
function M.look(self, payment)
  local reconcile = reconcile_of(payment)
  -- a conversion pays nobody, and converts only what is left
  if self.history_check == "never" or reconcile.strategy == "conversion" then return nil end
  while not self.stopping and not self.problem do
    local state = is_of_now(self, self.history) and self.history or new_state(self, false)
    if not state then break end
    if state.sleep_ms > 0 then -- a narrow terminal shows the first clause alone
      self.waiting_for = ("%d s, until earlier calls are visible; the journal cannot show that it is the newest")
        :format(math.ceil(state.sleep_ms / 1000))
      local passed = M.nap(self, state.sleep_ms) -- others may rest meanwhile
      state.sleep_ms = state.sleep_ms - passed
      if state.sleep_ms <= 0 then M.wake(self, true) end
    else
      M.wake(self)
      renew(self, state, payment)
      state.readings = state.readings or readings_of(self, state)
      self.waiting_for = reconcile.lookup .. " is read for payments that the journal may lack"
      local answer, rejection = answer_of(self, state, payment)
      self.waiting_for = nil
      if is_of_now(self, state) then return judge(self, payment, answer, rejection) end
    end
  end
end

return M
