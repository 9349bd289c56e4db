-- SPDX-License-Identifier: MIT
-- The records that an undecided call may have made, as the journal keeps them in place of its record: a list, the
-- likest first.

local core = require "purser.core"
local subjects = require "purser.write.subject"

local M = {}

local MOST = 100 -- of a call

---@class purser.Candidate  a record that may be the call's; its members, and:
---@field fits string[]     the members that agree with the call
---@field differs string[]  the members that show another value, which is no form of what was sent

-- Returns each record with its members that agree and differ, the likest first: those that differ in as few members
-- as may be, as another's coin, payee or amount do; of these those that agree in most; of these the nearest in time.
local function ranked(records, operation, params, sent_at)
  local subject, list = subjects.of { operation = operation, params = params }, {}
  for i, record in ipairs(records) do
    local at, fits, differs = tonumber(record[subject.time or ""]), subjects.fits(subject, record)
    list[i] = { record = record, fits = fits, differs = differs, place = i,
      away = at and sent_at and math.abs(at - sent_at) or math.huge }
  end
  table.sort(list, function(a, b)
    if #a.differs ~= #b.differs then return #a.differs < #b.differs end
    if #a.fits ~= #b.fits then return #a.fits > #b.fits end
    if a.away ~= b.away then return a.away < b.away end
    return a.place < b.place
  end)
  return list
end

--- Returns the same records, the likest first. None is left out: a service may show even a coin or a payee otherwise
--- than it was sent.
---@param sent_at integer|nil
---@return table[]
function M.sorted(records, operation, params, sent_at)
  local list = ranked(records, operation, params, sent_at)
  for i, one in ipairs(list) do list[i] = one.record end
  return list
end

--- Returns candidates, with `fits` and `differs`, the likest first.
---@param sent_at integer|nil
---@return purser.Candidate[]
function M.ordered(records, operation, params, sent_at)
  local list = ranked(records, operation, params, sent_at)
  for i, one in ipairs(list) do
    local candidate = {}
    for name, value in pairs(one.record) do candidate[name] = value end
    candidate.fits, candidate.differs = one.fits, one.differs
    list[i] = candidate
  end
  return list
end

--- Returns records as the text that the journal keeps, the first MOST of them; "" for none.
function M.text(records, keep)
  local texts = {}
  for i = 1, math.min(#records, MOST) do
    local text = keep(records[i])
    texts[#texts + 1] = text ~= "" and text or nil
  end
  return texts[1] and "[" .. table.concat(texts, ",") .. "]" or ""
end

--- Returns the candidates of a journal's row; nil where the call is not undecided, or has none.
---@return purser.Candidate[]|nil
function M.of(row)
  local is_open = row.state == "undecided" or row.stage == "undecided"
  if not is_open or not row.record:find "^%[" then return nil end
  return M.ordered(core.decode(row.record), row.operation, core.decode(row.params), tonumber(row.sent_at))
end

--- Returns the record of a journal's row; nil where it has none.
function M.record_of(row) return row.record:find "^{" and core.decode(row.record) or nil end

return M
