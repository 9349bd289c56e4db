-- SPDX-License-Identifier: MIT
-- The options of service, keys and journal, and the client of the options.

local activity = require "purser.cli.activity"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local files = require "purser.client.util.files"
local lazy = require "purser.client.util.lazy"
local planned = lazy "purser.write.planned"
local plain_text = require "purser.client.util.plain_text"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local report = lazy "purser.cli.report"
local purser = lazy "purser"

local STORES, STORE_BEGINNINGS = values.store_forms()

local M = {}

M.service = { "Connection",
  { "--base-url", "<url>", "Address of the service, in place of what the file of the keys and PURSER_BASE_URL say." },
  { "--profile", "<name>", "Conventions of the service: default, or mexc, which knows its address.",
    choices = { "default", "mexc" } },
  { "--credentials", "<file>", "File with `api_key = ...` and `secret_key = ...`, readable by you alone; - reads "
    .. "standard input. `purser help credentials` lists the other sources." },
  { "--account", "<name>", "Name of the account: its keys are those of `purser login NAME`, and a journal knows it by "
    .. "this name. PURSER_ACCOUNT names that of the environment's keys.",
    values = function() return credentials.names() end },
  { "--timeout", "<duration>", "Longest time of one request; default 10s.", into = "client",
    target = "timeout_ms" },
  { "--proxy", "<url>", "Proxy, such as http://HOST:PORT or socks5h://HOST:PORT. Without it https_proxy and all_proxy "
    .. "of the environment." },
  { "--ca-file", "<file>", "File of certificates to trust in place of the system's: the service's, and webhooks'." },
  { "--rate-limit", "<store>", "Where use is counted, for all that share it: " .. STORES .. "; default: this command.",
    env = "PURSER_RATE_LIMIT", into = "client",
    convert = function(text)
      if values.store(text) then return text end -- else it is not quoted: it may hold a password
      return nil, "this names no store; give " .. STORES
    end,
    values = STORE_BEGINNINGS },
  { "--recv-window", "<ms>", "How old a request may be when it arrives, in ms.", into = "client" },
  { "--record", "<file>", "New file for each exchange with the service, a line each; keys, ids, addresses, amounts and "
    .. "names are replaced by tokens before anything is written." },
  { "--debug", "Print each request and how it ended on standard error, key and signature left out." },
}

M.messages = { "Messages",
  { "-q --quiet", "Print the result and errors alone.", into = "terminal" },
  { "--no-input", "Never ask; a question is an error.", into = "terminal" },
  { "--color", "<when>", "Colours: auto (default; on a terminal, without NO_COLOR), always or never.",
    into = "terminal",
    choices = { "auto", "always", "never" } },
}

function M.journal_option(help)
  return { "--journal", "<file>", help, env = "PURSER_JOURNAL", reads = "journal", convert = function(text)
    local store, problem = values.journal(text)
    return store and text, problem
  end }
end

M.safety = { "Safety",
  M.journal_option("Journal in which each write call is recorded before it is sent: a file of SQLite, a folder "
    .. "with a file for each account, or postgresql:DATABASE for several hosts."),
  { "--guard", "<file>", "JSON file of the rules that no call may break (docs/write/guard-rails.md); the rules "
    .. "of each hold, and those of PURSER_GUARD.", many = true, reads = "rules" },
  { "--policy", "<folder>", "Folder of the signed policies under which the account is (docs/desk/approvals.md); or set "
    .. "PURSER_POLICY.", variable = "PURSER_POLICY" },
}

function M.policy(options) return options.policy or credentials.variable "PURSER_POLICY" end

-- Returns the journal of the account in a folder: FOLDER/ACCOUNT.db; the text itself where it names no folder; or nil
-- and a message.
local function in_folder(text, options)
  local path = values.journal(text).sqlite
  local is_folder = path and select(4, core.file_mode(path)) == "folder"
  if not path or not is_folder and path:sub(-1) ~= "/" then return text end
  if not is_folder then
    return nil, ("--journal %s: there is no such folder; `mkdir -m 700 %s` makes it"):format(text,
      values.shell_word(path))
  end
  local name = credentials.account(options)
  if not name then
    return nil, ("--journal %s is a folder, with a journal for each account, and no account is named; export "
      .. "PURSER_ACCOUNT=NAME (or give --account NAME, where the command has it), or name the file"):format(text)
  elseif not name:find "^[%w_][%w_.-]*$" then
    return nil, ('--journal %s is a folder, and the account "%s" makes no name of a file; name the file'):format(text,
      name)
  end
  return ("%s/%s.db"):format(path:match "^(/*.-)/*$", name)
end

local is_of_environment = false -- PURSER_JOURNAL named the journal

