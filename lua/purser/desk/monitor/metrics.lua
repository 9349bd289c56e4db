-- SPDX-License-Identifier: MIT
--- Numbers of a running program in the text format of Prometheus: its requests by operation and outcome, its waits for
--- the rate limit, and what a journal holds. The file is for the node exporter's textfile collector.
--
--     local metrics = purser.monitor.metrics()
--     local client = assert(purser.new { ..., hooks = metrics:hooks() })
--     metrics:write("/var/lib/prometheus/node-exporter/purser.prom", journal)

local conditions = require "purser.desk.monitor.conditions"
local core = require "purser.core"
local files = require "purser.client.util.files"
local names_of = require "purser.client.util.names_of"
local payouts = require "purser.desk.payouts"

---@class purser.Metrics
local Metrics = { __name = "purser.metrics" }
Metrics.__index = Metrics

local M = {}

--- Makes counters that begin at 0.
---@return purser.Metrics
function M.new()
  return setmetatable({ requests = {}, waits = 0, waited_ms = 0 }, Metrics)
end

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function key_of(labels)
  local list = {}
  for i, label in ipairs(labels) do
    list[i] = ('%s="%s"'):format(label[1], (tostring(label[2]):gsub('[\\"\n]', ESCAPES)))
  end
  return table.concat(list, ",")
end

--- Returns hooks that count, and call the hooks `others`.
---@param others purser.Hooks|nil
---@return purser.Hooks hooks
function Metrics:hooks(others)
  others = others or {}
  local function after(event)
    local key = key_of { { "operation", event.operation }, { "outcome", event.outcome } }
    self.requests[key] = (self.requests[key] or 0) + 1
    if others.after then others.after(event) end
  end
  local function wait(event)
    self.waits, self.waited_ms = self.waits + 1, self.waited_ms + event.wait_ms
    if others.wait then others.wait(event) end
  end
  return { before = others.before, after = after, wait = wait }
end

local function add(out, name, kind, help, samples)
  if #samples == 0 then return end
  out[#out + 1] = ("# HELP %s %s\n# TYPE %s %s\n"):format(name, help, name, kind)
  for _, sample in ipairs(samples) do
    local labels = key_of(sample[1])
    out[#out + 1] = ("%s%s %s\n"):format(name, labels ~= "" and "{" .. labels .. "}" or "", sample[2])
  end
end

local STATES = { "waiting", "taken", "sent", "done", "failed", "undecided", "dropped" }

-- Adds a journal's payments by queue and state, and the age of the oldest call without a known end.
local function add_journal(out, journal)
  local queues, err = payouts.queues(journal)
  if not queues then return nil, err end
  local samples, ages, now = {}, {}, core.now_ms()
  local account, problem_of_name = journal:account()
  if not account and queues[1] then return nil, problem_of_name end
  for _, queue in ipairs(queues) do
    for _, state in ipairs(STATES) do
      samples[#samples + 1] = { { { "account", account }, { "queue", queue.queue }, { "state", state } },
        ("%d"):format(queue[state]) }
    end
  end
  add(out, "purser_payments", "gauge", "Payments of a queue by state.", samples)
  for _, state in ipairs(conditions.UNSETTLED) do
    local entries, problem = journal:entries { state = state, limit = 1 }
    if not entries then return nil, problem end
    local age = entries[1] and math.max(0, now - entries[1].intent.sent_at) / 1000 or 0
    ages[#ages + 1] = { { { "state", state } }, ("%.3f"):format(age) }
  end
  add(out, "purser_oldest_call_seconds", "gauge", "Age of the oldest call of a state whose end is not known.", ages)
  return true
end

--- Returns all numbers as text; or nil and an error where the journal cannot be read.
---@param journal purser.Journal|nil
---@return string|nil text, purser.Error|nil err
function Metrics:text(journal)
  local out, samples = {}, {}
  for i, key in ipairs(names_of(self.requests)) do
    samples[i] = ("purser_requests_total{%s} %d\n"):format(key, self.requests[key])
  end
  out[1] = "# HELP purser_requests_total Requests by operation and outcome.\n# TYPE purser_requests_total counter\n"
  out[2] = table.concat(samples)
  add(out, "purser_waits_total", "counter", "Waits for the rate limit.", { { {}, ("%d"):format(self.waits) } })
  add(out, "purser_wait_seconds_total", "counter", "Time that calls waited for the rate limit.",
    { { {}, ("%.3f"):format(self.waited_ms / 1000) } })
  if journal then
    local ok, err = add_journal(out, journal)
    if not ok then return nil, err end
  end
  return table.concat(out)
end

--- Writes the file in one step; the collector of Prometheus may read it.
---@param path string
---@param journal purser.Journal|nil
---@return boolean|nil ok, any problem
function Metrics:write(path, journal)
  local text, err = self:text(journal)
  if not text then return nil, err end
  local ok, reason = files.replace(path, text, true)
  if not ok then return nil, ("%s cannot be written: %s"):format(path, reason) end
  return true
end

return M
