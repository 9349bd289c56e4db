-- SPDX-License-Identifier: MIT
-- `purser books settle|match|outside|close|gaps|events`: what a person says of the books, and what they ask of one.

local connection = require "purser.cli.connection"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.client.util.lazy"
local limits = lazy "purser.hosts.limits"
local output = require "purser.cli.output"
local purser = lazy "purser"
local report = require "purser.cli.report"

local M = {}

function M.database_option(name)
  return { name, "<database>", "The books: sqlite:FILE or postgresql:DATABASE. Or set PURSER_BOOKS." }
end

M.ACCOUNT = { "--account", "<name>", "Name of the account, as `purser sync` has it; or set PURSER_ACCOUNT." }

-- Returns the account's name in the books, whose names have the form of hledger's: "Treasury-2" of treasury_2.
local function name_in_books(name)
  if name == nil or name == "default" then return nil end -- of keys without a name
  local plain = name:gsub("%W+", "-"):gsub("^%-", "")
  return plain:find "^%a" and plain:gsub("^%l", string.upper) or "Account-" .. plain
end

--- Opens the books in the database that is named.
---@param account string|nil  as a person names it; nil: PURSER_ACCOUNT, or the one without a name
function M.open(text, account, more)
  text = text or credentials.variable "PURSER_BOOKS"
  local options = text and limits.parse(text)
  if not options or options.redis then
    report.bad_input("%s; give sqlite:FILE or postgresql:DATABASE, or set PURSER_BOOKS", -- it may hold a password
      text and ('"%s" names no books'):format(text:gsub(":.*", ":...")) or "no books are named")
  end
  for name, value in pairs(more) do options[name] = value end
  options.account = name_in_books(account or credentials.variable "PURSER_ACCOUNT")
  return report.must(purser.books.open(options))
end

local ACTIONS = { "settle", "match", "outside", "close", "gaps", "events" }
local GAPS = { "owner", "list", "from", "to", "why" }
local EVENTS = { "receiver", "waiting", "since", "error" }

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
      { "first", "ID, withdrawal or date.", optional = true, values = {} },
      { "second", "settle: success or failed; match: the deposit.", optional = true, values = {} } },
    { "Options", M.database_option "--books", M.ACCOUNT,
      { "--forget", "<receiver>", "events: forget this receiver." } },
    output.group(function(options) return options.action == "gaps" and GAPS or EVENTS end), connection.messages,
  }
end

local methods = { settle = "settle", match = "match", outside = "outside", close = "close_before" }
local words = { settle = "ID and success or failed", match = "WITHDRAWAL and DEPOSIT", outside = "WITHDRAWAL",
  close = "DATE", gaps = "nothing", events = "nothing" }

local function date(time) return time ~= "" and time and purser.utc.text(math.floor(tonumber(time))):sub(1, 10) end

local lists = {}

function lists.gaps(books, options)
  local gaps = report.must(books:gaps())
  for _, gap in ipairs(gaps) do gap.from, gap.to = date(gap.starts), date(gap.ends) or "now" end
  return output.rows(GAPS, gaps, options, "all was read\n")
end

function lists.events(books, options)
  local events = report.must(books:events { forget = options.forget })
  for _, event in ipairs(events) do event.since = date(event.since) or nil end
  return output.rows(EVENTS, events, options, "there is no receiver\n")
end

function M.start(options)
  local given, needed = (options.first and 1 or 0) + (options.second and 1 or 0), words[options.action]
  if given ~= (needed == "nothing" and 0 or needed:find " and " and 2 or 1) then
    report.bad_input("`purser books %s` takes %s", options.action, needed)
  end
  local books, method = M.open(options.books, options.account, {}), methods[options.action]
  if method then report.must(books[method](books, options.first, options.second))
  else report.write(lists[options.action](books, options), options.raw) end
  books:close()
  return report.DONE
end

return M
