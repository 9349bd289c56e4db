-- The client: one pipeline that runs every operation.
--
--   check -> build -> sign -> (record) -> send -> decode
--
-- `prepare` is the first three stages, `parse` the last; the transport does the one in between. What is not a read
-- passes the guard rails and is written to the journal, where there are any, after it was signed and before it is
-- sent.

local budget = require "purser.budget"
local check = require "purser.check"
local core = require "purser.core"
local errors = require "purser.errors"
local intents = require "purser.intent"
local interpret = require "purser.interpret"
local nearest = require "purser.nearest"
local operations = require "purser.operations"
local options_ = require "purser.options"
local recording = require "purser.recording"
local result = require "purser.result"
local retry = require "purser.retry"
local rivals = require "purser.settle.rivals"
local schedule = require "purser.schedule"
local service_clock = require "purser.service_clock"
local settling = require "purser.settling"

local Client = { __name = "purser.client" }
Client.__index = Client

local M = {}

-- The two operations that are not signed. They are rows, too, so that one pipeline runs them.
local unsigned = {
  ping = {
    id = "ping", name = "ping", full_name = "ping", method = "GET", effect = "read", unsigned = "ping_path", weight = 1,
    params = {}, by_name = {}, names = {}, required = {},
  },
  server_time = {
    id = "time", name = "server_time", full_name = "server_time", method = "GET", effect = "read",
    unsigned = "time_path", weight = 1, params = {}, by_name = {}, names = {}, required = {},
  },
}

--------------------------------------------------------------------------------------------------- build and sign

-- Where the parameters of a row travel under this profile: the form of the JSON body, or nil for the query.
local function body_form(profile, row)
  if row.body == "object" then return profile.object_body ~= "query" and profile.object_body or nil end
  if row.body == "array" then return profile.array_body ~= "query" and profile.array_body or nil end
end

