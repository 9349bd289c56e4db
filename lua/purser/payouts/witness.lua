-- SPDX-License-Identifier: MIT
-- A file next to the journal by which it shows that it is the newest. At the end of a run both get the same random
-- mark; while a worker runs, the file says so. A journal whose mark is that of the file, while no worker runs, has all
-- that any run wrote: a copy that was made before the last run has another mark.
--
-- A journal that was not the newest once, or is new, may lack what was sent before, whatever is added to it later. So
-- the file also keeps what each history held that was walked, until the journal is found not to be the newest again.
--
-- What was under way under the name of a worker is over when a run of that name begins: each run locks a file of its
-- worker's, which the system unlocks when the process ends.
--
-- The file is a database of its own, so that a mark is on disk before the first payment is sent. It must not be copied,
-- kept or restored together with the journal.

local core = require "purser.core"
local database = require "purser.util.database"
local digest = require "purser.util.digest"
local json = require "purser.json"

local M = {}

local tables = {
  "CREATE TABLE IF NOT EXISTS purser_marks (scope TEXT PRIMARY KEY, mark TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS purser_runs (scope TEXT NOT NULL, worker TEXT NOT NULL, PRIMARY KEY (scope, worker))",
  "CREATE TABLE IF NOT EXISTS purser_histories (scope TEXT NOT NULL, history TEXT NOT NULL, content TEXT NOT NULL, "
    .. "PRIMARY KEY (scope, history))",
}

-- What is marked: one queue of one account in one journal.
local function scope_of(self, journal_id)
  return digest.of(("%s\n%d:%s%d:%s"):format(journal_id, #self.account, self.account, #self.queue, self.queue))
end

--- Opens it. Returns nil and a message when it cannot be.
function M.open(path)
  local db, message = database.open { sqlite = path }
  if not db then return nil, message end
  local ok
  ok, message = db:transaction(function(tx)
    for _, sql in ipairs(tables) do tx:rows(sql) end
    return true
  end)
  if ok then return db end
  db:close()
  return nil, message
end

--- Locks the name of the worker. Returns a function that unlocks it; false when another run has it; or nil and a
--- message.
function M.lock_worker(self)
  local name = digest.of("purser worker\n" .. self.worker):sub(1, 16)
  return database.lock_file(("%s-worker-%s"):format(self.witness_db.files[1].path, name))
end

local function mark_name(scope) return "payouts mark " .. scope end

--- Notes that a run begins. Returns whether the journal is the newest; or nil and an error.
function M.begin(self)
  local journal_id, problem = self.journal:id()
  if not journal_id then return nil, problem end
  local scope = scope_of(self, journal_id)
  local rows, message = self.journal.db:rows("SELECT value FROM purser_meta WHERE name = $1", mark_name(scope))
  if not rows then return nil, message end
  local mark = rows[1] and rows[1].value
  local newest
  newest, message = self.witness_db:transaction(function(tx)
    local kept = tx:rows("SELECT mark FROM purser_marks WHERE scope = $1", scope)[1]
    local running = tx:rows("SELECT worker FROM purser_runs WHERE scope = $1", scope)[1]
    tx:rows("INSERT INTO purser_runs (scope, worker) VALUES ($1, $2) ON CONFLICT DO NOTHING", scope, self.worker)
    return { shown = kept ~= nil and not running and kept.mark == mark }
  end)
  if not newest then return nil, "the witness file: " .. tostring(message) end
  self.scope = scope
  return newest.shown
end

--- Forgets what the histories held, of a journal that is not the newest. Returns true; or nil and a message.
function M.forget(self)
  return self.witness_db:transaction(function(tx)
    tx:rows("DELETE FROM purser_histories WHERE scope = $1", self.scope)
    return true
  end)
end

-- Returns what of a record is a text, a number or a truth: the rest compares with nothing, and may be large.
local function plain(record)
  local kept = {}
  for name, value in pairs(record) do
    if type(value) ~= "table" and type(value) ~= "userdata" then kept[name] = value end
  end
  return kept
end

--- Keeps a reading of a history, unless by then something else counts. Returns true; or nil and a message.
---@param reading purser.evidence.Reading
---@param counts fun(): boolean  whether it still counts; asked last, when nothing else can be written any more
function M.keep(self, history, reading, counts)
  local records = json.list {}
  for i, record in ipairs(reading.records) do records[i] = plain(record) end
  local text = json.encode { records = records, first = reading.first, last = reading.last, began = reading.began }
  return self.witness_db:transaction(function(tx)
    if not counts() then return true end
    tx:rows([[INSERT INTO purser_histories (scope, history, content) VALUES ($1, $2, $3)
      ON CONFLICT (scope, history) DO UPDATE SET content = $3]], self.scope, history, text)
    return true
  end)
end

--- Returns the reading of a history, or nil where none is kept; nil and a message when it cannot be read.
function M.kept(self, history)
  local rows, message = self.witness_db:rows("SELECT content FROM purser_histories WHERE scope = $1 AND history = $2",
    self.scope, history)
  if not rows then return nil, message end
  local content = rows[1] and core.decode(rows[1].content)
  if not content or not content.records then return nil end -- or it was kept by an older version
  content.by_id, content.witnesses, content.unclaimed, content.is_kept = {}, {}, {}, true
  return content
end

-- Notes in the file that a run has ended, with a mark, or with none where the next run must look.
local function end_run(self, mark)
  return self.witness_db:transaction(function(tx)
    if mark then
      tx:rows("INSERT INTO purser_marks (scope, mark) VALUES ($1, $2) ON CONFLICT (scope) DO UPDATE SET mark = $2",
        self.scope, mark)
    else
      tx:rows("DELETE FROM purser_marks WHERE scope = $1", self.scope)
    end
    tx:rows("DELETE FROM purser_runs WHERE scope = $1 AND worker = $2", self.scope, self.worker)
    return true
  end)
end

--- Notes that a run has ended well. Returns true; or nil and a message.
---@param is_unlooked boolean  it did not look at the histories, of a journal that is not the newest
function M.finish(self, is_unlooked)
  if is_unlooked then return end_run(self) end
  local mark, message = core.random_token(24)
  if not mark then return nil, message end
  local ok
  ok, message = self.journal.db:transaction(function(tx)
    tx:rows("INSERT INTO purser_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
      mark_name(self.scope), mark)
    return true
  end)
  if not ok then return nil, message end
  return end_run(self, mark)
end

return M
