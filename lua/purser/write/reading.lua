-- SPDX-License-Identifier: MIT
-- A reading: a window of a history or list, whole or not, shared by all that ask for it.
--
-- A conclusion needs a whole reading: each answer with status 200 and nothing next to its list that says otherwise,
-- every page, every window. Absence needs two of them, since an answer may be another request's. A reading says the
-- same of every call in its window: calls that are looked for together, or by one client within a minute, share it.

local core = require "purser.core"
local cursors = require "purser.client.history.cursor"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local history = require "purser.client.history"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"
local schedule = require "purser.schedule"
local window_reader = require "purser.client.history.window"

local M = {}

local DAY_MS = 86400000

--- The widest reading adds this on both sides: a time zone 14 hours away, and bounds in whole days.
M.WIDE_MS = 14 * 3600000 + DAY_MS

-- A reading that several calls share begins and ends so much farther.
local BEFORE_MS, AFTER_MS = 60000, 600000

-- Where questions follow one another, a reading begins or ends so much farther on the side to which they go.
local FAR_MS, NEAR_MS = 3 * M.WIDE_MS, 9 * 3600000

-- A reading takes no more requests: where a service keeps to no windows their parts have no end.
local MOST_REQUESTS = 200

M.AHEAD_MS = 1000 -- the service takes a timestamp that lies this far ahead of its clock

--- Returns how long after a request was stamped its record must be visible (ms).
function M.visible_ms(recv_window, delay_ms)
  return recv_window + M.AHEAD_MS + delay_ms
end

------------------------------------------------------------------------------------------------------------ one list

local ASKED_TIMES = 3 -- at most

local LONGEST_MS = 30 * DAY_MS  -- that is asked for at once, where the history itself says no other
local OVERLAP_MS = 2 * DAY_MS   -- of two parts: bounds counted in whole days would hide what lies between them

