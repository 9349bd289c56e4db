-- SPDX-License-Identifier: MIT
-- `purser approvals add|status`, and what `payouts plan` and `payouts show` do with plans; see docs/approvals.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "purser.util.files"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local report = require "purser.cli.report"
local purser = lazy "purser"

local M = {}

function M.grammar()
  return {
    text = "Bring plans and signatures to the payer.\n"
      .. "  add PLAN SIG...   check them, and keep them in the journal with the payments\n"
      .. "  status            the journal's id, and the plans, newest first: who signed each, and what it lacks\n"
      .. "add and status exit with 3 while approvals lack.",
    arguments = { { "action", "add or status.", choices = { "add", "status" } },
      { "plan", "add: the file of the plan.", optional = true },
      { "signatures", "add: files of signatures, also of withdrawals.", optional = true, many = true } },
    connection.safety, connection.service, connection.messages,
  }
end

-- The text of a file; or nil and the exit code.
function M.read(path, what)
  if not path then return nil, report.bad_input("%s is missing", what) end
  local text, message = files.read(path)
  if not text then return nil, report.bad_input("%s", message) end
  return text
end

--- The texts of files; or nil and the exit code.
function M.read_all(paths)
  local texts = {}
  for i, path in ipairs(paths or {}) do
    local text, code = M.read(path)
    if not text then return nil, code end
    texts[i] = text
  end
  return texts
end

--- Returns what the reader signed before, as lines of JSON in a file of theirs; nil where there is none.
function M.records(path)
  local text, known = path and files.read(path), {}
  for line in (text or ""):gmatch "[^\n]+" do known[#known + 1] = core.decode(line) end
  return known[1] and known or nil
end

--- Writes the plan of payments that were read and checked. Returns the exit code.
function M.write_plan(options, at, payments)
  if not at.sources.is_named then
    return report.bad_input "payouts plan: a plan is of an account with a name; give --account NAME"
  end
  local id = options.journal_id or at.sources.journal and at.sources.journal:id()
  if not id then return report.bad_input "payouts plan: give --journal-id ID, or --journal FILE of the payer" end
  local list = {}
  for i, payment in ipairs(payments) do
    list[i] = { key = payment.key, operation = payment.operation, params = payment.params, payee = payment.payee }
  end
  local text, err = purser.approvals.plan { client = at.client, policy = connection.policy(options), journal_id = id,
    payments = list, queue = options.queue, maker = options.maker or os.getenv "USER" or "unknown",
    until_day = options["until"] }
  if not text then return report.bad_input("%s", report.sentence(err)) end
  if not report.write(text, true) then return report.NOT_WRITTEN end
  report.note("next: send the file to those who sign it: `purser approve %s --key FILE`", options.output or "PLAN")
  return report.DONE
end

--- Shows a plan. Returns the exit code.
function M.show(options, path)
  local text, code = M.read(path, "payouts show: the file of the plan")
  if not text then return code end
  local journal, err
  if options.journal then
    if not core.file_mode(options.journal) then return report.bad_input("--journal %s is missing", options.journal) end
    journal, err = purser.journal.open { sqlite = options.journal }
    if not journal then return report.bad_input("%s", report.sentence(err)) end
  end
  local review
  review, err = purser.approvals.show(text, { known = M.records(options.records), now = core.now_ms(),
    journal = journal, policy = connection.policy(options), html = options.html ~= nil or nil })
  if journal then journal:close() end
  if not review then return report.bad_input("%s: %s", path, report.sentence(err)) end
  if not options.html then return report.write(review) and report.DONE or report.NOT_WRITTEN end
  local ok, message = files.replace(options.html, review)
  if not ok then return report.bad_input("--html %s: %s", options.html, tostring(message)) end
  return report.DONE
end

-- Opens the payer: the options of purser.approvals; or nil and the exit code.
local function open(options)
  if not connection.policy(options) then return nil, report.bad_input "approvals: give --policy FOLDER" end
  local client, place, sources = connection.open(options)
  if not client then return nil, report.bad_input("%s", place) end
  if not sources.journal then return nil, report.bad_input "approvals: give --journal FILE of the payer" end
  return { client = client }
end

local actions = {}

function actions.add(payer, options)
  local texts, code = M.read_all(options.signatures)
  if not texts then return code end
  payer.plan, code = M.read(options.plan, "approvals add: the file of the plan")
  if not payer.plan then return code end
  payer.signatures = texts
  local known, err = purser.approvals.add(payer)
  if not known then return report.bad_input("%s", report.sentence(err)) end
  report.note("signed by %s%s", known.signed[1] and table.concat(known.signed, ", ") or "nobody",
    known.withdrawn and "; WITHDRAWN by " .. known.withdrawn or "")
  for _, problem in ipairs(known.problems) do
    report.say("counts for nothing: %s (%s)", problem.person or "?", problem.code)
  end
  return actions.status(payer, options, known.plan.digest)
end

-- The plans as lines; of one digest alone where it is given.
function actions.status(payer, _, digest)
  local plans, err = purser.approvals.status { client = payer.client }
  if not plans then return report.bad_input("%s", report.sentence(err)) end
  local lines, waits = {}, false
  for _, plan in ipairs(plans) do
    if not digest or plan.plan.digest == digest then
      local lacks = {}
      for text, count in pairs(plan.unmet) do lacks[#lacks + 1] = ("%s (%d rows)"):format(text, count) end
      table.sort(lacks)
      local state = plan.withdrawn and "withdrawn by " .. plan.withdrawn or plan.expired and "expired"
        or lacks[1] and table.concat(lacks, "; ") or "approved"
      waits = waits or state ~= "approved" and not plan.expired and not plan.withdrawn
      lines[#lines + 1] = json.encode(json.object { { "plan", plan.plan.digest }, { "queue", plan.plan.head.queue },
        { "rows", plan.rows }, { "until", plan.plan.head.not_after }, { "signed", json.list(plan.signed) },
        { "state", state } }) .. "\n"
    end
  end
  if not digest then report.note("--journal-id of plans: %s", payer.client:plans():payer().journal_id) end
  if not report.write(table.concat(lines)) then return report.NOT_WRITTEN end
  return waits and report.NOT_SENT or report.DONE
end

function M.start(options)
  local payer, code = open(options)
  if not payer then return code end
  code = actions[options.action](payer, options)
  payer.client:close()
  return code
end

return M
