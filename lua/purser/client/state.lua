-- SPDX-License-Identifier: MIT
-- The methods of a client beside its operations: `of_states` of the inner state, `of_clients` of clients.

local build = require "purser.client.build"
local errors = require "purser.client.call.errors"
local lazy = require "purser.client.util.lazy"
local operations = require "purser.client.operations"
local pipeline = require "purser.client.call.pipeline"
local private = require "purser.client.util.private"
local response = require "purser.client.call.response"
local views = require "purser.client.util.views"
local setbacks = require "purser.client.call.setbacks"
local history = lazy "purser.client.history"
local methods_ = lazy "purser.client.methods"
local names_of = lazy "purser.client.util.names_of"
local parameters = lazy "purser.client.operations.parameters"
local window_reader = lazy "purser.client.history.window"
local suggest = lazy "purser.client.util.suggest"
local unsigned = lazy "purser.client.call.unsigned"

local states = private.states

---@class purser.State
local State = {}

local function row_of(name)
  local row = operations.by_name[name] or unsigned.rows[name]
  if row then return row end
  return nil, errors.argument(nil, ('operation "%s" is not known%s'):format(tostring(name),
    suggest.among(name, operations.by_name)), "`purser operations` lists them")
end

--- Runs the operation of a full name: "wallet.withdraw" as client.wallet:withdraw(params, opts).
---@param name string
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return any result, purser.Error|nil err
function State:call(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  return (row.effect == "read" and pipeline.run or build.seams.writes.send)(self, row, params, opts)
end

--- Returns the result of an earlier write call with this key (its id, or `key` of opts) and content, with
--- `info.repeated`; nil where none was made; nil and an error of outcome "unknown" where nobody knows, "not_sent" where
--- the key stands for another call. Sends no write call; client:call asks the same first.
---@param name string
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return any result, purser.Error|nil err
function State:recall(name, params, opts)
  local row, err = row_of(name)
  if not row or row.effect == "read" then return nil, err end
  return build.seams.writes.recall(self, row, params, opts)
end

--- Tells if a parameter takes a value. Returns true; or nil, a fault that completes `parameter "x" ...`, and the cure.
---@param name string       full name of the operation
---@param parameter string
---@param value any
---@return true|nil fits, string|nil message, string|nil hint
function State:check_value(name, parameter, value) -- luacheck: ignore self
  local row, err = row_of(name)
  if not row then return nil, err.message, err.hint end
  local param = (row.by_name or {})[parameter]
  if not param then return nil, "is not known" .. suggest.among(parameter, row.by_name or {}) end
  if value == nil then return not param.required or nil, param.required and "is missing" or nil end
  local travels, message, hint = parameters.kinds[param[2]].check(value, param)
  if travels == nil then return nil, message, hint end
  return true
end

---@class purser.Request
---@field method string
---@field url string   complete, with the query
---@field headers table<string, string>
---@field body string  may be empty

local function build_read(self, row, params, opts)
  local values, layout = pipeline.check_call(self, row, params, opts)
  if not values then return nil, layout end
  local request, err = pipeline.build(self, row, layout, values, opts)
  if not request then err.operation = row.full_name end
  return request, err
end

local MASK = "..."

-- Masks what lets a request in at the service.
local function without_signature(profile, request)
  request.url = request.url:gsub("([?&]" .. profile.signature_name .. "=)[^&]*", "%1" .. MASK)
  for header in pairs(request.headers) do
    if header:lower() == profile.key_header:lower() then request.headers[header] = MASK end
  end
  return request
end

-- Returns an unsent request: `how` names the builder of a write call's.
local function request_for(self, how, name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  local request
  request, err = (row.effect == "read" and build_read or build.seams.writes[how])(self, row, params,
    opts or pipeline.no_options)
  if not request then return nil, err end
  local headers = {}
  for header, value in pairs(request.headers) do headers[header] = value end
  return { method = request.method, url = request.base_url .. request.target, headers = headers, body = request.body }
end

--- Checks, builds and signs a request without sending it. A journal records a write call as sent: its key is used, and
--- its outcome is looked for. `info.intent` is for client:parse and client:reconcile.
---@param name string  full name of the operation
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return purser.Request|nil request, purser.Error|nil err
function State:prepare(name, params, opts)
  return request_for(self, "prepare", name, params, opts)
end

--- Checks a call, and builds its request with `...` for API key and signature. Nothing is sent, recorded or asked.
---@param name string  full name of the operation
---@param params table|nil
---@param opts purser.CallOptions|nil
---@return purser.Request|nil request, purser.Error|nil err
function State:preview(name, params, opts)
  local request, err = request_for(self, "preview", name, params, opts)
  return request and without_signature(self.profile, request), err
end

-- Returns the intent given to parse, or in an `info`; nil for another operation's.
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
  if intent then value, err = build.seams.writes.believe_prepared(self, row, intent, value, err) end
  if value ~= nil then return value end
  if err.outcome == "unknown" and row.reconcile then
    err.advice, err.intent = build.seams.writes.advice(row, intent and intent.params), intent
  end
  return nil, err
end

--- Finds out what became of a call of unknown outcome, from its error or intent (docs/write/outcomes.md).
---@param unreconciled purser.Error|purser.Intent
---@param options purser.ReconcileOptions|nil
---@param window purser.reconcile.Window|nil  of purser.payouts: when its record can have been made
---@return purser.Reconciliation|nil answer, purser.Error|nil err
function State:reconcile(unreconciled, options, window)
  return build.seams.writes.reconcile(self, unreconciled, options, window)
end

--- Returns the name of this client in a journal: its option `account`, or a digest of its API key.
---@return string
function State:account()
  return self._account or build.seams.writes.signer_of(self)
end

--- Asks if the service is there, unsigned.
---@param opts purser.CallOptions|nil
---@return true|nil there, purser.Error|nil err
function State:ping(opts)
  return pipeline.run(self, unsigned.rows.ping, nil, opts)
end

--- Returns the service's time in epoch milliseconds, unsigned.
---@param opts purser.CallOptions|nil
---@return integer|nil time, purser.Error|nil err
function State:server_time(opts)
  return pipeline.run(self, unsigned.rows.server_time, nil, opts)
end

--- Learns the service's time. Returns the clock's correction in milliseconds.
---@return integer|nil correction_ms, purser.Error|nil err
function State:sync_clock()
  return self._clock:learn(pipeline.run, self, unsigned.rows.server_time)
end

---@class purser.Settings
---@field account string|nil  the option of purser.new
---@field base_url string      where the calls go
---@field has_journal boolean
---@field visibility_delay_ms integer

--- Returns the options that programs on top need.
---@return purser.Settings
function State:settings()
  return { account = self._account, base_url = self._origin .. self._prefix, has_journal = self._journal ~= nil,
    visibility_delay_ms = self._visibility_delay_ms }
end

--- Returns the journal's plans for a client with the option `policy`, else nil: `purser.approvals` adds and reads them.
--- A plan without signatures lets no call through.
---@return purser.PlansKept|nil
function State:plans()
  local policy = self._guard and self._guard.policy
  return policy and views.view(policy.kept) or nil
end

--- Returns the known time of the service in epoch milliseconds, as requests are stamped.
---@return integer
function State:now()
  return assert(self._clock:read())
end

-- The caller's level: Lua 5.1 counts a tail call as a function.
local CALLER = _VERSION == "Lua 5.1" and not rawget(_G, "jit") and 3 or 2

--- Sleeps as the client's transport does: other tasks go on, and a simulator's clock moves.
---@param ms integer
function State:sleep(ms)
  if type(ms) ~= "number" or not (ms >= 0 and ms < math.huge) then
    error(("client:sleep: the time is %s; give milliseconds from 0"):format(
      type(ms) == "number" and ("%.14g"):format(ms) or "a " .. type(ms)), CALLER)
  end
  setbacks.pause(self, ms)
end

--- Wipes the secret and closes the client's own connections. May be called again.
function State:close()
  build.close(self)
end

--- Walks a history or list by its full name (docs/client/histories.md).
---@param name string  full name of the operation
---@param params table|nil  purser.WalkParams, and those of the operation
---@param opts purser.CallOptions|nil  of each call
---@return purser.Walk
function State:each(name, params, opts)
  return views.view(history.each(self, name, params, opts))
end

--- Returns the earliest epoch ms of a history; nil without a documented limit.
---@param name string  full name of the operation
---@param now integer|nil  another time than the client's
---@return integer|nil earliest
function State:earliest(name, now)
  return window_reader.default((row_of(name) or {}).window, now or self:now())
end

---@class purser.Limits
---@field pools purser.PoolUse[]

--- Returns what the rate limit's pools hold now, and what blocks them; nil and an error where the store fails.
---@return purser.Limits|nil limits, purser.Error|nil err
function State:limits()
  if not self._rate_limit then return { pools = {} } end
  local pools, message = self._rate_limit:status(self._api_key)
  if pools then return { pools = pools } end
  return nil, errors.new { kind = "throttled", outcome = "not_sent", retryable = true, message = message }
end

--- Waits until what is read is as requested (docs/desk/receive.md).
---@param options purser.WaitOptions
---@return any value, purser.Error|nil err
function State:wait_for(options)
  return build.seams.methods.client.wait_for(self, options)
end

------------------------------------------------------------------------------------------------ what users hold

local methods_of_clients = {}

local function no_client(name)
  error(("call it with a colon, on a client: client:%s(...)"):format(name), 3)
end

for name, method in pairs(State) do
  methods_of_clients[name] = function(client, a, b, c, d, e)
    return method(states[client or no_client(name)] or no_client(name), a, b, c, d, e)
  end
end

-- Returns a hint for a near name, or an operation's place; nil else: `if client.something then` works.
local function meant_by(name)
  if type(name) ~= "string" or name:find "^_" then return nil end
  local groups = {}
  for _, group in ipairs(operations.group_names) do
    if operations.by_name[group .. "." .. name] or methods_[group][name] or build.seams.methods[group][name] then
      groups[#groups + 1] = ("client.%s:%s"):format(group, name)
    end
  end
  if groups[1] then return "; use " .. table.concat(groups, " or ") end
  local near = suggest.find(name, names_of(methods_of_clients, operations.groups), #name / 5)
  return near and (' (did you mean "%s"?)'):format(near)
end

local function refuse(name)
  local meant = meant_by(name)
  if meant then error(('a client has no "%s"%s'):format(name, meant), 3) end
end

return { of_states = State, of_clients = methods_of_clients, refuse = refuse }
