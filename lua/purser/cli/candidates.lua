-- SPDX-License-Identifier: MIT
-- The records that an undecided call may have made, as a person compares them with the service's page. Programs read
-- all of them as JSON.

local catalogue = require "purser.cli.catalogue"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local plain_text = lazy "purser.client.util.plain_text"
local purser = lazy "purser"
local terminal = require "purser.cli.terminal"

local M = {}

local TITLES = { "record", "time", "amount", "asset", "differs" }
local MOST, COLUMNS = 5, 80

-- The names of members in the words of people.
local WORDS = { address = "payee", toAccount = "payee", coin = "asset", asset = "asset" }

local function cells_of(candidate, time)
  local at, differs = candidate[time or ""], {}
  for i, name in ipairs(candidate.differs) do differs[i] = WORDS[name] or name end
  if type(at) == "number" then at = (purser.utc.text(at) or ""):sub(6, 16):gsub("T", " ") end
  local cells = { candidate.id or candidate.tranId or "-", at or "-", candidate.amount or "-",
    candidate.coin or candidate.asset or "-", differs[1] and table.concat(differs, ", ") or "-" }
  for i, cell in ipairs(cells) do cells[i] = plain_text.clean(tostring(cell)) end
  return cells
end

--- Returns the likest candidates as a table of at most 80 columns: those that differ in no more members than the first
--- one. Nil for none.
---@param operation string
---@param list purser.Candidate[]|nil  the likest first
---@return string|nil
function M.text(operation, list)
  if not list or not list[1] then return nil end
  local row, lines = catalogue.by_name[operation], {}
  while #lines < math.min(MOST, #list) and #list[#lines + 1].differs == #list[1].differs do
    lines[#lines + 1] = cells_of(list[#lines + 1], row and row.reconcile and row.reconcile.time_member)
  end
  local left = #list - #lines
  local more = left > 0 and plain_text.counted(left, "more is", "more are") .. " less like it\n" or ""
  return "it may be one of these; compare them with the service's page:\n"
    .. output.aligned(TITLES, lines, COLUMNS) .. more
end

--- Shows candidates beside a result.
function M.show(operation, list)
  local text = not terminal.settings.quiet and not terminal.settings.json and M.text(operation, list)
  if text then terminal.prompt(text) end
end

return M
