-- SPDX-License-Identifier: MIT
--- nginx with a canned answer of 20 deposit records: at once, over TLS, and under /slow after a service time.

local certificates = require "certificates"
local free_port = require "free_port"
local nginx = require "nginx"
local records = require "bench.records"

local M = {}

local CONF = [[
access_log off;
keepalive_requests 100000000;
lua_package_path ";;";
ssl_certificate ${crt};
ssl_certificate_key ${key};
default_type application/json;
init_by_lua_block {
  local body = io.open("${answer}"):read "*a"
  function answer()
    ngx.header.content_length = #body
    ngx.print(body)
  end
}
server {
  listen 127.0.0.1:${PORT} reuseport backlog=1024;
  listen 127.0.0.1:${TLS} ssl backlog=1024;
  location / { content_by_lua_block { answer() } }
  location /slow/ { content_by_lua_block { ngx.sleep(${SECONDS}) answer() } }
}
]]

--- Starts it. `command` goes in front of nginx's own.
---@param service_ms integer
---@param command string|nil
function M.start(service_ms, command)
  local made = certificates.make { server = { alt = "IP:127.0.0.1" } }
  local file = assert(io.open(made.path "answer", "w"))
  file:write(records.deposits(20))
  file:close()
  local port = free_port()
  local server = nginx.start(CONF, {
    crt = made.path "server.crt", key = made.path "server.key", TLS = port, answer = made.path "answer",
    SECONDS = service_ms / 1000,
  }, command)
  return {
    plain = server:url(), tls = "https://127.0.0.1:" .. port, ca = made.path "ca.crt",
    stop = function()
      server:stop()
      certificates.remove(made)
    end,
  }
end

return M