local function make_layout(profile, row, extra_names)
  local names = {}
  for i, name in ipairs(row.names) do names[i] = name end
  for _, name in ipairs(extra_names or {}) do names[#names + 1] = name end
  local form = body_form(profile, row)
  local query, body = form and {} or names, form and names or {}
  query[#query + 1] = profile.recv_window_name
  query[#query + 1] = profile.timestamp_name
  return core.layout(query, body, form, profile.order == "sorted")
end

local function layout_for(self, row)
  local layout = self._layouts[row]
  if not layout then
    layout = make_layout(self.profile, row)
    self._layouts[row] = layout
  end
  return layout
end

-- Makes the signer of a key pair, and the headers that go with it. Returns nil, or a complaint.
local function use_credentials(self, api_key, secret_key)
  local complaint = options_.check_credentials(api_key, secret_key)
  if complaint then return complaint end
  local signer, message = core.signer(self.profile.algorithm, secret_key, self.profile.encoding)
  if not signer then return '"secret_key" cannot be used: ' .. message end
  if self._signer then self._signer:close() end
  self._signer, self._api_key = signer, api_key
  self._headers = {
    ["Content-Type"] = self.profile.content_type,
    [self.profile.key_header] = api_key,
    ["User-Agent"] = self._user_agent,
  }
end

-- Asks the credentials function again, and makes a signer of what it says: a secret may change under the same key. A
-- client that was closed meanwhile gets none.
local function refresh_credentials(self)
  local ok, api_key, secret_key = pcall(self._credentials)
  if self._closed then return end
  if not ok or api_key == nil then
    return "the credentials function " .. (ok and "returned nothing" or "raised an error")
  end
  return use_credentials(self, api_key, secret_key)
end

-- The clock's reading as an exact integer.
local function read_clock(self)
  local now = self._clock:now()
  if type(now) == "number" and now > 0 and now < 2 ^ 53 and now == math.floor(now) then return math.floor(now) end
  return nil, "the clock must return whole epoch milliseconds"
end

local function closed_error(row)
  return errors.new { kind = "closed", outcome = "not_sent", message = "the client is closed",
    operation = row.full_name }
end

local function build_unsigned(self, row, opts)
  if self._closed then return nil, closed_error(row) end
  return {
    method = row.method, base_url = self._origin, target = self._prefix .. self.profile[row.unsigned],
    headers = self._headers or { ["Content-Type"] = self.profile.content_type, ["User-Agent"] = self._user_agent },
    body = "", single_send = false, operation = row.full_name, timeout_ms = opts.timeout_ms or self._timeout_ms,
  }
end

-- Builds and signs one request from checked values. Called again for every attempt, so each has its own timestamp.
local function build(self, row, layout, values, opts)
  if row.unsigned then return build_unsigned(self, row, opts) end
  local profile = self.profile
  local complaint = self._credentials and refresh_credentials(self)
  if complaint then return nil, errors.config(complaint) end
  local now, wrong = read_clock(self)
  if not now then return nil, errors.config(wrong) end
  if self._closed then return nil, closed_error(row) end -- by the clock, the credentials function or another task
  local recv_window = opts.recv_window or self._recv_window
  values[profile.timestamp_name] = now
  values[profile.recv_window_name] = recv_window and math.floor(recv_window) -- 5e3 is a float, and whole
  local body, query
  body, wrong = layout:body(values)
  if not body then return nil, errors.argument(nil, wrong) end
  query, wrong = self._signer:sign_query(layout, values, profile.signature_name, profile.sign_body and body or nil)
  if not query then return nil, errors.argument(nil, wrong) end
  return {
    method = row.method, base_url = self._origin, target = self._prefix .. row.path .. "?" .. query,
    headers = self._headers, body = body, single_send = row.effect ~= "read", operation = row.full_name,
    timeout_ms = opts.timeout_ms or self._timeout_ms,
  }
end

local no_options = {}

-- Checks everything about a call. Returns the values that travel and their layout; or nil and an error.
local function check_call(self, row, params, opts)
  if self._closed then return nil, closed_error(row) end
  local err = opts ~= no_options and options_.check_call(opts, self.profile)
  if err then
    err.operation = row.full_name
    return nil, err
  end
  local values
  values, err = check.check(row, params)
  if not values then return nil, err end
  if row.unsigned then return values end
  if not opts.extra then return values, layout_for(self, row) end
  local names
  names, err = check.add_extra(row, opts.extra, values, self.profile)
  if not names then
    err.operation = row.full_name
    return nil, err
  end
  return values, make_layout(self.profile, row, names)
end

------------------------------------------------------------------------------------------------------------- send

local transport_kinds = { transport = true, decode = true, argument = true, closed = true }

-- A transport may be the user's own: whatever it says beside a plain `not_sent`, the outcome is unknown.
local function transport_error(row, failure)
  if type(failure) ~= "table" then failure = { message = failure } end
  local kind = transport_kinds[failure.kind] and failure.kind or "transport"
  local not_sent = failure.outcome == "not_sent"
  return errors.new {
    kind = kind, outcome = not_sent and "not_sent" or "unknown", phase = failure.phase,
    code = failure.code and tostring(failure.code), operation = row.full_name,
    message = failure.message and tostring(failure.message) or "the transport failed",
    retryable = kind == "transport" and (row.effect == "read" or not_sent),
  }
end

local function run_hook(self, name, event, info)
  local hook = self._hooks[name]
  if not hook then return end
  local ok, message = pcall(hook, event)
  if ok or not info then return end
  local readable, text = pcall(tostring, message) -- what it raised may itself raise
  info.hook_error = readable and text or "an error without a text"
end

-- Nothing of an earlier call or attempt stays behind in a table that is used again.
local function clear_info(info)
  info.attempts, info.http_status, info.headers, info.timings, info.hook_error = 0, nil, nil, nil, nil
end

local function fill_info(info, response, attempts)
  info.attempts = attempts
  info.http_status, info.headers, info.timings = nil, nil, nil
  if type(response) ~= "table" then return end
  info.http_status = response.status
  info.headers = result.headers(response.headers)
  info.timings = {
    connect_us = response.connect_us, tls_us = response.tls_us, first_byte_us = response.first_byte_us,
    total_us = response.total_us,
  }
end

-- Sends a request and reads its answer: `result | nil, err`, and the response.
local function exchange(self, row, request)
  if self._closed then return nil, closed_error(row) end -- by the hook, or during the pause before this attempt
  local response, failure = self._transport:send(request)
  if type(response) ~= "table" then return nil, transport_error(row, failure) end
  local value, err
  if row.unsigned then
    value, err = interpret.unsigned_answer(row, response)
  else
    value, err = interpret.answer(row, self.profile.success_codes, response.status, response.body, response.headers)
  end
  return value, err, response
end

-- One attempt: from a request to `result | nil, err`.
local function attempt_once(self, row, request, attempt, info)
  local event = { operation = row.full_name, method = request.method, path = row.path, attempt = attempt }
  run_hook(self, "before", event, info)
  local started = core.monotonic_us()
  local value, err, response = exchange(self, row, request)
  if err and err.code == service_clock.OUTSIDE_WINDOW and response then
    err.service_date = result.headers(response.headers).date
  end
  if info then fill_info(info, response, attempt) end
  if self._hooks.after then
    event.duration_us = core.monotonic_us() - started
    event.http_status = type(response) == "table" and response.status or nil
    event.error, event.outcome = err, err and err.outcome or "done"
    run_hook(self, "after", event, info)
  end
  return value, err
end

local function pause(self, ms)
  if self._transport.sleep then return self._transport:sleep(math.ceil(ms)) end
  schedule.sleep(math.ceil(ms))
end

-- Waits until the budget has room. Returns nil, or the error of a call that must not be made now.
local function wait_for_budget(self, row)
  local limits = self._limits
  if not limits then return end
  while true do
    local ok, ms, banned = limits:take(row.weight or 1)
    if ok then return end
    if banned or limits.when_full == "refuse" then
      return errors.new { kind = "throttled", outcome = "not_sent", operation = row.full_name, retryable = true,
        retry_after = math.ceil(ms / 1000),
        message = banned and "the service asked for a pause that is not over"
          or "the request-weight budget is used up" }
    end
    pause(self, ms)
  end
end

local function advise(row, values, err, intent)
  if err.outcome == "unknown" and row.settle then err.settle, err.intent = settling.advice(row, values), intent end
  return nil, err
end

-- One attempt, with the record of it where it is not a read.
local function attempt_recorded(self, row, request, values, opts, attempt, payment)
  if row.effect == "read" then return attempt_once(self, row, request, attempt, opts.info) end
  local intent, problem = recording.begin(self, row, values, opts, payment)
  if not intent then return nil, problem end
  local value, err = attempt_once(self, row, request, attempt, opts.info)
  recording.finish(self, row, intent, value, err, opts.info)
  return value, err, intent
end

local run

-- Learns the service's time: from its own answer, else from the Date header of a refusal. Whether that worked.
local function correct_clock(self, err)
  local correction = self._clock:learn(function() return run(self, unsigned.server_time) end)
  return correction ~= nil or self._clock:learn_date(err and err.service_date) == true
end

-- The pause before the next attempt at a read, or nil. A timestamp outside of the service's window corrects the clock,
-- once a call; what is not a read is left to the caller, who knows that it was refused.
local function pause_before_next(self, row, attempt, started, err, corrected)
  if err.code == service_clock.OUTSIDE_WINDOW and self._correct_clock and not corrected then
    err.clock_corrected = correct_clock(self, err)
    return row.effect == "read" and err.clock_corrected and 0 or nil
  end
  return row.effect == "read" and retry.pause(self._retry, attempt, core.monotonic_ms() - started, err)
end

--- Runs an operation: the whole pipeline. Reads are tried again as the retry policy says; nothing else ever is.
function run(self, row, params, opts, payment)
  opts = opts or no_options
  local values, layout = check_call(self, row, params, opts)
  if type(opts) == "table" and type(opts.info) == "table" then clear_info(opts.info) end
  if not values then return nil, layout end
  if row.effect ~= "read" then
    recording.make_handle(self, row, values)
    local refusal = self._guard and self._guard:check(row, values)
    if refusal then return nil, refusal end
  end
  local started, attempt, corrected = core.monotonic_ms(), 0, false
  if not row.unsigned and self._correct_clock and self._clock:jumped() then correct_clock(self) end
  while true do
    local err = wait_for_budget(self, row)
    if err then return nil, err end
    local request, value, intent
    request, err = build(self, row, layout, values, opts)
    if not request then
      err.operation = row.full_name
      return nil, err
    end
    attempt = attempt + 1
    value, err, intent = attempt_recorded(self, row, request, values, opts, attempt, payment)
    if value ~= nil then return value end
    if err.retry_after and self._limits then self._limits:block(err.retry_after * 1000) end
    local ms = pause_before_next(self, row, attempt, started, err, corrected)
    corrected = corrected or err.code == service_clock.OUTSIDE_WINDOW
    if not ms then return advise(row, values, err, intent) end
    pause(self, ms)
  end
end

------------------------------------------------------------------------------------------------- what users call

local function row_of(name)
  local row = operations.by_name[name] or unsigned[name]
  if row then return row end
  local names = {}
  for _, known in ipairs(operations.list) do names[#names + 1] = known.full_name end
  return nil, errors.argument(nil, ('operation "%s" is not known%s'):format(tostring(name),
    nearest.hint(tostring(name), names)))
end

--- Runs the operation of that full name, such as "wallet.withdraw": the same as client.wallet:withdraw(params, opts).
---@param name string
---@param params table|nil
---@param opts table|nil
---@return any result, purser.Error|nil err
function Client:call(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  return run(self, row, params, opts)
end

---@class purser.Request
---@field method string
---@field url string
---@field headers table<string, string>
---@field body string

--- Checks, builds and signs a request without sending it.
---@param name string  full name of the operation
---@return purser.Request|nil request, purser.Error|nil err
function Client:prepare(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  opts = opts or no_options
  local values, layout = check_call(self, row, params, opts)
  if not values then return nil, layout end
  local request
  request, err = build(self, row, layout, values, opts)
  if not request then
    err.operation = row.full_name
    return nil, err
  end
  local headers = {}
  for header, value in pairs(request.headers) do headers[header] = value end
  return { method = request.method, url = request.base_url .. request.target, headers = headers, body = request.body }
end

--- Turns the answer to a prepared request into `result | nil, err`.
---@param name string           full name of the operation
---@param status integer        HTTP status
---@param body string
---@param headers string|table|nil  raw header block or map
function Client:parse(name, status, body, headers)
  local row, err = row_of(name)
  if not row then return nil, err end
  if row.unsigned then return interpret.unsigned_answer(row, { status = status, body = body, headers = headers }) end
  local value
  value, err = interpret.answer(row, self.profile.success_codes, status, body, headers)
  if value == nil then return advise(row, {}, err) end
  return value
end

-- For purser.payouts: a call whose record belongs to a payment.
function Client:_pay(name, params, opts, payment)
  local row, err = row_of(name)
  if not row then return nil, err end
  return run(self, row, params, opts, payment)
end

--- Finds out what became of a call whose outcome is unknown; purser.settle says how. Takes its error, or its intent.
---@param unsettled purser.Error|purser.Intent
---@param options purser.SettleOptions|nil
---@return purser.Settlement|nil, purser.Error|nil err
function Client:settle(unsettled, options)
  return require("purser.settle").settle({
    run = function(row, params) return run(self, row, params) end,
    now = function() return (assert(read_clock(self))) end,
    pause = function(ms) pause(self, ms) end,
    rivals = self._rivals, journal = self._journal, lag_ms = self._lag_ms, recv_window = self._recv_window or 5000,
  }, unsettled, options)
end

--- The name under which the journal keeps what this client does: its option `account`, or a digest of its API key.
---@return string
function Client:account()
  if self._account then return self._account end
  if not self._api_key and self._credentials then refresh_credentials(self) end
  return intents.account_of(self._api_key or "")
end

--- Asks whether the service is there. Not signed. Returns true.
function Client:ping(opts)
  return run(self, unsigned.ping, nil, opts)
end

--- The service's time in epoch milliseconds. Not signed.
function Client:server_time(opts)
  return run(self, unsigned.server_time, nil, opts)
end

--- Asks the service for its time and counts from there. Returns by how many milliseconds the clock was corrected.
---@return integer|nil correction_ms, purser.Error|nil err
function Client:sync_clock()
  return self._clock:learn(function() return run(self, unsigned.server_time) end)
end

--- The service's time as far as the client knows it, in epoch milliseconds: what a request is stamped with.
---@return integer
function Client:now()
  return assert(read_clock(self))
end

--- Rests as the client's transport does: the other tasks go on, and a simulator's clock is moved.
---@param ms integer
function Client:sleep(ms)
  pause(self, ms)
end

--- Walks every record of a history or list: client:each("wallet.deposit_history", { from = ... }). See purser.history.
---@param name string  full name of the operation
---@return purser.Walk
function Client:each(name, params, opts)
  return require("purser.history").each(self, name, params, opts)
end

--- Waits until what is read is as wanted: client:wait_for { read = ..., judge = ... }. See purser.wait.
---@return any value, purser.Error|nil err
function Client:wait_for(options)
  return require("purser.wait").wait_for(self, options)
end

--- Wipes the secret and closes the connections that this client opened itself. May be called again.
function Client:close()
  if self._closed then return end
  self._closed = true
  if self._signer then self._signer:close() end
  if self._own_transport then self._transport:close() end
end

function Client:__tostring()
  return ("purser.client (%s%s)"):format(self._origin .. self._prefix, self._closed and ", closed" or "")
end
Client.__gc = Client.close
Client.__close = Client.close

local function methods_of(group)
  local methods = {}
  for _, row in ipairs(operations.groups[group]) do
    methods[row.name] = function(self, params, opts)
      local client = type(self) == "table" and self._client
      if not client then error(("call it with a colon: client.%s:%s{...}"):format(group, row.name), 2) end
      return run(client, row, params, opts)
    end
  end
  return methods
end

-- One method an operation, made from the rows when the group is first used; a group of a client is { _client = client }
-- with these methods.
local group_types = {}
for _, group in ipairs(operations.group_names) do
  local methods
  group_types[group] = {
    __name = "purser." .. group,
    __index = function(_, name)
      methods = methods or methods_of(group)
      if methods[name] then return methods[name] end
      local workflows = require "purser.workflows"
      local workflow = workflows.method(group, name)
      if workflow then
        methods[name] = workflow
        return workflow
      end
      local names = {}
      for known in pairs(methods) do names[#names + 1] = known end
      for _, other in ipairs(workflows.names(group)) do names[#names + 1] = other end
      error(('client.%s has no operation "%s"%s'):format(group, tostring(name), nearest.hint(tostring(name), names)), 2)
    end,
  }
end

local function make_transport(options, origin)
  if options.transport then return options.transport end
  return require("purser.transport.curl").new {
    base_url = origin, connect_timeout_ms = options.connect_timeout_ms or 3000, proxy = options.proxy,
    ca_file = options.ca_file, ca_path = options.ca_path, ca_pem = options.ca_pem, pinned_key = options.pinned_key,
    max_response_bytes = options.max_response_bytes,
  }
end

local function make_limits(limits, profile)
  if limits == false or budget.is(limits) then return limits end
  if limits ~= nil and type(limits) ~= "table" then return nil, 'option "limits" is a table, a budget or false' end
  limits = limits or {}
  local complaint = budget.check(limits)
  if complaint then return nil, complaint end
  return budget.new {
    weight = limits.weight or profile.weight_limit, window_ms = limits.window_ms or profile.weight_window_ms,
    when_full = limits.when_full, now = limits.now,
  }
end

local function make_guard(options)
  if not options.guard then return nil end
  return require("purser.guard").new(options.guard, options.journal)
end

local function user_agent_of(options)
  local agent = options.user_agent or ("purser/" .. require("purser.version"))
  if agent:find("[%c]") then return nil, '"user_agent" holds a control character' end
  return agent
end

-- Fills a client from checked options. Returns nil, or a complaint.
local function furnish(self, options)
  local complaint, wrong
  self.profile, complaint = options_.resolve_profile(options.profile)
  if not self.profile then return complaint end
  complaint = options_.check_whole(options, "recv_window", 1, self.profile.max_recv_window)
  if complaint then return complaint end
  local url = options.base_url or self.profile.base_url
  if not url then return '"base_url" is missing; give one, or a profile that has one' end
  self._origin, self._prefix = options_.split_url(url, options.allow_insecure)
  if not self._origin then return self._prefix end
  self._user_agent, wrong = user_agent_of(options)
  if wrong then return wrong end
  self._retry, wrong = retry.policy(options.retry)
  if wrong then return wrong end
  self._limits, wrong = make_limits(options.limits, self.profile)
  if wrong then return wrong end
  self._credentials = options.credentials
  if not options.credentials then
    complaint = use_credentials(self, options.api_key, options.secret_key)
    if complaint then return complaint end
  end
  self._clock, self._hooks = service_clock.new(options.clock), options.hooks or {}
  self._correct_clock = options.correct_clock ~= false
  self._timeout_ms, self._recv_window = options.timeout_ms or 10000, options.recv_window
  self._client_ids, self._lag_ms = options.client_ids ~= false, options.visibility_lag_ms or 3000
  self._rivals, self._journal, self._account = rivals.new(), options.journal, options.account
  self._guard, wrong = make_guard(options)
  if wrong then return wrong end
  self._transport, wrong = make_transport(options, self._origin)
  self._own_transport = options.transport == nil
  return not self._transport and (wrong or "the transport could not be made") or nil
end

--- Makes a client. See docs/getting-started.md for the options.
---@param options table
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options)
  local complaint = options_.check(options)
  if complaint then return nil, errors.config(complaint) end
  local self = { _layouts = {} }
  complaint = furnish(self, options)
  if complaint then
    if self._signer then self._signer:close() end
    return nil, errors.config(complaint)
  end
  for group, group_type in pairs(group_types) do self[group] = setmetatable({ _client = self }, group_type) end
  return setmetatable(self, Client)
end

return M
