-- SPDX-License-Identifier: MIT
-- Runs one operation: parameters, networks, confirmation, call, result, and the search after an unknown outcome.

local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local errors = require "purser.client.call.errors"
local files = require "purser.client.util.files"
local json = require "purser.json"
local key_file = require "purser.client.util.key_file"
local lazy = require "purser.client.util.lazy"
local listing = lazy "purser.cli.listing"
local output = require "purser.cli.output"
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
  report.say("nothing was sent, because the coins and networks cannot be read%s",
    err.code == "700007" and "; --unchecked sends it as typed" or "")
  report.stop(code)
end

local function say_warnings(plan)
  for _, warning in ipairs(plan.warnings) do report.say("warning: %s", warning) end
end

local function reject(plan, options)
  terminal.fail("%s: nothing was sent%s", plan.title, options.format == "json" and ": "
    .. table.concat(plan.problems, "; ") or "")
  for _, problem in ipairs(plan.problems) do report.say("error: %s", problem) end
  say_warnings(plan)
  report.stop(report.BAD_INPUT)
end

local function show_plan(plan, fields, options)
  local text = output.rows({ "what", "text" }, fields, { format = options.format, raw = options.raw })
  if options.format == "table" then
    text = (tostring(plan) .. "\n"):gsub("[^\n]+", function(line) return terminal.fold(line, 11) end)
  elseif options.format == "json" then
    text = output.json({ ok = plan.ok, operation = plan.operation, coin = plan.coin, amount = plan.params.amount,
      fee = plan.fee, total = plan.total, arrives = plan.arrives, arrives_at_least = plan.arrives_at_least,
      params = plan.params, errors = plan.problems, warnings = plan.warnings }, "  ")
  end
  report.write(text, options.raw)
  report.stop(plan.ok and report.DONE or report.BAD_INPUT)
end

