-- SPDX-License-Identifier: MIT
--- Checks what docs/client/transports.md promises of a transport: at most one send, outcomes, time, bounds, names, kept
-- connections, closing. Against a hostile service of its own, on loopback.
--
--     local check = require "transport_check"
--     local service = assert(check.start())
--     local report = check.run(service, function(options) return my_transport(options) end)
--     print(report)                       -- a line for each check, and `N passed, N failed`
--     service:stop()
--
-- In a host with a loop, `run` is called where its transport can wait; the service is a program of its own.

local cases = require "transport_check.cases"
local core = require "purser.core"
local curl = require "purser.client.transport.curl"
local schedule = require "purser.schedule"
local start = require "transport_check.start"

-- Starts the hostile service: see transport_check/start.lua.
local M = { start = start.start }

local methods = {}
methods.__index = methods

local TIMEOUT_MS = 20000
local ids = 0

--- Raises what is wrong, as the message of the running check.
function methods:fail(...) -- luacheck: ignore self
  error({ wrong = (...):format(select(2, ...)) }, 0)
end

function methods:expect(fact, ...)
  if not fact then self:fail(...) end
end

--- A transport of the user's, closed when the check ends.
function methods:transport(options)
  local transport, message = self.new(options or {})
  self:expect(type(transport) == "table" and type(transport.send) == "function", "no transport was made: %s",
    tostring(message))
  self.open[#self.open + 1] = transport
  return transport
end

--- Returns what came to the service for an exchange: received, connection, sent, ended, raw.
function methods:count(exchange)
  local response, failure = self.control:send { method = "GET", base_url = self.url, target = "/count/" .. exchange.id,
    timeout_ms = TIMEOUT_MS }
  self:expect(response, "the hostile service does not answer: %s", failure and failure.message)
  local received, connection, sent, ended, raw = response.body:match "^(%d+) (%d+) (%d+) (%l+) (%x*)$"
  return { received = tonumber(received), connection = tonumber(connection), sent = tonumber(sent),
    ended = ended == "ended", raw = (raw:gsub("%x%x", function(hex) return string.char(tonumber(hex, 16)) end)) }
end

local function check_response(self, response)
  self:expect(type(response.status) == "number" and response.status % 1 == 0, "the response has no status")
  self:expect(type(response.body) == "string", "the body of the response is no string")
  local kind = type(response.headers)
  self:expect(kind == "string" or kind == "table", "the response has no headers")
end

local function check_failure(self, failure)
  self:expect(type(failure) == "table", "`send` returned neither a response nor a failure")
  self:expect(type(failure.message) == "string" and failure.message ~= "", "the failure has no message")
  local outcome = failure.outcome
  self:expect(outcome == "unknown" or outcome == "not_sent", "the outcome is %s", tostring(outcome))
end

-- Checks that what is said of an exchange agrees with what came to the service.
local function check_truth(self, exchange)
  local request, response, failure = exchange.request, exchange.response, exchange.failure
  local received = self:count(exchange).received
  if request.at_most_once then
    self:expect(received <= 1, "the request was sent %d times, and it must be sent once at most", received)
  end
  if response then self:expect(received > 0, "there is a response to a request that never came") end
  if failure and failure.outcome == "not_sent" then
    self:expect(received == 0, "the outcome is not_sent, and the request came")
  end
end

--- Sends a request to be answered as `behaviour` says, and checks that the truth is given about it. Its `response`,
--- `failure` and `ms`.
---@param changes? table  of the request; `query` goes after its target
function methods:exchange(transport, behaviour, changes)
  ids = ids + 1
  local exchange = { id = ("%d%06d"):format(core.now_ms(), ids % 1000000) }
  local request = { method = "GET", base_url = self.url, target = ("/%s/%s"):format(behaviour, exchange.id),
    headers = { ["User-Agent"] = "check" }, body = "", timeout_ms = TIMEOUT_MS, at_most_once = false, brief = false,
    operation = "check." .. behaviour }
  for name, value in pairs(changes or {}) do request[name] = value end
  request.target, request.query = request.target .. (request.query or ""), nil
  exchange.request = request
  local started = core.monotonic_ms()
  local ok, response, failure = schedule.protect(transport.send, transport, request)
  exchange.ms = core.monotonic_ms() - started
  self:expect(ok, "`send` raised an error: %s", tostring(response))
  if response then check_response(self, response) else check_failure(self, failure) end
  exchange.response, exchange.failure = response or nil, not response and failure or nil
  if not changes or not changes.base_url then check_truth(self, exchange) end
  return exchange
end

--- One that must be answered.
function methods:answered(transport, behaviour, changes)
  local exchange = self:exchange(transport, behaviour, changes)
  if exchange.failure then self:fail("no response to /%s: %s", behaviour, exchange.failure.message) end
  return exchange
end

--- One that must fail, with this outcome. Where its time runs out before anything was sent, which a busy machine can
--- bring about, it is tried again with four times as long, up to `latest_ms`.
---@param latest_ms? integer
function methods:failed(transport, behaviour, outcome, changes, latest_ms)
  local exchange = self:exchange(transport, behaviour, changes)
  local longer = 4 * exchange.request.timeout_ms
  if longer <= (latest_ms or 0) and exchange.failure and exchange.failure.outcome == "not_sent" then
    changes.timeout_ms = longer
    return self:failed(transport, behaviour, outcome, changes, latest_ms)
  end
  if exchange.response then
    self:fail("a response of status %d was returned for /%s, where %s", exchange.response.status, behaviour,
      outcome == "not_sent" and "nothing may be sent" or "no whole answer came")
  end
  self:expect(exchange.failure.outcome == outcome, "the outcome of /%s is %s and must be %s: %s", behaviour,
    exchange.failure.outcome, outcome, exchange.failure.message)
  return exchange
end

local report_meta = {}

function report_meta:__tostring()
  local lines = {}
  for _, case in ipairs(self.cases) do
    lines[#lines + 1] = (case.ok and "ok   " or "BAD  ") .. case.name .. (case.message and ": " .. case.message or "")
  end
  lines[#lines + 1] = ("%d passed, %d failed"):format(self.passed, self.failed)
  return table.concat(lines, "\n")
end

local function run_case(self, case)
  self.open = {}
  local ok, problem = schedule.protect(case.run, self)
  local closed, why = true, nil
  for _, transport in ipairs(self.open) do
    if transport.close then closed, why = schedule.protect(transport.close, transport) end
  end
  if not ok then return type(problem) == "table" and problem.wrong or "an error: " .. tostring(problem) end
  return not closed and "`close` raised an error: " .. tostring(why) or nil
end

---@class transport_check.report
---@field passed integer
---@field failed integer
---@field cases { name: string, ok: boolean, message: string? }[]

--- Runs the checks. `service`: of `start`, or a table with its `url` and `tls`; without `tls` that part is left out.
-- `new(options)` makes a transport; options are given only for TLS, `ca_file`. `only`: a pattern for names of checks.
---@param service { url: string, tls: table|nil }
---@param new fun(options: table): table|nil, string|nil
---@param options? { only: string?, notify: (fun(case: table))? }
---@return transport_check.report
function M.run(service, new, options)
  options = options or {}
  local self = setmetatable({ url = service.url, tls = service.tls, new = new, control = assert(curl.new {}) }, methods)
  local report = setmetatable({ passed = 0, failed = 0, cases = {} }, report_meta)
  for _, case in ipairs(cases) do
    if (self.tls or not case.tls) and (not options.only or case.name:find(options.only)) then
      local message = run_case(self, case)
      report[message and "failed" or "passed"] = report[message and "failed" or "passed"] + 1
      report.cases[#report.cases + 1] = { name = case.name, ok = not message, message = message }
      if options.notify then options.notify(report.cases[#report.cases]) end
    end
  end
  self.control:close()
  return report
end

return M
