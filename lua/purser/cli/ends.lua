-- SPDX-License-Identifier: MIT
-- The ends of the rows of a screen, and the exit code made of the ends.

local M = {}

-- The ends, the worst first, each with exit code and meaning for a payment.
local ENDS = {
  { "undecided", 4, "a payment is undecided, or sent without a known end" },
  { "rejected", 1, "a payment is failed" },
  { "held", 3, "a payment is blocked until a person acts" },
  { "waiting", 3, "a payment is not sent: it waits, is due later, or is above a limit a day; with `--yes` also where a "
    .. "row was changed or looks like a mistake, and then nothing is sent" },
  { "not tried", 3, "a row of the screen was not tried" },
  { "not sent", 3 },
  { "refused", 2 },
  { "lost", 5 },
  { "made", 0, "each payment is made, was made before, or was dropped" },
  { "made before", 0 },
  { "dropped", 0 },
}

local rank, code = {}, {}
for i, row in ipairs(ENDS) do rank[row[1]], code[row[1]] = i, row[2] end

-- The ends of payments by their state.
local OF_STATE = { done = "made", sent = "undecided", undecided = "undecided", failed = "rejected", waiting = "waiting",
  taken = "waiting", blocked = "held", dropped = "dropped" }

local OF_CALL = { [0] = "made", "rejected", "refused", "not sent", "undecided", "lost" }

--- Returns the end of a single call with an exit code.
function M.of_code(number) return OF_CALL[number] end

--- Returns the exit code of the worst end; 0 without an end.
---@param list string[]
function M.code(list)
  local worst
  for _, word in ipairs(list) do
    if not worst or rank[word] < rank[worst] then worst = word end
  end
  return worst and code[worst] or 0
end

--- Returns the ends of the rows of a screen: a row without a known state was not tried.
---@param state_of fun(row: table): string|nil
function M.of_rows(rows, state_of)
  local list = {}
  for i, row in ipairs(rows) do list[i] = OF_STATE[state_of(row)] or "not tried" end
  return list
end

--- Returns the ends of payments counted by state.
---@param counts table<string, integer>
function M.of_counts(counts)
  local list = {}
  for state, word in pairs(OF_STATE) do list[#list + 1] = (counts[state] or 0) > 0 and word or nil end
  return list
end

--- Returns the table of the pages: exit codes, and the payments behind each code.
function M.table()
  local out, before = { "| `payouts run` and `payouts status` end with | while |", "|---:|---|" }, nil
  for _, row in ipairs(ENDS) do
    if row[3] and row[2] == before then
      out[#out] = out[#out]:gsub(" |$", "; " .. row[3] .. " |")
    elseif row[3] then
      out[#out + 1] = ("| %s%d | %s |"):format(before and "else " or "", row[2], row[3])
      before = row[2]
    end
  end
  return table.concat(out, "\n")
end

return M
