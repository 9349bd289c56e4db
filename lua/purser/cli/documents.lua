-- SPDX-License-Identifier: MIT
-- The kinds of files, told by a file's text: a file of another kind is refused with the name of the kind.

local core = require "purser.core"
local files = require "purser.client.util.files"
local grammar = require "purser.cli.grammar"
local lazy = require "purser.client.util.lazy"
local database = lazy "purser.client.util.database"
local report = require "purser.cli.report"
local values = require "purser.cli.values"

local M = {}

-- The kinds, as `reads` of the grammar names them.
local KINDS = { database = "a database, such as a journal", journal = "a journal", books = "the books of `purser sync`",
  deposits = "the deposits of `purser receive`", signature = "a signature", key = "a key of ssh",
  keys = "a file of keys, for --credentials", secrets = "a fleet's file of secrets",
  plan = "a plan, as `purser payouts plan` writes it",
  policy = "a policy", declaration = "the declaration of a fleet", customers = "a list of customers",
  list = "a list of payments (CSV)", rules = "a file of guard rules" }

-- Patterns of a file's begin, with a line end before; the first that fits tells the kind.
local PATTERNS = {
  { "^\nSQLite format 3", "database" }, { "^\n%-+BEGIN SSH SIGNATURE", "signature" },
  { "^\n%-+BEGIN OPENSSH PRIVATE KEY", "key" }, { "^\nssh%-%w+ ", "key" }, { "^\nsk%-ssh%-", "key" },
  { "\n *api_key *=", "keys" }, { "\n *secret_key *=", "keys" }, { "\n *credentials_command *=", "keys" },
  { "^\nmx0%w+\t", "secrets" }, { '^\n{"purser":"plan', "plan" }, { '^%s*{.*"policy 1"', "policy" },
  { '^%s*{.*"accounts"%s*:%s*%[', "declaration" }, { "^\n[^\n]*%f[%w]customer%f[%W]", "customers" },
  { "^\n[^\n]*%f[%w]key[,;\t]", "list" }, { "^\n[^\n]*[,;\t]key%f[%W]", "list" },
}

-- The kinds of databases, by the word behind `purser_` of the tables; a journal's tables have further words.
local ROOMS = { books = "books", receive = "deposits" }

-- Returns the kind of a database of SQLite: the wanted kind, where the database has several.
local function kind_of_database(path, wanted)
  local db = database.open { sqlite = path }
  local rows = db and db:rows "SELECT name FROM sqlite_master WHERE type = 'table'"
  local found = "database"
  for _, row in ipairs(rows or {}) do
    local word = row.name:match "^purser_(%l+)"
    local kind = word and (ROOMS[word] or "journal")
    if kind and found ~= wanted then found = kind end
  end
  if db then db:close() end
  return found
end

local OF_DATABASE = { journal = true, books = true, deposits = true }

-- Returns the kind of a file, or nil. The command says why a file cannot be read.
local function kind_of(path, wanted)
  local file = files.open(path)
  local text = file and file:read(4096)
  if file then file:close() end
  if text and text:find "^%s*{" then text = files.read(path) end
  for _, pair in ipairs(text and PATTERNS or {}) do
    if ("\n" .. text):find(pair[1]) then
      return pair[2] == "database" and OF_DATABASE[wanted] and kind_of_database(path, wanted) or pair[2]
    end
  end
end

--- Ends the command where a file is of another kind than its argument or option `reads`.
function M.check(options, command)
  grammar.each_given(command, options, function(path, option, name)
    local reads, wanted = option.reads, {}
    if not reads then return end
    if OF_DATABASE[reads] then path = (values.journal(path) or {}).sqlite or "" end
    local found = core.file_mode(path) and kind_of(path, reads)
    if OF_DATABASE[reads] and not OF_DATABASE[found] then return end -- who opens it says what is wrong
    for kind in (found and reads or ""):gmatch "%l+" do
      if kind == found then return end
      wanted[#wanted + 1] = KINDS[kind]
    end
    if found then report.bad_input("%s: %s is %s; give %s", name, path, KINDS[found], table.concat(wanted, ", or ")) end
  end)
end

return M