-- Returns each record of a history's parts once: the parts may overlap. Records without an id are two, unless another
-- part has them.
local function each_once(row, parts)
  local key_of, seen, list = cursors.key_of(row.paging or {}), {}, {}
  for i, records in ipairs(parts) do
    for _, record in ipairs(records) do
      local key, is_id = key_of(record)
      if not seen[key] or seen[key] == i and not is_id then
        list[#list + 1], seen[key] = record, i
      end
    end
  end
  return list
end

-- Returns a function that asks again after an incomplete answer, and after a rejection that follows good pages: of many
-- requests one fails now and then.
local function asks_again(run)
  local was_shown = false
  return function(row, params)
    local value, err
    for _ = 1, ASKED_TIMES do
      value, err = run(row, params)
      was_shown = was_shown or value ~= nil
      local passes = not value and (err.kind == "decode"
        or was_shown and err.outcome == "rejected" and err.kind ~= "throttled")
      if not passes then break end
    end
    return value, err
  end
end

--- Returns all records of a read operation between `first` and `last` (epoch ms; where it has windows); nil and an
--- error; or the records, nil and why they may not be all.
---@param run fun(row: table, params: table): any, purser.Error|nil
---@param time_name string|nil  the member that holds a record's time
---@param state table|nil  for all that is asked later: it is read twice, since an answer may be another request's, and
--- after an error the next reading goes on with the parts that were read
---@return table[]|nil records, purser.Error|nil err, string|nil why
function M.all(run, row, params, first, last, time_name, state)
  local longest, ask = window_reader.max_window(row.window) or LONGEST_MS, asks_again(run)
  local parts = state or { is_second = true }
  while true do
    local from = parts.read_to and parts.read_to - math.min(OVERLAP_MS, longest / 2) or first
    local upto = math.min(from + longest - 1, last)
    local walk = history.strict(ask, row, params, from, upto, time_name)
    local records, err = walk:collect()
    if not records then
      local crowded = err.details and err.details.crowded
      if not crowded then return nil, err end
      return {}, nil, crowded == true and "the history holds more records at one moment than it shows" or crowded
    end
    parts[#parts + 1], parts.read_to, parts.incomplete = records, upto, parts.incomplete or walk.source.incomplete
    if upto >= last then
      if parts.is_second then return each_once(row, parts), nil, parts.incomplete end
      parts.is_second, parts.read_to = true, nil
    end
  end
end

------------------------------------------------------------------------------------------------- what is asked for

--- The codes by which a key never lists sub-accounts: no permission, or no broker. Any other rejection may pass.
M.MAY_NOT_LIST = { ["700007"] = true, ["730603"] = true }

-- The document spells these in capital letters, and people do not.
local capitals = { coin = true, fromAccountType = true, toAccountType = true }

--- Returns whether a list is a history: it shows windows of time.
function M.is_history(reconcile)
  local through = operations.by_name[reconcile.lookup]
  return through ~= nil and through.paging ~= nil and through.paging.time_member ~= nil
end

--- Returns the parameters of the list: by the call's id, or all that may hold the call's record.
---@param spelled table<string, string|false>  how the service spells the names of sub-accounts; false: ask without
function M.question(reconcile, params, spelled, by_id)
  local asked = {}
  for _, name in ipairs(reconcile.copy_params or {}) do
    local value = params[name]
    asked[name] = not by_id and capitals[name] and type(value) == "string" and value:upper() or value
  end
  for _, name in ipairs(by_id and reconcile.narrow or {}) do asked[name] = params[name] end
  for name, value in pairs(spelled) do asked[name] = value or nil end
  return asked
end

local ACCOUNTS_MS = 60000 -- how long the list of sub-accounts is relied on for how the service spells their names

--- Returns the service's spelling of a sub-account; false for an unlisted name; or nil and an error.
---@param run fun(row: table, params: table): any, purser.Error|nil
---@param accounts string  the operation that lists sub-accounts
---@return string|false|nil spelled, purser.Error|nil err
function M.spelling_of(run, accounts, name, readings)
  local seen_at = readings and readings.spelled[name]
  if seen_at and core.monotonic_ms() - seen_at < ACCOUNTS_MS then return name end
  for _, filter in ipairs { { subAccount = name }, {} } do
    local spelled
    local records, err = M.all(run, operations.by_name[accounts], filter, 0, 0)
    if not records then return nil, err end
    for _, record in ipairs(records) do
      if record.subAccount == name then
        if readings then readings.spelled[name] = core.monotonic_ms() end
        return name
      end
      if tostring(record.subAccount):lower() == name:lower() then spelled = record.subAccount end
    end
    if spelled then return spelled end
  end
  return false
end

------------------------------------------------------------------------------------------------------ shared readings

---@class purser.evidence.Reading
---@field incomplete string|nil  why nothing shows that `records` are all between `first` and `last`
---@field began integer          the client's clock
---@field by_id table<string, table<string, table[]>>  records by what they show as an id: see M.with_id

---@class purser.evidence.Readings
local Readings = {}
Readings.__index = Readings

-- So long a client's questions share readings.
local RECENT_MS = 60000

--- Returns the readings that a client's next question may share: those of the last minute, made with this API key.
---@return purser.evidence.Readings
function M.recent(client, signer)
  local recent, at, now = client._recent, core.monotonic_ms(), client._clock:read() or 0
  if not recent or recent.signer ~= signer or at - recent.at > RECENT_MS or math.abs(now - recent.now) > RECENT_MS then
    recent = M.share()
    recent.signer, recent.at, recent.now = signer, at, now
    client._recent = recent
  end
  return recent
end

-- Reads again if the client's clock lost more than this against the machine's clock during a reading.
local SET_BACK_MS = 1000
local FUTURE_MS = 30000 -- no record is shown with a time that lies further ahead than this

--- So many readings in a row must be incomplete to be believed: a list grows while it is read, and answers are mixed
--- up.
M.INCOMPLETE_READINGS = 3

--- Makes readings for calls that are looked for as of one time (epoch ms), when all their records are visible; without
--- a time for calls that are lost while a program runs.
---@param first integer|nil  from when on the histories are read. Default: that time
---@param store { load: (fun(key: string): table|nil), save: fun(key: string, reading: table) }|nil  readings that are
--- kept answer whatever is asked later: whoever asks knows of all that was made since
---@return purser.evidence.Readings
function M.share(as_of, first, store)
  return setmetatable({ as_of = as_of, first = first or as_of, store = store, by_question = {}, spelled = {} },
    Readings)
end

--- Makes the readings begin early enough for a call that was sent then.
function Readings:expect(sent_at)
  self.first = math.min(self.first, sent_at)
end

local function key_of(row, asked, how)
  local parts = { row.full_name, how }
  for name, value in pairs(asked) do parts[#parts + 1] = ("%s=%s"):format(name, tostring(value)) end
  table.sort(parts)
  return table.concat(parts, "\n")
end

local turns = 0 -- of questions and readings, in the order in which they are made

function M.turn()
  turns = turns + 1
  return turns
end

-- Returns whether a reading was begun when the question's record had to be visible, and after a reading that lacks
-- another call's record.
local function is_fresh(reading, question)
  return reading.records ~= nil and reading.began >= math.max(question.deadline, question.next.newer_than + 1)
end

-- Returns whether this reading answered an earlier question about the call. A repeated question needs a new reading.
local function is_heard(reading, question)
  local heard = reading.heard and reading.heard[question.intent.id]
  return heard ~= nil and heard ~= question and reading.turn < question.turn
end

-- Returns whether a reading answers a question: whole, of the window, begun with a right clock, and fresh. Early
-- questions take any recent one.
local function serves(reading, question, first, last)
  local service = question.service
  if reading.is_kept then return true end
  local is_doubted = reading.incomplete and reading.incomplete_times < M.INCOMPLETE_READINGS
  if not reading.records or is_doubted then return false end
  local passed = core.monotonic_ms() - reading.began_monotonic
  if reading.first > first or reading.correction ~= service:correction() then return false end
  if not question.seen.late then return passed < question.poll_ms end
  return reading.last >= math.min(last, reading.began + FUTURE_MS) and is_fresh(reading, question)
    and service:now() - reading.began >= passed - SET_BACK_MS
end

-- Returns a window widened by a service's possible shift, as far as the history reaches; 0 is no window.
local function widened(question, how, first, last)
  if first == 0 or how == "id" or how == "early" then return first, last end
  return math.min(first, math.max(first - M.WIDE_MS, question:earliest())), last + M.WIDE_MS
end

-- Returns the window to read for all calls that may be asked about next.
---@param since integer|nil  where the reading before this began: a question asks of another time, and more follow
local function shared_window(self, question, first, last, how, since)
  if first == 0 then return first, last end
  local before, after = math.max(question.visible_ms, BEFORE_MS), AFTER_MS
  if since then
    before, after = NEAR_MS, FAR_MS
    if first - M.WIDE_MS < since then before, after = FAR_MS, NEAR_MS end
  end
  local earliest = self.first and self.first - question.before - BEFORE_MS or first - before
  local latest = self.as_of or math.min(question.service:now(), last + after)
  earliest = math.min(first, math.max(earliest, question:earliest()))
  return widened(question, how, earliest, math.max(last, latest + question.skew_ms))
end

-- Epoch seconds from 2001 to 2286. As milliseconds they lie before 1970-04-27.
local FIRST_SECOND, LAST_SECOND = 1e9, 1e10 - 1

-- Makes times in seconds milliseconds, as the document has them.
local function in_milliseconds(row, value, name)
  local records = type(value) == "table" and (row.result.page and value.data or row.result.rows and value.rows or value)
  for _, record in ipairs(type(records) == "table" and name and records or {}) do
    local time = type(record) == "table" and record[name]
    if type(time) == "number" and time >= FIRST_SECOND and time <= LAST_SECOND then record[name] = time * 1000 end
  end
  return value
end

local function read(reading, question, row, asked, first, last, parts)
  local service, count, turn = question.service, 0, M.turn()
  local began, began_monotonic, correction = service:now(), core.monotonic_ms(), service:correction()
  local function run(...)
    count = count + 1
    reading.is_over = count > MOST_REQUESTS and not parts -- what is kept is read once, however long
    if not reading.is_over then
      local value, err = service:read(...)
      return in_milliseconds(row, value, question.reconcile.time_member), err
    end
    local why = ("the history takes more than %d requests"):format(MOST_REQUESTS)
    return nil, errors.new { kind = "workflow", outcome = "unknown", operation = row.full_name, message = why,
      details = { crowded = why } }
  end
  local records, err, why = M.all(run, row, asked, first, last, question.reconcile.time_member, parts)
  reading.records, reading.err, reading.incomplete = records, err, why
  reading.first, reading.last = first, last
  reading.by_id, reading.learned, reading.heard, reading.united, reading.turn = {}, {}, {}, {}, turn
  reading.began, reading.began_monotonic, reading.correction = began, began_monotonic, correction
  if records then reading.incomplete_times = why and (reading.incomplete_times or 0) + 1 or 0 end
  return reading
end

-- Reads what serves a question and those that may follow.
local function read_more(self, reading, question, row, asked, first, last, how)
  local is_next = self.signer and is_fresh(reading, question) and not is_heard(reading, question)
  local from, to = shared_window(self, question, first, last, how, is_next and reading.first or nil)
  if self.store and not reading.err then reading.parts = {} end -- what is kept is read in parts, as of one time
  read(reading, question, row, asked, from, to, reading.parts)
  if reading.is_over and is_next then read(reading, question, row, asked, widened(question, how, first, last)) end
end

-- Returns the reading of a question: one task reads for all that wait. Of readings as of one time only one is made at
-- once, so that a killed program has completed some.
local function read_shared(self, question, row, asked, first, last, how)
  local needs_first, needs_last = widened(question, how, first, last)
  local key, task = key_of(row, asked, how), schedule.current()
  local reading = self.by_question[key] or self.store and self.store.load(key) or {}
  local lock = self.as_of and self or reading
  self.by_question[key] = reading
  while task and lock.waiters do
    table.insert(lock.waiters, task)
    schedule.suspend()
  end
  if self.signer and is_heard(reading, question) or not serves(reading, question, needs_first, needs_last) then
    local waiters = task and {}
    lock.waiters = waiters or lock.waiters
    local ok, raised = schedule.protect(read_more, self, reading, question, row, asked, first, last, how)
    if waiters then lock.waiters = nil end
    for _, waiter in ipairs(waiters or {}) do schedule.wake(waiter) end
    if not ok then error(raised, 0) end
    if self.store and reading.records and not reading.incomplete then
      reading.is_kept = true
      self.store.save(key, reading)
    end
  end
  if reading.heard then reading.heard[question.intent.id or question] = question end
  return reading
end

--- Reads what may show a call's record: in its window, or between two other times, 0 for a list without windows.
---@param how "id"|"early"|"wide"|"again"  for the call's own id alone; for the window; with as much more as a service
--- may be shifted by; the same once more
---@return purser.evidence.Reading|nil, purser.Error|nil err
function M.of(question, how, first, last)
  local reconcile, service = question.reconcile, question.service
  local row = operations.by_name[reconcile.lookup]
  local asked = M.question(reconcile, question.intent.params, question.seen.spelled, how == "id")
  local may_share = question.seen.late and not first and not question.window.is_planned and M.is_history(reconcile)
  local shared, reading = service.readings or may_share and service.recent
  first, last = first or question.first, last or question.last
  if shared and how ~= "id" then
    reading = read_shared(shared, question, row, asked, first, last, how)
  else
    reading = read({}, question, row, asked, widened(question, how, first, last))
  end
  if not reading.records then return nil, reading.err end
  question.seen.shown = reading
  return reading
end

-- Returns a record without its id, which another answer may hide.
local function without_id(record)
  local copy = {}
  for name, value in pairs(record) do copy[name] = value end
  copy.tranId, copy.id, copy.apiKey = nil, nil, nil
  return copy
end

-- Returns how many of each list of records are no further reading's: where one reading hides an id that another shows,
-- there are as many records of a content as the fullest reading shows.
---@param lists table<string, table[]>  the records of all readings, by id; of those without one by content
---@param ... table[]  the records of each reading
---@return table<string, integer>
local function distinct(lists, content_by, ...)
  local most, shown, left = {}, {}, {}
  for _, records in ipairs { ... } do
    local count = {}
    for _, record in ipairs(records) do
      local content = content_by(without_id(record))
      count[content] = (count[content] or 0) + 1
      most[content] = math.max(most[content] or 0, count[content])
    end
  end
  for key, list in pairs(lists) do
    local content = list.is_id and content_by(without_id(list[1]))
    if content then shown[content], left[key] = (shown[content] or 0) + #list, #list end
  end
  for key in pairs(lists) do left[key] = left[key] or math.max(0, (most[key] or 0) - (shown[key] or 0)) end
  return left
end

--- Returns all that some readings show, of a record the last word. Two of one reading stay two.
---@param union purser.evidence.Reading|nil  of the readings before
---@param row table  the list
---@return purser.evidence.Reading
function M.unite(union, reading, row)
  local united = reading.united or {}
  if united[union or row] then return united[union or row] end
  local content_by, fresh, keys = cursors.key_of(row.paging or {}), {}, {}
  local hides_ids = union and union.hides_ids
  for _, record in ipairs(reading.records) do
    local id = intents.id_of(record)
    local key = id and "id " .. tostring(id) or content_by(without_id(record))
    if not fresh[key] then fresh[key], keys[#keys + 1] = { is_id = id ~= nil }, key end
    table.insert(fresh[key], record)
    hides_ids = hides_ids or not id
  end
  local before = union and union.by_key or {}
  for _, key in ipairs(union and union.keys or {}) do
    if not fresh[key] then keys[#keys + 1] = key end
    local is_more = not fresh[key] or not fresh[key].is_id and #before[key] > #fresh[key]
    if is_more then fresh[key] = before[key] end
  end
  local left = union and hides_ids and distinct(fresh, content_by, union.records, reading.records)
  local records = {}
  for _, key in ipairs(keys) do
    for i = 1, left and left[key] or #fresh[key] do records[#records + 1] = fresh[key][i] end
  end
  united[union or row] = { records = records, by_id = {}, learned = {}, by_key = fresh, keys = keys,
    hides_ids = hides_ids }
  return united[union or row]
end

--- Returns the records of a reading that show `id` as their member `name`, in any letters' case, as keys that look
--- alike are one; "record_id": the id that the journal keeps.
---@return table[]
function M.with_id(reading, name, id)
  local index, form = reading.by_id[name], name == "record_id" and tostring or digests.form
  if not index then
    index = {}
    for _, record in ipairs(reading.records) do
      local shown = record[name]
      if name == "record_id" then shown = intents.id_of(record) end
      local key = shown ~= nil and form(tostring(shown))
      if key then index[key] = index[key] or {} end
      if key then table.insert(index[key], record) end
    end
    reading.by_id[name] = index
  end
  return index[form(tostring(id))] or {}
end

return M
