-- SPDX-License-Identifier: MIT
-- An operation in four steps (steps.lua): the look at parameters, networks and plan; the call; the result, and the
-- search after an unknown outcome.

local before = require "purser.cli.before"
local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local errors = require "purser.client.call.errors"
local ends = require "purser.cli.ends"
local files = require "purser.client.util.files"
local json = require "purser.json"
local key_file = require "purser.client.util.key_file"
local lazy = require "purser.client.util.lazy"
local listing = lazy "purser.cli.listing"
local output = require "purser.cli.output"
local planned = lazy "purser.write.planned"
local plain_text = require "purser.client.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local function add_times(row, params, options)
  for word, name in pairs { since = "startTime", ["until"] = "endTime" } do
    if options[word] and params[name] then
      report.bad_input("--%s and --%s say the same; give one of them", word, name)
    end
    params[name] = options[word] or params[name]
  end
  if options["until"] and row.window and row.window.max_window_days and not params.startTime then
    report.bad_input "--until needs --since (or --startTime) here"
  end
end

local function params_of(row, options)
  local params = {}
  for _, param in ipairs(row.params) do
    if not param.plain then params[param[1]] = options["param_" .. param[1]] end
  end
  add_times(row, params, options)
  return params
end

local function add_passwords(row, params, options)
  for _, param in ipairs(row.params) do
    for _, name in ipairs(param.plain and { param[1], param.plain } or {}) do
      local password, message = nil, nil
      if options["param_" .. name] then password, message = credentials.password(options["param_" .. name]) end
      params[name] = password or message and report.bad_input("--%s %s", name, message)
    end
  end
end

-- Gives a call the client id by which it can be reconciled. Returns a message, or nil.
local function add_handle(row, params, key)
  local reconcile = row.reconcile
  if key or not reconcile or reconcile.strategy ~= "client_id" or params[reconcile.client_id] then return nil end
  params[reconcile.client_id] = core.random_token(32)
  if not params[reconcile.client_id] then return nil end -- the call itself says that there are no random bytes
  return ("%s %s was added: by it the operation can be found afterwards"):format(reconcile.client_id,
    params[reconcile.client_id])
end

local function stop_unread(err)
  local code = report.failure(catalogue.by_name["wallet.coins"], {}, err)
  report.say("nothing was sent, because the coins and networks cannot be read%s", err.code == "700007"
    and "; --without-coins sends it, with fee, minimum and network not checked" or "")
  report.stop(code)
end

local function say_warnings(plan)
  for _, warning in ipairs(plan.warnings) do report.say("warning: %s", warning) end
end

local function reject(plan, format)
  terminal.fail("%s: nothing was sent%s", plan.title, format == "json" and ": " .. table.concat(plan.problems, "; ")
    or "")
  for _, problem in ipairs(plan.problems) do report.say("error: %s", problem) end
  say_warnings(plan)
  report.stop(report.BAD_INPUT)
end

