-- SPDX-License-Identifier: MIT
--- Puts a handler behind HTTP: answers at once or after the answer's delay, while further requests go on.

local control = require "purser.testing.sim.control"
local heap = require "purser.client.util.heap"
local httpd = require "purser.httpd"
local lazy = require "purser.client.util.lazy"
local console = lazy "purser.testing.sim.console"

local M = {}

local MAX_WAIT_MS = 100 -- how late `stop` may be noticed while nothing happens

---@class purser.sim.request
---@field id integer
---@field method string
---@field target string  path and query as they were sent, nothing decoded
---@field headers table<string, string>  lower-case names
---@field body string
---@field ip string

---@class purser.sim.response
---@field status integer
---@field headers? table<string, string>
---@field body? string
---@field delay_ms? integer  milliseconds before anything is sent
---@field fault? "close"|"reset"|"truncate"|"drip"  how the answer goes wrong
---@field drip_bytes? integer  bytes of one piece of a dripping body, default 1
---@field drip_ms? integer  milliseconds between two pieces, default 20

---@class purser.sim.serve_options
---@field host? string  a loopback address. Default: "127.0.0.1"
---@field port? integer  default 0: any that is free
---@field on_listen? fun(port: integer)
---@field stop? fun(): boolean  asked once a turn, at least ten times a second
---@field idle_timeout_ms? integer
---@field on_error? fun(problem: any, request: purser.sim.request)  the handler raised an error
---@field now_ms? fun(): integer  the clock by which answers are late. Default: the machine's

local function answer(server, id, response)
  local fault, headers, body = response.fault, response.headers, response.body
  if not fault then return server:respond(id, response.status, headers, body) end
  if fault == "close" or fault == "reset" then return server:fail(id, fault) end
  return server:fail(id, fault, response.status, headers, body, response.drip_bytes, response.drip_ms)
end

-- Asks the handler. An error of the handler is the answer 500: a request must not end the server for all.
local function ask(handler, request, on_error)
  local ok, response = pcall(handler, request)
  if ok then return response end
  if on_error then on_error(response, request) end
  local headers = { ["Content-Type"] = "text/plain" }
  return { status = 500, headers = headers, body = "the simulator failed at this request\n" }
end

local function loop(server, handler, options)
  local timers, count = {}, 0 -- a heap of answers by the time they are due
  local served, idle_since = 0, httpd.now_ms()
  local stop, idle_timeout_ms, now_ms = options.stop, options.idle_timeout_ms, options.now_ms or httpd.now_ms

  while not (stop and stop()) do
    local now = httpd.now_ms()
    while timers[1] and timers[1].at <= now_ms() do
      local entry = heap.pop(timers)
      answer(server, entry.id, entry.response)
      idle_since = now
    end
    if idle_timeout_ms and not timers[1] and now - idle_since >= idle_timeout_ms then break end

    local wait = MAX_WAIT_MS
    if timers[1] then wait = math.max(0, math.min(wait, timers[1].at - now_ms())) end
    if idle_timeout_ms and not timers[1] then wait = math.min(wait, idle_since + idle_timeout_ms - now) end
    local request = server:next(wait)
    if request then
      local response = ask(handler, request, options.on_error)
      served = served + 1
      idle_since = httpd.now_ms()
      if response.delay_ms and response.delay_ms > 0 then
        count = count + 1
        heap.push(timers, { at = now_ms() + response.delay_ms, order = count, id = request.id, response = response })
      else
        answer(server, request.id, response)
      end
    end
  end
  return served
end

--- Serves until `options.stop()` returns true or nothing was asked for `options.idle_timeout_ms`. Connections that are
--- still open end then. An error of the handler is answered with 500 and goes to `options.on_error`. A response that
--- cannot be sent closes the server and raises an error.
---@param handler fun(request: purser.sim.request): purser.sim.response
---@param options? purser.sim.serve_options
---@return integer? served, string? message  how many requests the handler saw; nil when the port cannot be had
---@return string? cause  "in_use" or "remote", where it is one of these
function M.run(handler, options)
  options = options or {}
  local server, message, cause = httpd.listen { host = options.host, port = options.port }
  if not server then return nil, message, cause end

  local ok, result = pcall(function()
    if options.on_listen then options.on_listen(server:port()) end
    return loop(server, handler, options)
  end)
  server:close()
  if not ok then error(result, 0) end
  return result
end

---@class purser.sim.world_options: purser.sim.serve_options
---@field control? boolean   the endpoints under /sim/, and the page /console. Default: true
---@field any_host? boolean  answers the service's paths whatever name the Host of a request is. Default: false

--- Serves a simulator as `run` serves a handler, until it is told to stop: by `options.stop`, by POST /sim/stop, or by
--- a signal that httpd.catch_signals caught. An advance of the clock shortens the delay of late answers.
function M.world(sim, options)
  local stopped, all = false, {}
  for name, value in pairs(options) do all[name] = value end
  local door = options.control ~= false and control.handler(sim, function() stopped = true end)
  local page = door and console.handler(sim)
  function all.now_ms() return httpd.now_ms() + sim.clock.offset end
  function all.stop() return stopped or httpd.signalled() or options.stop ~= nil and options.stop() end
  return M.run(function(request)
    if door and control.is_for(request) then return door(request) end
    if page and console.is_for(request) then return page(request) end
    return not options.any_host and control.reject_foreign_host(request) or sim:handle(request)
  end, all)
end

return M
