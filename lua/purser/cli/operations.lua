-- SPDX-License-Identifier: MIT
-- `purser operations [WORD]`: what operations there are, and everything about one of them. Needs no key and sends
-- nothing.

local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local suggest = require "purser.util.suggest"
local tables = require "purser.cli.tables"
local terminal = require "purser.cli.terminal"

local M = {}

local WIDE = 120 -- columns, from which on a table has room for permission and weight
local TITLES = { "id", "command", "effect", "permission", "weight", "summary" }
local NARROW = { "id", "command", "effect", "summary" }

function M.grammar()
  return {
    text = "List the operations, or show everything about one.",
    arguments = { { "word", "Name or id (wallet withdraw, C2), or a word that its facts contain.", many = true,
      values = catalogue.names(function() return true end) } },
    output.group(TITLES), connection.messages,
  }
end

local function matches(row, word)
  for _, text in ipairs { row.full_name, row.summary, row.permission or "", row.path, row.method, row.effect } do
    if text:lower():find(word, 1, true) then return true end
  end
  return false
end

-- The one operation that the words name, or the rows whose facts contain them.
local function find(word)
  local row = catalogue.find(word)
  if row then return row end
  local list = {}
  for _, candidate in ipairs(catalogue.every) do
    if candidate.id == word:upper() then return candidate end
    if word == "" or matches(candidate, word:lower()) then list[#list + 1] = candidate end
  end
  return nil, list
end

local function reconcile_text(row)
  local reconcile = row.reconcile
  if row.effect == "read" then return "a read: may be run again" end
  if reconcile.strategy == "repeat" then return "it may be run again: doing it twice is the same as once" end
  if reconcile.strategy == "nothing" then
    return ("do not run it again by machine: a person must look in %s"):format(reconcile.lookup)
  end
  return ("do not run it again: --reconcile, or client:reconcile(err), looks in %s%s"):format(reconcile.lookup,
    reconcile.client_id and " for its " .. reconcile.client_id or "")
end

local function details(row)
  local out = { ("%s  %s\n%s\n\n"):format(row.id, row.full_name, row.summary) }
  local function fact(name, value)
    if value then out[#out + 1] = terminal.fold(("%-14s%s"):format(name, value), 14) .. "\n" end
  end
  local form = row.result.list and "a list of" or row.result.record and "one record:" or "a page of"
  fact("request", row.method .. " " .. row.path)
  fact("parameters", row.body and ("in a JSON body (%s), unless the profile says otherwise"):format(row.body)
    or "in the query")
  fact("profile", row.live and "mexc, or one with live_operations" or nil)
  fact("permission", row.permission)
  fact("weight", row.weight and ("%d"):format(row.weight))
  fact("signed by", row.signer and (row.signer == "main" and "the main account's key" or "the sub-account's own key"))
  fact("effect", row.effect)
  fact("if unknown", reconcile_text(row))
  fact("deprecated", row.deprecated and "use " .. row.deprecated)
  fact("pages", row.by_name.page and "yes: --all fetches every one" or nil)
  if #row.params > 0 then
    local lines = {}
    for i, param in ipairs(row.params) do
      lines[i] = { param[1], param.required and "yes" or "", catalogue.rule(param) }
    end
    out[#out + 1] = "\n" .. tables.aligned({ "parameter", "required", "rule" }, lines)
  end
  out[#out + 1] = "\n" .. terminal.fold(("result: %s %s"):format(form, table.concat(output.members(row), ", "))) .. "\n"
  return table.concat(out)
end

-- An operation as a program reads it.
local function whole(row)
  local params = {}
  for i, param in ipairs(row.params) do
    params[i] = { name = param[1], required = param.required == true, rule = catalogue.rule(param) }
  end
  return { id = row.id, name = row.full_name, method = row.method, path = row.path, summary = row.summary,
    effect = row.effect, permission = row.permission, weight = row.weight, reconcile = reconcile_text(row),
    parameters = params }
end

-- The operations that pass the filters, as text.
local function list_of(list, options)
  local records = {}
  for i, row in ipairs(list) do
    records[i] = { id = row.id, command = row.full_name:gsub("%.", " "), effect = row.effect, summary = row.summary,
      permission = row.permission, weight = row.weight, row = row }
  end
  if options.format == "json" then
    records = output.passing(TITLES, records, options)
    for i, record in ipairs(records) do records[i] = whole(record.row) end
    return output.plain_json(records, "  ")
  end
  local columns = options.format == "table" and core.is_terminal(1) and core.terminal_width(1)
  return output.rows(columns and columns < WIDE and NARROW or TITLES, records, options)
end

function M.start(options)
  local word = table.concat(options.word, " ")
  local row, found = find(word)
  if not row and #found == 0 then
    local names = {}
    for _, known in ipairs(catalogue.every) do
      names[#names + 1] = known.full_name
      names[#names + 1] = known.name
    end
    report.bad_input("no operation has %q in its facts%s; `purser operations` lists them all", word,
      suggest.hint(word, names))
  end
  local text
  if not row or options.format == "csv" then text = list_of(found or { row }, options)
  else text = options.format == "json" and output.plain_json(whole(row), "  ") or details(row) end
  report.write(text, options.raw)
end

return M
