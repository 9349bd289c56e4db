-- SPDX-License-Identifier: MIT
-- The operations, read at their first use: `list` (of the interface document), `every` (with the live service's),
-- `groups` and `by_name`.

local lazy = require "purser.client.util.lazy"
local purser = lazy "purser"
local suggest = lazy "purser.client.util.suggest"

local M = { effects = { create = "creates something", change = "changes something", transfer = "moves money" } }

local function load_all()
  M.by_name = purser.operations
  M.list, M.every, M.groups = {}, {}, { wallet = {}, broker = {}, sub_account = {}, live = {} }
  for i, row in ipairs(M.by_name) do M.list[i], M.every[i], M.by_name[i] = row, row, nil end
  local live = {}
  for _, row in pairs(M.by_name) do live[#live + 1] = row.live and row or nil end
  table.sort(live, function(a, b) return a.id < b.id end)
  for _, row in ipairs(live) do M.every[#M.every + 1] = row end
  for _, row in ipairs(M.every) do table.insert(M.groups[row.group], row) end
end

setmetatable(M, { __index = function(_, name)
  if name ~= "list" and name ~= "every" and name ~= "groups" and name ~= "by_name" then return nil end
  load_all()
  return rawget(M, name)
end })

--- Returns the operation of a name as people type it: `wallet withdraw`, `wallet:withdraw`, `wallet.internal-transfer`.
function M.find(text) return M.by_name[(text:gsub("[ :/]", ".", 1):gsub("%-", "_"))] end

function M.names(fits)
  local names = {}
  for _, row in ipairs(M.every) do names[#names + 1] = fits(row) and row.full_name or nil end
  return names
end

function M.creates_key(row) return row.effect == "create" and row.shape == "api_key" end

function M.withdraws(row) return row.effect == "transfer" and row.by_name.address ~= nil end

function M.network_param(row)
  return row.by_name.coin and (row.by_name.netWork and "netWork" or row.by_name.network and "network") or nil
end

function M.rule(param)
  local parts, names = { param[2] ~= "text" and param.rule or nil }, param.values and table.concat(param.values, ", ")
  if names then parts[1] = param[2] == "choice" and names or param.rule .. ": " .. names end
  if param.max then parts[#parts + 1] = "at most " .. ("%d"):format(param.max) end
  if param.default then parts[#parts + 1] = "default " .. ("%d"):format(param.default) end
  parts[#parts + 1] = param.help or not parts[1] and param.rule or nil
  return table.concat(parts, "; ")
end

--- Returns the advice after an unknown outcome.
function M.advice(row)
  local how, lookup = row.reconcile and row.reconcile.strategy, row.reconcile and row.reconcile.lookup
  if row.effect == "read" then return "a read: may be run again" end
  if how == "repeat" then return "it may be run again: doing it twice is the same as once" end
  return how == "nothing" and "do not run it again by machine: a person must look in " .. lookup
    or "do not run it again: --reconcile, or client:reconcile(err), looks in " .. lookup
end

--- Returns a hint at the commands of a typed operation, or of a word of an operation's name; or nil.
function M.hint(name)
  local found, near, requested = {}, {}, name:gsub("%-", "_")
  if suggest.find(name, { "credentials" }) then return "did you mean `purser help credentials`?" end
  local word = suggest.find(name, { "help", "version" })
  if word then return ("did you mean `purser %s`?"):format(word) end
  local stem = requested:gsub("s$", "")
  for _, row in ipairs(M.every) do
    local shown = ("`purser %s %s`"):format(row.group, row.name)
    if row.name == requested or row == M.find(name) then found[#found + 1] = shown
    elseif #stem > 4 and row.name:find(stem, 1, true) then near[#near + 1] = shown end
  end
  if not found[1] and not near[1] then
    local names = M.names(function() return true end)
    for i, name_ in ipairs(names) do names[i] = name_:match "[^.]*$" end
    local alike = suggest.find(requested, names)
    return alike and M.hint(alike) or nil
  end
  if found[1] then return "an operation comes after its group: " .. table.concat(found, ", ") end
  return "there are " .. table.concat(near, ", ")
end

return M
