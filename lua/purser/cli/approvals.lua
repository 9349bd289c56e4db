-- SPDX-License-Identifier: MIT
-- `purser approvals add|status`, `purser approve PLAN`, `purser policy ACTION FILE`, and written plans of payouts;
-- see docs/desk/approvals.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.client.util.lazy"
local decimal = lazy "purser.decimal"
local ends = require "purser.cli.ends"
local files = require "purser.client.util.files"
local json = require "purser.json"
local grammar = require "purser.cli.grammar"
local plain_text = require "purser.client.util.plain_text"
local plan_text = require "purser.desk.approvals.plan_text"
local policy = require "purser.desk.approvals.policy"
local policy_chain = require "purser.desk.approvals.policy_chain"
local purser = lazy "purser"
local report = require "purser.cli.report"
local signers = require "purser.desk.approvals.signers"
local sshsig = require "purser.desk.approvals.sshsig"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

function M.grammar()
  local function connected() return connection.safety, connection.service end
  return grammar.actions("approvals",
    "Bring plans and signatures to the payer. It ends with 3 while approvals lack.", {
    { "add", "Check a plan and signatures, and keep them in the journal with the payments.",
      { { "plan", "The file of the plan.", kind = "file", reads = "plan" },
        { "signatures", "Files of signatures, also of withdrawals.", optional = true, many = true,
          reads = "signature" } },
      "june.plan june.plan.alice.sig --journal pay.db --policy policies", {}, connected, does = "send" },
    { "status", "Show the journal's id, and the plans, newest first: who signed each, and what it lacks.", {},
      "--journal pay.db --policy policies", {}, connected },
  }, nil, { { "--policy", " FOLDER (or PURSER_POLICY)" }, { "--journal", " FILE of the payer" } })
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
  local signed = options.signed
  local id = signed.journal_id or journal and journal:id()
    or report.bad_input "payouts plan: give --journal-id ID, or --journal FILE of the payer"
  local list = {}
  for i, payment in ipairs(payments) do
    list[i] = { key = payment.key, operation = payment.operation, params = payment.params, payee = payment.payee }
  end
  report.write(report.must(purser.approvals.plan { client = at.client, policy = connection.policy(options),
    journal_id = id, journal = journal, payments = list, queue = options.queue, until_day = signed.until_day,
    maker = signed.maker or os.getenv "USER" or "unknown" }), true)
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

local function look(options)
  local client, sources = connection.open(options)
  return { client = client, sources = sources }
end

-- Writes the plans as lines; of one digest alone where it is given. Returns the exit code.
local function write_plans(client, digest)
  local lines, waits = {}, false
  for _, plan in ipairs(report.must(purser.approvals.status { client = client })) do
    if not digest or plan.plan.digest == digest then
      local lacks = {}
      for text, count in pairs(plan.unmet) do
        lacks[#lacks + 1] = ("%s (%s)"):format(text, plain_text.counted(count, "row"))
      end
      table.sort(lacks)
      local state = plan.withdrawn and "withdrawn by " .. plan.withdrawn or plan.expired and "expired"
        or lacks[1] and table.concat(lacks, "; ") or "approved"
      waits = waits or state ~= "approved" and not plan.expired and not plan.withdrawn
      lines[#lines + 1] = json.encode(json.object { { "plan", plan.plan.digest }, { "queue", plan.plan.head.queue },
        { "rows", plan.rows }, { "until", plan.plan.head.not_after }, { "signed", json.list(plan.signed) },
        { "state", state } }) .. "\n"
    end
  end
  report.write(table.concat(lines))
  return waits and report.NOT_SENT or report.DONE
end

M.actions = { add = { look = look }, status = { look = look } }

function M.actions.add.act(screen, options)
  local known = report.must(purser.approvals.add { client = screen.client, plan = M.read(options.plan),
    signatures = M.read_all(options.signatures) })
  screen.known = known
  return { "made" }
end

function M.actions.add.say(screen)
  local known = screen.known
  report.note("signed by %s%s", known.signed[1] and table.concat(known.signed, ", ") or "nobody",
    known.withdrawn and "; WITHDRAWN by " .. known.withdrawn or "")
  for _, problem in ipairs(known.problems) do
    report.say("counts for nothing: %s (%s)", problem.person or "?", problem.code)
  end
  return write_plans(screen.client, known.plan.digest)
end

function M.actions.status.say(screen)
  report.note("--journal-id of plans: %s", screen.client:plans().journal_id)
  return write_plans(screen.client)
end

M.approve = {}

