-- SPDX-License-Identifier: MIT
--- Faults between a request and the answer, armed on purpose and drawn from one seed: `before` draws a request's fault
-- before the execution, `after` does a later fault. The record of a fault says whether the operation was applied.

local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local plain = require "purser.testing.sim.plain"
local prng = require "purser.testing.sim.prng"
local purser = require "purser"
local suggest = require "purser.client.util.suggest"
local render = require "purser.testing.sim.render"

local M = {}

local function respond(status, content_type, body)
  return { status = status, headers = { ["Content-Type"] = content_type }, body = body }
end

local function json(status, body) return respond(status, "application/json", body) end

local function page(status, title)
  return respond(status, "text/html",
    ("<html><head><title>%d %s</title></head><body><h1>%s</h1></body></html>\n"):format(status, title, title))
end

-- garbage[form](fault, row, response, is_live): an answer that is none; no `response` before the operation is applied.
local garbage = {
  html = function() return page(403, "Access Denied") end,
  empty = function() return json(200, "") end,
  invalid_utf8 = function(_, row) return json(200, render.sample(row, '"\255\254\192\175"')) end,
  deep = function() return json(200, ("["):rep(100000)) end,
  huge = function(fault) return json(200, '["' .. ("x"):rep(fault.bytes or 20 * 1024 * 1024) .. '"]') end,
  wrong_types = function(_, row) return json(200, render.sample(row, '{"x":[[]]}')) end,
}
local LONG_NUMBER = ("1234567890"):rep(4)
local titles = { [500] = "Internal Server Error", [502] = "Bad Gateway", [503] = "Service Unavailable" }

-- The numbers are absurd, but a rejection stays a rejection.
function garbage.long_numbers(_, row, response, is_live)
  if response and not response.code then return json(200, render.sample(row, LONG_NUMBER)) end
  local _, body = render.rejection(LONG_NUMBER, nil, is_live, row)
  return json(400, body)
end

local garbage_forms = { "html", "empty", "invalid_utf8", "deep", "huge", "wrong_types", "long_numbers" }

local function pause(status, message, seconds)
  return function(fault, row, _, is_live)
    local _, body = render.rejection(status, message, is_live, row)
    local answer = json(status, body)
    answer.headers["Retry-After"] = ("%d"):format(fault.retry_after or seconds)
    return answer
  end
end

-- The default code of a rejection: nothing was done.
local REJECTION = "730002"

local function at_least(number) return { number, 2 ^ 31 - 1 } end

local BEFORE, AFTER, EITHER = { "before" }, { "after" }, { "either", "before", "after" }

-- Kinds of faults: the times of a strike (the first is the default), rules of the kind's options, and `answer`.
local kinds = {
  reject = {
    when = BEFORE, rules = { code = "string", message = "string" },
    answer = function(fault, row, _, is_live)
      local status, body = render.rejection(fault.code or REJECTION, fault.message, is_live, row)
      local answer = json(status, body)
      answer.code = tostring(fault.code or REJECTION)
      return answer
    end,
  },
  lost_answer = { when = AFTER, rules = {}, answer = function() return { status = 200, fault = "close" } end },
  reset = { when = EITHER, rules = {}, answer = function() return { status = 200, fault = "reset" } end },
  truncate = {
    when = AFTER, rules = {},
    answer = function(_, _, response)
      local cut = plain.copy(response)
      cut.fault = "truncate"
      return cut
    end,
  },
  slow = {
    when = AFTER, rules = { delay_ms = at_least(0), drip_bytes = at_least(1), drip_ms = at_least(1) },
    answer = function(fault, _, response)
      local late = plain.copy(response)
      if fault.drip_ms then
        late.fault, late.drip_ms, late.drip_bytes = "drip", fault.drip_ms, fault.drip_bytes
      end
      late.delay_ms = fault.delay_ms or not fault.drip_ms and 1000 or nil
      return late
    end,
  },
  -- A gateway sent the request twice, and hands on the second answer (requests.lua executes the copy).
  ["repeat"] = { when = AFTER, rules = {}, answer = function(_, _, response) return plain.copy(response) end },
  throttle = { when = BEFORE, rules = { retry_after = at_least(0) }, answer = pause(429, "Too many requests", 1) },
  ban = { when = BEFORE, rules = { retry_after = at_least(0) }, answer = pause(418, "IP address is banned", 120) },
  server_error = {
    when = EITHER, rules = { status = "number" },
    answer = function(fault)
      if fault.status == 500 then return json(500, '{"code":500,"msg":"Internal error"}') end
      return page(fault.status, titles[fault.status])
    end,
  },
  garbage = {
    when = EITHER, rules = { form = garbage_forms, bytes = at_least(0) },
    answer = function(fault, ...) return garbage[fault.form](fault, ...) end,
  },
}

