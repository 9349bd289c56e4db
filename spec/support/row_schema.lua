-- SPDX-License-Identifier: MIT
-- The members that a row may have: the words of the vocabulary, each with the type of its value.
--
-- The rows are data of the program, so that a test is the place to check them:
-- spec/client/operations/operations_rows_spec.lua does.

local parameters = require "purser.client.operations.parameters"
local shapes = require "purser.client.operations.shapes"

local row_words = {
  id = "string",         -- in the interface document
  name = "string",       -- method name
  method = "string",     -- GET, POST, DELETE
  path = "string",
  summary = "string",
  permission = "string", -- that the signing key needs, when the document says
  weight = "number",     -- request weight by IP, when the document says
  effect = "string",     -- read | create | change | transfer: only a read may ever be sent twice
  signer = "string",     -- main | sub: whose key signs, when it matters
  body = "string",       -- object | array: parameters travel in a JSON body (a profile may say otherwise)
  params = "table",
  rules = "table",       -- rules over several parameters, by name
  window = "table",      -- what a history covers: default_days, max_window_days,
                         -- retention_days, retention_months, from_midnight
  paging = "table",      -- how a history or list is read to its end (see paging_words)
  result = "table",
  -- { list | record | page | rows = shape, wrappers = members that hold the list, counts = what members next to the
                         -- records count ("records", "pages" or, where sources disagree, "either"), lone = member that
                         -- a single record in `data` needs to pass for a list of one, required_member = member without
                         -- whose text an answer is no result }
  moves = "table",       -- what a write call that moves funds moves, and where to (see moves_words)
  reconcile = "table",      -- how an unknown outcome is found out
  deprecated = "string", -- what to call instead
  live = "boolean",      -- only the live service is known to have it; a profile has to allow such operations
  -- what operations.lua adds
  group = "string", full_name = "string", by_name = "table", names = "table", required = "table",
}
local param_words = {
  [1] = "string", [2] = "string", -- name, kind
  type = "string",                -- as the document types it
  required = "boolean", default = "number", max = "number", choices = "string", note = "string",
  plain = "string",               -- the name under which the plain text may be given instead
}
local result_words = {
  list = "string", record = "string", page = "string", rows = "string", wrappers = "table",
  required_member = "string",
  counts = "table", lone = "string",
}
-- Each but `to` names a parameter of the row.
local moves_words = {
  asset = "string",        -- what moves
  has_memo_behind = "boolean", -- the address carries its memo behind a colon
  amount = "string",       -- how much; an operation without it does not say
  to = "string",           -- the kind of destination: see destinations
  address = "string", memo = "string", network = "string", contract = "string",     -- of an address
  account_type = "string", account = "string", area_code = "string",                -- of a user
  sub_accounts = "table",  -- the parameters that name sub-accounts
}
-- address: outside of the platform; user: another user's account; sub_account: between the parent and its sub-accounts;
-- own: between accounts of one user; none: nothing leaves
local destinations = { address = true, user = true, sub_account = true, own = true, none = true }
local reconcile_words = {
  strategy = "string", -- how it is found out: see strategies
  lookup = "string",   -- the operation that lists what was done
  copy_params = "table", -- parameters that it is given from those of the call
  narrow = "table",    -- filters that it is given as well, at first: without them it shows more, and nothing else
  client_id = "string", -- parameter by which the caller names the one record
  generated_id = "boolean", -- Purser makes that id when the caller gave none
  match_on = "table",  -- without an id: what has to be equal in the call and in its record
  time_member = "string", -- member that says when the record was made
  failed_status = "string", -- status of a record of what was not done
  target_state = "string", -- strategy "state": present, absent or cancelled
  delete_operation = "string", -- the operation that deletes what was made
  second_list = "string", -- a second list
  accounts = "string", -- the operation that lists sub-accounts, where the list is that of one
}
local window_words = {
  default_days = "number", max_window_days = "number", retention_days = "number",
  retention_months = "number", from_midnight = "boolean",
}
local paging_words = {
  iterator = "string", -- each_<this> walks it
  size = "string",     -- the parameter that says how many records an answer holds
  page_size = "number", -- what is asked for: the greatest size, or a good one where no greatest is documented
  page = "string",     -- the parameter of the page's number; without one there is a single answer
  time_member = "string", -- the member that holds a record's time; without one there are no windows
  id = "string",       -- the member that names a record
  key = "table",       -- the members that distinguish records where there is no id: those that never change
  unstable_filters = "table", -- filters whose answer changes while pages are turned: these are applied here instead
}
local effects = { read = true, create = true, change = true, transfer = true }
local strategies = {
  client_id = true, name = true, token = true, match = true, conversion = true, state = true, ["repeat"] = true,
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
  local seen = {}
  for i, param in ipairs(row.params) do
    check_words(("%s parameter %d"):format(where, i), param, param_words)
    local name, kind = param[1], param[2]
    assert(parameters.kinds[kind], where .. ": unknown kind of parameter: " .. tostring(kind))
    assert(not param.choices or parameters.choices[param.choices], where .. ": unknown choices")
    assert(not seen[name], where .. ": parameter twice: " .. name)
    seen[name] = true
  end
end

local function check_moves(where, row)
  check_words(where .. " moves", row.moves, moves_words)
  assert(destinations[row.moves.to], where .. ": unknown kind of destination")
  assert(row.moves.asset, where .. ": says not which asset it moves")
  for word, name in pairs(row.moves) do
    if name == true then name = {} end
    for _, one in ipairs(type(name) == "table" and name or { name }) do
      assert(word == "to" or row.by_name[one], where .. ": moves names an unknown parameter")
    end
  end
end

local M = {}

--- Raises an error that names what is wrong with the row, if anything is.
---@param row table
function M.check(row)
  local where = "operation " .. row.full_name
  check_words(where, row, row_words)
  assert(effects[row.effect], where .. ": unknown effect")
  local result = row.result
  check_words(where .. " result", result, result_words)
  assert(shapes[result.list or result.record or result.page or result.rows], where .. ": unknown shape")
  assert(not result.record or result.required_member, where .. ": the result of a record names no required_member")
  if row.window then check_words(where .. " window", row.window, window_words) end
  if row.paging then
    check_words(where .. " paging", row.paging, paging_words)
    assert(row.paging.iterator and row.paging.size and row.paging.page_size,
      where .. ": paging needs iterator, size and page_size")
  end
  if row.reconcile then
    check_words(where .. " reconcile", row.reconcile, reconcile_words)
    assert(strategies[row.reconcile.strategy], where .. ": unknown strategy")
  end
  assert((row.effect == "transfer") == (row.moves ~= nil), where .. ": what moves funds says what and where to")
  if row.moves then check_moves(where, row) end
  assert((row.effect == "read") == (row.reconcile == nil), where .. ": all but reads say how they are reconciled")
  check_params(where, row)
end

--- Checks all rows, and what one says of another.
---@param operations table  purser.api.operations
function M.check_all(operations)
  local by_name, by_id = {}, {}
  for _, row in ipairs(operations.every) do
    M.check(row)
    assert(not by_name[row.full_name], row.full_name .. ": defined twice")
    assert(not by_id[row.id], row.full_name .. ": its id is taken")
    by_name[row.full_name], by_id[row.id] = row, row
  end
  for _, row in ipairs(operations.list) do
    local reconcile = row.reconcile or {}
    for _, other in pairs { row.deprecated, reconcile.lookup, reconcile.delete_operation, reconcile.second_list } do
      assert(by_name[other], row.full_name .. ": refers to an unknown operation")
    end
  end
end

return M
