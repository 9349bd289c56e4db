-- All operations: the rows of broker.lua, sub_account.lua and wallet.lua, checked against the vocabulary below.
--
-- A row that uses a word not listed here, a kind, shape or rule that does not exist, or a name twice, fails at load.

local kinds = require("purser.parameters").kinds
local choices = require("purser.parameters").choices
local shapes = require "purser.shapes"

local row_words = {
  id = "string",         -- in the interface document
  name = "string",       -- method name
  method = "string",     -- GET, POST, DELETE
  path = "string",
  summary = "string",
  permission = "string", -- that the signing key needs, when the document says
  weight = "number",     -- request weight by IP, when the document says
  effect = "string",     -- read | create | change | move: only a read may ever be sent twice
  signer = "string",     -- main | sub: whose key signs, when it matters
  body = "string",       -- object | array: parameters travel in a JSON body (a profile may say otherwise)
  params = "table",
  rules = "table",       -- rules over several parameters, by name
  window = "table",      -- what a history covers: default_days, longest_days, reach_days, reach_months, from_midnight
  result = "table",      -- { list | record | page | rows = shape, from = carriers, essential = member }
  settle = "table",      -- how an unknown outcome is found out
  deprecated = "string", -- what to call instead
}
local param_words = {
  [1] = "string", [2] = "string", -- name, kind
  type = "string",                -- as the document types it
  required = "boolean", default = "number", max = "number", choices = "string", note = "string",
  plain = "string",               -- the name under which the plain text may be given instead
}
local result_words = {
  list = "string", record = "string", page = "string", rows = "string", from = "table", essential = "string",
}
local settle_words = { by = "string", handle = "string", through = "string", undo = "string", on = "table" }
local window_words = {
  default_days = "number", longest_days = "number", reach_days = "number", reach_months = "number",
  from_midnight = "boolean",
}
local effects = { read = true, create = true, change = true, move = true }
local ways_to_settle = {
  handle = true, name = true, token = true, match = true, state = true, ["repeat"] = true, nothing = true,
}

local function check_words(where, record, words)
  for word, value in pairs(record) do
    if type(value) ~= words[word] then
      error(("%s: %s is not a %s here"):format(where, tostring(word), words[word] or "word of the vocabulary"), 0)
    end
  end
end

local function check_params(where, row)
  row.by_name, row.names, row.required = {}, {}, {}
  for i, param in ipairs(row.params) do
    check_words(("%s parameter %d"):format(where, i), param, param_words)
    local name, kind = param[1], param[2]
    assert(kinds[kind], where .. ": unknown kind of parameter: " .. tostring(kind))
    assert(not param.choices or choices[param.choices], where .. ": unknown choices")
    assert(not row.by_name[name], where .. ": parameter twice: " .. name)
    row.by_name[name] = param
    row.names[i] = name
    if param.required then row.required[#row.required + 1] = name end
  end
end

local function check_row(group, row)
  local where = ("operation %s.%s"):format(group, tostring(row.name))
  check_words(where, row, row_words)
  assert(effects[row.effect], where .. ": unknown effect")
  local result = row.result
  check_words(where .. " result", result, result_words)
  assert(shapes[result.list or result.record or result.page or result.rows], where .. ": unknown shape")
  assert(not result.record or result.essential, where .. ": says not which member makes an answer a result")
  if row.window then check_words(where .. " window", row.window, window_words) end
  if row.settle then
    check_words(where .. " settle", row.settle, settle_words)
    assert(ways_to_settle[row.settle.by], where .. ": unknown way to settle")
  end
  assert((row.effect == "read") == (row.settle == nil), where .. ": all but reads say how they are settled")
  check_params(where, row)
  row.group = group
  row.full_name = group .. "." .. row.name
end

local M = { list = {}, by_name = {}, by_id = {}, groups = {} }

for _, group in ipairs { "broker", "sub_account", "wallet" } do
  local rows = require("purser." .. group)
  M.groups[group] = rows
  for _, row in ipairs(rows) do
    check_row(group, row)
    assert(not M.by_name[row.full_name] and not M.by_id[row.id], row.full_name .. ": defined twice")
    M.list[#M.list + 1] = row
    M.by_name[row.full_name] = row
    M.by_id[row.id] = row
  end
end

for _, row in ipairs(M.list) do
  local settle = row.settle or {}
  for _, other in pairs { row.deprecated, settle.through, settle.undo } do
    assert(M.by_name[other], row.full_name .. ": refers to an unknown operation")
  end
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for k, v in pairs(value) do result[copy(k)] = copy(v) end
  return result
end

--- A copy of all rows, in the document's order and by full name: what a user may look at. Changing it changes nothing.
---@return table
function M.public()
  local result = {}
  for i, row in ipairs(M.list) do
    local public = copy(row)
    result[i] = public
    result[row.full_name] = public
  end
  return result
end

return M