---@class purser.SimFault
---@field kind "reject"|"lost_answer"|"reset"|"truncate"|"slow"|"repeat"|"throttle"|"ban"|"server_error"|"garbage"
---@field operation string|nil  a full name, an id, a group or an effect. Default: any operation
---@field times integer|nil     how often it strikes. Default: once; without end where a probability is given
---@field probability number|nil  from 0 to 1, drawn for every request it could strike
---@field skip integer|nil      how many such requests pass first. Default: 0
---@field when "before"|"after"|"either"|nil  the operation is applied; for reset, server_error and garbage
---@field code string|integer|nil  reject
---@field message string|nil    reject
---@field retry_after integer|nil  throttle, ban: seconds
---@field delay_ms integer|nil  slow
---@field drip_ms integer|nil   slow: pause between two pieces of the body
---@field drip_bytes integer|nil  slow: bytes of a piece
---@field status integer|nil    server_error: 500, 502 or 503
---@field form string|nil       garbage: html empty invalid_utf8 deep huge wrong_types long_numbers
---@field bytes integer|nil     garbage: of the form huge

local common_rules = {
  kind = "string", operation = "string", times = at_least(1), probability = "number", skip = at_least(0),
}

---------------------------------------------------------------------------------------------------------- arming

--- The kinds of faults, in order of their names.
M.kinds = names_of(kinds)

local function fail(message, ...)
  error("purser.sim: fault: " .. message:format(...), 0)
end

-- Returns a value of the right type: a code may be a number, and a probability a text, which has a point everywhere.
local function read_value(name, value)
  if name == "code" and type(value) == "number" then return ("%d"):format(value) end
  if name ~= "probability" or type(value) ~= "string" then return value end
  local whole, places = value:match "^([01])%.?(%d*)$"
  return whole and #places <= 14 and tonumber(whole .. places) / 10 ^ #places or value
end

local rows = purser.operations

