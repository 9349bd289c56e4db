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

--- Returns records, the likest first: those that differ in as few members as may be, as another's coin, payee or
--- amount do; of these those that agree in most; of these the nearest in time. None is left out: a service may show
--- even a coin or a payee otherwise than it was sent.
---@param sent_at integer|nil
---@return table[]
function M.sorted(records, operation, params, sent_at)
  local subject, ranks, list = subjects.of { operation = operation, params = params }, {}, {}
  for i, record in ipairs(records) do
    local at, fits, differs = tonumber(record[subject.time or ""]), subjects.fits(subject, record)
    ranks[record] = { #differs, -#fits, at and sent_at and math.abs(at - sent_at) or math.huge, i }
    list[i] = record
  end
  table.sort(list, function(a, b)
    local one, other = ranks[a], ranks[b]
    for i = 1, 4 do
      if one[i] ~= other[i] then return one[i] < other[i] end
    end
    return false
  end)
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

--- Returns the candidates of a journal's row, in the order in which it keeps them; nil where the call is not undecided,
--- or has none.
---@return purser.Candidate[]|nil
function M.of(row)
  local is_open = row.state == "undecided" or row.stage == "undecided"
  if not is_open or not row.record:find "^%[" then return nil end
  local list, subject = core.decode(row.record), subjects.of { operation = row.operation,
    params = core.decode(row.params) }
  for _, one in ipairs(list) do one.fits, one.differs = subjects.fits(subject, one) end
  return list
end

--- Returns the record of a journal's row; nil where it has none.
function M.record_of(row) return row.record:find "^{" and core.decode(row.record) or nil end

return M
