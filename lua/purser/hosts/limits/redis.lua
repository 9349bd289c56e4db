-- SPDX-License-Identifier: MIT
-- The store in Redis. The documents of a namespace are fields of one hash, which Redis keeps or loses as a whole.
--
--   - A process reads documents, version and the server's time, decides, and writes by a script if the version stands.
--   - Where the version changed the script returns the new documents, and the next change is that process's turn.
--   - A server that was restarted or lost the hash holds every pool for one window; so does a server's first use.

local core = require "purser.core"
local documents = require "purser.hosts.limits.documents"
local loopback = require "purser.client.util.loopback"
local option_schema = require "purser.client.util.option_schema"
local resp = require "purser.hosts.limits.resp"

local Store = { __name = "purser.rate_limit.redis", kind = "redis" }
Store.__index = Store

local M = {}

---@class purser.RedisOptions
---@field host string|nil
---@field port integer|nil
---@field path string|nil            of a socket of this machine, instead of host and port
---@field username string|nil
---@field password string|nil
---@field database integer|nil
---@field allow_insecure boolean|nil  lets the password travel unencrypted to another machine

local rules = { host = "string", port = { 1, 65535 }, path = "string", username = "string", password = "string",
  database = { 0, 1000000 }, allow_insecure = "boolean" }

-- KEYS: the hash. ARGV: the version read, the version to write, the time of the decision (0 for a read), the number of
-- names, the names, then each name and text to write. A decision older than 50 ms would count too early. The next write
-- ends a turn, or 20 ms do.
local SCRIPT = [[
  local time, names = redis.call("TIME"), tonumber(ARGV[4])
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local version = redis.call("HGET", KEYS[1], "version") or ""
  local owner, before, ends = (redis.call("HGET", KEYS[1], "next-turn") or ""):match "^(%S+) (%S*) (%d+)$"
  local is_taken = owner and before == version and owner ~= ARGV[2] and ends - now > 0 and ends - now <= 20
  local age = now - ARGV[3]
  if ARGV[3] ~= "0" and not is_taken then
    if version == ARGV[1] and age >= 0 and age <= 50 then
      redis.call("HSET", KEYS[1], "version", ARGV[2], unpack(ARGV, 5 + names))
      return { 1 }
    end
    redis.call("HSET", KEYS[1], "next-turn", ARGV[2] .. " " .. version .. (" %d"):format(now + 20))
  end
  return { 0, now, version, redis.call("HMGET", KEYS[1], unpack(ARGV, 5, 4 + names)), is_taken and 1 or 0 }
]]

local NO_SENSE = "its answer makes no sense"

-- Logs in and learns the run of the server. The server's words to a password may quote the password.
local function greet(self, connection)
  local options, ok, why = self.options, true, nil
  if connection:is_used() then return true end
  if options.password then
    if options.username then ok, why = connection:ask("AUTH", options.username, options.password)
    else ok, why = connection:ask("AUTH", options.password) end
    local word = not ok and tostring(why):match "^%u+%f[ ]"
    if not ok then return nil, "it does not accept the password" .. (word and (" (%s)"):format(word) or "") end
  end
  if options.database then ok, why = connection:ask("SELECT", options.database) end
  if not ok then return nil, why end
  local info
  info, why = connection:ask("INFO", "server")
  if type(info) ~= "string" then return nil, why or NO_SENSE end
  self.run = "run:" .. (info:match "run_id:(%x+)" or "")
  self.sha, why = connection:ask("SCRIPT", "LOAD", SCRIPT)
  return self.sha, why
end

local function connect(self)
  local kept = self.connection
  if kept and self.process == core.process_id() then return kept end
  local connection, why = resp.connect(self.options, self.timeout_ms, tostring(self.options))
  if not connection then return nil, why end
  local ok
  ok, why = greet(self, connection)
  if not ok then
    connection:close()
    return nil, why
  end
  if not connection.in_nginx then self.connection, self.process = connection, core.process_id() end
  return connection
end

