-- SPDX-License-Identifier: MIT
-- The stages of every call, and the run of a read call; write/call.lua runs a write call through the stages.
--
--   check -> build -> sign -> send -> decode
--
-- `self` is a client's inner state. Modules beyond a first read load at the first use: a short script waits for them.

local call_options = require "purser.client.call.call_options"
local core = require "purser.core"
local responses = require "purser.client.call.response"
local lazy = require "purser.client.util.lazy"
local service_clock = require "purser.client.call.clock"
local validate = require "purser.client.call.validate"
local errors = lazy "purser.client.call.errors"
local hooks = lazy "purser.client.call.hooks"
local networks = lazy "purser.client.operations.network"
local retry = lazy "purser.client.call.retry"
local setbacks = lazy "purser.client.call.setbacks"
local unlisted = lazy "purser.client.call.unlisted"
local unsigned = lazy "purser.client.call.unsigned"
local unwrap = lazy "purser.client.call.unwrap"

local floor = math.floor

local M = {}

M.no_options = {}

--- The options of a read that settles a payment: the rate limit ranks the read among write calls.
M.settles = {}

-- Returns the form of a row's JSON body; nil for parameters in the query.
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
  return core.layout(query, body, form)
end

local function layout_for(self, row)
  local layout = self._layouts[row]
  if not layout then
    layout = make_layout(self.profile, row)
    self._layouts[row] = layout
  end
  return layout
end

--- Sets signer and headers of a key pair. Returns nil, or a message and what to do.
function M.use_credentials(self, api_key, secret_key)
  local problem, hint = call_options.check_credentials(api_key, secret_key)
  if problem then return problem, hint end
  local signer, message = core.signer("hmac-sha256", secret_key)
  if not signer then return '"secret_key" cannot be used: ' .. message end
  if self._signer then self._signer:close() end
  self._signer, self._api_key, self._unnamed = signer, api_key, false
  self._headers = {
    ["Content-Type"] = self.profile.content_type,
    [self.profile.key_header] = api_key,
    ["User-Agent"] = self._user_agent,
  }
end

--- Asks the credentials function and makes a signer: a secret may change under an equal key. None for a closed client.
function M.refresh_credentials(self)
  local ok, api_key, secret_key = pcall(self._credentials)
  if self._closed then return end
  if not ok or api_key == nil then
    return "the credentials function " .. (ok and "returned nothing" or "raised an error"),
      "it must return an API key and a secret key"
  end
  return M.use_credentials(self, api_key, secret_key)
end

--- Builds and signs the request of one attempt.
function M.build(self, row, layout, values, opts)
  if row.unsigned then
    if self._closed then return nil, setbacks.closed(row) end
    return unsigned.request(self, row, opts)
  end
  local profile = self.profile
  local message, hint
  if self._credentials then message, hint = M.refresh_credentials(self) end
  if message then return nil, errors.config(message, hint, "credentials") end
  local now, wrong, cure = self._clock:read()
  if not now then return nil, errors.config(wrong, cure, "clock") end
  if self._closed then return nil, setbacks.closed(row) end -- by the clock, the credentials function or another task
  local recv_window = opts.recv_window
  values[profile.timestamp_name] = now
  values[profile.recv_window_name] = recv_window and floor(recv_window) or self._recv_window or nil -- 5e3 is a float
  local body, query = ""
  if row.body then body, wrong = layout:body(values) end
  if not body then return nil, errors.argument(nil, wrong) end
  query, wrong = self._signer:sign_query(layout, values, profile.signature_name)
  if not query then return nil, errors.argument(nil, wrong) end
  return {
    method = row.method, base_url = self._origin, target = self._prefix .. row.path .. "?" .. query,
    headers = self._headers, body = body, at_most_once = row.effect ~= "read", operation = row.full_name,
    timeout_ms = opts.timeout_ms or self._timeout_ms, brief = opts.info == nil, corrections = self._clock.corrections,
  }
end

-- Returns an error, or nil.
local function check_options(self, row, opts)
  local err = call_options.check(opts, self.profile)
  if err then err.operation = row.full_name end
  local info = type(opts) == "table" and opts.info
  if type(info) == "table" then
    info.attempts, info.http_status, info.headers, info.timings, info.hook_error = 0, nil, nil, nil, nil
    info.repeated = nil
  end
  return err
end

--- Checks a call, and clears `info`. Returns the values that travel and their layout; or nil, an error and the rejected
--- values of validate.check.
function M.check_call(self, row, params, opts)
  local err = opts ~= M.no_options and opts ~= M.settles and check_options(self, row, opts)
  if self._closed then return nil, setbacks.closed(row) end
  if err and (params == nil or type(params) == "table") then return nil, err end -- else validate.check says so
  if row.live and not self.profile.live_operations then
    return nil, errors.config(row.full_name .. ": the interface document does not have this operation",
      'give profile = "mexc", or a profile with live_operations = true')
  end
  local values, given
  values, err, given = validate.check(row, params)
  if not values then return nil, err, given end
  if row.unsigned then return values end
  if not opts.extra_params then return values, layout_for(self, row) end
  local names
  names, err = unlisted.add_extra(row, opts.extra_params, values, self.profile)
  if not names then
    err.operation = row.full_name
    return nil, err
  end
  return values, make_layout(self.profile, row, names)
