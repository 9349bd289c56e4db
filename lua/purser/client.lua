-- The client: what users hold. Its groups have one method an operation, made from the rows; the pipeline runs them all.

local errors = require "purser.errors"
local furnish = require "purser.furnish"
local interpret = require "purser.interpret"
local operations = require "purser.operations"
local options_ = require "purser.options"
local pipeline = require "purser.pipeline"

local run, unsigned = pipeline.run, pipeline.unsigned

local Client = { __name = "purser.client" }
Client.__index = Client

local M = {}

local function row_of(name)
  local row = operations.by_name[name] or unsigned[name]
  if row then return row end
  local names = {}
  for _, known in ipairs(operations.list) do names[#names + 1] = known.full_name end
  return nil, errors.argument(nil, ('operation "%s" is not known%s'):format(tostring(name),
    require("purser.nearest").hint(tostring(name), names)))
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

--- Checks, builds and signs a request without sending it. With `info` in opts, `info.intent` is what client:parse and
--- client:settle take of what is not a read.
---@param name string  full name of the operation
---@return purser.Request|nil request, purser.Error|nil err
function Client:prepare(name, params, opts)
  local row, err = row_of(name)
  if not row then return nil, err end
  opts = opts or pipeline.no_options
  local values, layout = pipeline.check_call(self, row, params, opts)
  if not values then return nil, layout end
  local refusal = row.effect ~= "read" and self._guard and self._guard:check_prepared(row, values)
  if refusal then return nil, refusal end
  local request
  request, err = pipeline.build(self, row, layout, values, opts)
  if not request then
    err.operation = row.full_name
    return nil, err
  end
  local headers = {}
  for header, value in pairs(request.headers) do headers[header] = value end
  if opts.info and row.effect ~= "read" then
    opts.info.intent = require("purser.recording").intent_of(self, row, values, opts)
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
---@param headers string|table|nil  raw header block or map
---@param intent purser.Intent|nil  `info.intent` of client:prepare: with it an error of unknown outcome can be settled
---@return any result, purser.Error|nil err
function Client:parse(name, status, body, headers, intent)
  local row, err = row_of(name)
  if not row then return nil, err end
  if row.unsigned then return interpret.unsigned_answer(row, { status = status, body = body, headers = headers }) end
  local value
  value, err = interpret.answer(row, self.profile.success_codes, status, body, headers)
  if value ~= nil then return value end
  if err.outcome == "unknown" and row.settle then
    intent = intent_for(row, intent)
    err.settle, err.intent = require("purser.settling").advice(row, intent and intent.params), intent
  end
  return nil, err
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
    now = function() return (assert(pipeline.read_clock(self))) end,
    correction = function() return self._clock.offset end,
    pause = function(ms) pipeline.pause(self, ms) end,
    signs_as = function(account) return require("purser.recording").signs_as(self, account) end,
    rivals = require("purser.recording").rivals_of(self), journal = self._journal,
    lag_ms = self._lag_ms, recv_window = self._recv_window or 5000,
  }, unsettled, options)
end

--- The name under which the journal keeps what this client does: its option `account`, or a digest of its API key.
---@return string
function Client:account()
  if self._account then return self._account end
  if not self._api_key and self._credentials then pipeline.refresh_credentials(self) end
  return require("purser.intent").account_of(self._api_key or "")
end

-- For purser.payouts: how long after a request was stamped its record must be visible (ms), and whether the account
-- has a name of its own or is that of the API key.
function Client:_visible_ms(lag_ms)
  return (self._recv_window or 5000) + 1000 + (lag_ms or self._lag_ms)
end

function Client:_has_account() return self._account ~= nil end

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
  return assert(pipeline.read_clock(self))
end

--- Rests as the client's transport does: the other tasks go on, and a simulator's clock is moved.
---@param ms integer
function Client:sleep(ms)
  pipeline.pause(self, ms)
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
      local hint = require("purser.nearest").hint(tostring(name), names)
      error(('client.%s has no operation "%s"%s'):format(group, tostring(name), hint), 2)
    end,
  }
end

--- Makes a client. See docs/getting-started.md for the options.
---@param options table
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options)
  local complaint = options_.check(options)
  if complaint then return nil, errors.config(complaint) end
  local self = {}
  complaint = furnish.furnish(self, options)
  if complaint then
    if self._signer then self._signer:close() end
    return nil, errors.config(complaint)
  end
  for group, group_type in pairs(group_types) do self[group] = setmetatable({ _client = self }, group_type) end
  return setmetatable(self, Client)
end

return M