function M.approve.grammar()
  local journal = connection.journal_option "The payer's journal, where you can read it: what was paid is shown."
  journal.env = nil -- that of the environment is the payer's, whose files a signer may not read
  return {
    text = "Read a plan, and sign it with `ssh-keygen -Y sign`. The signature is PLAN.NAME.sig.\n"
      .. "What you signed before is kept in a file of yours; what is not in it is shown as new.",
    arguments = { { "plan", "The file of the plan.", kind = "file", reads = "plan" } }, does = "send",
    { "Options",
      { "--key", "<file>", "Your key, or its .pub where an agent or a token has it (ssh-ed25519, sk-ssh-ed25519).",
        required = true },
      { "--by", "<name>", "Who signs, for the file's name; without it USER." },
      { "--withdraw", "Sign that the plan is not to be paid any more: one person does, for good.", target = "kind",
        value = "withdraw", without = "--made" },
      { "--made", "Sign that you made it: for policies that ask for the maker's signature.", target = "kind",
        value = "made", without = "--withdraw" },
      { "--sum", "<amount>", "The largest sum of the plan, or its rows where it moves nothing; else you are asked." },
      { "--records", "<file>", "What you signed before; without it ~/.purser-signed." },
      journal },
    connection.messages,
  }
end

-- Lets ssh-keygen sign a private copy of a text: the file may have been exchanged since the text was shown.
local function sign(text, key, namespace, target)
  local copy = os.tmpname()
  report.must(files.replace(copy, text))
  local pipe = assert(io.popen(("ssh-keygen -Y sign -f %s -n %s < %s"):format(values.shell_word(key), namespace,
    values.shell_word(copy))))
  local armoured = pipe:read "*a"
  pipe:close()
  os.remove(copy)
  if armoured == "" then report.bad_input "ssh-keygen did not sign; nothing was written" end
  local signature, is_good, problem = sshsig.read(armoured), nil, nil
  if signature then is_good, problem = sshsig.verify(signature, namespace, text) end
  if problem then report.bad_input("the signature could not be checked: %s", problem) end
  if not is_good then
    report.bad_input "the signature is none that Purser takes; make a key with `ssh-keygen -t ed25519`"
  end
  local before = files.read(target)
  if before and before ~= armoured then report.bad_input("%s is another signature; give --by", target) end
  report.must(files.replace(target, armoured))
end

-- Has the largest sum of a plan typed; the number of rows where they move nothing, such as a new API key.
local function confirm(options, head)
  local largest, what = head.rows, "number of rows"
  for each, sum in pairs(head.sums) do
    local name, order = "sum of " .. each, decimal(sum):compare(largest)
    if what == "number of rows" or order > 0 or order == 0 and name < what then largest, what = sum, name end
  end
  local typed = options.sum
  if not typed then
    if not terminal.can_ask() then report.bad_input "approve: there is no terminal to ask on; give --sum" end
    typed = terminal.answer(("Type the %s to sign: "):format(what))
  end
  local amount = decimal(typed or "")
  if not amount or not amount:eq(largest) then report.bad_input("that is not the %s; nothing was signed", what) end
end

local function remember(path, plan)
  local lines = {}
  for i, row in ipairs(plan.rows) do
    row.at, row.base_url = core.now_ms(), plan.head.base_url
    lines[i] = json.encode(row) .. "\n"
  end
  return files.replace(path, M.read_records(path) .. table.concat(lines))
end

-- Returns the name of the file of a signature.
local function target_of(path, options, kind)
  local name = options.by or os.getenv "USER" or "signed"
  return ("%s.%s%s.sig"):format(path, name, kind and "." .. kind or "")
end

function M.approve.look(options)
  local screen = { text = M.read(options.plan) }
  local plan, problem = plan_text.read(screen.text)
  screen.plan = plan
  if not plan then report.bad_input("%s: %s; `purser payouts plan` writes one", options.plan, problem) end
  local home = credentials.home()
  options.records = options.records or home and home .. "/.purser-signed"
  screen.target = target_of(options.plan, options, options.kind)
  M.show(options, screen.text)
  return screen
end

function M.approve.act(screen, options)
  confirm(options, screen.plan.head)
  sign(screen.text, options.key, signers.NAMESPACES[options.kind or "approve"], screen.target)
  if not options.kind and not (options.records and remember(options.records, screen.plan)) then
    report.say("%s: the next plan shows these as new", options.records and options.records .. " cannot be written"
      or "HOME is no absolute path, so nothing is remembered")
  end
  return { "made" }
end

function M.approve.say(screen, options, made)
  report.note("signed: %s; the payer adds it with `purser approvals add %s %s`", screen.target, options.plan,
    screen.target)
  return ends.code(made)
end

local FILE = { { "file", "The file of the policy.", kind = "file", reads = "policy" } }
local ACCOUNT = { "--account", "<name>", "The account; or set PURSER_ACCOUNT." }

M.policy = {}