end

local function fill_info(info, response, attempts)
  info.attempts = attempts
  info.http_status, info.headers, info.timings = nil, nil, nil
  if type(response) ~= "table" then return end
  info.http_status = response.status
  info.headers = unwrap.headers(response.headers)
  info.timings = {
    lookup_us = response.lookup_us, connect_us = response.connect_us, tls_us = response.tls_us,
    first_byte_us = response.first_byte_us, total_us = response.total_us,
  }
end

---@class purser.Sending  what a write call gives to its attempt, to know how far it came
---@field sent boolean      set before the transport is called
---@field process integer   the one that may send it
---@field watch table|false set to what reports the attempt to the hook `after`
---@field verify fun(self, value: any, err: purser.Error|nil, response: table): any, purser.Error|nil  notes the end

-- Returns `result | nil, err`, and the response. A write call has `sending`, a read call has `values`.
local function exchange(self, row, request, sending, values)
  if self._closed then return nil, setbacks.closed(row) end -- by the hook, or during the pause before this attempt
  if sending then
    sending.sent = true
    if sending.process ~= core.process_id() then return nil, setbacks.forked(row) end
  end
  local response, failure = self._transport:send(request)
  if type(response) ~= "table" then return nil, setbacks.transport(row, failure) end
  local answer = row.unsigned and unsigned.answer or responses.answer
  local value, err = answer(row, self.profile, response.status, response.body, response.headers, values)
  if sending then value, err = sending:verify(value, err, response) end
  if request.verify and value ~= nil then value, err = request.verify(row, response, value) end
  if err and setbacks.is_doubtful(err) and self._transport.discard then self._transport:discard(response) end
  return value, err, response
end

--- Returns `result | nil, err` of one attempt.
---@param sending purser.Sending|nil  of a write call
---@param values table|nil            of a read call
function M.attempt(self, row, request, attempt, info, sending, values)
  local watch = self._hooks and hooks.begin(self._hooks, row, request, attempt, info)
  local value, err, response
  if watch and not sending then
    value, err, response = watch:execute(exchange, self, row, request, nil, values)
  else
    if sending then sending.watch = watch end
    value, err, response = exchange(self, row, request, sending, values)
  end
  if err and err.code == service_clock.OUTSIDE_WINDOW and response then
    err.service_date = unwrap.headers(response.headers).date
  end
  if info then fill_info(info, response, attempt) end
  if watch then watch:report(err, response) end
  return value, err
end

local function wait_for_room(...)
  setbacks.wait_for_room(...)
end

--- Waits for the rate limit. Returns an attempt's signed request; or nil and an error.
function M.next_request(self, row, layout, values, opts)
  local limit, takes, at = self._rate_limit, nil, nil
  if limit then
    local ms
    if self._credentials and not self._api_key and not row.unsigned then M.refresh_credentials(self) end
    takes, at, ms = limit:acquire(row, self._api_key, wait_for_room, self, opts.info, opts == M.settles)
    if not takes then return nil, setbacks.no_room(row, at, ms) end
  end
  local request, err = M.build(self, row, layout, values, opts)
  if request then
    request.takes, request.taken_at = takes, at
    return request
  end
  if takes then limit:give_back(takes, at) end
  err.operation = row.full_name
  return nil, err
end

-- Returns why a list of deposit addresses answers another question, or nil.
local function foreign_address(row, params, value)
  local is_addresses = row.result and row.result.list == "deposit_address" and params and params.coin
  for _, shown in ipairs(is_addresses and value or {}) do
    local why = networks.answer_problem(params, shown, nil, true)
    if why then return why end
  end
end

--- Runs a read call, with the attempts of the retry policy. A write call (write/call.lua) is never sent twice.
function M.run(self, row, params, opts, verify)
  if row.effect ~= "read" then error(row.full_name .. " is a write call; purser.write.call takes it", 2) end
  opts = opts or M.no_options
  local values, layout = M.check_call(self, row, params, opts)
  if not values then return nil, layout end
  local started, attempt, corrected = core.monotonic_ms(), 0, false
  if self._clock.offset then setbacks.attend_clock(self, M.run, row) end
  while true do
    local request, err = M.next_request(self, row, layout, values, opts)
    if not request then return nil, err end
    request.verify, attempt = verify, attempt + 1
    local value
    value, err = M.attempt(self, row, request, attempt, opts.info, nil, values)
    local why = value ~= nil and foreign_address(row, params, value)
    if why then return nil, errors.undecodable(row.full_name, why) end
    if value ~= nil then return value end
    local ms = setbacks.learn(self, M.run, err, request, corrected) and 0
      or retry.pause(self._retry, attempt, core.monotonic_ms() - started, err)
    corrected = corrected or err.code == service_clock.OUTSIDE_WINDOW
    if not ms then return nil, err end
    if self._hooks and err.kind == "throttled" then hooks.report_wait(self._hooks, row, ms, opts.info) end
    setbacks.pause(self, ms)
  end
end

return M
