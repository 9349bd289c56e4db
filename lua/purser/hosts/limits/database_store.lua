-- SPDX-License-Identifier: MIT
-- The store in a SQLite file, for the processes of one machine, or in PostgreSQL. A document is a row, and a lock lets
-- one process at a time decide. A SQLite file keeps a time that runs by the machine's monotonic clock, and by the wall
-- clock after a restart of the machine, which holds every pool for one window.

local core = require "purser.core"
local documents = require "purser.hosts.limits.documents"
local lazy = require "purser.client.util.lazy"
local database = lazy "purser.client.util.database"
local tables = lazy "purser.client.util.database.tables"

local Store = { __name = "purser.rate_limit.database" }
Store.__index = Store

local M = {}

local CLOCK = "clock"
local LATELY_MS = 100 -- so long after a write of another process it may be waiting

local SET = { home = "purser_rate_limit", lock = 7254203, check = function() return true end, create = function(tx)
  tx:rows "CREATE TABLE purser_rate_limit (name TEXT PRIMARY KEY, document TEXT NOT NULL)"
end }
local upsert = "INSERT INTO purser_rate_limit (name, document) VALUES ($1, $2) "
  .. "ON CONFLICT (name) DO UPDATE SET document = excluded.document"

local UNKNOWN = "unknown" -- the run of a machine that does not name its runs

local function text_of(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  return text or ""
end

-- Returns the name of the clock behind monotonic times: the boot, and the shift of a time namespace, as in a container
-- restored elsewhere. Programs of two clocks are two runs of the machine.
local function clock_id()
  local boot = text_of("/proc/sys/kernel/random/boot_id"):match "%S+"
  local seconds, rest = text_of("/proc/self/timens_offsets"):match "monotonic%s+(%S+)%s+(%S+)"
  local is_shifted = seconds and not (seconds == "0" and rest == "0")
  return boot and (is_shifted and ("%s/%s.%s"):format(boot, seconds, rest) or boot) or UNKNOWN
end

-- Connects, and makes the table.
local function open(self)
  if self.db then return true end
  local db, message = database.open(self.options, SET.home)
  if not db then return nil, message end
  local ok
  ok, message = tables.prepare(db, SET)
  if not ok then
    db:close()
    return nil, message
  end
  self.db, self.boot = db, clock_id()
  return true
end

-- Returns the file's time, the run of the machine, and the text to keep. Where runs have no names, a monotonic clock
-- behind the file's shows a new run, which gets a name here.
local function file_time(kept, boot)
  local wall, monotonic = core.now_ms(), core.monotonic_ms()
  local time, at, known = (kept or ""):match "^(%d+) (%d+) (%S+)$"
  local now = wall
  if time then
    time, at = tonumber(time), tonumber(at)
    local goes_on = monotonic >= at
    if boot == UNKNOWN then boot = goes_on and known or ("%s-%d"):format(UNKNOWN, wall) end
    now = goes_on and known == boot and time + monotonic - at or math.max(time, wall)
  end
  return now, boot, ("%d %d %s"):format(now, monotonic, boot)
end

local function read_rows(tx, namespace, names)
  local texts, marks, values = {}, {}, {}
  for i, name in ipairs(names) do marks[i], values[i] = "$" .. i, namespace .. name end
  local rows = tx:rows("SELECT name, document FROM purser_rate_limit WHERE name IN (" .. table.concat(marks, ", ")
    .. ")", (table.unpack or unpack)(values)) -- luacheck: ignore
  for _, row in ipairs(rows) do texts[row.name:sub(#namespace + 1)] = row.document end
  return texts
end

local function within(self, tx, names, fn)
  local is_file, wanted = self.kind == "sqlite", { (table.unpack or unpack)(names) } -- luacheck: ignore
  if is_file then wanted[#wanted + 1] = CLOCK else tx:lock(self.lock) end
  local texts = read_rows(tx, self.namespace, wanted)
  local now, run, clock
  if is_file then now, run, clock = file_time(texts[CLOCK], self.boot) else now, run = tx:now(), "-" end
  local results, put = documents.run(fn, function(name) return texts[name] end, now, run)
  if not results then tx:reject(put) end
  for name, kept in pairs(put) do tx:rows(upsert, self.namespace .. name, kept[1]) end
  if clock and next(put) then tx:rows(upsert, self.namespace .. CLOCK, clock) end
  return results
end

-- Lets others go first where this process wrote last and another wrote lately: the process that need not wake up would
-- get the lock each time. SQLite's data_version changes as others write.
local function yield(self)
  if self.kind ~= "sqlite" then return end
  local rows, now = self.db:rows "PRAGMA data_version", core.monotonic_ms()
  local version = rows and rows[1].data_version
  if version ~= self.version then self.version, self.others_at = version, now
  elseif version and now - self.others_at <= LATELY_MS then core.sleep_ms(1) end
end

function Store:transact(names, fn)
  local ok, message = open(self)
  if not ok then return nil, message end
  local results
  self.tries = 0
  yield(self)
  results, message = self.db:transaction(function(tx) return within(self, tx, names, fn) end)
  if not results then return nil, message end
  return results[1], results[2], results[3], results[4], results[5]
end

function Store:close()
  if self.db then self.db:close() end
  self.db = nil
end

-- Returns the number of PostgreSQL's advisory lock for a namespace.
local function lock_number(namespace)
  return tonumber(core.md5_hex("purser rate limit " .. namespace):sub(1, 7), 16)
end

--- Makes a store; it connects at its first use. Returns nil and what is wrong with the options.
---@param options table  { sqlite = path } or { postgresql = {...} }, namespace
function M.new(options)
  local namespace = (options.namespace or "purser") .. " "
  local self = setmetatable({
    kind = options.sqlite and "sqlite" or "postgresql", namespace = namespace, lock = lock_number(namespace),
    tries = 0, options = { sqlite = options.sqlite, postgresql = options.postgresql, relaxed = true,
      lock_timeout_ms = options.timeout_ms or 5000 },
  }, Store)
  -- SQLite's own rests grow, and would serve the last comer first
  function self.options.sleep()
    self.tries = self.tries + 1
    core.sleep_ms(documents.rest_ms(self.tries))
  end
  return self
end

return M