--- Puts the file of the account in place of a folder that --journal names: what follows knows the file alone.
function M.place_journal(options)
  local given = options.journal
  is_of_environment = given ~= nil and given == credentials.variable "PURSER_JOURNAL"
  if type(given) == "table" then
    for i, text in ipairs(given) do given[i] = report.must(in_folder(text, options)) end
  elseif given then
    options.journal = report.must(in_folder(given, options))
  end
end

--- Tells whether the journal exists. Ends the command where the database cannot be asked.
function M.has_journal(text)
  local is_there, err = purser.journal.exists(values.journal(text))
  if err then report.bad_input("%s", M.journal_problem(text, err)) end
  return is_there
end

--- Returns why a journal cannot be used, as text: a file of another kind first.
function M.journal_problem(path, err)
  local store = values.journal(path)
  local text = store.sqlite and files.read(store.sqlite)
  if text and text ~= "" and text:sub(1, 15) ~= "SQLite format 3" then
    return ("--journal %s is another file, not the SQLite database of a journal; give that"):format(path)
  end
  return ("--journal %s: %s"):format(path, report.sentence(err))
end

--- Ends the command where the journal is missing: a look makes none.
function M.need_journal(command, text)
  if M.has_journal(text) then return end
  report.bad_input("%s: there is no journal %s; give the --journal that the write calls were given", command, text)
end

--- Leaves a missing journal of PURSER_JOURNAL out: the first payment makes it. Ends the command where a typed one is
--- missing.
function M.may_lack_journal(command, options)
  local path = options.journal
  if not path or M.has_journal(path) then return end
  if not is_of_environment then M.need_journal(command, path) end
  report.note("there is no journal %s yet; %s goes on without it", path, command)
  options.journal = nil
end

function M.look_at_journal(command, text)
  M.need_journal(command, text)
  return report.must(purser.journal.open(values.journal(text)))
end

-- Returns the journal that keeps the records of a read; or nil, with a message if a named journal cannot be used.
local function journal_of_read(client, options)
  local named, problem = options.kept_in or credentials.variable "PURSER_JOURNAL", nil
  if not named then return nil end
  local store, text = values.journal(named), nil
  if store then text, problem = in_folder(named, options) end
  if not text then return nil, problem end
  store = values.journal(text)
  if not purser.journal.exists(store) then return nil, ("there is no journal %s"):format(text) end
  local journal, err = purser.journal.open(store)
  err = err or journal:refusal(client)
  return not err and journal or nil, err and M.journal_problem(text, err)
end

--- Returns a function that keeps what records of withdrawals show by now beside the journal's calls. A read needs no
--- journal: that of PURSER_JOURNAL is left alone where it is missing, or of another account. Ends the command where a
--- typed one is.
---@return fun(records: table[])
function M.keeper(client, options)
  local journal, problem = journal_of_read(client, options)
  if problem and options.kept_in then report.bad_input("%s", problem) end
  return function(records)
    local awaited = {}
    for _, id in ipairs(journal and planned.awaited(journal) or {}) do awaited[id] = true end
    for _, record in ipairs(records) do
      if awaited[tostring(record.id)] then planned.note_in(journal, record, client:now()) end
    end
  end
end

-- Opens the journal of --journal. With `is_draft` an empty file stands in for a missing journal until a person said
-- yes. Returns the journal; or nil and a message.
local function open_journal(options, account, is_draft)
  local path, stand_in = options.journal, nil
  local store = values.journal(path)
  local is_there, err = purser.journal.exists(store)
  if err then return nil, M.journal_problem(path, err) end
  if not account then -- before the file is made
    return nil, ("%s is the journal of one account, and no account is named; give --account NAME (of `purser login "
      .. "NAME`), or export PURSER_ACCOUNT=NAME for the keys of the environment. Nothing was sent"):format(path)
  end
  if not is_there and is_draft then is_draft, stand_in = pcall(os.tmpname) else is_draft = false end
  local journal
  journal, err = purser.journal.open(is_draft and { sqlite = stand_in } or store)
  if not journal then return nil, M.journal_problem(path, err) end
  if not is_there and not M.stand_in then
    report.say("the journal %s is new: it knows of no call that was made before", path)
  end
  if is_draft then M.stand_in = { journal = journal, path = stand_in } end
  terminal.settings.recover = not is_draft and "purser journal recover" .. M.words(options) or nil
  return journal
end

local function drop_stand_in()
  if not M.stand_in then return end
  M.stand_in.journal:close()
  M.stand_in.secret:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(M.stand_in.path .. suffix) end
  M.stand_in = nil
end

