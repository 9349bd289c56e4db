-- SPDX-License-Identifier: MIT
-- `purser approvals add|status`, and what `payouts plan` and `payouts show` do with plans; see docs/desk/approvals.md.

local of_actions = require "purser.cli.actions"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local files = require "purser.client.util.files"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local plan_text = require "purser.desk.approvals.plan_text"
local report = require "purser.cli.report"
local purser = lazy "purser"

local M = {}

function M.grammar()
  local function connected() return connection.safety, connection.service end
  return of_actions.grammar("approvals",
    "Bring plans and signatures to the payer. It ends with 3 while approvals lack.", {
    { "add", "Check a plan and signatures, and keep them in the journal with the payments.",
      { { "plan", "The file of the plan.", reads = "plan" },
        { "signatures", "Files of signatures, also of withdrawals.", optional = true, many = true,
          reads = "signature" } },
      "june.plan june.plan.alice.sig --journal pay.db --policy policies", {}, connected },
    { "status", "Show the journal's id, and the plans, newest first: who signed each, and what it lacks.", {},
      "--journal pay.db --policy policies", {}, connected },
  })
end

function M.read(path) return report.must(files.read(path)) end

function M.read_all(paths)
  local texts = {}
  for i, path in ipairs(paths or {}) do texts[i] = M.read(path) end
  return texts
end

--- Returns the file of --records as text, "" where there is none. An unreadable file is neither skipped nor replaced.
function M.read_records(path)
  local text, message, is_missing = files.read(path)
  return text or is_missing and "" or report.bad_input("%s", message)
end

-- Returns what the reader signed before, as lines of JSON in a file of theirs; nil where there is none.
local function records_of(path)
  local known = {}
  for line in (path and M.read_records(path) or ""):gmatch "[^\n]+" do
    local row = core.decode(line)
    if type(row) ~= "table" or type(row.params) ~= "table" or type(row.at) ~= "number" then
      report.bad_input("%s: line %d is no payment that was signed", path, #known + 1)
    end
    known[#known + 1] = row
  end
  return known[1] and known or nil
end

--- Returns the plan that a file holds; nil where the file holds another thing.
function M.written(path)
  local text = files.read(path)
  if not text or text:sub(1, 10) ~= '{"purser":' then return nil end
  local plan, message = plan_text.read(text)
  return plan or report.bad_input("%s: %s", path, message)
end

--- Returns the signers and the last day of a written plan, as text. Refuses a plan of another account or journal.
function M.signed(plan, at, options)
  local head, journal = plan.head, at.sources.journal
  for name, is in pairs { account = at.client:account(), journal = journal and journal:id() or head.journal } do
    if is ~= head[name] then
      report.bad_input('payouts: the plan is of the %s "%s", and this is "%s"', name, head[name], is)
    end
  end
  local found
  for _, status in ipairs(journal and connection.policy(options)
    and report.must(purser.approvals.status { client = at.client }) or {}) do
    if status.plan.digest == plan.digest then found = status end
  end
  local names = found and table.concat(found.signed, ", ") or ""
  return ("%s signed %s; %s %s%s"):format(names ~= "" and names or "nobody", plan.digest:sub(1, 12),
    found and found.expired and "ended after" or "ends", head.not_after,
    found and found.withdrawn and "; WITHDRAWN by " .. found.withdrawn or "")
end

function M.write_plan(options, at, payments)
  if not at.sources.is_named then
    report.bad_input "payouts plan: a plan is of an account with a name; give --account NAME"
  end
  local journal = at.sources.journal
  local id = options.journal_id or journal and journal:id()
    or report.bad_input "payouts plan: give --journal-id ID, or --journal FILE of the payer"
  local list = {}
  for i, payment in ipairs(payments) do
    list[i] = { key = payment.key, operation = payment.operation, params = payment.params, payee = payment.payee }
  end
  report.write(report.must(purser.approvals.plan { client = at.client, policy = connection.policy(options),
    journal_id = id, journal = journal, payments = list, queue = options.queue, until_day = options["until"],
    maker = options.maker or os.getenv "USER" or "unknown" }), true)
  report.note("next: send the file to those who sign it: `purser approve %s --key FILE`", options.output or "PLAN")
  return report.DONE
end

function M.show(options, text)
  local journal = options.journal and connection.look_at_journal("payouts show", options.journal)
  local review = report.must(purser.approvals.show(text, { known = records_of(options.records), now = core.now_ms(),
    journal = journal, policy = connection.policy(options), html = options.html ~= nil or nil }))
  if journal then journal:close() end
  if options.html then report.must(files.replace(options.html, review)) else report.write(review) end
  return report.DONE
end

local actions = {}

function actions.add(client, options)
  local known = report.must(purser.approvals.add { client = client, signatures = M.read_all(options.signatures),
    plan = M.read(options.plan) })
  report.note("signed by %s%s", known.signed[1] and table.concat(known.signed, ", ") or "nobody",
    known.withdrawn and "; WITHDRAWN by " .. known.withdrawn or "")
  for _, problem in ipairs(known.problems) do
    report.say("counts for nothing: %s (%s)", problem.person or "?", problem.code)
  end
  return actions.status(client, options, known.plan.digest)
end

-- Writes the plans as lines; of one digest alone where it is given.
function actions.status(client, _, digest)
  local lines, waits = {}, false
  for _, plan in ipairs(report.must(purser.approvals.status { client = client })) do
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
  if not digest then report.note("--journal-id of plans: %s", client:plans().journal_id) end
  report.write(table.concat(lines))
  return waits and report.NOT_SENT or report.DONE
end

function M.start(options)
  if not connection.policy(options) then report.bad_input "approvals: give --policy FOLDER, or set PURSER_POLICY" end
  local client, sources = connection.open(options)
  if not sources.journal then report.bad_input "approvals: give --journal FILE of the payer" end
  local code = actions[options.action](client, options)
  client:close()
  return code
end

return M
