-- SPDX-License-Identifier: MIT
-- `purser operations [WORD]`: what operations there are, and everything about one of them. Needs no key and sends
-- nothing.

local core = require "purser.core"
local json = require "purser.json"
local listing = require "purser.cli.listing"
local suggest = require "purser.util.suggest"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local parameters = require "purser.api.parameters"
local report = require "purser.cli.report"
local rows = require "purser.cli.rows"
local advice = require "purser.write.advice"
local parser = require "purser.cli.parser"

local M = { summary = "List the operations, or show everything about one." }

function M.define(command)
  command:description "List the operations, or show everything about one."
  local word = command:argument("word", "Name or id (wallet withdraw, C2), or a word that its facts contain.")
  word:args "0-2"
  word.suggested, word.takes_no_file = {}, true
  for i, row in ipairs(operations.every) do word.suggested[i] = row.full_name end
  output.define(command, nil, { filters = true })
end

local function matches(row, word)
  for _, text in ipairs { row.full_name, row.summary, row.permission or "", row.path, row.method, row.effect } do
    if text:lower():find(word, 1, true) then return true end
  end
  return false
end

-- The one operation that the words name, or the rows whose facts contain them.
local function find(word)
  if word == "" then return nil, operations.every end
  local name = word:gsub("-", "_"):gsub("^(%a[%w_]*)[ :/]", "%1.")
  local row = operations.by_id[word:upper()] or operations.by_name[name]
  if row then return row end
  local list = {}
  for _, candidate in ipairs(operations.every) do
    if matches(candidate, word:lower()) then list[#list + 1] = candidate end
  end
  return nil, list
end

local WIDE = 120 -- columns, from which on a table has room for permission and weight
local TITLES = { "id", "command", "effect", "permission", "weight", "summary" }

local function cells_of(row)
  return { row.id, (row.full_name:gsub("%.", " ")), row.effect, row.permission or "", row.weight or "", row.summary }
end

local function rule_of(param)
  local kind = parameters.kinds[param[2]]
  local parts = {}
  if param.choices then
    local names = table.concat(parameters.choices[param.choices], ", ")
    parts[1] = param[2] == "choice" and names or kind.text .. ": " .. names
  else
    parts[1] = kind.text
  end
  if param.max then parts[#parts + 1] = "at most " .. ("%d"):format(param.max) end
  if param.default then parts[#parts + 1] = "default " .. ("%d"):format(param.default) end
  parts[#parts + 1] = parser.help_of(param)
  return table.concat(parts, "; ")
end

local function reconcile_text(row)
  if row.effect == "read" then return "a read: may be run again" end
  local values = {}
  if row.reconcile.client_id then values[row.reconcile.client_id] = "..." end
  return advice.of(row, values, "--reconcile, or client:reconcile(err), looks in")
end

local function details(row)
  local out = { ("%s  %s\n%s\n\n"):format(row.id, row.full_name, row.summary) }
  local function fact(name, value)
    if value then out[#out + 1] = ("%-14s%s\n"):format(name, value) end
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
  fact("pages", listing.has_pages(row) and "yes: --all fetches every one" or nil)
  if #row.params > 0 then
    local lines = {}
    for i, param in ipairs(row.params) do lines[i] = { param[1], param.required and "yes" or "", rule_of(param) } end
    out[#out + 1] = "\n" .. output.aligned({ "parameter", "required", "rule" }, lines)
  end
  out[#out + 1] = ("\nresult: %s %s\n"):format(form, table.concat(output.members(row), ", "))
  return table.concat(out)
end

local function as_json(row)
  local params = {}
  for i, param in ipairs(row.params) do
    params[i] = json.object {
      { "name", param[1] }, { "type", param.type }, { "required", param.required == true }, { "rule", rule_of(param) },
    }
  end
  return json.object {
    { "id", row.id }, { "name", row.full_name }, { "method", row.method }, { "path", row.path },
    { "summary", row.summary }, { "effect", row.effect }, { "permission", row.permission },
    { "weight", row.weight }, { "reconcile", reconcile_text(row) }, { "parameters", json.list(params) },
  }
end

-- The operations that pass the filters, as text.
local function list_of(list, options)
  local cells, whole, filters = {}, {}, assert(rows.filters(TITLES, options))
  for i, row in ipairs(list) do
    cells[i] = cells_of(row)
    if rows.passes(cells[i], filters) then whole[#whole + 1] = as_json(row) end
  end
  if options.format == "json" then return output.json(json.list(whole), "  ") end
  local columns = options.format == "table" and core.is_terminal(1) and core.terminal_width(1)
  if not columns or columns >= WIDE then return rows.render(TITLES, cells, options) end
  for i, row in ipairs(cells) do cells[i] = { row[1], row[2], row[3], row[6] } end
  return rows.render({ "id", "command", "effect", "summary" }, cells, { format = "table", filter = {} })
end

function M.start(options)
  local message = rows.message(TITLES, options)
  if message then return report.bad_input("operations: %s", message) end
  local word = table.concat(options.word, " ")
  local row, found = find(word)
  if not row and #found == 0 then
    local names = {}
    for _, known in ipairs(operations.every) do
      names[#names + 1] = known.full_name
      names[#names + 1] = known.name
    end
    return report.bad_input("no operation has %q in its facts%s; `purser operations` lists them all", word,
      suggest.hint(word, names))
  end
  local text
  if row and options.format ~= "csv" then
    text = options.format == "json" and output.json(as_json(row), "  ") or details(row)
  else
    text = list_of(found or { row }, options)
  end
  return report.write(text, options.raw) and report.DONE or report.NOT_WRITTEN
end

return M