local function guard_of(options)
  local made, paths = {}, { credentials.variable "PURSER_GUARD" }
  for _, path in ipairs(options.guard or {}) do paths[#paths + 1] = path end
  for _, path in ipairs(paths) do
    local rules, message = files.read_rules(path)
    if not rules then return nil, "--guard " .. message end
    if not next(rules) then report.say("--guard %s sets no rules: nothing is rejected for it", path) end
    if options.dry_run then rules.no_duplicates, rules.spending_limit = nil, nil end -- they judge what is recorded
    made.guard = made.guard or {}
    table.insert(made.guard, rules)
  end
  made.guard_path = table.concat(paths, ", ")
  return made
end

-- Returns a message where --profile names another service than the keys' file or the environment; or nil.
local function two_services(options, keys)
  local own = not options.base_url and options.profile and purser.profiles[options.profile].base_url
  local named = keys.base_url or credentials.variable "PURSER_BASE_URL"
  if not own or not named or named == own then return nil end
  return ("two services are named: --profile %s is %s, and %s names %s; give --base-url, too, or take one away")
    :format(options.profile, own, keys.base_url and keys.source or "PURSER_BASE_URL", named)
end

-- Returns the service of the nearest source: options, file of the keys, environment. Two sources are never mixed.
local function service_of(options, keys)
  local function pick(source, base_url, profile, name_of_url, name_of_profile)
    if not base_url and not profile then return nil end
    local names = {}
    if base_url then names[1] = name_of_url end
    if profile then names[#names + 1] = name_of_profile end
    return { base_url = base_url, profile = profile, source = source or table.concat(names, " and ") }
  end
  local problem = two_services(options, keys)
  if problem then return nil, problem end
  return pick(nil, options.base_url, options.profile, "--base-url", "--profile")
    or pick(keys.source, keys.base_url, keys.profile)
    or pick(nil, credentials.variable "PURSER_BASE_URL", credentials.variable "PURSER_PROFILE", "PURSER_BASE_URL",
      "PURSER_PROFILE")
end

local function describe(client, service, keys)
  local request, key = client:prepare "ping", keys.api_key
  return { url = request and request.url:match "^%a+://[^/]+" or "the service", service = service.source,
    keys = keys.source, base_url = service.base_url, profile = service.profile,
    key = #key < 12 and key:sub(1, 2) .. "..." or key:sub(1, 5) .. "..." .. key:sub(-3),
    account = keys.account or "the one that the key belongs to" }
end

--- Returns the options that name service, keys and journal, as words of a shell, for printed commands.
---@param reads boolean|nil   of a read, which takes no journal and no policy
function M.words(options, reads)
  local words = { "" }
  for i, name in ipairs { "journal", "policy", "account", "credentials", "base_url", "profile" } do
    if options[name] and not (reads and i < 3) then
      words[#words + 1] = ("--%s %s"):format((name:gsub("_", "-")), values.shell_word(options[name]))
    end
  end
  return table.concat(words, " ")
end

local function recorded(inner, options)
  local message
  if not inner then
    inner, message = purser.transport.curl { connect_timeout_ms = 3000, proxy = options.proxy,
      ca_file = options.ca_file }
    if not inner then return nil, message end
  end
  M.recorder, message = purser.transport.record(inner, { file = options.record })
  return M.recorder, message
end

--- Closes client and recording. Returns the exit code: 5 where the recording alone failed.
function M.finish(options, code)
  local client, recorder = M.client, M.recorder
  M.client, M.recorder = nil, nil
  if client then client:close() end
  drop_stand_in()
  if not recorder then return code end
  local ok, problem = recorder:close()
  report.note("%s written to %s", plain_text.counted(recorder.count, "exchange was", "exchanges were"), options.record)
  if ok then return code end
  report.say("%s", problem)
  return code == report.DONE and report.NOT_WRITTEN or code
end

local function origin_of(message, service, keys)
  if message:find "base_url" or message:find "profile" then
    return (" (the service comes from %s)"):format(service.source)
  end
  return message:find "_key" and (" (the keys come from %s)"):format(keys.source) or ""
end

local function tell_of_open_calls(journal, options)
  if not journal or options.action == "recover" then return end
  local count, err = journal:open_count()
  if not count then report.say("the journal could not be asked for open calls: %s", report.sentence(err)) end
  if not count or count.calls == 0 then return end
  report.note("the journal holds %s of this account: `purser journal recover%s` finds out what became of %s",
    plain_text.counted(count.calls, "open call"), M.words(options), count.calls == 1 and "it" or "them")
end

local function make(requested, options, safe)
  local policy, is_draft, err = requested.policy ~= false and M.policy(options) or nil, requested.is_draft, nil
  requested.is_draft, requested.policy = nil, nil
  if options.journal then requested.journal, err = open_journal(options, requested.account, is_draft) end
  if err then return nil, err end
  if policy and not options.guard then -- of a command without the options of commands that write
    policy, safe.guard = nil, { { read_only = true } }
  end
  requested.policy, requested.guard = policy, safe.guard
  return purser.new(requested)
end

local function transport_of(requested, options, service)
  local transport, problem = requested.transport
  if requested.concurrent then
    transport, problem = purser.transport.multi {
      base_url = service.base_url or purser.profiles[service.profile or "default"].base_url, proxy = options.proxy,
      ca_file = options.ca_file }
    if not transport then return nil, values.in_shell(tostring(problem)) end
  elseif not options.record and not transport then
    requested.proxy, requested.ca_file = options.proxy, options.ca_file
  end
  requested.concurrent = nil
  if not options.record then return transport end
  transport, problem = recorded(transport, options)
  return transport, not transport and "--" .. tostring(problem) or nil
end

-- Returns a function that exchanges a stand-in for the journal, and returns client and journal.
local function beginning(requested, sources, options)
  return function()
    sources.is_draft = false
    if not M.stand_in then return M.client, sources.journal end
    local offset_ms = M.client:now() - core.now_ms()
    M.client:close()
    requested.journal = report.must(open_journal(options, requested.account))
    M.client, sources.journal = report.must(purser.new(requested)), requested.journal
    if math.abs(offset_ms) > 100 then M.client:sync_clock() end -- a run would wait anew when its clock is corrected
    drop_stand_in()
    return M.client, sources.journal
  end
end

-- Returns the error of purser.new as text. allow_insecure is for programs alone.
local function refusal(err, safe, service, keys, policy)
  local hint = err.option == "allow_insecure" and "use https://" or err.hint
  local cure = hint and "; " .. hint or ""
  if err.option == "guard" and policy and err.message:find(policy .. "/", 1, true) == 1 then
    return ("--policy %s%s"):format(err.message, cure)
  elseif err.option == "guard" then
    return ("--guard %s: %s%s"):format(safe.guard_path, err.message, cure)
  end
  return values.in_shell(err.message .. origin_of(err.message, service, keys) .. cure)
end

--- Does the same as `open`, but returns nil and a message where the options make no client.
function M.try(options, overrides)
  if options.account == "" then -- queues and journals would keep what is paid under no name
    return nil, "--account is empty; give the name of an account, or leave it out"
  end
  local keys, problem = credentials.find(options)
  if not keys then return nil, problem end
  local service
  service, problem = service_of(options, keys)
  if not service then
    return nil, problem or "which service? give --base-url (or PURSER_BASE_URL), such as http://127.0.0.1:8080 for "
      .. "`purser sim`; or --profile mexc for the live one"
  end
  local safe
  local asked = options.client
  local rate_limit = { store = asked.rate_limit and values.store(asked.rate_limit) }
  safe, problem = guard_of(options)
  if not safe then return nil, problem end
  local requested = {
    api_key = keys.api_key, secret_key = keys.secret, base_url = service.base_url, profile = service.profile,
    timeout_ms = asked.timeout_ms, recv_window = asked.recv_window, account = keys.account, rate_limit = rate_limit,
    hooks = activity.hooks(options.debug),
  }
  for name, value in pairs(overrides or {}) do requested[name] = value end
  if requested.shares_limit then -- with clients of other keys, which come later
    rate_limit.profile, requested.shares_limit = service.profile, nil
    requested.rate_limit = purser.rate_limit(rate_limit)
  end
  requested.transport, problem = transport_of(requested, options, service)
  if problem then return nil, problem end
  local client, err = make(requested, options, safe)
  if type(err) == "string" then return nil, err end
  if M.stand_in then M.stand_in.secret = keys.secret else keys.secret:close() end
  if not client then return nil, refusal(err, safe, service, keys, M.policy(options)) end
  terminal.settings.has_odd_key = keys.api_key:sub(1, 3) ~= "mx0"
  local sources = describe(client, service, keys)
  tell_of_open_calls(requested.journal, options)
  sources.journal, sources.is_named, sources.rate_limit = requested.journal, keys.account ~= nil, requested.rate_limit
  M.client = client
  sources.is_draft, sources.begin = M.stand_in ~= nil, beginning(requested, sources, options)
  return client, sources
end

--- Returns the client that the options ask for, which init.lua closes. Ends the command where they make none.
---@param overrides table|nil  options of purser.new; `concurrent`: a transport that sends many at once; `policy =
--- false`: of a read; `is_draft`: no journal is made before sources.begin(), which returns client and journal
---@return table sources  { url, service, keys, base_url, profile, begin }
function M.open(options, overrides) return report.must(M.try(options, overrides)) end

return M
