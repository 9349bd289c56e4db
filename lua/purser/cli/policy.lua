-- SPDX-License-Identifier: MIT
-- `purser policy check|try|sign|install|signers FILE`; see docs/approvals.md.

local approvals = require "purser.cli.approvals"
local approve = require "purser.cli.approve"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local lazy = require "purser.util.lazy"
local policy = require "purser.signed.policy"
local policy_chain = require "purser.signed.policy_chain"
local report = require "purser.cli.report"
local purser = lazy "purser"

local M = {}

local ACTIONS = { "check", "try", "sign", "install", "signers" }

function M.grammar()
  return {
    text = "The policy that says who has to approve what.\n"
      .. "  check FILE            rules that never match; with --against OLD what it loosens\n"
      .. "  try FILE              run it over what was really paid, as --journal has it\n"
      .. "  sign FILE             sign it with ssh-keygen and --key\n"
      .. "  install FILE SIG...   make it the next version in the folder --policy\n"
      .. "  signers FILE          an allowed_signers file for ssh-keygen -Y verify",
    arguments = { { "action", "check, try, sign, install or signers.", choices = ACTIONS },
      { "file", "The file of the policy." },
      { "signatures", "install: files of signatures.", optional = true, many = true } },
    { "Options",
      { "--against", "<file>", "check: the policy that it would replace." },
      { "--since", "<duration>", "try: how far back, such as 30d (all)." },
      { "--account", "<name>", "try, install: the account." },
      connection.journal_option "try: the journal of the payer.",
      { "--policy", "<folder>", "install: where the versions are; or set PURSER_POLICY." },
      { "--key", "<file>", "sign: your key, or its .pub." },
      { "--name", "<name>", "sign: yours, for the name of the file; without it USER." } },
    connection.messages,
  }
end

local actions = {}

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
  local against, code
  if options.against then
    against, code = approvals.read(options.against)
    if not against then return code end
  end
  local found, err = purser.approvals.check(text, against)
  if not found then return report.bad_input("%s: %s", options.file, report.sentence(err)) end
  local out = { "sha256 " .. found.digest }
  lines_of(out, "never matches", found.never)
  lines_of(out, "allows only what is forbidden", found.forbidden)
  lines_of(out, "nobody can fill", found.unfilled)
  lines_of(out, "withdrawn unasked, at most", sorted_pairs(found.unasked, "%s %s"))
  for _, one in ipairs(found.looser) do
    out[#out + 1] = ("LOOSER: %s; signed by %s; now by %s, before held by %s"):format(one.example,
      one.signed[1] and table.concat(one.signed, " ") or "nobody", one.allowed_by, one.held_by)
  end
  if against and not found.looser[1] then out[#out + 1] = "nothing gets looser" end
  out[#out + 1] = found.cells == found.of and ("decided over all %d calls that rules tell apart"):format(found.of)
    or ("tried at %d of %.0f calls that rules tell apart"):format(found.cells, found.of)
  return report.write(table.concat(out, "\n") .. "\n") and report.DONE or report.NOT_WRITTEN
end

actions["try"] = function(options, text)
  local path = options.journal
  if not path or not core.file_mode(path) then
    return report.bad_input "policy try: give --journal FILE of the payer"
  end
  local account = options.account or credentials.variable "PURSER_ACCOUNT"
  if not account then return report.bad_input "policy try: give --account NAME" end
  local journal, err = purser.journal.open { sqlite = path }
  if not journal then return report.bad_input("%s", report.sentence(err)) end
  local trial
  trial, err = purser.approvals.try { journal = journal, account = account, policy = text,
    since = options.since and core.now_ms() - options.since or nil }
  journal:close()
  if not trial then return report.bad_input("%s", report.sentence(err)) end
  local function day(ms) return ms and purser.utc.text(ms):sub(1, 10) or "-" end
  local out = { ("%d payments, %s to %s; waited %d; not judged %d"):format(trial.payments, day(trial.first),
    day(trial.last), trial.waited, trial.not_judged), ("paid unasked %d"):format(trial.unasked) }
  lines_of(out, "asked", sorted_pairs(trial.asked, "%s %d"))
  if trial.busiest then out[#out + 1] = ("busiest day: %s, %d"):format(trial.busiest.day, trial.busiest.asked) end
  out[#out + 1] = ("refused %d"):format(trial.refused)
  lines_of(out, "refused by", sorted_pairs(trial.refused_by, "%s %d"))
  return report.write(table.concat(out, "\n") .. "\n") and report.DONE or report.NOT_WRITTEN
end

function actions.sign(options)
  if not options.key then return report.bad_input "policy sign: give --key FILE" end
  local target = ("%s.%s.sig"):format(options.file, options.name or os.getenv "USER" or "signed")
  local signature, code = approve.sign(options.file, options.key, "purser-policy-1", target)
  if not signature then return code end
  report.note("signed: %s", target)
  return report.DONE
end

function actions.install(options, text)
  local folder, account = connection.policy(options), options.account or credentials.variable "PURSER_ACCOUNT"
  if not folder or not account then
    return report.bad_input "policy install: give --policy FOLDER and --account NAME"
  end
  local signatures, code = approvals.read_all(options.signatures)
  if not signatures then return code end
  local version, message = policy_chain.install(folder, account, text, table.concat(signatures))
  if not version then return report.bad_input("%s: %s", options.file, message) end
  report.note("version %d is installed; compare its digest with the others by voice where it is the first", version)
  return report.DONE
end

function actions.signers(options, text)
  local given, message = policy.read(text)
  if not given then return report.bad_input("%s: %s", options.file, message) end
  return report.write(policy.signers(given), true) and report.DONE or report.NOT_WRITTEN
end

function M.start(options)
  local text, code = approvals.read(options.file, "policy: the file")
  if not text then return code end
  return actions[options.action](options, text)
end

return M
