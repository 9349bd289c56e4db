-- SPDX-License-Identifier: MIT
-- A row of an operation as text: all that spec/support/contract.lua does not have, one fact a line. The words for
-- readers (summaries, notes) are left out.

local M = {}

-- Returns plain data as text, with its names in order.
local function flat(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts, names = {}, {}
  for name in pairs(value) do if type(name) == "string" then names[#names + 1] = name end end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = name .. "=" .. flat(value[name]) end
  for _, item in ipairs(value) do parts[#parts + 1] = flat(item) end
  return "{" .. table.concat(parts, " ") .. "}"
end

--- Returns the facts of a row, in an order that does not change.
function M.of(row)
  local facts, kinds = {}, {}
  if row.live then
    facts[1] = ("%s %s %s %d %s"):format(row.method, row.path, row.permission, row.weight, row.effect)
  end
  for i, param in ipairs(row.params) do
    kinds[i] = ("%s:%s%s%s"):format(param[2], param.type, param.choices and ":" .. param.choices or "",
      param.plain and ":" .. param.plain or "")
    if row.live then
      kinds[i] = ("%s%s:%s%s"):format(param[1], param.required and "!" or "", kinds[i],
        param.max and ":" .. param.max or "")
    end
  end
  facts[#facts + 1] = table.concat({ "params", (table.unpack or unpack)(kinds) }, " ") -- luacheck: ignore
  for _, word in ipairs { "signer", "deprecated", "rules", "window", "paging", "result", "moves", "reconcile" } do
    if row[word] ~= nil then facts[#facts + 1] = word .. " " .. flat(row[word]) end
  end
  return table.concat(facts, "\n")
end

--- Returns a transcription in that form: it may be indented, and a deeper line goes on with the line before.
function M.read(text)
  return (text:gsub("\n      +", " "):gsub("^%s+", ""):gsub("%s+$", ""):gsub("\n +", "\n"))
end

return M
