-- SPDX-License-Identifier: MIT
--- The simulator's door over HTTP: endpoints under /sim/ for the methods, and `connect`, whose object asks them.
--
--     local world = assert(purser.sim.connect "http://127.0.0.1:8080")
--     local account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
--
-- The door is open to loopback and closed to web pages: a POST must be application/json, and the Host must be a
-- loopback name, so that no form of another page and no re-bound name gets in.

local views = require "purser.client.util.views"
local core = require "purser.core"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local loopback = require "purser.client.util.loopback"
local plain = require "purser.testing.sim.plain"
local plain_text = require "purser.client.util.plain_text"
local curl = lazy "purser.client.transport.curl"

local M = {}

-- Method, route, and the body's members for the arguments; without members the argument is the body.
local calls = {
  { "account", "POST /sim/accounts" }, { "deposit", "POST /sim/deposits" }, { "rebate", "POST /sim/rebates" },
  { "trade", "POST /sim/trades" }, { "save_address", "POST /sim/saved-addresses" },
  { "freeze", "POST /sim/freeze", "account", "frozen" },
  { "hide", "POST /sim/hidden", "id", "hidden" }, { "fail_transfer", "POST /sim/failures", "transfer" },
  { "set_deposit", "POST /sim/states", "deposit", "status" },
  { "respell", "POST /sim/spellings", "deposit", "members" },
  { "set_withdrawal", "POST /sim/states", "withdrawal", "status" },
  { "release", "POST /sim/releases" },
  { "fault", "POST /sim/faults" }, { "disarm", "DELETE /sim/faults" }, { "faults", "GET /sim/faults", is_list = true },
  { "armed_faults", "GET /sim/armed-faults", is_list = true }, { "requests", "GET /sim/requests", is_list = true },
  { "counts", "GET /sim/counts" }, { "rate_limit", "GET /sim/rate-limit" }, { "state", "GET /sim/state" },
  { "verify", "GET /sim/verify" },
}

-------------------------------------------------------------------------------------------------- the simulator's side

-- The year 2100: no clock of a test needs to be later, and times stay in the range that requests can hold.
local LATEST_MS = 4102444800000

-- Route -> function(sim, body): the answer, or nil and what is wrong, answered as a 400.
local routes = {}

routes["POST /sim/advance"] = function(sim, body)
  local ms = body.ms
  if type(ms) == "string" and ms:find "^%d+$" and #ms < 16 then ms = tonumber(ms) end
  if type(ms) ~= "number" or ms % 1 ~= 0 or ms < 0 then return nil, "ms is not a number of milliseconds from 0 on" end
  if sim:now() + ms > LATEST_MS then return nil, "the clock cannot go past the year 2100; give fewer ms" end
  sim:advance(ms)
  return { now = sim:now() }
end

routes["GET /sim/clock"] = function(sim) return { now = sim:now(), clock = sim.clock.mode } end