-- Plans a withdrawal. Returns what is sent and what is shown before the question.
local function plan_withdrawal(client, row, params, options)
  local given = { require_saved_address = options.require_saved_address or nil }
  for name, value in pairs(params) do given[name] = value end
  local plan, err = client.wallet:plan_withdraw(given, row.full_name)
  if not plan then stop_unread(err) end
  local fields = {}
  local function add(what, text) fields[#fields + 1] = { what, text, what = what, text = text } end
  for _, line in ipairs(plan.lines) do add(line[1], line[2]) end
  for _, problem in ipairs(plan.problems) do add("error", problem) end
  for _, warning in ipairs(plan.warnings) do add("warning", warning) end
  if options.plan then show_plan(plan, fields, options) end
  if not plan.ok then reject(plan, options) end
  if options.yes then
    report.say("%s over %s (%s)", plan.title, tostring(plan.network.netWork), tostring(plan.network.network))
    say_warnings(plan)
  end
  return plan.params, fields
end

-- Checks and completes the parameters of a call. Returns them, with what is to be shown before the question.
local function look_up(client, row, params, options)
  local name = catalogue.network_param(row)
  if options.unchecked or not name then return params end
  if catalogue.withdraws(row) then return plan_withdrawal(client, row, params, options) end
  if not params[name] or params[name]:find("(", 1, true) then return params end -- the long name, which these take
  local network, err = client.wallet:find_network { coin = params.coin, network = params[name] }
  if not network and err.kind ~= "argument" then stop_unread(err) end
  if not network then report.bad_input("%s: %s", row.full_name, err.message) end
  local found = {}
  for key, value in pairs(params) do found[key] = value end
  found.coin, found[name] = network.coin, network.network
  return found
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

local function ask(row, params, options, sources, planned)
  if row.effect == "read" or options.yes then return end
  report.check_can_ask(options, row.full_name .. " is a write call")
  local fields = facts(row, params)
  for _, pair in ipairs(options.extra) do fields[#fields + 1] = { "extra", pair[1] .. " = " .. pair[2] } end
  for _, field in ipairs(planned or {}) do
    if field[1] ~= "to" then fields[#fields + 1] = field end -- the address and the memo stand there already
  end
  report.ask(options, "This " .. catalogue.effects[row.effect], sources, fields)
end

local MASK = "***"

-- Returns the exit code. Where the key goes is what this command was given, and nothing of the answer.
local function keep_secret(row, record, path, sources)
  local ok, reason = key_file.write(path, { base_url = sources.base_url, profile = sources.profile,
    api_key = record.apiKey, secret_key = record.secretKey }, true)
  if ok then
    report.say("the keys were written to %s (use it with --credentials)", path)
    return report.DONE
  end
  os.remove(path)
  report.say("the key was made, but its secret could not be written to %s: %s", path, tostring(reason))
  return report.lost_key(row, record.subAccount, record.apiKey)
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

--- Finds out what became of a call whose outcome is unknown. Returns the exit code.
function M.find_out(client, row, params, err, options)
  report.say("%s", errors.text(err, false))
  report.say("its outcome is unknown; looking for it")
  local answer, problem = client:reconcile(err)
  if answer and answer.outcome == "done" then
    report.say("it was executed, once; this is what the service keeps of it")
    report.write(output.record(catalogue.by_name[row.reconcile.lookup] or row, answer.record, options))
    return answer.secret_lost and report.lost_key(row, params.subAccount, answer.record.apiKey) or report.DONE
  elseif answer and answer.outcome == "not_done" then
    report.say("it was not executed%s; it may be run again", answer.reason and ": " .. answer.reason or "")
    return report.NOT_SENT
  elseif answer then
    report.say("it cannot be decided: %s (%d records might be it)", answer.reason or "", #(answer.candidates or {}))
  else
    report.say("it could not be looked for: %s", tostring(problem))
  end
  return report.failure(row, params, err)
end

-- Calls again where the clock alone was off: the rejection corrected it, and proves that nothing happened.
local function act(client, row, params, call_options)
  local result, err = client:call(row.full_name, params, call_options)
  if not err or err.outcome ~= "rejected" or not err.clock_corrected then return result, err end
  report.say("the service's clock is %d ms from this machine's, so it rejected the call; retrying with its time",
    math.abs(client:now() - core.now_ms()))
  return client:call(row.full_name, params, call_options)
end

local function execute(client, row, params, options, call_options)
  if row.effect ~= "read" then return act(client, row, params, call_options) end
  local now = core.now_ms()
  local result, err, part = listing.run(client, row, params, { options = call_options, now = now, all = options.all,
    from = tonumber(params.startTime), to = tonumber(params.endTime) or now })
  options.part = part
  return result, err
end

local next_steps = {
  ["wallet.withdraw"] = "wait withdrawal %s", ["wallet.withdraw_legacy"] = "wait withdrawal %s",
  ["broker.create_sub_account"] = "broker create_api_key --subAccount %s --help",
  ["sub_account.create_sub_account"] = "sub_account create_api_key --subAccount %s --help",
}

-- Shows a result. Returns the exit code: of a conversion the service may reject each coin, and says so in the result.
local function show_result(row, result, options)
  local shown = {}
  for name, value in pairs(result) do
    shown[name] = name == "secretKey" and not options.show_secret and MASK or value
  end
  report.write(output.render(row, shown, options), options.raw,
    row.effect ~= "read" and row.full_name .. " was done; do not run it again" or nil)
  if options.part then report.note("%s", options.part) end
  local next_step = next_steps[row.full_name]
  if next_step and (result.id or result.subAccount) then
    report.note("next: purser %s", next_step:format(values.shell_word(tostring(result.id or result.subAccount))))
  end
  for _, failed in ipairs(result.failedList or {}) do
    report.say("%s was not converted: %s [code %s]", failed.asset, failed.message, failed.code)
  end
  return (result.failedList or {})[1] and report.REJECTED or report.DONE
end

local function fail(client, row, params, err, options)
  if options.reconcile and err.outcome == "unknown" then return M.find_out(client, row, params, err, options) end
  local code, plan = report.failure(row, params, err), err.details and err.details.plan
  if plan and options.format ~= "json" then report.write(plan, true) end -- which persons have to sign
  return plan and report.NOT_SENT or code
end

local function show_repeated(row, result, options)
  report.note("nothing was sent: this call was made before, and this is its result")
  local code = show_result(row, result, options)
  if not catalogue.creates_key(row) then return code end
  local kept = options.secret_file and key_file.read(options.secret_file)
  if kept and kept.api_key == result.apiKey then return code end
  report.say("its secret was shown by the run that made it, and is kept nowhere else")
  return report.lost_key(row, result.subAccount, result.apiKey)
end

local function complete(client, row, params, options, call_options, handle_note, sources)
  if options.secret_file then -- before anything is sent
    local made, reason = core.create_private(options.secret_file)
    if made then made, reason = files.can_replace(options.secret_file) end
    if not made then
      report.bad_input("--secret-file %s cannot be made: %s; nothing was sent", options.secret_file, reason)
    end
  end
  if handle_note then report.say("%s", handle_note) end -- before it is sent, so that it is known whatever happens
  local result, err = execute(client, row, params, options, call_options)
  local is_repeated = call_options.info.repeated
  if options.secret_file and (is_repeated or not result) then os.remove(options.secret_file) end
  if not result then return fail(client, row, params, err, options) end
  if is_repeated then return show_repeated(row, result, options) end
  local kept = options.secret_file and keep_secret(row, result, options.secret_file, sources)
  local code = show_result(row, result, options)
  return kept or code
end

function M.run(row, options)
  local params = params_of(row, options)
  local client, sources = connection.open(options, { is_draft = true })
  if options.key and not sources.journal then
    report.bad_input("--key needs --journal FILE: without one nothing is known of an earlier call")
  end
  terminal.settings.again = options.key and terminal.settings.line
  local call_options = { key = options.key, asked = params, info = {} }
  for _, pair in ipairs(options.extra) do
    call_options.extra_params = call_options.extra_params or {}
    call_options.extra_params[pair[1]] = pair[2]
  end
  if not (options.plan or options.dry_run) then -- of what was made before, nothing is checked, planned or asked
    local result, problem = client:recall(row.full_name, params, call_options)
    if result then return show_repeated(row, result, options) end
    if problem then return fail(client, row, params, problem, options) end
  end
  add_passwords(row, params, options)
  local handle_note = not options.plan and add_handle(row, params, options.key)
  local request, err = client:preview(row.full_name, params, call_options)
  if not request and not options.plan then return report.failure(row, params, err) end
  if catalogue.creates_key(row) and not (options.dry_run or options.show_secret or options.secret_file) then
    report.bad_input("the service shows the new key's secret this once, and it would be lost; give --secret-file FILE "
      .. "or --show-secret")
  elseif options.dry_run then
    report.say("nothing is sent to %s (from %s) with the keys from %s%s", sources.url, sources.service, sources.keys,
      catalogue.withdraws(row)
      and "; coin, network and address are not checked: --plan checks them"
      or catalogue.network_param(row) and "; the network is looked up only when it is sent" or "")
    report.write(M.request_text(request, row, client.profile, options.format))
    return report.DONE
  end
  if options.cursor then return listing.follow(client, row, params, options) end
  local checked, planned = look_up(client, row, params, options)
  ask(row, checked, options, sources, planned)
  return complete(sources.begin(), row, checked, options, call_options, handle_note, sources)
end

return M
