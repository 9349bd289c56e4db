-- SPDX-License-Identifier: MIT
--- Runs the gateway of examples/openresty with its own configuration, on a free port and with its files elsewhere.

local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local json = require "purser.json"
local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"

local M = {}

local TOKEN = "gateway-test-token"

local function replace(text, what, with)
  local result, count = text:gsub(what, function() return with end)
  assert(count > 0, what .. " is not in nginx.conf")
  return result
end

local function configuration(port, workers, http)
  local pipe = io.popen "pwd"
  local root = pipe:read "*l"
  pipe:close()
  local text = files.read "examples/openresty/nginx.conf"
  text = replace(text, "/usr/lib/nginx/modules", nginx.modules())
  text = replace(text, "127%.0%.0%.1:8080", "127.0.0.1:" .. port)
  text = replace(text, "%$prefix/%.%./%.%./", root .. "/")
  text = replace(text, "%$prefix/", root .. "/examples/openresty/")
  text = replace(text, "gateway%.pid", "nginx.pid")
  text = replace(text, "gateway%.log", "error.log")
  text = replace(text, "worker_connections %d+", "worker_connections " .. nginx.most_connections())
  text = replace(text, "worker_processes %d+", "worker_processes " .. workers)
  if http then text = replace(text, "  server {\n    listen 127", http .. "  server {\n    listen 127") end
  return nginx.user_line() .. text
end

local methods = {}
local meta = { __index = methods }

--- Starts it in front of a simulated service.
---@param sim table      of `service`
---@param account table  { api_key =, secret_key = }
---@param workers integer
---@param http string|nil  more lines of nginx.conf's block `http`
function M.start(sim, account, workers, http)
  local server = nginx.run(function(port) return configuration(port, workers, http) end,
    ("env PURSER_BASE_URL=%s PURSER_API_KEY=%s PURSER_SECRET_KEY=%s GATEWAY_TOKEN=%s")
      :format(sim.url, account.api_key, account.secret_key, TOKEN))
  return setmetatable({ server = server, http = assert(libcurl.easy {}) }, meta)
end

--- A request as a transport takes it.
function methods:request(method, target, body, token)
  return { method = method, base_url = self.server:url(), target = target, body = body or "", timeout_ms = 600000,
    headers = { Authorization = "Bearer " .. (token or TOKEN), ["Content-Type"] = "application/json" } }
end

--- Returns the status, the decoded body and the response.
function methods:ask(method, target, body, token)
  local response = assert(self.http:send(self:request(method, target, body, token)))
  return response.status, core.decode(response.body), response
end

--- The text of an order.
function M.order(reference, amount, address)
  return json.encode(json.object {
    { "reference", reference }, { "coin", "USDT" }, { "network", "TRX" }, { "address", address }, { "amount", amount },
  })
end

function methods:state(reference)
  local _, body = self:ask("GET", "/payouts/" .. reference)
  return body.state, body
end

--- Waits until `reached()` is true; raises when it never is.
function M.wait_until(what, reached) return eventually(reached, nil, what) end

local final = { done = true, failed = true, undecided = true }

--- Waits until a payment has this state, and returns what the gateway says of it.
function methods:wait_for_state(reference, requested)
  local state, body
  M.wait_until(reference .. " is " .. requested, function()
    state, body = self:state(reference)
    if final[state] and state ~= requested then error(("%s is %s and not %s"):format(reference, state, requested)) end
    return state == requested
  end)
  return body
end

--- The process ids of nginx's workers.
function methods:workers()
  local pipe = io.popen(("ps -o pid= --ppid $(cat %s/nginx.pid)"):format(self.server.folder))
  local ids = {}
  for id in pipe:read "*a":gmatch "%d+" do ids[#ids + 1] = id end
  pipe:close()
  return ids
end

function methods:stop()
  self.http:close()
  self.server:stop()
end

return M
