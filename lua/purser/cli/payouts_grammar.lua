-- SPDX-License-Identifier: MIT
-- The actions of `purser payouts`, with what each takes.

local grammar = require "purser.cli.grammar"
local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local output = require "purser.cli.output"
local payments_plan = require "purser.cli.payments_plan"

local M = {}

M.TITLES = { "key", "state", "arrival", "amount", "asset", "to", "record_id", "message", "name", "candidates" }

local QUEUE = { "--queue", "<name>", "Name of the queue; without it \"default\"." }
local OPERATION = { "--operation", "<operation>",
  "That of payments without a column `operation`, such as wallet.withdraw.", into = "list",
  values = function() return catalogue.names(function(row) return row.effect == "transfer" end) end }
local AS_IS = { "--address-as-is", "Take addresses and memos as they are: what looks wrong about their form is a "
  .. "warning.", into = "list" }
local DECIMAL = { "--decimal", "<mark>", "Mark of decimals, where 12.500 or 1,000 may be thousands: point or comma.",
  choices = { "point", "comma" }, into = "list" }
local FILTER = { "--filter", "<name=value>", "Only payments whose column has this value: a smaller list.", many = true }
local FILE = { { "file", "The list; - is standard input.", optional = true, kind = "file", reads = "list plan" } }
local SIGNED = { "--policy", " FOLDER (or PURSER_POLICY): it is of a plan that persons sign" }
local YES = { "--yes", "Do it without asking." }
local COUNT = { "--expect-count", "<n>", "So many payments the list has, or nothing is sent: a copy may be cut." }
local SUM = { "--expect-sum", "<name=value>", "What the list pays of an asset, as USDT=5310.5, or nothing is sent.",
  many = true }
local KEY = { "key", "Key of the payment." }
local function all_not_done(word)
  if word == "not_done" then return word end
  return nil, "it takes not_done alone: a payment that was made needs its record, so settle each, KEY done RECORD"
end
local function safe() return connection.safety, connection.service end
local WORKER = { "--worker", "<name>", "Name of this worker; without it \"shell\", or a new one for a journal on a "
  .. "server. One running process may have it at a time." }

-- The actions, as actions.lua takes them.
local list = {
  { "plan", "Show what would be paid, with sums and balances; nothing is sent. Without FILE the list is all that the "
    .. "queue has still to pay. With --policy and --output it writes a plan that persons sign: docs/desk/approvals.md",
    FILE, "june.csv --operation wallet.withdraw",
    { OPERATION, QUEUE, AS_IS, DECIMAL, COUNT, SUM,
      { "--maker", "<name>", "Of a plan to be signed: who makes it, and so does not approve it; without it USER.",
        needs = SIGNED, into = "signed" },
      { "--until", "<day>", "Of a plan to be signed: its last day, such as 2026-11-30.", needs = SIGNED,
        into = "signed", target = "until_day" },
      { "--journal-id", "<id>", "Of a plan to be signed: the payer's journal, where it is on another machine.",
        needs = SIGNED, into = "signed" } },
    function() return output.group(payments_plan.TITLES), connection.safety, connection.service end, does = "plan" },
  { "show", "Show a plan that persons sign, with what is odd first; or everything about a payment, as JSON, with the "
    .. "records that an undecided one may be.",
    { { "what", "The file of the plan; or the key of a payment, with --journal.", kind = "file", reads = "plan" } },
    "june.plan",
    { { "--html", "<file>", "Write a page for a browser." },
      { "--records", "<file>", "What you signed before; what is neither there nor in --journal is new to you." } },
    function() return connection.safety end },
  { "run", "Show the plan, ask, and make exactly what was shown: what is new, what waits, and what was sent and is not "
    .. "known yet, which is asked about first. Without FILE all that the queue has still to pay. Started again, it "
    .. "goes on.\nIt exits with 4 while a payment of the list is sent or undecided, else with 1 while one is failed, "
    .. "else with 3 while one is not sent: blocked, due later, or with --yes changed or odd.",
    FILE, "june.csv --operation wallet.withdraw --journal pay.db",
    { OPERATION, QUEUE, WORKER, AS_IS, DECIMAL, FILTER, COUNT, SUM,
      { "--allow-odd", "With --yes pay rows that look like a mistake, too: equal ones, keys that differ only in "
        .. "case, what was paid in the last 7 days, an amount far above the others." },
      YES, titles = payments_plan.TITLES },
    function() return output.group(), connection.safety, connection.service end,
    "`purser payouts plan` shows what would be paid, and sends nothing", does = "send" },
  { "status", "Show how many payments are in which state; nothing is sent.\nIt exits with 4 while a payment is sent or "
    .. "undecided, else with 1 while one is failed, else with 3 while one waits, else with 0.", {}, "--queue june",
    { QUEUE }, function() return output.group(), connection.safety, connection.service end },
  { "report", "Show every payment with its state and the service's id.", {}, "--queue june --csv", { QUEUE },
    function() return output.group(M.TITLES), connection.safety, connection.service end },
  { "retry", "Look again for a payment that failed, is undecided or was dropped, and put it back where it was not "
    .. "made.",
    { KEY }, "inv-17 --queue june", { QUEUE, YES }, safe, does = "send" },
  { "drop", "Give a payment up that waits, failed or is undecided, where it was not made. Its key stays used.",
    { KEY }, "inv-17 --queue june", { QUEUE, grammar.BY, YES }, safe, does = "send" },
  { "settle", "Say what you know of a payment that failed, is undecided or was dropped: it was made, as this record, "
    .. "or it was not, and waits again.\n`purser payouts settle --all not_done` lists all that is undecided in the "
    .. "queue, asks once, and says that none of it was made.", { { "key", KEY[2], optional = true },
      { "word", "done or not_done.", choices = { "done", "not_done" }, optional = true },
      { "record", "Of one that was made: the id that the service shows.", optional = true, target = "made_as" } },
    "inv-17 done 766a...",
    { { "--all", "<word>", "Of all that is undecided: not_done.", values = { "not_done" }, convert = all_not_done },
      QUEUE, grammar.BY, YES }, safe, does = "send" },
}

function M.grammar()
  return grammar.actions("payouts", "Pay a list of payments, each once, however often the command is started or killed."
    .. "\nThe first line of FILE names columns: key, and the parameters of the operation. A key names its payment for "
    .. "good.\n`purser payouts FILE` is `purser payouts run FILE`.", list, { "run", "^[^-].*[./]" })
end

return M
