-- SPDX-License-Identifier: MIT
--- The simulator's own door over HTTP: endpoints under /sim/ that do what the methods of the in-process simulator do.
--
-- Accounts appear, deposits arrive, time passes and things go wrong because a test says so. It is open to loopback
-- only, and closed to web pages: a POST must be application/json, and the Host must be a loopback name, so that neither
-- a form on another page nor a re-bound name can reach it.

local core = require "purser.core"
local json = require "purser.json"
local loopback = require "purser.util.loopback"
local to_json = require "purser.sim.to_json"

local M = {}

-- Integers come as integers, and whole numbers that came as text are read; nil for anything else.
local function integer_of(value)
  if type(value) == "string" and value:find("^%-?%d+$") and #value < 16 then value = tonumber(value) end
  return type(value) == "number" and value % 1 == 0 and value or nil
end

-- The year 2100: no clock of a test needs to be later, and times stay in the range that requests can hold.
local LATEST_MS = 4102444800000

local function done() return { ok = true } end

-- Each route: (sim, body) -> answer, or nil and what is wrong. What the simulator raises is answered as a 400, too.
local routes = {}

routes["POST /sim/accounts"] = function(sim, body) return sim:account(body) end
routes["POST /sim/deposits"] = function(sim, body) return sim:deposit(body) end
routes["POST /sim/rebates"] = function(sim, body) return sim:rebate(body) end
routes["POST /sim/trades"] = function(sim, body) return sim:trade(body) end
routes["POST /sim/hidden"] = function(sim, body) return sim:hide(body.id, body.hidden) end
routes["POST /sim/saved-addresses"] = function(sim, body) return sim:save_address(body) end
routes["POST /sim/freeze"] = function(sim, body) return sim:freeze(body) end

routes["POST /sim/advance"] = function(sim, body)
  local ms = integer_of(body.ms)
  if not ms or ms < 0 then return nil, "ms is not a number of milliseconds from 0 on" end
  if sim:now() + ms > LATEST_MS then return nil, "the clock cannot go past the year 2100; give fewer ms" end
  sim:advance(ms)
  return { now = sim:now() }
end

routes["POST /sim/faults"] = function(sim, body)
  sim:fault(body)
  return done()
end

routes["POST /sim/failures"] = function(sim, body)
  if body.withdrawal then return sim:fail_withdrawal(body.withdrawal) end
  if body.transfer then return sim:fail_transfer(body.transfer) end
  return nil, "name the withdrawal or the transfer by its id"
end

routes["POST /sim/states"] = function(sim, body)
  if body.withdrawal then return sim:set_withdrawal(body.withdrawal, body.status) end
  if body.deposit then return sim:set_deposit(body.deposit, body.status) end
  return nil, "name the deposit or the withdrawal by its id"
end

routes["DELETE /sim/faults"] = function(sim)
  sim:disarm()
  return done()
end

routes["GET /sim/faults"] = function(sim) return to_json.list(sim:faults()) end
routes["GET /sim/armed-faults"] = function(sim) return to_json.list(sim:armed_faults()) end
routes["GET /sim/requests"] = function(sim) return to_json.list(sim:requests()) end
routes["GET /sim/counts"] = function(sim) return sim:counts() end

routes["GET /sim/rate-limit"] = function(sim) return sim:rate_limit() or {} end
routes["GET /sim/state"] = function(sim) return sim:state() end
routes["GET /sim/clock"] = function(sim) return { now = sim:now(), clock = sim.clock.mode } end

routes["GET /sim/verify"] = function(sim)
  local sound, wrong = sim:verify()
  return { sound = sound == true, wrong = not sound and tostring(wrong) or nil }
end

-- Which paths there are, with the methods each takes.
local paths = {}
for route in pairs(routes) do
  local method, path = route:match("^(%u+) (.*)$")
  paths[path] = paths[path] or {}
  table.insert(paths[path], method)
end
paths["/sim/stop"] = { "POST" }
for _, methods in pairs(paths) do table.sort(methods) end

-- Without it a browser might take an answer for a page.
local headers = {
  ["Content-Type"] = "application/json", ["Cache-Control"] = "no-store", ["X-Content-Type-Options"] = "nosniff",
}

local function respond(status, value)
  return {
    status = status, headers = headers,
    body = json.encode(to_json.writable(value)),
  }
end

-- The message may quote the request, whose bytes need not be text.
local function reject(status, message, ...)
  local text = message:format(...):gsub("[^\32-\126]", function(byte) return ("\\x%02X"):format(byte:byte()) end)
  return respond(status, { error = text })
end

local function is_loopback(ip)
  return ip ~= nil and loopback.is((ip:gsub("^::ffff:", "")))
end

local function is_loopback_host(host)
  return loopback.is(((host or ""):lower():gsub(":%d+$", "")))
end

local function read_body(request)
  if request.method ~= "POST" or request.body == "" then return {} end
  local body, message, offset = core.decode(request.body)
  if type(body) ~= "table" then
    return nil, ("the body is no JSON object: %s at byte %s"):format(message or "another value", tostring(offset or 0))
  end
  return body
end

local function may_enter(request)
  if not is_loopback(request.ip) then return nil, reject(403, "only this machine may control the simulator") end
  if not is_loopback_host(request.headers.host) then
    return nil, reject(403, "the Host is not a loopback name")
  end
  if request.method == "POST" and not (request.headers["content-type"] or ""):find("^application/json") then
    return nil, reject(415, "send application/json")
  end
  return true
end

-- The simulator's page has the same door-keeper and the same form of answers.
M.may_enter, M.respond, M.reject = may_enter, respond, reject

--- The rejection of a request whose Host is another machine's name: a web page whose name was bound to this machine
--- sends such. Nil when the Host is a loopback name.
---@return purser.sim.response|nil
function M.reject_foreign_host(request)
  if is_loopback_host(request.headers.host) then return nil end
  return reject(403, "the Host is not a loopback name; `purser sim --any-host` answers any")
end

--- Whether a request is for this door.
function M.is_for(request)
  return request.target:find("^/sim/") ~= nil or request.target == "/sim"
end

--- The handler of /sim/ for one simulator. `on_stop` is called when a request asks the server to stop.
---@param sim table
---@param on_stop fun()
---@return fun(request: purser.sim.request): purser.sim.response
function M.handler(sim, on_stop)
  return function(request)
    local ok, rejection = may_enter(request)
    if not ok then return rejection end
    local path = request.target:match("^[^?]*")
    if not paths[path] then return reject(404, "unknown path %s", path) end
    local route = request.method .. " " .. path
    if route == "POST /sim/stop" then
      on_stop()
      return respond(200, done())
    end
    if not routes[route] then return reject(405, "%s takes %s", path, table.concat(paths[path], ", ")) end

    local body, message = read_body(request)
    if not body then return reject(400, "%s", message) end
    local went, response = pcall(function()
      local answer, wrong = routes[route](sim, body)
      if answer == nil then return reject(400, "%s", tostring(wrong)) end
      return respond(200, answer)
    end)
    return went and response or reject(400, "%s", tostring(response))
  end
end

return M
