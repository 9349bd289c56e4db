-- SPDX-License-Identifier: MIT
-- Starts what transport_check needs next to the transport: the hostile service, and three servers of TLS.

local curl = require "purser.client.transport.curl"

local M = {}

local LIFE_S, SERVICE = 600, "transport_check.service"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function succeeds(command)
  local ok = os.execute(command .. " >/dev/null 2>&1")
  return ok == true or ok == 0
end

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- The program that runs this, unless the host says another.
local function interpreter()
  local words, i = rawget(_G, "arg"), 0
  while words and words[i - 1] do i = i - 1 end
  local word = words and words[i] or ""
  return word:find "lua" and word or rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
end

local function start_service(self, lua)
  local code = ("package.path=%q package.cpath=%q require(%q).main()"):format(package.path, package.cpath, SERVICE)
  local pipe = assert(io.popen(("exec %s -e %s 2>&1"):format(lua or interpreter(), quote(code))))
  local said = {}
  self.pipe = pipe
  for line in pipe:lines() do
    if line == "ready" then return true end
    local name, value = line:match "^(%l+) (%S+)$"
    if name == "url" then self.url = value elseif name == "names" then self.name_port = tonumber(value) end
    said[#said + 1] = line
  end
  pipe:close()
  return nil, "check: the hostile service did not start: " .. table.concat(said, "\n")
end

-- An authority and a certificate of it for `name`, in files with this prefix.
local function make_certificate(prefix, name)
  local key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
  local at = quote(prefix)
  local file = assert(io.open(prefix .. ".ext", "w"))
  file:write("subjectAltName=DNS:", name, "\n")
  file:close()
  local authority = "openssl req -x509 %s -days 2 -subj /CN=check -keyout %s.ca.key -out %s.ca.crt"
  local own = "openssl req %s -subj /CN=check -keyout %s.key -out %s.csr"
  return succeeds(authority:format(key, at, at)) and succeeds(own:format(key, at, at))
end

local function sign(prefix, authority)
  local own, other = quote(prefix), quote(authority)
  return succeeds(("openssl x509 -req -in %s.csr -CA %s.ca.crt -CAkey %s.ca.key -CAcreateserial -days 2 "
    .. "-extfile %s.ext -out %s.crt"):format(own, other, other, own, own))
end

-- A server of TLS that answers the path /plain with {}. Returns its port.
local function start_tls(self, prefix)
  local pipe = assert(io.popen(("cd %s && echo $$ && exec timeout %d openssl s_server -accept 127.0.0.1:0 -HTTP "
    .. "-cert %s.crt -key %s.key 2>/dev/null"):format(quote(self.folder), LIFE_S, quote(prefix), quote(prefix))))
  self.pids[#self.pids + 1] = pipe:read "*l"
  self.pipes[#self.pipes + 1] = pipe
  for line in pipe:lines() do
    local port = line:match "^ACCEPT .*:(%d+)$"
    if port then return tonumber(port) end
  end
  return nil
end

local function start_all_tls(self, name)
  self.folder = output_of("mktemp -d"):match "%S+"
  local file = assert(io.open(self.folder .. "/plain", "w"))
  file:write "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
  file:close()
  local good, stranger, unknown = self.folder .. "/good", self.folder .. "/stranger", self.folder .. "/unknown"
  local made = make_certificate(good, name) and make_certificate(stranger, "other.example")
    and make_certificate(unknown, name) and sign(good, good) and sign(stranger, good) and sign(unknown, unknown)
  if not made then
    return nil, "check: the command `openssl` could not make certificates; install it, or give tls = false"
  end
  self.tls = { ca_file = good .. ".ca.crt" }
  for way, prefix in pairs { good = good, other_name = stranger, other_authority = unknown } do
    local port = start_tls(self, prefix)
    if not port then return nil, "check: `openssl s_server` did not start; give tls = false" end
    self.tls[way] = ("https://%s:%d"):format(name, port)
  end
  return true
end

---@class transport_check.service
---@field url string
---@field tls table|nil           the addresses of its servers of TLS
---@field name_port integer|nil
local methods = {}
methods.__index = methods

--- Ends all of it and removes the certificates. May be called again.
function methods:stop()
  if self.stopped then return end
  self.stopped = true
  if self.url then
    local transport = assert(curl.new {})
    transport:send { method = "GET", base_url = self.url, target = "/stop/now", timeout_ms = 5000 }
    transport:close()
    self.pipe:close()
  end
  for _, pid in ipairs(self.pids) do os.execute(("kill %s 2>/dev/null"):format(pid)) end
  for _, pipe in ipairs(self.pipes) do pipe:close() end
  if self.folder then os.execute("rm -r " .. quote(self.folder)) end
end

methods.__close = methods.stop

--- Starts them. `lua`: the command of a Lua that has LuaSocket; `tls = false`: without TLS; `tls_name` ("localhost").
---@param options? { lua: string?, tls: boolean?, tls_name: string? }
---@return transport_check.service|nil service
---@return string|nil message
function M.start(options)
  options = options or {}
  local self = setmetatable({ pids = {}, pipes = {} }, methods)
  local ok, message = start_service(self, options.lua)
  if ok and options.tls ~= false then ok, message = start_all_tls(self, options.tls_name or "localhost") end
  if ok then return self end
  self:stop()
  return nil, message
end

return M
