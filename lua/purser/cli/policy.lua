-- SPDX-License-Identifier: MIT
-- `purser policy check|try|sign|install|signers FILE`; see docs/desk/approvals.md.

local approvals = require "purser.cli.approvals"
local approve = require "purser.cli.approve"
local of_actions = require "purser.cli.actions"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.client.util.lazy"
local policy = require "purser.desk.approvals.policy"
local policy_chain = require "purser.desk.approvals.policy_chain"
local report = require "purser.cli.report"
local purser = lazy "purser"

local M = {}

local FILE = { { "file", "The file of the policy.", reads = "policy" } }
local ACCOUNT = { "--account", "<name>", "The account; or set PURSER_ACCOUNT." }

local function nothing() end

function M.grammar()
  return of_actions.grammar("policy", "The policy that says who has to approve what.", {
    { "check", "Find rules that never match.", FILE, "policy.json --against old.json",
      { { "--against", "<file>", "The policy that it would replace: what gets looser is listed.",
        reads = "policy" } }, nothing },
    { "try", "Run it over what was really paid, as a journal has it.", FILE,
      "policy.json --journal pay.db --account main",
      { { "--since", "<duration>", "How far back, such as 30d (all)." }, ACCOUNT,
        connection.journal_option "The journal of the payer." }, nothing },
    { "sign", "Sign it with ssh-keygen.", FILE, "policy.json --key ~/.ssh/id_ed25519",
      { { "--key", "<file>", "Your key, or its .pub.", required = true },
        { "--name", "<name>", "Yours, for the name of the file; without it USER." } }, nothing },
    { "install", "Make it the next version in a folder.",
      { FILE[1], { "signatures", "Files of signatures.", optional = true, many = true, reads = "signature" } },
      "policy.json policy.json.alice.sig --policy policies --account main",
      { { "--policy", "<folder>", "Where the versions are; or set PURSER_POLICY." }, ACCOUNT }, nothing },
    { "signers", "Write an allowed_signers file for ssh-keygen -Y verify.", FILE, "policy.json", {}, nothing },
  })
end

local actions = {}

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

function actions.check(options, text)
  local against = options.against and approvals.read(options.against)
  local found = of_file(options, purser.approvals.check(text, against))
  local out = { "sha256 " .. found.digest }
  lines_of(out, "never matches", found.never)
  lines_of(out, "allows only what is forbidden", found.forbidden)
  lines_of(out, "nobody can fill", found.unfilled)
  lines_of(out, "withdrawn unasked, at most", sorted_pairs(found.unasked, "%s %s"))
  lines_of(out, "sent unasked", found.free)
  for _, one in ipairs(found.looser) do out[#out + 1] = "MAY BE LOOSER: " .. one end
  if against and not found.looser[1] then out[#out + 1] = "nothing gets looser" end
  report.write(table.concat(out, "\n") .. "\n")
end

actions["try"] = function(options, text)
  local path = options.journal or report.bad_input "policy try: give --journal FILE of the payer"
  local account = options.account or credentials.variable "PURSER_ACCOUNT"
    or report.bad_input "policy try: give --account NAME"
  local journal = connection.look_at_journal("policy try", path)
  local trial = of_file(options, purser.approvals.try { journal = journal, account = account, policy = text,
    since = options.since and core.now_ms() - options.since or nil })
  journal:close()
  local function day(ms) return ms and purser.utc.text(ms):sub(1, 10) or "-" end
  local out = { ("%d payments, %s to %s; waited %d; not judged %d"):format(trial.payments, day(trial.first),
    day(trial.last), trial.waited, trial.not_judged), ("paid unasked %d"):format(trial.unasked) }
  lines_of(out, "asked", sorted_pairs(trial.asked, "%s %d"))
  if trial.busiest then out[#out + 1] = ("busiest day: %s, %d"):format(trial.busiest.day, trial.busiest.asked) end
  out[#out + 1] = ("refused %d"):format(trial.refused)
  lines_of(out, "refused by", sorted_pairs(trial.refused_by, "%s %d"))
  report.write(table.concat(out, "\n") .. "\n")
end

function actions.sign(options, text)
  local digest = of_file(options, policy.read(text)).digest -- `check` prints that of what was read
  local target = ("%s.%s.sig"):format(options.file, options.name or os.getenv "USER" or "signed")
  approve.sign(text, options.key, policy_chain.NAMESPACE, target)
  report.note("signed: %s, for the policy with sha256 %s", target, digest)
end

function actions.install(options, text)
  local folder, account = connection.policy(options), options.account or credentials.variable "PURSER_ACCOUNT"
  if not folder or not account then report.bad_input "policy install: give --policy FOLDER and --account NAME" end
  local version, message = policy_chain.install(folder, account, text,
    table.concat(approvals.read_all(options.signatures)))
  if not version then report.bad_input("%s: %s", options.file, message) end
  report.note("version %d is installed, with sha256 %s; compare that with the others by voice where it is the first",
    version, policy.read(text).digest)
end

function actions.signers(options, text)
  report.write(policy.signers(of_file(options, policy.read(text))), true)
end

function M.start(options)
  actions[options.action](options, approvals.read(options.file))
  return report.DONE
end

return M
