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
  paging = "table",      -- how a history or list is read to its end (see paging_words)
  result = "table",      -- { list | record | page | rows = shape, from = carriers, essential = member without whose
                         -- text an answer is no result }
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
local settle_words = {
  by = "string",       -- the way: see ways_to_settle
  through = "string",  -- the operation that lists what was done
  pass = "table",      -- parameters that it is given from those of the call
  handle = "string",   -- parameter that names the one record
  made = "boolean",    -- the handle is an id that Purser makes when the caller gave none
  on = "table",        -- without a handle: what has to be equal in the call and in its record
  near = "table",      -- what makes a record that is not equal a candidate (default: the same as `on`)
  time = "string",     -- member that tells when the record was made
  failed = "string",   -- status of a record of what was not done
  wanted = "string",   -- state: present, absent or cancelled
  undo = "string",     -- the operation that deletes what was made
  also = "string",     -- a second list
}
local window_words = {
  default_days = "number", longest_days = "number", reach_days = "number", reach_months = "number",
  from_midnight = "boolean",
}
local paging_words = {
  each = "string",     -- each_<this> walks it
  size = "string",     -- the parameter that says how many records an answer holds
  most = "number",     -- what is asked for: the greatest size, or a good one where no greatest is documented
  page = "string",     -- the parameter of the page's number; without one there is a single answer
  time = "string",     -- the member that holds a record's time; without one there are no windows
  id = "string",       -- the member that names a record
  key = "table",       -- the members that tell records apart where there is no id: those that never change
  varies = "table",    -- filters whose answer changes while pages are turned: these are applied here instead
}
local effects = { read = true, create = true, change = true, move = true }
local ways_to_settle = {
  handle = true, name = true, token = true, match = true, conversion = true, state = true, ["repeat"] = true,
  nothing = true,
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
  if row.paging then
    check_words(where .. " paging", row.paging, paging_words)
    assert(row.paging.each and row.paging.size and row.paging.most, where .. ": paging needs each, size and most")
  end
  if row.settle then
    check_words(where .. " settle", row.settle, settle_words)
    assert(ways_to_settle[row.settle.by], where .. ": unknown way to settle")
  end
  assert((row.effect == "read") == (row.settle == nil), where .. ": all but reads say how they are settled")
  check_params(where, row)
  row.group = group
  row.full_name = group .. "." .. row.name
end

local M = { group_names = { "broker", "sub_account", "wallet" } }

-- A group is read and checked when it is first asked for: a program that only withdraws does not pay for the broker.
M.groups = setmetatable({}, { __index = function(groups, group)
  if group ~= "broker" and group ~= "sub_account" and group ~= "wallet" then return nil end
  local rows, seen = require("purser." .. group), {}
  for _, row in ipairs(rows) do
    check_row(group, row)
    assert(not seen[row.name], row.full_name .. ": defined twice")
    seen[row.name] = true
  end
  groups[group] = rows
  return rows
end })

-- What is asked over all groups.
local function load_all()
  local list, by_name, by_id = {}, {}, {}
  for _, group in ipairs(M.group_names) do
    for _, row in ipairs(M.groups[group]) do
      assert(not by_id[row.id], row.full_name .. ": its id is taken")
      list[#list + 1] = row
      by_name[row.full_name], by_id[row.id] = row, row
    end
  end
  for _, row in ipairs(list) do
    local settle = row.settle or {}
    for _, other in pairs { row.deprecated, settle.through, settle.undo, settle.also } do
      assert(by_name[other], row.full_name .. ": refers to an unknown operation")
    end
  end
  M.list, M.by_name, M.by_id = list, by_name, by_id
end

setmetatable(M, { __index = function(_, name)
  if name == "list" or name == "by_name" or name == "by_id" then
    load_all()
    return rawget(M, name)
  end
end })

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
