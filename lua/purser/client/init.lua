-- SPDX-License-Identifier: MIT
-- The client: what users hold. Its groups have one method an operation, made from the rows; run.lua runs them all.
--
-- What users hold has no fields but its groups and a copy of its profile. Everything else is in its inner state, which
-- private.lua finds by it; the methods below are those of the inner state.

local build = require "purser.client.build"
local errors = require "purser.call.errors"
local frozen = require "purser.util.frozen"
local lazy = require "purser.util.lazy"
local operations = require "purser.api.operations"
local options_ = require "purser.client.options"
local pipeline = require "purser.call.pipeline"
local private = require "purser.util.private"
local response = require "purser.call.response"
local run = require "purser.write.run"
local digest = lazy "purser.util.digest"
local history = lazy "purser.history"
local reconcile = lazy "purser.write.reconcile"
local reconcile_advice = lazy "purser.write.advice"
local reconcile_service = lazy "purser.write.service"
local suggest = lazy "purser.util.suggest"
local unsigned = lazy "purser.call.unsigned"
local wait = lazy "purser.workflow.wait"
local methods_ = lazy "purser.client.methods"
local write_call = lazy "purser.write.write_call"

local states = private.states

-- build.lua says what it holds.
---@class purser.State
local State = { __name = "purser.state" }
State.__index = State

local M = {}

local function row_of(name)
  local row = operations.by_name[name] or unsigned.rows[name]
  if row then return row end
  return nil, errors.argument(nil, ('operation "%s" is not known%s'):format(tostring(name),
    suggest.among(name, operations.by_name)), "`purser operations` lists them")
end