-- Returns the set of the full names of `operation`: a full name, an id, a group, or an effect; nil for any operation.
local function operations_of(requested)
  if requested == nil then return nil end
  local names, known = {}, {}
  for name, row in pairs(rows) do
    if type(name) == "string" then
      known[#known + 1] = name
      if requested == name or requested == row.id or requested == row.group or requested == row.effect then
        names[name] = true
      end
    end
  end
  table.sort(known)
  if next(names) == nil then fail("unknown operation %q%s", requested, suggest.hint(requested, known)) end
  return names
end

local function check_options(given, rules, label)
  local message = option_schema.text(given, rules, label)
  if message then fail("%s", message) end
end

local function check_fault(spec)
  if type(spec) ~= "table" then fail("it is armed by a table") end
  check_options({ kind = spec.kind or "" }, { kind = M.kinds }, "option")
  local kind = kinds[spec.kind]
  local rules, fault = { when = kind.when }, {}
  for _, some in ipairs { common_rules, kind.rules } do
    for name, rule in pairs(some) do rules[name] = rule end
  end
  for name, value in pairs(spec) do fault[name] = read_value(name, value) end
  check_options(fault, rules, spec.kind .. " option")
  fault.when = fault.when or kind.when[1]
  if fault.status and not titles[fault.status] then fail("status is not 500, 502 or 503") end
  if fault.probability and not (fault.probability >= 0 and fault.probability <= 1) then
    fail("probability is not between 0 and 1")
  end
  -- a whole number, so that a snapshot repeats the same faults
  fault.threshold = fault.probability and math.ceil(fault.probability * prng.MODULUS)
  return fault
end

--- Returns the faults of one simulator, plain data: none armed, none injected yet; or those of a snapshot.
---@param seed integer
---@param saved table|nil
function M.new(seed, saved)
  saved = saved or { armed = {}, injected = {} }
  saved.dice = prng.new(seed, "faults", saved.dice)
  return saved
end

--- The methods of a simulator that are about faults.
---@class purser.Sim
local methods = {}
M.methods = methods

--- Arms a fault; raises when a word of it is unknown.
---@param spec purser.SimFault
---@return true
function methods:fault(spec)
  local fault = check_fault(spec)
  fault.names = operations_of(fault.operation)
  fault.left = fault.times or not fault.probability and 1 or nil
  fault.passes = fault.skip or 0
  fault.probability = nil
  table.insert(self.fault_state.armed, fault)
  return true
end

--- Disarms all faults. What was injected stays on record.
---@return true
function methods:disarm()
  self.fault_state.armed = {}
  return true
end

--- Returns the faults that are armed and not used up; `left` is nil where it has no end.
---@return { kind: string, operation: string|nil, when: string, left: integer|nil }[]
function methods:armed_faults()
  local list = {}
  for i, fault in ipairs(self.fault_state.armed) do
    list[i] = { kind = fault.kind, operation = fault.operation, when = fault.when, left = fault.left }
  end
  return list
end

--- Returns the injected faults in order: { number, time, kind, when, operation, target, applied }, and form or status.
---@return table[]
function methods:faults() return plain.copy(self.fault_state.injected) end

---------------------------------------------------------------------------------------------------------- striking

local function strikes(state, fault, row)
  if fault.names and not fault.names[row.full_name] then return false end
  if fault.passes > 0 then
    fault.passes = fault.passes - 1
    return false
  end
  return not fault.threshold or state.dice:next() < fault.threshold
end

-- Returns the fault that this request meets, with everything that chance decides chosen, or nil.
local function draw(state, row)
  for i, fault in ipairs(state.armed) do
    if strikes(state, fault, row) then
      if fault.left then fault.left = fault.left - 1 end
      if fault.left == 0 then table.remove(state.armed, i) end
      local drawn = plain.copy(fault)
      if drawn.kind == "garbage" then drawn.form = drawn.form or garbage_forms[state.dice:roll(#garbage_forms)] end
      if drawn.kind == "server_error" then drawn.status = drawn.status or ({ 500, 502, 503 })[state.dice:roll(3)] end
      if drawn.when == "either" then
        -- A firewall stands in front of the service; the rest of the garbage comes out of it.
        if drawn.kind == "garbage" then drawn.when = drawn.form == "html" and "before" or "after"
        else drawn.when = state.dice:roll(2) == 1 and "before" or "after"
        end
      end
      return drawn
    end
  end
end

local function inject(sim, fault, row, request, response)
  local injected = sim.fault_state.injected
  local record = {
    number = #injected + 1, time = sim:now(), kind = fault.kind, when = fault.when,
    operation = row.full_name, target = request.target and request.target:match("^[^?]*"), form = fault.form,
    status = fault.status, applied = response ~= nil and (response.code == nil or response.was_applied == true),
  }
  injected[record.number] = record
  local answer = kinds[fault.kind].answer(fault, row, response, sim.is_live)
  answer.injected = record
  return answer
end

--- Called before a request is executed. Returns the answer of a fault that keeps it from being executed, or nil.
-- `row` is nil for what is no operation (ping, unknown paths): nothing strikes those.
function M.before(sim, row, request)
  local fault = row and draw(sim.fault_state, row)
  if fault and fault.when == "before" then return inject(sim, fault, row, request, nil) end
  request.fault = fault
end

--- Tells whether a gateway sends the request a second time.
function M.is_repeated(request) return request.fault ~= nil and request.fault.kind == "repeat" end

--- Called with the answer of a request that was executed or rejected (a rejection has `code`). Returns what is sent.
function M.after(sim, row, request, response)
  return request.fault and inject(sim, request.fault, row, request, response) or response
end

return M
