-- SPDX-License-Identifier: MIT
-- What claims.lua asks of a journal, over a client's own calls in memory. A journal that offers these functions itself
-- is asked itself.

local intents = require "purser.write.intent"
local recent_calls = require "purser.write.recent_calls"

local M = {}

------------------------------------------------------------------------------------------------------------ in memory

local Memory = {}
Memory.__index = Memory

local function call_of_entry(entry)
  local intent = entry.intent
  local state = entry.over and "not_done" or entry.id and "done" or entry.ended and "unknown" or "open"
  return { id = intent.call_id or entry, operation = intent.operation, params = intent.params,
    sent_at = entry.sent_at, state = state, recv_window = intent.recv_window, record_id = entry.id or nil,
      answered = entry.id and not entry.by_content or false }
end

function Memory:owners(_, record_ids, names)
  local owners = {}
  for _, id in ipairs(record_ids) do
    local entry = self.known.by_id[id]
    if entry and entry ~= self.own and names[entry.intent.operation] then owners[id] = call_of_entry(entry) end
  end
  return owners
end

local function calls_in(self, names, first, last, fits)
  local found = {}
  for _, list in pairs(self.known.by_digest) do
    for _, entry in ipairs(list) do
      if entry ~= self.own and names[entry.intent.operation] and entry.sent_at <= last and not entry.over
        and fits(entry) and entry.sent_at >= first - intents.MAX_WINDOW_MS then
        found[#found + 1] = call_of_entry(entry)
      end
    end
  end
  return found
end

function Memory:open_calls(_, names, first, last)
  return calls_in(self, names, first, last, function(entry) return not entry.id end)
end

function Memory:answered_calls(_, names, first, last)
  return calls_in(self, names, first, last, function(entry) return entry.id and not entry.by_content end)
end

function Memory:forgotten_until() return self.known.forgotten_to end

-- How late records were seen to appear, by operation.
local function delay(self, operation) return self.known.delays and self.known.delays[operation] or 0 end

local function note_delay(self, operation, ms)
  self.known.delays = self.known.delays or {}
  self.known.delays[operation] = math.max(ms, delay(self, operation))
end

Memory.delay, Memory.note_delay = delay, note_delay

--- Returns what is known of other calls than the intent's.
---@param service purser.reconcile.Service
function M.of(service, row, intent)
  local journal = service.journal
  if journal and journal.answered_calls then return journal end
  return setmetatable({ known = service.recent_calls, own = recent_calls.entry(service.recent_calls, row, intent) },
    Memory)
end

return M