--- Runs the operation of that full name, such as "wallet.withdraw": the same as client.wallet:withdraw(params, opts).
---@param name string
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return any result, purser.Error|nil err
function State:call(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  return run.call(self, row, params, opts)
end

---@class purser.Request
---@field method string
---@field url string   complete, with the query
---@field headers table<string, string>
---@field body string  may be empty

--- Checks, builds and signs a request without sending it. With `info` in opts, `info.intent` is what client:parse and
--- client:reconcile take of a write call.
---@param name string  full name of the operation
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return purser.Request|nil request, purser.Error|nil err
function State:prepare(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  local is_write = row.effect ~= "read"
  err = run.not_allowed(self, row)
  if err then return nil, err end
  if is_write then run.load_write_calls() end
  opts = opts or pipeline.no_options
  local values, layout = pipeline.check_call(self, row, params, opts)
  if not values then return nil, layout end
  local rejection = is_write and self._guard and self._guard:check_prepared(row, values)
  if rejection then return nil, rejection end
  local request
  request, err = pipeline.build(self, row, layout, values, opts)
  if not request then
    err.operation = row.full_name
    return nil, err
  end
  local headers = {}
  for header, value in pairs(request.headers) do headers[header] = value end
  if opts.info and is_write then
    opts.info.intent, err = write_call.intent_of(self, row, values, opts)
    if not opts.info.intent then return nil, err end
  end
  return { method = request.method, url = request.base_url .. request.target, headers = headers, body = request.body }
end

-- The intent that was given to parse, or the `info` that holds it; nil when it is not that of this operation.
local function intent_for(row, given)
  local intent = type(given) == "table" and (given.intent or given)
  if type(intent) ~= "table" or intent.operation ~= row.full_name or type(intent.params) ~= "table" then return nil end
  return intent
end

--- Turns the answer to a prepared request into `result | nil, err`.
---@param name string           full name of the operation
---@param status integer        HTTP status
---@param body string
---@param headers string|table<string, string>|nil  raw header block or map
---@param intent purser.Intent|nil  `info.intent` of client:prepare: with it an unknown outcome can be reconciled
---@return any result, purser.Error|nil err
function State:parse(name, status, body, headers, intent)
  local row, err = row_of(name)
  if not row then return nil, err end
  if row.unsigned then return unsigned.answer(row, self.profile, status, body, headers) end
  local value
  value, err = response.answer(row, self.profile, status, body, headers)
  intent = row.reconcile and intent_for(row, intent)
  if intent then value, err = write_call.believe_prepared(self, row, intent, value, err) end
  if value ~= nil then return value end
  if err.outcome == "unknown" and row.reconcile then
    local advice = reconcile_advice.of
    err.advice, err.intent = advice(row, intent and intent.params), intent
  end
  return nil, err
end

-- An intent as it is now, whatever its table does later.
local function copy_of(intent)
  local copy = {}
  for name, value in next, intent do copy[name] = value end
  if type(copy.params) == "table" then
    local params = {}
    for name, value in next, copy.params do params[name] = value end
    copy.params = params
  end
  return copy
end

--- Finds out what became of a call whose outcome is unknown: docs/reconcile.md says how. Takes its error,
--- or its intent.
---@param unreconciled purser.Error|purser.Intent
---@param options purser.ReconcileOptions|nil
---@param readings table|nil  of purser.payouts: what several calls that are reconciled share
---@param payment table|nil   of purser.payouts: the payment that the call is of
---@return purser.Reconciliation|nil answer, purser.Error|nil err
function State:reconcile(unreconciled, options, readings, payment)
  local intent = unreconciled
  if errors.is(unreconciled) then intent = unreconciled.intent end
  if self._journal and type(intent) == "table" then
    unreconciled = copy_of(intent)
    local mismatch = unreconciled.id and self._journal:mismatch(unreconciled)
    if mismatch then return nil, mismatch end
  end
  return reconcile.reconcile(reconcile_service.of(self, readings, payment), unreconciled, options)
end

--- The name under which the journal keeps what this client does: its option `account`, or a digest of its API key.
---@return string
function State:account()
  if self._account then return self._account end
  if not self._api_key and self._credentials then pipeline.refresh_credentials(self) end
  return digest.account_of(self._api_key or "")
end

--- Asks whether the service is there. Not signed. Returns true.
---@param opts purser.CallOptions|nil
---@return true|nil there, purser.Error|nil err
function State:ping(opts)
  return pipeline.run(self, unsigned.rows.ping, nil, opts)
end

--- The service's time in epoch milliseconds. Not signed.
---@param opts purser.CallOptions|nil
---@return integer|nil time, purser.Error|nil err
function State:server_time(opts)
  return pipeline.run(self, unsigned.rows.server_time, nil, opts)
end

--- Asks the service for its time and counts from there. Returns by how many milliseconds the clock was corrected.
---@return integer|nil correction_ms, purser.Error|nil err
function State:sync_clock()
  return self._clock:learn(function() return pipeline.run(self, unsigned.rows.server_time) end)
end

--- The service's time as far as the client knows it, in epoch milliseconds: what a request is stamped with.
---@return integer
function State:now()
  return assert(self._clock:read())
end

--- Sleeps as the client's transport does: the other tasks continue, and a simulator's clock is moved.
---@param ms integer
function State:sleep(ms)
  if type(ms) ~= "number" or not (ms >= 0 and ms < math.huge) then
    error(("client:sleep: the time is %s; give milliseconds from 0"):format(
      type(ms) == "number" and ("%.14g"):format(ms) or "a " .. type(ms)), 2)
  end
  pipeline.pause(self, ms)
end

--- Walks every record of a history or list: client:each("wallet.deposit_history", { from = ... }); docs/histories.md.
---@param name string  full name of the operation
---@param params table|nil  purser.WalkParams, and those of the operation
---@param opts purser.CallOptions|nil  of each call
---@return purser.Walk
function State:each(name, params, opts)
  return private.veil(history.each(self, name, params, opts))
end

---@class purser.Limits
---@field pools purser.PoolUse[]

--- Returns what the pools of the rate limit hold now, and what blocks them; nil and an error where the store cannot be
--- used. A client without a rate limit has none.
---@return purser.Limits|nil limits, purser.Error|nil err
function State:limits()
  if not self._rate_limit then return { pools = {} } end
  local pools, message = self._rate_limit:status(self._api_key)
  if pools then return { pools = pools } end
  return nil, errors.new { kind = "throttled", outcome = "not_sent", retryable = true, message = message }
end

--- Waits until what is read is as requested: client:wait_for { read = ..., judge = ... }. See docs/waiting.md.
---@param options purser.WaitOptions
---@return any value, purser.Error|nil err
function State:wait_for(options)
  return wait.wait_for(self, options)
end

--- Wipes the secret and closes the connections that this client opened itself. May be called again.
function State:close()
  if self._closed then return end
  self._closed = true
  if self._signer then self._signer:close() end
  if self._own_transport then self._transport:close() end
  if self._rate_limit and self._own_rate_limit then self._rate_limit:close() end
end

State.__gc = State.close

------------------------------------------------------------------------------------------------ what users hold

-- The methods above, called on what users hold.
local Client = { __name = "purser.client", __metatable = "purser.client" }
local methods_of_clients = {}
Client.__index = methods_of_clients

-- What to say of a name that a client does not have: where the operation is, or the name that differs by a letter or an
-- underscore. Any other name is nil, so that `if client.something then` asks whether it is there.
local function meant_by(name)
  if type(name) ~= "string" or name:find "^_" then return nil end
  local groups = {}
  for _, group in ipairs(operations.group_names) do
    if operations.by_name[group .. "." .. name] or methods_[group][name] then
      groups[#groups + 1] = ("client.%s:%s"):format(group, name)
    end
  end
  if groups[1] then return "; use " .. table.concat(groups, " or ") end
  local near = suggest.find(name, suggest.names_of(methods_of_clients, operations.groups), #name / 5)
  return near and (' (did you mean "%s"?)'):format(near)
end

setmetatable(methods_of_clients, { __index = function(_, name)
  local meant = meant_by(name)
  if meant then error(('a client has no "%s"%s'):format(name, meant), 2) end
end })

local function no_client(name)
  error(("call it with a colon, on a client: client:%s(...)"):format(name), 3)
end

for name, method in pairs(State) do
  if type(method) == "function" and name:sub(1, 2) ~= "__" then
    methods_of_clients[name] = function(client, a, b, c, d, e)
      return method(states[client or no_client(name)] or no_client(name), a, b, c, d, e)
    end
  end
end

Client.__close = methods_of_clients.close

function Client.__tostring(client)
  local self = states[client]
  return ("purser.client (%s%s)"):format(self._origin .. self._prefix, self._closed and ", closed" or "")
end

local group_types = {}

-- Inner state -> what users hold. A user who keeps a group alone has let go of the client, so there may be none.
local faces = setmetatable({}, { __mode = "kv" })

local function make_face(self)
  local client = { profile = frozen(self.profile) }
  for group, group_type in pairs(group_types) do
    local held = setmetatable({}, group_type)
    client[group], states[held] = held, self
  end
  states[client], faces[self] = self, client
  return setmetatable(client, Client)
end

-- The inner state behind a group that a method was called on.
local function state_of_group(held, group, name)
  local self = held ~= nil and states[held]
  if not self then error(("call it with a colon: client.%s:%s{...}"):format(group, name), 3) end
  return self
end

local function methods_of(group)
  local methods = {}
  for _, row in ipairs(operations.groups[group]) do
    local name, run_row = row.name, run.of(row)
    methods[name] = function(held, params, opts)
      return run_row(held and states[held] or state_of_group(held, group, name), row, params, opts)
    end
  end
  return methods
end

-- A method that is more than one operation. It is given what users hold: it may keep that in what it returns.
local function workflow_of(group, name)
  local workflow = methods_[group][name]
  return workflow and function(held, ...)
    local self = state_of_group(held, group, name)
    return workflow(faces[self] or make_face(self), ...)
  end
end

-- What is looked up in a group besides its operations: a workflow, or a mistake.
local function other_of(group, methods, name)
  local workflow = workflow_of(group, name)
  if workflow then
    methods[name] = workflow
    return workflow
  end
  error(('client.%s has no operation "%s"%s'):format(group, tostring(name),
    suggest.hint_or_list(name, methods, methods_[group])), 3)
end

-- One method an operation, made from the rows when the group is first used.
for _, group in ipairs(operations.all_group_names) do
  local group_type = { __name = "purser." .. group, __metatable = "purser." .. group }
  function group_type.__index(_, name)
    local methods = methods_of(group)
    group_type.__index = setmetatable(methods, { __index = function(_, other)
      local method = other_of(group, methods, other) -- no tail call: the error names the caller's line
      return method
    end })
    return rawget(methods, name) or other_of(group, methods, name)
  end
  group_types[group] = group_type
end

--- Makes a client. See docs/getting-started.md for the options.
---@param options table
---@param open_store (fun(options: table): table|nil, string|nil)|nil  makes a store of the rate limit that is named
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options, open_store)
  local message, option, hint = options_.check(options)
  if message then return nil, errors.config(message, hint, option) end
  local self = {}
  message, hint, option = build.fill(self, options, open_store)
  if message then
    if self._signer then self._signer:close() end
    return nil, errors.config(message, hint, option)
  end
  return make_face(setmetatable(self, State))
end

return M
