-- SPDX-License-Identifier: MIT
-- `purser books ACTION`: a person's words on the books, gaps and waiting events.

local credentials = require "purser.cli.credentials"
local lazy = require "purser.client.util.lazy"
local limits = lazy "purser.hosts.limits"
local of_actions = require "purser.cli.actions"
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

local GAPS = { "owner", "list", "from", "to", "why" }
local EVENTS = { "receiver", "waiting", "since", "error" }

function M.grammar()
  local own, withdrawal = { M.database_option "--books", M.ACCOUNT }, { "withdrawal", "Its id in a statement." }
  local function nothing() end
  return of_actions.grammar("books", "Say what the service no longer shows, and look at what is open.", {
    { "settle", "Say how a record ended that is out of sight.", { { "record", "Its id in a statement." },
      { "word", "success or failed.", choices = { "success", "failed" } } }, "766a... success", own, nothing },
    { "match", "Say that a withdrawal and a deposit are the two sides of a transfer between own accounts.",
      { withdrawal, { "deposit", "Its id in a statement." } }, "766a... 21f0...", own, nothing },
    { "outside", "Say that a withdrawal went to somebody else.", { withdrawal }, "766a...", own, nothing },
    { "close", "Close what lies before a day.", { { "day", "As 2026-11-01." } }, "2026-11-01", { own[1], own[2],
      { "--unread", nil, "Close days that were not read, too." } }, nothing },
    { "gaps", "Show what could not be read.", {}, "--json", own, function() return output.group(GAPS) end },
    { "events", "Show what waits for each receiver.", {}, "--json", { own[1], own[2],
      { "--forget", "<receiver>", "Forget this receiver." } }, function() return output.group(EVENTS) end },
  })
end

local actions = {}

function actions.settle(books, options) report.must(books:settle(options.record, options.word)) end
function actions.match(books, options) report.must(books:match(options.withdrawal, options.deposit)) end
function actions.outside(books, options) report.must(books:outside(options.withdrawal)) end
function actions.close(books, options) report.must(books:close_before(options.day, options)) end

local function date(time) return time ~= "" and time and purser.utc.text(math.floor(tonumber(time))):sub(1, 10) end

function actions.gaps(books, options)
  local gaps = report.must(books:gaps())
  for _, gap in ipairs(gaps) do gap.from, gap.to = date(gap.starts), date(gap.ends) or "now" end
  report.write(output.rows(GAPS, gaps, options, "all was read\n"), options.raw)
end

function actions.events(books, options)
  local events = report.must(books:events { forget = options.forget })
  for _, event in ipairs(events) do event.since = date(event.since) or nil end
  report.write(output.rows(EVENTS, events, options, "there is no receiver\n"), options.raw)
end

function M.start(options)
  local books = M.open(options.books, options.account, {})
  actions[options.action](books, options)
  books:close()
  return report.DONE
end

return M