-- Runs the script. Returns "written"; "read" and { now =, version =, texts =, is_taken = }; or nil, a message, and true
-- where the connection was lost and the end of the script is unknown.
local function run_script(self, names, version, token, decided, put)
  local connection, why = connect(self)
  if not connection then return nil, why end
  local words = { "EVALSHA", self.sha, 1, self.key, version, token, ("%d"):format(decided), #names }
  for _, name in ipairs(names) do words[#words + 1] = name end
  for name, kept in pairs(put) do words[#words + 1], words[#words + 2] = name, kept[1] end
  local reply, problem, lost = connection:ask((table.unpack or unpack)(words)) -- luacheck: ignore
  if not reply and tostring(problem):find "^NOSCRIPT" then -- the script was forgotten; its digest stays the same
    reply, problem, lost = connection:ask("SCRIPT", "LOAD", SCRIPT)
    if reply then reply, problem, lost = connection:ask((table.unpack or unpack)(words)) end -- luacheck: ignore
  end
  local is_read = type(reply) == "table" and reply[1] == 0 and type(reply[2]) == "number"
    and type(reply[3]) == "string" and type(reply[4]) == "table"
  if reply and not is_read and not (type(reply) == "table" and reply[1] == 1 and put[next(put) or 1]) then
    reply, problem, lost = nil, NO_SENSE, true -- perhaps another command's, and the next too
  end
  if lost then
    connection:close()
    self.connection = nil
  else
    connection:rest()
  end
  if not reply then return nil, problem or "it gave no answer", lost end
  if not is_read then return "written" end
  local texts = {}
  for i, name in ipairs(names) do texts[name] = type(reply[4][i]) == "string" and reply[4][i] or nil end
  return "read", { now = reply[2], version = reply[3], texts = texts, is_taken = reply[5] == 1 }
end

-- A kept connection may have been closed since it was used.
local function read(self, names)
  local how, state, lost = run_script(self, names, "", "", 0, {})
  if not how and lost and state == "closed" then how, state = run_script(self, names, "", "", 0, {}) end
  if not how then return nil, state end
  return state
end

-- Writes a decision on `state`. Returns true; false and the new state; or nil and a message. The version says whether
-- the script ran whose reply was lost.
local function write(self, names, state, put, token)
  local how, now, lost = run_script(self, names, state.version, token, state.now, put)
  if how then return how == "written", now end
  local why = now
  if lost then now = read(self, names) else now = nil end
  if now and now.version == token then return true end
  if now and now.version == state.version then return false, now end
  return nil, why
end

local function rest(try)
  local ms = documents.rest_ms(try)
  if not (ngx and ngx.sleep and pcall(ngx.sleep, ms / 1000)) then core.sleep_ms(ms) end
end

-- Decides on `state`. Returns the list of results; false and the new state; or nil and a message.
local function decide(self, names, state, fn, token)
  if state.is_taken then return false, state end
  local results, put = documents.run(fn, function(name) return state.texts[name] end, state.now, self.run, true)
  if not results or not next(put) then return results, put end
  local written, now = write(self, names, state, put, token)
  if written then return results end
  return written, now
end

function Store:transact(names, fn, patience_ms)
  local token = core.random_token(16)
  if not token then return nil, "there are no random bytes" end
  local state, why = read(self, names)
  local ends, try = core.monotonic_ms() + patience_ms, 0
  while state do
    local results, now = decide(self, names, state, fn, token)
    if results then return results[1], results[2], results[3], results[4], results[5] end
    if results == nil then return nil, now end
    try = try + 1
    if core.monotonic_ms() >= ends and try > 8 then return nil, "others change it without a pause" end
    state = now
    if now.is_taken then
      rest(try)
      state, why = read(self, names)
    end
  end
  return nil, why
end

function Store:close()
  if self.connection and self.process == core.process_id() then self.connection:close() end
  self.connection = nil
end

local function problem_of(options)
  local problem = option_schema.text(options, rules, "rate_limit redis option")
  if problem then return problem end
  if options.path and (options.host or options.port) then
    return "rate_limit redis options: give path, or host and port"
  end
  if options.host and not loopback.address(options.host) and not options.allow_insecure then
    return "rate_limit redis options: the connection to another machine is not encrypted; use a tunnel such as stunnel "
      .. "or ssh to a port of this machine, or allow_insecure = true if you must"
  end
  for name, value in pairs(options) do
    if type(value) == "string" and value:find "%c" then
      return ("rate_limit redis option %s holds a control character"):format(name)
    end
  end
end

--- Makes a store, which connects at the first use. Returns nil and a fault of the options.
---@param options { redis: table, namespace: string|nil, timeout_ms: integer|nil }
function M.new(options)
  local problem = problem_of(options.redis)
  if problem then return nil, problem end
  return setmetatable({
    options = options.redis, timeout_ms = options.timeout_ms or 1000, run = "-", key = options.namespace or "purser",
  }, Store)
end

return M
