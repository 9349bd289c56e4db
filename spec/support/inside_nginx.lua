-- SPDX-License-Identifier: MIT
--- An nginx that runs the Lua code it is sent, with Purser on LuaJIT: for what works inside nginx alone. It runs one
--- timer of Lua at a time, and drops the others without a word.
--
--   local inside = require("inside_nginx").start()
--   inside:run "return ngx.get_phase()"           what the code returns, as text; `transport` is what `made` made
--   inside:stop()

local curl = require "purser.client.transport.curl"
local files = require "files"
local nginx = require "nginx"

local CONF = [[
lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;;";
lua_package_cpath "${ROOT}/build/luajit/?.so;;";
lua_max_running_timers 1;
init_by_lua_block { in_init = { ${MADE} } }
init_worker_by_lua_block { made = function() return ${MADE} end }
server {
  listen 127.0.0.1:${PORT};
  client_body_buffer_size 64k;
  location = /run {
    content_by_lua_block {
      ngx.req.read_body()
      transport = transport or assert(made())
      local found = { assert(loadstring(ngx.req.get_body_data()))() }
      for i, value in ipairs(found) do found[i] = tostring(value) end
      ngx.print(table.concat(found, " "))
    }
  }
}
]]

local methods = {}
methods.__index = methods

local M = {}

---@param made string  the expression that makes the transport
function M.start(made)
  local server = nginx.start(CONF, { ROOT = files.output_of("pwd"):match "[^\n]+", MADE = made })
  return setmetatable({ server = server, http = assert(curl.new { base_url = server:url() }) }, methods)
end

--- Returns what the code returns, as text. `${name}` in it stands for a value of `values`.
function methods:run(code, values)
  local filled = code:gsub("%${([^}]*)}", function(name)
    return ("%q"):format(tostring(assert(values[name], name)))
  end)
  local response = assert(self.http:send { method = "POST", target = "/run", body = filled, timeout_ms = 60000 })
  if response.status ~= 200 then error(self.server:errors(), 0) end
  return response.body
end

--- Makes the transport again, with no connection.
function methods:renew()
  self:run "transport:close() transport = assert(made())"
end

--- One exchange of the transport: the status, or kind, outcome, phase and how often the request was sent.
---@param request string  the members of a table, as Lua; base_url stands before them
function methods:exchange(url, request)
  return self:run([[
    local response, failure = transport:send { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000, ]]
    .. request .. [[ }
    if response then return response.status, response.body end
    return failure.kind, failure.outcome, failure.phase or "-", failure.sends]], { URL = url })
end

function methods:stop()
  self.http:close()
  self.server:stop()
end

return M
