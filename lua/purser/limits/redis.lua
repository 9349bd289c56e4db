-- SPDX-License-Identifier: MIT
-- The store in Redis: one atomic script a reservation, which is sliding_log.lua itself, by the server's clock.
--
-- A server that was restarted, or has lost the queue's document, may have lost what was counted: it holds every pool
-- for one window. Its first use ever looks the same, and waits as long.

local core = require "purser.core"
local loopback = require "purser.util.loopback"
local option_schema = require "purser.util.option_schema"
local resp = require "purser.limits.resp"
local script = require "purser.limits.redis_script"

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

local NO_SENSE = "its answer makes no sense"

-- Opens a connection, and finds out which run of the server it is.
local function greet(self, connection)
  local options, ok, why = self.options, true, nil
  if connection:is_used() then return self.run ~= "" end
  if options.password then
    if options.username then ok, why = connection:ask("AUTH", options.username, options.password)
    else ok, why = connection:ask("AUTH", options.password) end
  end
  if ok and options.database then ok, why = connection:ask("SELECT", options.database) end
  if not ok then return nil, why end
  local info
  info, why = connection:ask("INFO", "server")
  if type(info) ~= "string" then return nil, why or NO_SENSE end
  self.run = info:match "run_id:(%x+)" or ""
  self.sha, why = connection:ask("SCRIPT", "LOAD", script)
  return self.sha, why
end

local function connect(self)
  local kept = self.connection
  if kept and self.process == core.process_id() then return kept end
  local connection, why = resp.connect(self.options, self.timeout_ms)
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

local function evaluate(connection, bytes)
  local reply, problem, lost = connection:send(bytes)
  if reply or lost or not tostring(problem):find "^NOSCRIPT" then return reply, problem, lost end
  local ok
  ok, problem, lost = connection:ask("SCRIPT", "LOAD", script) -- the digest stays the same
  if not ok then return nil, problem, lost end
  return connection:send(bytes)
end

-- Runs the script once, with the words that `build` makes once it is known which run of the server this is.
local function run_once(self, build, ...)
  local connection, why = connect(self)
  if not connection then return nil, why end
  local reply, problem, lost = evaluate(connection, build(self, ...))
  if reply and (type(reply) ~= "table" or reply[1] == nil) then -- it may be another command's, and the next one, too
    reply, problem, lost = nil, NO_SENSE, true
  end
  if lost then
    connection:close()
    self.connection = nil
  else
    connection:rest()
  end
  return reply, problem, lost
end

local function values_of(reply, problem)
  if not reply then return nil, problem or "it gave no answer" end
  return reply[1], reply[2], reply[3], reply[4], reply[5]
end

-- A kept connection may have been closed since it was used. Its request may have been executed all the same: then
-- something is counted twice, never too little.
local function run(self, build, ...)
  local kept = self.run ~= ""
  local reply, problem, lost = run_once(self, build, ...)
  if lost and kept and problem == "closed" then reply, problem = run_once(self, build, ...) end
  return values_of(reply, problem)
end

-- The command of an operation on what a call takes: keys, namespace, operation with two arguments, run, then four
-- values a pool.
local function takes_words(self, operation, takes, first, second)
  local words = { "EVALSHA", self.sha, 0, self.namespace .. "free" }
  for i = 1, #takes, 4 do
    local key = self.namespace .. takes[i]
    words[#words + 1], words[#words + 2] = ("%s:%d:step"):format(key, takes[i + 3]), key .. ":sum"
  end
  words[3] = #words - 3
  for _, word in ipairs { self.namespace, operation, first, second, self.run } do words[#words + 1] = word end
  for i = 1, #takes do words[#words + 1] = takes[i] end
  return resp.command(words)
end

-- The same of a call without a ticket, which is made once for what it takes, its priority and the server's run.
local function first_words(self, takes, priority)
  local kept = self.commands[takes]
  if not kept or kept.run ~= self.run then
    kept = { run = self.run }
    self.commands[takes] = kept
  end
  kept[priority] = kept[priority] or takes_words(self, "reserve", takes, priority, 0)
  return kept[priority]
end

function Store:reserve(takes, priority, number)
  if number == 0 then
    local ms, ticket, at = run(self, first_words, takes, priority)
    return ms, ticket, ms == 0 and tonumber(at) or at -- a text where it went at once
  end
  return run(self, takes_words, "reserve", takes, priority, ("%d"):format(number))
end

-- It is sent once: what is given back twice would count too little.
function Store:give_back(takes, number, at)
  return values_of(run_once(self, takes_words, "give_back", takes, ("%d"):format(number), ("%d"):format(at)))
end

local function simple_words(self, operation, name, first, second)
  return resp.command { "EVALSHA", self.sha, 2, self.namespace .. "queue", self.namespace .. name, self.namespace,
    operation, name, first or "", second or "", self.run }
end

function Store:block(name, span, ms)
  return run(self, simple_words, "block", name, ("%d"):format(span), ("%d"):format(ms))
end

function Store:hold(ms)
  return run(self, simple_words, "hold", "queue", ("%d"):format(ms))
end

function Store:seen(member)
  return run(self, simple_words, "seen", "members", member)
end

function Store:pool(name, span)
  return run(self, simple_words, "pool", name, ("%d"):format(span))
end

function Store:members()
  local count, list = run(self, simple_words, "members", "members")
  if not count then return nil, list end
  return list
end

function Store:close()
  if self.connection and self.process == core.process_id() then self.connection:close() end
  self.connection = nil
end

-- A server that is another machine would get the password, and what it answers could be changed on the way.
local function problem_of(options)
  local problem = option_schema.text(options, rules, "rate_limit redis option")
  if problem then return problem end
  if options.path and (options.host or options.port) then
    return "rate_limit redis options: give path, or host and port"
  end
  if options.host and not loopback.is(options.host) and not options.allow_insecure then
    return "rate_limit redis options: the connection to another machine is not encrypted; use a tunnel such as stunnel "
      .. "or ssh to a port of this machine, or allow_insecure = true if you must"
  end
  for name, value in pairs(options) do
    if type(value) == "string" and value:find "%c" then
      return ("rate_limit redis option %s holds a control character"):format(name)
    end
  end
end

--- Makes a store; it connects at its first use. Returns nil and what is wrong with the options.
---@param options { redis: table, namespace: string|nil, timeout_ms: integer|nil }
function M.new(options)
  local problem = problem_of(options.redis)
  if problem then return nil, problem end
  -- the braces keep all keys in one slot of a cluster
  return setmetatable({
    options = options.redis, timeout_ms = options.timeout_ms or 1000, run = "",
    namespace = "{" .. (options.namespace or "purser") .. "}:", commands = setmetatable({}, { __mode = "k" }),
  }, Store)
end

return M
