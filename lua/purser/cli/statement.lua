-- SPDX-License-Identifier: MIT
-- `purser statement --from --to`: a statement of the books.

local books_command = require "purser.cli.books"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local report = require "purser.cli.report"

local M = {}

local FORMATS = { "hledger", "beancount", "csv", "jsonl", "rotki", "html" }

function M.grammar()
  return {
    text = "Write a statement of a span: double entry, reconciled with every quiet reading of a balance.\n"
      .. "The same books, revision and span give the same bytes. With --check the exit code is 1 where something is "
      .. "open, unexplained or unread.",
    { "Options", books_command.database_option "--books", books_command.ACCOUNT,
      { "--from", "<day>", "The first day, or a time: 2026-10-01.", required = true },
      { "--to", "<day>", "The first day that does not count.", required = true },
      { "--format", "<format>", "hledger (ledger, too), beancount, csv, jsonl, rotki or html.", choices = FORMATS,
        default = "hledger" },
      { "--fee", "<place>", "Where the fee of a withdrawal stands when neither a deposit nor a balance shows it: "
        .. "on_top (default) or inside.", choices = { "on_top", "inside" } },
      { "--rev", "<n>", "The books as they were at this revision." },
      { "--compare", "<n>", "Print only the lines that differ from this revision." },
      { "--check", "End with 1 where the statement needs a person." },
      { "--output", "<file>", "File for the result, written whole or not at all." } },
    connection.messages,
  }
end

local function difference(old, new)
  local out = {}
  for _, side in ipairs { { "- ", old, new }, { "+ ", new, old } } do
    local counts = {}
    for line in side[3]:gmatch "[^\n]+" do counts[line] = (counts[line] or 0) + 1 end
    for line in side[2]:gmatch "[^\n]+" do
      counts[line] = (counts[line] or 0) - 1
      if counts[line] < 0 then out[#out + 1] = side[1] .. line .. "\n" end
    end
  end
  return table.concat(out)
end

function M.start(options)
  local books = books_command.open(options.books, options.account, { fee = options.fee })
  local function statement(rev, write)
    return report.must(books:statement { from = options.from, to = options.to, format = options.format, rev = rev,
      write = write })
  end
  local function write(text) report.write(text, true) end
  if not books:each()() then report.say("the books hold no record of %s; --account names another", books.account) end
  local text, made = statement(options.rev, not options.compare and write or nil)
  if options.compare then write(difference(statement(options.compare), text)) end
  books:close()
  local is_unread = made.ahead and tonumber(made.to) <= core.now_ms() and 1 or 0 -- an ended span
  local needs = #made.open + #made.unexplained + #made.gaps + #made.unread + #made.negative + is_unread
  return options.check and needs > 0 and report.REJECTED or report.DONE
end

return M
