-- SPDX-License-Identifier: MIT
-- `purser books settle|match|outside|close|gaps|events`: what a person says of the books, and what they ask of one.

local connection = require "purser.cli.connection"
local credentials = require "purser.cli.credentials"
local csv = require "purser.util.csv"
local lazy = require "purser.util.lazy"
local limits = lazy "purser.limits"
local purser = lazy "purser"
local report = require "purser.cli.report"

local M = {}

--- Returns the option that names the database.
function M.database_option(name)
  return { name, "<database>", "The books: sqlite:FILE or postgresql:DATABASE. Or set PURSER_BOOKS." }
end

--- The options of purser.books.open for the database that is named; nil and a message.
function M.database(text)
  text = text or credentials.variable "PURSER_BOOKS"
  local found = text and limits.parse(text)
  if not found or found.redis then
    return nil, "which books? give sqlite:FILE or postgresql:DATABASE, or set PURSER_BOOKS"
  end
  return found
end

local ACTIONS = { "settle", "match", "outside", "close", "gaps", "events" }

function M.grammar()
  return {
    text = "Say what the service no longer shows, and look at what is open.\n"
      .. "  settle ID success|failed   how a record ended that is out of sight\n"
      .. "  match WITHDRAWAL DEPOSIT   the two sides of a transfer between own accounts\n"
      .. "  outside WITHDRAWAL         it went to somebody else\n"
      .. "  close DATE                 close what lies before that day\n"
      .. "  gaps                       what could not be read\n"
      .. "  events                     what waits for each receiver",
    arguments = { { "action", table.concat(ACTIONS, ", ") .. ".", choices = ACTIONS },
      { "first", "What the action is about.", optional = true, values = {} },
      { "second", "settle: success or failed; match: the deposit.", optional = true, values = {} } },
    { "Options", M.database_option "--books",
      { "--retry", "events: let what is parked go again." },
      { "--forget", "<receiver>", "events: forget this receiver." } },
    connection.messages,
  }
end

local actions = {}

function actions.settle(books, words) return books:settle(words[1], words[2]) end
function actions.match(books, words) return books:match(words[1], words[2]) end
function actions.outside(books, words) return books:outside(words[1]) end
function actions.close(books, words) return books:close_before(words[1]) end

local function list(names, found)
  local lines = { csv.line(names) }
  for i, row in ipairs(found) do
    local cells = { n = #names }
    for n, name in ipairs(names) do cells[n] = row[name] or "" end
    lines[i + 1] = csv.line(cells)
  end
  return table.concat(lines)
end

function actions.gaps(books)
  return list({ "owner", "list", "starts", "ends", "why" }, books:gaps())
end

function actions.events(books, _, options)
  return list({ "sink", "waiting", "parked", "oldest", "error" },
    books:events { retry = options.retry, forget = options.forget })
end

--- Opens the books that the options name, without a client. Returns nil and the exit code where they are none.
function M.open(options)
  local found, message = M.database(options.books)
  if not found then return nil, report.bad_input("%s", message) end
  found.fee = options.fee
  local books, err = purser.books.open(found)
  if not books then return nil, report.bad_input("%s", err.message) end
  return books
end

function M.start(options)
  local books, code = M.open(options)
  if not books then return code end
  local done, err = actions[options.action](books, { options.first, options.second }, options)
  books:close()
  if not done then return report.bad_input("%s", err.message) end
  return not (done == true or report.write(type(done) == "string" and (done:gsub("\n$", "")) .. "\n" or ""))
    and report.NOT_WRITTEN or report.DONE
end

return M