function M.policy.grammar()
  return grammar.actions("policy", "The policy that says who has to approve what.", {
    { "check", "Find rules that never match.", FILE, "policy.json --against old.json",
      { { "--against", "<file>", "The policy that it would replace: what gets looser is listed.",
        reads = "policy" } }, function() end },
    { "try", "Run it over what was really paid, as a journal has it.", FILE,
      "policy.json --journal pay.db --account main",
      { values.since "From when on, such as 30d (all).", ACCOUNT,
        connection.journal_option "The journal of the payer." }, function() end },
    { "sign", "Sign it with ssh-keygen.", FILE, "policy.json --key ~/.ssh/id_ed25519",
      { { "--key", "<file>", "Your key, or its .pub.", required = true },
        { "--by", "<name>", "Who signs, for the file's name; without it USER." } }, function() end, does = "send" },
    { "install", "Make it the next version in a folder.",
      { FILE[1], { "signatures", "Files of signatures.", optional = true, many = true, reads = "signature" } },
      "policy.json policy.json.alice.sig --policy policies --account main",
      { { "--policy", "<folder>", "Where the versions are; or set PURSER_POLICY." }, ACCOUNT }, function() end,
      does = "send" },
    { "signers", "Write an allowed_signers file for ssh-keygen -Y verify.", FILE, "policy.json", {}, function() end },
  })
end

-- Steps of an action that shows something of a policy's text.
local function showing(say)
  return { say = function(_, options) return say(options, M.read(options.file)) or report.DONE end }
end

-- Steps of an action that writes something of a policy's text, and says what.
local function writing(act)
  return {
    act = function(screen, options)
      screen.said = act(options, M.read(options.file))
      return { "made" }
    end,
    look = function() return {} end,
    say = function(screen, _, made)
      report.note("%s", screen.said)
      return ends.code(made)
    end,
  }
end

local policies = {}

-- Returns a value, or ends the command with what is wrong with the file.
local function of_file(options, value, problem)
  local text = type(problem) == "table" and report.sentence(problem) or tostring(problem)
  return value or report.bad_input("%s: %s", options.file, text)
end

local function lines_of(out, label, list)
  if list[1] then out[#out + 1] = label .. ": " .. table.concat(list, ", ") end
end

local function sorted_pairs(map, form)
  local list = {}
  for name, value in pairs(map) do list[#list + 1] = form:format(name, value) end
  table.sort(list)
  return list
end

policies.check = showing(function(options, text)
  local against = options.against and M.read(options.against)
  local found = of_file(options, purser.approvals.check(text, against))
  local out = { "sha256 " .. found.digest }
  lines_of(out, "never matches", found.never)
  lines_of(out, "allows only what is forbidden", found.forbidden)
  lines_of(out, "nobody can fill", found.unfilled)
  lines_of(out, "withdrawn unasked, by one call, at most", sorted_pairs(found.unasked, "%s %s"))
  lines_of(out, "sent unasked", found.free)
  for _, one in ipairs(found.looser) do out[#out + 1] = "MAY BE LOOSER: " .. one end
  if against and not found.looser[1] then out[#out + 1] = "nothing gets looser" end
  report.write(table.concat(out, "\n") .. "\n")
end)

policies["try"] = showing(function(options, text)
  local path = options.journal or report.bad_input "policy try: give --journal FILE of the payer"
  local account = options.account or credentials.variable "PURSER_ACCOUNT"
    or report.bad_input "policy try: give --account NAME"
  local journal = connection.look_at_journal("policy try", path)
  local trial = of_file(options, purser.approvals.try { journal = journal, account = account, policy = text,
    since = options.since })
  journal:close()
  local function day(ms) return ms and purser.utc.text(ms):sub(1, 10) or "-" end
  local out = { ("%s, %s to %s; waited %d; not judged %d"):format(plain_text.counted(trial.payments, "payment"),
    day(trial.first), day(trial.last), trial.waited, trial.not_judged), ("paid unasked %d"):format(trial.unasked) }
  lines_of(out, "asked", sorted_pairs(trial.asked, "%s %d"))
  if trial.busiest then out[#out + 1] = ("busiest day: %s, %d"):format(trial.busiest.day, trial.busiest.asked) end
  out[#out + 1] = ("refused %d"):format(trial.refused)
  lines_of(out, "refused by", sorted_pairs(trial.refused_by, "%s %d"))
  report.write(table.concat(out, "\n") .. "\n")
end)

policies.sign = writing(function(options, text)
  local digest = of_file(options, policy.read(text)).digest -- `check` prints that of what was read
  local target = target_of(options.file, options)
  sign(text, options.key, policy_chain.NAMESPACE, target)
  return ("signed: %s, for the policy with sha256 %s"):format(target, digest)
end)

policies.install = writing(function(options, text)
  local folder, account = connection.policy(options), options.account or credentials.variable "PURSER_ACCOUNT"
  if not folder or not account then report.bad_input "policy install: give --policy FOLDER and --account NAME" end
  local version, message = policy_chain.install(folder, account, text,
    table.concat(M.read_all(options.signatures)))
  if not version then report.bad_input("%s: %s", options.file, message) end
  return ("version %d is installed, with sha256 %s; compare that with the others by voice where it is the first")
    :format(version, policy.read(text).digest)
end)

policies.signers = showing(function(options, text)
  report.write(policy.signers(of_file(options, policy.read(text))), true)
end)

M.policy.actions = policies

return M
