-- SPDX-License-Identifier: MIT
-- Runs one operation from the command line: parameters from options, confirmation, the call, the result.

local confirm = require "purser.cli.confirm"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local dry_run = require "purser.cli.dry_run"
local files = require "purser.util.files"
local lazy = require "purser.util.lazy"
local listing = require "purser.cli.listing"
local output = require "purser.cli.output"
local parser = require "purser.cli.parser"
local preflight = require "purser.cli.preflight"
local plain_text = require "purser.util.plain_text"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local known_coins = lazy "purser.cli.known_coins"
local reconcile_command = lazy "purser.cli.reconcile"

local M = {}

----------------------------------------------------------------------------------------------------- parameters

local function add_times(row, params, options, now)
  for word, name in pairs { since = "startTime", ["until"] = "endTime" } do
    if options[word] and params[name] then
      return ("--%s and --%s say the same; give one of them"):format(word, name)
    end
  end
  local window, message = values.window(options, now)
  if not window then return message end
  params.startTime, params.endTime = window.since or params.startTime, window["until"] or params.endTime
  if options["until"] and row.window and row.window.max_window_days and not params.startTime then
    return "--until needs --since (or --startTime) here"
  end
end

-- The parameters that the options give; nil and a message when one cannot be read.
local function params_of(row, options, now)
  local params = {}
  for _, param in ipairs(row.params) do
    for _, name in ipairs { param[1], param.plain } do
      local value = options["param_" .. name]
      if value and param.plain then
        local password, message = credentials.password(value)
        if not password then return nil, ("--%s %s"):format(name, message) end
        value = password
      end
      params[name] = value
    end
  end
  local message = add_times(row, params, options, now)
  if message then return nil, message end
  return params
end

local function extra_of(options)
  if not options.extra or #options.extra == 0 then return nil end
  local extra = {}
  for _, text in ipairs(options.extra) do
    local name, value = text:match("^([^=]+)=(.*)$")
    if not name then return nil, ('--extra takes name=value, not "%s"'):format(text) end
    if extra[name] then return nil, ("--extra gives %s twice"):format(name) end
    extra[name] = value
  end
  return extra
end

-- An operation that is found again by an id of the caller's gets one, so that a lost answer can always be reconciled.
local function add_handle(row, params, key)
  local reconcile = row.reconcile
  if key or not reconcile or reconcile.strategy ~= "client_id" or params[reconcile.client_id] then return nil end
  params[reconcile.client_id] = core.random_token(32)
  if not params[reconcile.client_id] then return nil end -- the call itself says that there are no random bytes
  return ("%s %s was added: by it the operation can be found afterwards"):format(reconcile.client_id,
    params[reconcile.client_id])
end

---------------------------------------------------------------------------------------------------- confirmation

local questions = {
  create = "This creates something", change = "This changes something", transfer = "This moves money",
}

