-- SPDX-License-Identifier: MIT
-- `purser operations [WORD]`: the operations, and everything about one; needs no key, sends nothing.

local catalogue = require "purser.cli.catalogue"
local commands = require "purser.cli.commands"
local connection = require "purser.cli.connection"
local help = require "purser.cli.help"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local suggest = require "purser.client.util.suggest"

local M = {}

local TITLES = { "id", "command", "effect", "permission", "weight", "summary" }

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

local function whole(row)
  local params = {}
  for i, param in ipairs(row.params) do
    params[i] = { name = param[1], required = param.required == true, rule = catalogue.rule(param) }
  end
  return { id = row.id, name = row.full_name, method = row.method, path = row.path, summary = row.summary,
    effect = row.effect, permission = row.permission, weight = row.weight, reconcile = catalogue.advice(row),
    parameters = params }
end

local function list_of(list, options)
  local records = {}
  for i, row in ipairs(list) do
    records[i] = { id = row.id, command = row.full_name:gsub("%.", " "), effect = row.effect, summary = row.summary,
      permission = row.permission, weight = row.weight }
  end
  return output.rows(TITLES, records, options, nil, "operation")
end

function M.say(_, options)
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
  if not row or options.format ~= "json" and not output.is_text(options) then
    return output.write(list_of(found or { row }, options), options)
  end
  report.write(options.format == "json" and output.json(whole(row), "  ")
    or help.text(commands.of_operation(row), { "purser", row.group, row.name }))
end

return M
