-- SPDX-License-Identifier: MIT
-- The end of a command: exit code and messages on standard error.

local catalogue = require "purser.cli.catalogue"
local errors = require "purser.client.call.errors"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {
  DONE = 0,
  REJECTED = 1,   -- the service said no
  BAD_INPUT = 2, -- nothing was sent, because of what was asked
  NOT_SENT = 3,  -- nothing was sent, because the service could not be reached; or a read had no answer in time
  UNKNOWN = 4,   -- a write call was sent and no answer says what became of it
  NOT_WRITTEN = 5, -- it was done, but its result could not be written
}

local CLOCK = "this machine's clock is off: synchronise it (timedatectl set-ntp true); `purser doctor` measures it"

local LIVE = "a simulator does not have it; --profile mexc is the LIVE service, with real funds"

-- Cures in the command's words, by code; codes.lua has all others.
local cures = {
  ["10073"] = CLOCK, ["700003"] = CLOCK,
  ["700002"] = "the signature is wrong, so the secret key is not the one of this API key (or --profile is wrong)",
}

local function cure_of_operation(err)
  local row = catalogue.by_name[err.operation or ""]
  if not row then return nil end
  if err.code == "700007" then
    return row.permission and ("the key lacks the permission %s: give it that, or use another"):format(row.permission)
      or "the key lacks a permission: look at its page"
  elseif err.code == "10232" and not catalogue.network_param(row) then
    return "correct --coin: `purser wallet coins --columns coin` lists all"
  elseif err.code == "33333" then
    local named = {}
    for _, param in ipairs(row.params) do
      if err.message:find("%f[%w]" .. param[1] .. "%f[^%w]") then named[#named + 1] = "--" .. param[1] end
    end
    return ("%s`purser operations %s` shows what each value may be"):format(
      named[1] and "correct " .. table.concat(named, " or ") .. ": " or "", err.operation)
  elseif err.kind == "api" and err.outcome == "rejected" and err.code and not err.hint then
    return ("the code %s is not known here: the service's own support or announcements say what it means"):format(
      err.code)
  end
end

--- Returns the cure of an error in the command's words; or nil.
function M.cure(err)
  local cure = cures[err.code] or cure_of_operation(err) or err.hint
  if err.code ~= "10072" or not terminal.settings.has_odd_key then return cure end
  return cure .. "; an API key begins with mx0: perhaps key and secret are exchanged"
end

-- Returns a wrong argument as typed: `--amount "12,5" is not a plain decimal`; or nil.
local function typed_argument(row, params, err)
  local name = err.kind == "argument" and err.parameter
  local param = name and row.by_name and row.by_name[name]
  local value = param and not param.plain and param[2] ~= "md5" and params[name]
  local rest = err.message:match '^parameter "[^"]*" (.*)$'
  if not rest or type(value) ~= "string" then return nil end
  local quoted = err.message:find(value, 1, true) and value ~= "" and "" or (' "%s"'):format(value)
  return ("--%s%s %s%s"):format(name, quoted, rest, err.hint and "; " .. err.hint or "")
end

-- Returns a message of the module in a shell's words; printed commands get the journal.
local function in_shell(text)
  local words = (terminal.settings.journal_words or ""):gsub("%%", "%%%%")
  return (values.in_shell(text):gsub("`purser journal show [^`]+", "%0" .. words))
end

--- Returns an error and its cure, without the facts for programs.
function M.sentence(err)
  local cure = M.cure(err)
  return in_shell(err.message .. (cure and "; " .. cure or ""))
end

M.say = terminal.say

function M.note(...)
  if not terminal.settings.quiet then terminal.say(...) end
end

--- Ends the command with an exit code; init.lua catches the raised table.
function M.stop(code) error({ exit_code = code }, 0) end

--- Ends the command as Ctrl-C does where a text says that a library, a transport or the journal met it.
function M.check_interrupted(text)
  if tostring(text):find("interrupted!", 1, true) then error("interrupted!", 0) end
end

function M.fail(code, ...)
  for _, text in ipairs { ... } do M.check_interrupted(text) end
  terminal.fail(...)
  M.stop(code)
end

function M.bad_input(...) M.fail(M.BAD_INPUT, ...) end

--- Returns the name of the person: --by, or USER.
function M.person(options, command)
  local by = options.by or os.getenv "USER" or ""
  return by ~= "" and by or M.bad_input("%s: the name of the person is missing, as USER is not "
    .. "set; give --by NAME", command)
end

--- Returns its arguments; ends the command where they are nil or false, and a message or an error.
function M.must(value, problem, ...)
  if value then return value, problem, ... end
  if errors.is(problem) and problem.kind ~= "config" and problem.kind ~= "argument" then
    M.stop(M.workflow_failure(problem))
  end
  M.bad_input("%s", errors.is(problem) and M.sentence(problem) or tostring(problem))
end

-- Returns the command that looks for an operation: the lookup of the row, with the shared parameters.
local function reconciling_command(row, params)
  local through = row.reconcile and catalogue.by_name[row.reconcile.lookup]
  if not through then return nil end
  local words = { "purser", through.group, through.name }
  for _, param in ipairs(through.params) do
    local name = param[1]
    if name ~= "note" and type(params[name]) == "string" then
      words[#words + 1] = "--" .. name
      words[#words + 1] = values.shell_word(params[name])
    end
  end
  if through.by_name.startTime then words[#words + 1] = "--since 1h" end
  local id = row.reconcile.client_id
  if id and type(params[id]) == "string" and not through.by_name[id] and through.paging then
    words[#words + 1] = ("--filter %s=%s"):format(id, values.shell_word(params[id]))
  end
  return table.concat(words, " ") .. (terminal.settings.words or "")
end

--- Says that a key's secret is lost. Returns the end of the call.
function M.lost_key(row, account, api_key)
  M.say("the secret is lost; delete the key with: purser %s delete_api_key --subAccount %s --apiKey %s", row.group,
    values.shell_word(account or "NAME"), values.shell_word(api_key or "KEY"))
  return "lost"
end

-- Says an error, a line for each text; keeps the error for --json.
local function say_error(err, advice, cure, ...)
  for _, text in ipairs(terminal.settings.json and {} or { ... }) do M.say("%s", text) end
  local members = {}
  for _, name in ipairs { "message", "kind", "outcome", "operation", "parameter", "code", "phase", "http_status",
    "retry_after" } do
    local value = err[name]
    if name == "message" then value = in_shell(value) end
    if type(value) == "string" or type(value) == "number" then members[#members + 1] = { name, value } end
  end
  members[#members + 1] = advice and { "advice", advice } or nil
  members[#members + 1] = cure and { "hint", in_shell(cure) } or nil
  for _, name in ipairs { "plan", "done" } do -- what persons have to sign; the steps that were done before
    members[#members + 1] = err.details and err.details[name] and { name, err.details[name] } or nil
  end
  terminal.settings.failure = members
end

local function unknown(row, params, err)
  if row.effect == "read" then
    local text = errors.text(err)
    M.check_interrupted(text)
    say_error(err, nil, nil, "no answer: " .. in_shell(text):gsub(", outcome unknown", ""),
      "it only reads, so it may be run again")
    return M.NOT_SENT
  end
  local look, again = reconciling_command(row, params), terminal.settings.again
  local recover = terminal.settings.recover
  local cure = again and "run the same line again: it looks first, and pays nothing twice"
    or recover and ("`%s` finds out what became of it"):format(recover)
    or look and "see what became of it with: " .. look
  local text = again and errors.text(err, false) or errors.text(err)
  say_error(err, again or recover or look, nil, "OUTCOME UNKNOWN: " .. in_shell(text), cure)
  return M.UNKNOWN
end

function M.code_of(err)
  if err.kind == "argument" or err.kind == "config" then return M.BAD_INPUT end
  return err.outcome == "rejected" and M.REJECTED or M.NOT_SENT
end

--- Says what an operation failed with. Returns the exit code.
---@param row table  the operation, or of a workflow only its effect
function M.failure(row, params, err, cure)
  if err.outcome == "unknown" then
    return unknown(row, params, err)
  end
  if err.outcome == "not_sent" then M.check_interrupted(err.message) end
  cure = cure or row.live and err.kind == "config" and LIVE or M.cure(err)
  local argument = typed_argument(row, params, err)
  say_error(err, nil, cure, argument and argument .. "; nothing was sent" or in_shell(errors.text(err, cure)))
  return M.code_of(err)
end

function M.check_can_ask(options, what)
  if options.yes or terminal.can_ask() then return end
  M.bad_input("%s: there is no terminal to confirm it on; give --yes", what)
end

--- Asks, and ends the command without a yes.
---@param fields table[]   { label, value }; a value may hold any text
function M.ask(options, what, sources, fields, question)
  if options.yes then return end
  M.check_can_ask(options, what)
  local all = { { "service", ("%s (from %s)"):format(sources.url, sources.service) },
    { "account", sources.account }, { "key", ("%s (from %s)"):format(sources.key, sources.keys) } }
  for _, field in ipairs(fields) do all[#all + 1] = field end
  local answer = terminal.ask(what .. " at " .. sources.url .. ":", all, question)
  if answer ~= "yes" then M.bad_input "not confirmed; nothing was sent" end
end

function M.workflow_failure(err) return M.failure({ effect = "transfer" }, {}, err) end

--- Writes to standard output; ends the command at a full disk or a closed pipe.
---@param is_raw boolean|nil  the exact bytes, unless they go to a terminal
---@param advice string|nil   is said where the result cannot be written
function M.write(text, is_raw, advice)
  local ok, reason = terminal.write(text, is_raw)
  if ok then return true end
  M.say("the result could not be written: %s", tostring(reason))
  if advice then M.say("%s", advice) end
  M.stop(M.NOT_WRITTEN)
end

return M