local function facts(row, params)
  local lines = { { "operation", ("%s (%s)"):format(row.full_name, row.id) } }
  for _, param in ipairs(row.params) do
    local value = params[param[1]]
    if param.plain then value = (value or params[param.plain]) and "***" end
    if value ~= nil then lines[#lines + 1] = { param[1], tostring(value) } end
  end
  return lines
end

-- nil when the operation may go on, else the exit code. `planned` is what a plan has to say.
local function may_go_on(row, params, options, sources, planned)
  if row.effect == "read" or options.yes then return nil end
  if not terminal.can_ask() then
    return report.bad_input("%s is a write call, and there is no terminal to confirm it on; give --yes", row.full_name)
  end
  local fields = facts(row, params)
  for _, field in ipairs(planned or {}) do
    if field[1] ~= "to" then fields[#fields + 1] = field end -- the address and the memo stand there already
  end
  return confirm.ask(options, questions[row.effect], sources, fields)
end

---------------------------------------------------------------------------------------------------- secret of a key

local MASK = "***"

-- Opens the file for the secret before anything is sent: afterwards would be too late. nil and the exit code if not.
local function open_secret_file(path)
  local made, reason = core.create_private(path)
  if not made then
    return nil, report.bad_input("--secret-file %s cannot be made: %s; nothing was sent", path, reason)
  end
  local file
  file, reason = files.open_private(path, "r+b")
  if file and file:seek "end" == 0 then return file end
  if file then file:close() else os.remove(path) end
  return nil, report.bad_input("--secret-file %s cannot be written: %s; nothing was sent", path,
    reason or "another program wrote to it")
end

-- The file of a key. Where the key goes is what this command was given, and nothing of the answer.
local function key_file(record, sources)
  local lines = { "# a key of sub-account " .. plain_text.clean(record.subAccount or "?") }
  local function add(name, value)
    if value then lines[#lines + 1] = name .. " = " .. value end
  end
  add("base_url", sources.base_url)
  add("profile", sources.profile)
  add("api_key", record.apiKey)
  add("secret_key", record.secretKey)
  return table.concat(lines, "\n") .. "\n"
end

-- purser.result rejects a key or a secret with a control character: neither can write a line of its own.
local function keep_secret(row, record, path, file, sources)
  if not record.secretKey or record.secretKey == "" then
    file:close()
    os.remove(path)
    report.say "the key was made, but the answer has no secret"
    return report.lost_key(row, record.subAccount, record.apiKey)
  end
  local ok, reason = file:write(key_file(record, sources))
  if ok then ok, reason = core.sync_file(file, files.folder_of(path)) end
  if ok then ok, reason = file:close() else file:close() end
  if ok then
    report.say("the keys were written to %s (use it with --credentials)", path)
    return report.DONE
  end
  report.say("the key was made, but its secret could not be written to %s: %s", path, tostring(reason))
  return report.lost_key(row, record.subAccount, record.apiKey)
end

local function hide_secret(record)
  local shown = {}
  for name, value in pairs(record) do shown[name] = value end
  if shown.secretKey then shown.secretKey = MASK end
  return shown
end

local function needs_secret_option(row, options)
  return parser.creates_key(row) and not options.dry_run and not options.show_secret and not options.secret_file
end

-------------------------------------------------------------------------------------------------------------- run

-- A write call is rejected once when this machine's clock is off, and the client knows the service's time then. A
-- program decides for itself whether to call again; here it was asked for, and the rejection says that nothing
-- happened.
local function act(client, row, params, call_options)
  local result, err = client:call(row.full_name, params, call_options)
  if not err or err.outcome ~= "rejected" or not err.clock_corrected then return result, err end
  report.say("the service's clock is %d ms from this machine's, so it rejected the call; retrying with its time",
    math.abs(client:now() - core.now_ms()))
  return client:call(row.full_name, params, call_options)
end

local function execute(client, row, params, options, call_options, now)
  if row.effect ~= "read" then return act(client, row, params, call_options) end
  local show, clear = terminal.progress_line()
  local state = {
    options = call_options, now = now, all = options.all, from = tonumber(params.startTime),
    to = tonumber(params.endTime) or now, progress = show,
    note = function(text)
      clear()
      report.say("%s", text)
    end,
  }
  local result, err = listing.run(client, row, params, state)
  clear()
  options.part = result and not row.result.record and listing.part(row, result, params, state)
  return result, err
end

-- What is done after it, as a rule.
local next_steps = {
  ["wallet.withdraw"] = "wait withdrawal %s", ["wallet.withdraw_legacy"] = "wait withdrawal %s",
  ["broker.create_sub_account"] = "broker create_api_key --subAccount %s --help",
  ["sub_account.create_sub_account"] = "sub_account create_api_key --subAccount %s --help",
}

local function show_result(row, result, options)
  if row.full_name == "wallet.coins" then known_coins.keep(result) end
  local shown = parser.creates_key(row) and not options.show_secret and hide_secret(result) or result
  shown = output.filtered(row, shown, options.filters or {})
  local text = output.render(row, shown, options.format, options.shown, options.raw)
  if report.write(text, options.raw) then
    if options.part then report.note("%s", options.part) end
    local next_step = next_steps[row.full_name]
    if next_step and result.id or next_step and result.subAccount then
      report.note("next: purser %s", next_step:format(values.shell_word(tostring(result.id or result.subAccount))))
    end
    return report.DONE
  end
  if row.effect ~= "read" then report.say("%s was done; do not run it again", row.full_name) end
  return report.NOT_WRITTEN
end

local function complete(client, row, params, options, call_options, now, handle_note, sources)
  local file, code
  if options.secret_file then
    file, code = open_secret_file(options.secret_file)
    if not file then return code end
  end
  if handle_note then report.say("%s", handle_note) end -- before it is sent, so that it is known whatever happens
  call_options.info = {}
  local result, err = execute(client, row, params, options, call_options, now)
  if not result then
    if file then
      file:close()
      os.remove(options.secret_file)
    end
    if options.reconcile and err.outcome == "unknown" then
      return reconcile_command.run(client, row, params, err, options.format)
    end
    return report.failure(row, params, err)
  end
  if call_options.info.repeated then
    report.note("nothing was sent: this call was made before, and this is its result")
  end
  code = file and keep_secret(row, result, options.secret_file, file, sources) or report.DONE
  return math.max(code, show_result(row, result, options))
end

-- Guard rails that let no request be prepared for another program, since the journal would not know of it. Here the
-- call itself is made, and they judge it then.
local needs_record = { ["guard.no_duplicates"] = true, ["guard.spending_limit"] = true }

--- Runs an operation with the options that argparse read. Returns the exit code.
---@param row table
---@param options table
function M.run(row, options)
  local now = core.now_ms()
  local params, message = params_of(row, options, now)
  if not params then return report.bad_input("%s", message) end
  local extra
  extra, message = extra_of(options)
  if message then return report.bad_input("%s", message) end
  options.shown, message = output.columns(options, row)
  message = message or output.message(options)
  if message then return report.bad_input("%s", message) end
  options.filters, message = output.filters(options, row)
  if not options.filters then return report.bad_input("%s", message) end
  local client, place, sources = connection.open(options)
  if not client then return report.bad_input("%s", place) end

  if options.key and not sources.journal then
    return report.bad_input("--key needs --journal FILE: without one nothing is known of an earlier call")
  end
  local handle_note = add_handle(row, params, options.key)
  local call_options = { extra_params = extra, key = options.key }
  local request, err = client:prepare(row.full_name, params, call_options)
  if not request and not needs_record[err.code] then return report.failure(row, params, err) end
  local code
  if needs_secret_option(row, options) then
    client:close()
    return report.bad_input("the service shows the new key's secret this once, and it would be lost; give "
      .. "--secret-file FILE or --show-secret")
  end
  if options.dry_run then
    report.say("nothing is sent to %s%s", place, preflight.has(row)
      and "; coin, network and address are looked up only when it is sent" or "")
    local text = dry_run.show(request, row, client.profile, options.format)
    code = report.write(text) and report.DONE or report.NOT_WRITTEN
  else
    local checked, planned
    checked, code, planned = preflight.run(client, row, params, options)
    code = code or may_go_on(row, checked, options, sources, planned)
      or complete(client, row, checked, options, call_options, now, handle_note, sources)
  end
  client:close()
  return code
end

return M