-- Calls the method of a route; of several methods the one whose first member is in the body.
local function call(sim, route, body)
  local missing = {}
  for _, row in ipairs(calls) do
    if row[2] == route and (not row[3] or body[row[3]] ~= nil) then
      local answer, wrong
      if row[3] then answer, wrong = sim[row[1]](sim, body[row[3]], body[row[4]])
      else answer, wrong = sim[row[1]](sim, body)
      end
      if row.is_list then return plain.list(answer) end
      if answer == nil and not wrong then answer = {} end
      return answer == true and { ok = true } or answer, wrong
    end
    if row[2] == route then missing[#missing + 1] = row[3] end
  end
  return nil, "the body lacks " .. table.concat(missing, " or ")
end

for _, row in ipairs(calls) do
  routes[row[2]] = function(sim, body) return call(sim, row[2], body) end
end

routes["POST /sim/faults"] = function(sim, body)
  local is_armed, wrong = pcall(sim.fault, sim, body) -- a wrong fault is raised
  return is_armed and { ok = true } or nil, wrong
end

-- Path -> the methods it takes.
local paths = { ["/sim/stop"] = { "POST" } }
for route in pairs(routes) do
  local method, path = route:match "^(%u+) (.*)$"
  paths[path] = paths[path] or {}
  table.insert(paths[path], method)
end
for _, methods in pairs(paths) do table.sort(methods) end

-- Without it a browser might take an answer for a page.
local headers = {
  ["Content-Type"] = "application/json", ["Cache-Control"] = "no-store", ["X-Content-Type-Options"] = "nosniff",
}

--- Returns an answer that holds a plain value as JSON.
function M.respond(status, value)
  return { status = status, headers = headers, body = json.encode(plain.writable(value)) }
end

--- Returns an answer with a fault. The message may quote the request, and the request need not be text.
function M.reject(status, message, ...)
  return M.respond(status, { error = plain_text.clean(message:format(...)) })
end

local function is_loopback(ip) return ip ~= nil and loopback.address((ip:gsub("^::ffff:", ""))) ~= nil end

local function is_loopback_host(host) return loopback.address(((host or ""):gsub(":%d+$", ""))) ~= nil end

local function read_body(request)
  if request.method ~= "POST" or request.body == "" then return {} end
  local body, message, offset = core.decode(request.body)
  if type(body) ~= "table" then
    return nil, ("the body is no JSON object: %s at byte %s"):format(message or "another value", tostring(offset or 0))
  end
  return body
end

--- Lets a request in: returns true, or nil and the answer that rejects it. The simulator's page is asked likewise.
function M.may_enter(request)
  if not is_loopback(request.ip) then return nil, M.reject(403, "only this machine may control the simulator") end
  if not is_loopback_host(request.headers.host) then return nil, M.reject(403, "the Host is not a loopback name") end
  if request.method == "POST" and not (request.headers["content-type"] or ""):find("^application/json") then
    return nil, M.reject(415, "send application/json")
  end
  return true
end

--- Returns the rejection of a Host without a loopback name, as from a web page with a re-bound name.
---@return purser.sim.response|nil
function M.reject_foreign_host(request)
  if is_loopback_host(request.headers.host) then return nil end
  return M.reject(403, "the Host is not a loopback name; `purser sim --any-host` answers any")
end

--- Tells whether a request is for this door.
function M.is_for(request)
  return request.target:find("^/sim/") ~= nil or request.target == "/sim"
end

--- Returns the handler of /sim/ for one simulator. `on_stop` is called when a request asks the server to stop.
---@param sim table
---@param on_stop fun()
---@return fun(request: purser.sim.request): purser.sim.response
function M.handler(sim, on_stop)
  return function(request)
    local ok, rejection = M.may_enter(request)
    if not ok then return rejection end
    local path = request.target:match("^[^?]*")
    if not paths[path] then return M.reject(404, "unknown path %s", path) end
    local route = request.method .. " " .. path
    if route == "POST /sim/stop" then
      on_stop()
      return M.respond(200, { ok = true })
    end
    if not routes[route] then return M.reject(405, "%s takes %s", path, table.concat(paths[path], ", ")) end

    local body, message = read_body(request)
    if not body then return M.reject(400, "%s", message) end
    local answer, wrong = routes[route](sim, body)
    if answer == nil then return M.reject(400, "%s", tostring(wrong)) end
    return M.respond(200, answer)
  end
end

------------------------------------------------------------------------------------------------------- the other side

--- A simulator in another process. Each method returns nil and a problem when the simulator rejects or is out of reach.
---@class purser.SimWorld: purser.Sim
---@field url string
local World = { __name = "purser.sim.world" }
World.__index = World

local function ask(self, route, body)
  local method, path = route:match "^(%u+) (.*)$"
  local response, failure = self.transport:send {
    method = method, base_url = self.url, target = path, headers = { ["Content-Type"] = "application/json" },
    body = method == "POST" and json.encode(plain.writable(body or {})) or "", timeout_ms = 10000,
    at_most_once = method ~= "GET",
  }
  if not response then return nil, ("%s: %s"):format(self.url, failure.message) end
  local value, message = core.decode(response.body)
  if response.status == 400 and type(value) == "table" and value.error then return nil, value.error end
  if response.status ~= 200 then
    local text = type(value) == "table" and (value.error or value.msg) or "no reason given"
    return nil, ("simulator: %s (HTTP %d)"):format(text, response.status)
  end
  if value == nil then return nil, "simulator: the answer cannot be read: " .. tostring(message) end
  return type(value) == "table" and value.ok == true or value
end

for _, row in ipairs(calls) do
  World[row[1]] = function(self, first, second)
    return ask(self, row[2], row[3] and { [row[3]] = first, [row[4] or ""] = second } or first)
  end
end

-- Notes what the simulator's clock shows: a real clock runs with this machine's, a virtual clock stands still.
local function note_clock(self, answer)
  self.mode = answer.clock or self.mode
  self.last = answer.now
  self.offset = self.mode == "real" and answer.now - core.now_ms() or nil
  return answer.now
end

--- Reads the simulator's clock again; needed only when another program may have moved it.
---@return integer|nil ms, string|nil message
function World:refresh()
  local clock, message = ask(self, "GET /sim/clock")
  if not clock then return nil, message end
  return note_clock(self, clock)
end

--- Returns the simulator's time in epoch milliseconds, without asking it: our clock plus the known offset.
---@return integer
function World:now() return self.offset and core.now_ms() + self.offset or self.last end

--- Moves the simulator's clock on, and everything that is due then.
---@param ms integer
---@return integer|nil now, string|nil message
function World:advance(ms)
  local answer, message = ask(self, "POST /sim/advance", { ms = ms })
  if not answer then return nil, message end
  return note_clock(self, answer)
end

--- Asks the simulator to end, and closes the connection.
---@return true|nil, string|nil message
function World:stop()
  local answer, message = ask(self, "POST /sim/stop")
  self:close()
  return answer, message
end

--- Closes the connection; the simulator runs on.
function World:close()
  if self.transport.close then self.transport:close() end
end

--- Does what purser.sim.connect says.
function M.connect(url, options)
  if type(url) ~= "string" then return nil, ("the url is a %s; give http://127.0.0.1:8080"):format(type(url)) end
  local transport, problem = type(options) == "table" and options.transport, nil
  if not transport then transport, problem = curl.new { base_url = url } end
  if not transport then return nil, problem end
  local world = setmetatable({ url = url, transport = transport }, World)
  local now, message = world:refresh()
  if not now then
    world:close()
    return nil, message
  end
  return world
end

views.check_colon(World, "world")

return M