-- Returns a plan's lines, problems and warnings as fields.
local function fields_of(plan)
  local fields = {}
  local function add(what, text) fields[#fields + 1] = { what, text, what = what, text = text } end
  for _, line in ipairs(plan.lines) do add(line[1], line[2]) end
  for _, problem in ipairs(plan.problems) do add("error", problem) end
  for _, warning in ipairs(plan.warnings) do add("warning", warning) end
  return fields
end

local function text_of_plan(plan, options)
  if options.format == "table" then
    return ((tostring(plan) .. "\n"):gsub("[^\n]+", function(line) return terminal.fold(line, 11) end))
  elseif options.format == "json" then
    return output.json({ ok = plan.ok, operation = plan.operation, coin = plan.coin, amount = plan.params.amount,
      fee = plan.fee, total = plan.total, arrives = plan.arrives, arrives_at_least = plan.arrives_at_least,
      params = plan.params, errors = plan.problems, warnings = plan.warnings }, "  ")
  end
  return output.rows({ "what", "text" }, fields_of(plan), { format = options.format, raw = options.raw })
end

-- Returns the plan of a withdrawal.
local function plan_of(screen, options)
  local given = { require_saved_address = options.require_saved_address or nil,
    unchecked_address = options.address_as_is or nil, without_coins = options.without_coins or nil }
  for name, value in pairs(screen.params) do given[name] = value end
  local plan, err = screen.client.wallet:plan_withdraw(given, screen.row.full_name)
  return plan or stop_unread(err)
end

-- Returns the parameters with the service's names of coin and network.
local function named(screen)
  local row, params = screen.row, screen.params
  local name = catalogue.network_param(row)
  if not name or not params[name] or params[name]:find("(", 1, true) then return params end -- the long name is taken
  local network, err = screen.client.wallet:find_network { coin = params.coin, network = params[name] }
  if not network and err.kind ~= "argument" then stop_unread(err) end
  if not network then report.bad_input("%s: %s", row.full_name, err.message) end
  local found = {}
  for key, value in pairs(params) do found[key] = value end
  found.coin, found[name] = network.coin, network.network
  return found
end

-- Checks and completes the parameters of a call. Notes what is shown before the question.
local function look_up(screen, options)
  if not catalogue.withdraws(screen.row) then
    screen.params = options.without_coins and screen.params or named(screen)
    return
  end
  local plan = plan_of(screen, options)
  if not plan.ok then reject(plan, options.format) end
  screen.plan, screen.params, screen.fields = plan, plan.params, fields_of(plan)
end

local function facts(row, params)
  local lines = { { "operation", ("%s (%s)"):format(row.full_name, row.id) } }
  for _, param in ipairs(row.params) do
    local value = params[param[1]]
    if param.plain then value = (value or params[param.plain]) and "***" end
    if value ~= nil then lines[#lines + 1] = { param[1], tostring(value) } end
  end
  return lines
end

-- Asks, or says what --yes sends; ends the command without a yes.
local function confirm(screen, options)
  local row, plan = screen.row, screen.plan
  if options.yes then
    local network = plan and plan.network
    if plan then report.note("%s over %s (%s)", plan.title, tostring(network.netWork), tostring(network.network)) end
    return plan and say_warnings(plan)
  end
  report.check_can_ask(options, row.full_name .. " is a write call")
  local fields = facts(row, screen.params)
  for _, pair in ipairs(options.extra) do fields[#fields + 1] = { "extra", pair[1] .. " = " .. pair[2] } end
  for _, field in ipairs(screen.fields) do
    if field[1] ~= "to" then fields[#fields + 1] = field end -- the address and the memo stand there already
  end
  report.ask(options, "This " .. catalogue.effects[row.effect], screen.sources, fields)
end

local MASK = "***"

-- Keeps a new key. Returns the end. The file is given by the command line, never by the answer.
local function keep_secret(screen, record, path)
  local ok, reason = key_file.write(path, { base_url = screen.sources.base_url, profile = screen.sources.profile,
    api_key = record.apiKey, secret_key = record.secretKey }, true)
  if ok then
    report.say("the keys were written to %s (use it with --credentials)", path)
    return "made"
  end
  os.remove(path)
  report.say("the key was made, but its secret could not be written to %s: %s", path, tostring(reason))
  return report.lost_key(screen.row, record.subAccount, record.apiKey)
end

local function hide(text, name)
  local pattern = name:gsub("%p", "%%%0")
  text = text:gsub("([?&]" .. pattern .. "=)[^&]*", "%1" .. MASK)
  return (text:gsub('("' .. pattern .. '":")[^"]*"', "%1" .. MASK .. '"'))
end

--- Returns the request that would be sent, as text, without what must not be seen: the key, the signature, passwords.
function M.request_text(request, row, profile, format)
  local url, body, headers = hide(request.url, profile.signature_name), request.body, {}
  for _, param in ipairs(row.params) do
    if param[2] == "md5" then url, body = hide(url, param[1]), hide(body, param[1]) end
  end
  for name, value in pairs(request.headers) do
    headers[#headers + 1] = { name, name:lower() == profile.key_header:lower() and MASK or value }
  end
  table.sort(headers, function(a, b) return a[1] < b[1] end)
  if format == "json" then
    return output.json(json.object {
      { "operation", row.full_name }, { "method", request.method }, { "url", url },
      { "headers", json.object(headers) }, { "body", body },
    }, "  ")
  end
  local lines = { request.method .. " " .. url }
  for _, header in ipairs(headers) do lines[#lines + 1] = header[1] .. ": " .. header[2] end
  if body ~= "" then lines[#lines + 1], lines[#lines + 2] = "", body end
  return table.concat(lines, "\n") .. "\n"
end

--- Looks for a call of unknown outcome. Returns the end.
function M.find_out(screen, err, options)
  local row, params = screen.row, screen.params
  report.say("%s", errors.text(err, false))
  report.say("its outcome is unknown; looking for it")
  local answer, problem = screen.client:reconcile(err)
  if answer and answer.outcome == "done" then
    report.say("it was executed, once; this is what the service keeps of it")
    report.write(output.record(catalogue.by_name[row.reconcile.lookup] or row, answer.record, options))
    return answer.secret_lost and report.lost_key(row, params.subAccount, answer.record.apiKey) or "made"
  elseif answer and answer.outcome == "not_done" then
    report.say("it was not executed%s; it may be run again", answer.reason and ": " .. answer.reason or "")
    return "not sent"
  elseif answer then
    report.say("it cannot be decided: %s (%s might be it)", answer.reason or "",
      plain_text.counted(#(answer.candidates or {}), "record"))
  else
    report.say("it could not be looked for: %s", tostring(problem))
  end
  return ends.of_code(report.failure(row, params, err))
end

-- A write call learns the service's time first: a rejection of a wrong stamp speaks of one copy of the request alone,
-- so the call would have to be looked for before it is sent again.
local function call(client, row, params, call_options)
  if row.effect ~= "read" then client:sync_clock() end
  return client:call(row.full_name, params, call_options)
end

local next_steps = {
  ["wallet.withdraw"] = "wait withdrawal %s", ["wallet.withdraw_legacy"] = "wait withdrawal %s",
  ["wallet.cancel_withdrawal"] = "wait withdrawal %s --goal cancelled",
  ["broker.create_sub_account"] = "broker create_api_key --subAccount %s --help",
  ["sub_account.create_sub_account"] = "sub_account create_api_key --subAccount %s --help",
}

-- Shows a result, and for a part of a list the words for the rest.
local function show_result(screen, result, options)
  local row, shown = screen.row, {}
  for name, value in pairs(result) do
    shown[name] = name == "secretKey" and not options.show_secret and MASK or value
  end
  output.write(output.render(row, shown, options), options,
    row.effect ~= "read" and row.full_name .. " was done; do not run it again" or nil)
  if screen.part then report.note("%s", screen.part) end
  local next_step = next_steps[row.full_name]
  if next_step and (result.id or result.subAccount) then
    report.note("next: purser %s", next_step:format(values.shell_word(tostring(result.id or result.subAccount))))
  end
end

-- Returns the ends of a made call: in a conversion the service may reject each coin.
local function made_ends(result, word)
  local made = { word }
  for i, failed in ipairs(result.failedList or {}) do
    report.say("%s was not converted: %s [code %s]", failed.asset, failed.message, failed.code)
    made[i + 1] = "rejected"
  end
  return made
end

local function fail(screen, err, options)
  local shown = before.is_cancel(screen.row) and before.show_uncancelled(screen, err, options)
  if shown then return shown end
  if options.reconcile and err.outcome == "unknown" then return M.find_out(screen, err, options) end
  local code, plan = report.failure(screen.row, screen.asked, err), err.details and err.details.plan
  if plan and options.format ~= "json" then report.write(plan, true) end -- which persons have to sign
  return plan and "held" or ends.of_code(code)
end

local function show_repeated(screen, result, options)
  report.note("nothing was sent: this call was made before, and this is its result")
  show_result(screen, result, options)
  local kept = options.secret_file and key_file.read(options.secret_file)
  if not catalogue.creates_key(screen.row) or kept and kept.api_key == result.apiKey then
    return made_ends(result, "made before")
  end
  report.say("its secret was shown by the run that made it, and is kept nowhere else")
  return { report.lost_key(screen.row, result.subAccount, result.apiKey) }
end

-- Makes the file for a new key's secret, before anything is sent.
local function make_secret_file(path)
  local made, reason = core.create_private(path)
  if made then made, reason = files.can_replace(path) end
  if not made then report.bad_input("--secret-file %s cannot be made: %s; nothing was sent", path, reason) end
end

-- The looks by way. Each notes on the screen all to be shown, or all to be sent by `act`.
local looks = {}

function looks.show(screen, options)
  look_up(screen, options)
  local params, now = screen.params, core.now_ms()
  screen.result, screen.err, screen.part = listing.run(screen.client, screen.row, params, { options = screen.call,
    now = now, all = options.all, from = tonumber(params.startTime), to = tonumber(params.endTime) or now })
  if screen.result and screen.keep then screen.keep(screen.result) end
end

function looks.follow() end

function looks.request(screen, options)
  add_passwords(screen.row, screen.params, options)
  screen.request, screen.err = screen.client:preview(screen.row.full_name, screen.params, screen.call)
end

-- Returns what the sending of a plan would end with, as an error and as a warning: its key was used, or a guard rule, a
-- limit or a parameter says no.
local function refusal_of(screen, options)
  local client, name, journal = screen.client, screen.row.full_name, screen.sources.journal
  local made, err = client:recall(name, screen.asked, screen.call)
  if err then return report.sentence(err) end
  if not made then before.look_by_id(screen, options) end
  local other = screen.found and before.found_other(screen, options)
  if other then return other end
  if made or screen.found then
    return nil, ("this call was made with the key %s: nothing would be sent"):format(options.key)
  end
  add_passwords(screen.row, screen.params, options)
  err = select(2, client:preview(name, screen.params, screen.call))
  if not err and journal then
    err = report.must(planned.refusals(client, journal, { { operation = name, params = screen.params } }))[1]
  end
  return err and report.sentence(err)
end

function looks.plan(screen, options)
  local plan = plan_of(screen, options)
  screen.plan = plan
  if not plan.ok then return end
  screen.params = plan.params
  local problem, warning = refusal_of(screen, options)
  plan.ok, plan.problems[1], plan.warnings[#plan.warnings + 1] = not problem, problem, warning
end

function looks.send(screen, options)
  local client, row = screen.client, screen.row
  screen.result, screen.err = client:recall(row.full_name, screen.params, screen.call)
  if screen.result or screen.err then -- of what was made before, nothing is checked, planned or asked
    screen.is_known = true
    if screen.err and screen.err.kind == "config" then screen.err.outcome = "not_sent" end -- as of the call itself
    return
  end
  add_passwords(row, screen.params, options)
  screen.handle_note = add_handle(row, screen.params, options.key)
  local request, err = client:preview(row.full_name, screen.params, screen.call)
  if not request then
    screen.err = err
  elseif catalogue.creates_key(row) and not (options.show_secret or options.secret_file) then
    report.bad_input("the service shows the new key's secret this once, and it would be lost; give --secret-file FILE "
      .. "or --show-secret")
  else
    if before.is_cancel(row) then before.find_record(screen, options) end
    look_up(screen, options)
    before.look_by_id(screen, options)
  end
end

--- Looks. Returns the screen.
function M.look(options, _, request)
  local row = request.command.row
  local screen = { row = row, params = params_of(row, options), fields = {}, call = { key = options.key, info = {} } }
  screen.client, screen.sources = connection.open(options, { is_draft = true })
  screen.asked, screen.call.asked = screen.params, screen.params
  for _, pair in ipairs(options.extra) do
    screen.call.extra_params = screen.call.extra_params or {}
    screen.call.extra_params[pair[1]] = pair[2]
  end
  screen.keep = row.full_name == "wallet.withdrawal_history" and connection.keeper(screen.client, options) or nil
  looks[request.way](screen, options)
  return screen
end

--- Asks, and makes the call of the screen. Returns the ends.
function M.act(screen, options)
  local row = screen.row
  if screen.is_known and screen.result then return show_repeated(screen, screen.result, options) end
  if screen.is_known then return { fail(screen, screen.err, options) } end
  if screen.err then return { ends.of_code(report.failure(row, screen.params, screen.err)) } end
  if screen.found then return before.show_found(screen, options) end
  confirm(screen, options)
  terminal.settings.again = screen.call.key and terminal.settings.line
  if options.secret_file then make_secret_file(options.secret_file) end
  if screen.handle_note then report.note("%s", screen.handle_note) end -- known whatever happens
  screen.client = screen.sources.begin()
  local result, err = call(screen.client, row, screen.params, screen.call)
  local is_repeated = screen.call.info.repeated
  if options.secret_file and (is_repeated or not result) then os.remove(options.secret_file) end
  if not result then return { fail(screen, err, options) } end
  if is_repeated then return show_repeated(screen, result, options) end
  local kept = options.secret_file and keep_secret(screen, result, options.secret_file)
  show_result(screen, result, options)
  return made_ends(result, kept or "made")
end

-- Says of the ways that send nothing. Each returns the exit code.
local says = {}

function says.show(screen, options)
  if not screen.result then return report.failure(screen.row, screen.params, screen.err) end
  show_result(screen, screen.result, options)
  return report.DONE
end

function says.follow(screen, options)
  return listing.follow(screen.client, screen.row, screen.params, options, screen.keep)
end

function says.request(screen, options)
  local row, sources = screen.row, screen.sources
  if not screen.request then return report.failure(row, screen.params, screen.err) end
  report.say("nothing is sent to %s (from %s) with the keys from %s%s", sources.url, sources.service, sources.keys,
    catalogue.withdraws(row) and "; coin, network and address are not checked: --plan checks them"
    or catalogue.network_param(row) and "; the network is looked up only when it is sent" or "")
  report.write(M.request_text(screen.request, row, screen.client.profile, options.format))
  return report.DONE
end

function says.plan(screen, options)
  output.write(text_of_plan(screen.plan, options), options)
  return screen.plan.ok and report.DONE or report.BAD_INPUT
end

--- Says the end. Returns the exit code.
function M.say(screen, options, made, request)
  if made then return ends.code(made) end
  return says[request.way](screen, options)
end

return M
