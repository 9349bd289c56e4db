-- SPDX-License-Identifier: MIT
--- A transport that answers from a recording. A request matches a recorded request when method, path, names and
-- harmless values are equal and each redacted value has the length and kind of the token. The value then stands for the
-- token, in answers too.

local core = require "purser.core"
local files = require "purser.client.util.files"
local harmless = require "purser.testing.recording.harmless"
local json = require "purser.json"
local json_tree = require "purser.client.util.json_tree"
local redact = require "purser.testing.recording.redact"
local token = require "purser.testing.recording.token"

local M = {}

local VERSION = 1

---@class purser.transport.replayer: purser.Transport
local Replay = {}
Replay.__index = Replay
Replay.__name = "purser.recording.replay"

function Replay:__tostring()
  return ("%s (%d of %d left)"):format(Replay.__name, self:left(), #self.list)
end

---------------------------------------------------------------------------------------------------------- the requests

-- Returns the compared parts of a request: parts of the path and values, with names.
local function parts_of(target, body)
  local path, query = target:match "^([^?]*)%??(.*)$"
  local values, time = {}, nil
  for _, pair in ipairs(redact.parameters(query)) do
    if not harmless.of_request[pair[1]] then values[#values + 1] = pair
    elseif pair[1] == "timestamp" then time = tonumber(pair[2]) end
  end
  table.sort(values, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  for segment in path:gmatch "[^/]+" do values[#values + 1] = { "/", segment } end
  local tree = body ~= "" and json_tree.read(body)
  if not tree then return { values = values, time = time, size = #body } end
  json_tree.each_scalar(tree, function(node, name) values[#values + 1] = { name or "", node.text } end)
  return { values = values, time = time }
end

-- Tells whether a value may stand for a token under the bindings so far; binds the value then.
local function may_stand(bound, value, recorded)
  local held = bound.token_of[value]
  if held then return held == recorded end
  if value == recorded then return true end
  if bound.value_of[recorded] or token.kind(value) ~= token.kind(recorded) then return false end
  bound.token_of[value], bound.value_of[recorded] = recorded, value
  return true
end

local function new_binding() return { token_of = {}, value_of = {} } end

-- Returns a binding on top of another binding, which stays unchanged.
local function bound_above(bound)
  return { token_of = setmetatable({}, { __index = bound.token_of }),
    value_of = setmetatable({}, { __index = bound.value_of }) }
end

local function is_same(bound, name, value, recorded, exact_times)
  local kept = name == "/" and harmless.is_segment(value) or name ~= "/" and harmless.keeps(name, value)
  if not kept or kept == "date" then return may_stand(bound, value, recorded) end
  return value == recorded or kept == "time" and not exact_times and harmless.keeps(name, recorded) == "time"
end

-- Returns the bindings of a request that matches a recorded request; nil for another request.
local function binding_of(self, method, parts, exchange, exact_times)
  local recorded, fresh = exchange.parts, bound_above(self.bound)
  if method ~= exchange.method or #parts.values ~= #recorded.values or parts.size ~= recorded.size then return nil end
  for i, pair in ipairs(parts.values) do
    local other = recorded.values[i]
    if pair[1] ~= other[1] or not is_same(fresh, pair[1], pair[2], other[2], exact_times) then return nil end
  end
  return fresh
end

local function find(self, method, parts)
  for _, exact_times in ipairs { true, false } do
    for _, exchange in ipairs(self.list) do
      local fresh = not exchange.used and binding_of(self, method, parts, exchange, exact_times)
      if fresh then return exchange, fresh end
    end
  end
end

----------------------------------------------------------------------------------------------------------- the answers

-- Returns a recorded body with values in place of tokens.
local function filled(self, body)
  if next(self.bound.value_of) == nil then return body end
  local tree = json_tree.read(body)
  if not tree then return body end
  json_tree.each_scalar(tree, function(node, name)
    local value = self.bound.value_of[node.text]
    if not value or node.type == "boolean" or node.type == "null" then return end
    if name and harmless.keeps(name, node.text) then return end
    node.raw = node.type == "number" and value or json.encode(value)
  end)
  return json_tree.write(tree)
end

local function failed(failure, message)
  local is_sent = failure.outcome ~= "not_sent"
  return nil, { kind = failure.kind or "transport", outcome = is_sent and "unknown" or "not_sent", message = message,
    phase = failure.phase, code = failure.code, sends = is_sent and 1 or 0 }
end

--- Answers a request from the recording; each exchange answers once.
---@param request purser.transport.request
---@return purser.transport.response|nil, purser.transport.failure|nil
function Replay:send(request)
  local parts = parts_of(request.target, request.body or "")
  local exchange, fresh = find(self, request.method, parts)
  if not exchange then
    local what = ("replay: no exchange that is left answers this %s of %s"):format(tostring(request.method),
      request.operation or "another path")
    return failed({ kind = "argument", outcome = "not_sent" }, what .. "; record it again, or send what was recorded")
  end
  exchange.used = true
  for value, recorded in pairs(fresh.token_of) do
    self.bound.token_of[value], self.bound.value_of[recorded] = recorded, value
  end
  if exchange.failure then return failed(exchange.failure, "replay: the recorded exchange failed") end
  return { status = exchange.status, headers = exchange.headers, body = filled(self, exchange.body), sends = 1 }
end

--- Returns the time of the next exchange, for the client's option `clock`.
---@return integer epoch_ms
function Replay:now()
  local last
  for _, exchange in ipairs(self.list) do
    last = exchange.parts.time or last
    if last and not exchange.used then break end
  end
  return last or core.now_ms()
end

--- Returns the number of unused exchanges.
---@return integer
function Replay:left()
  local count = 0
  for _, exchange in ipairs(self.list) do count = count + (exchange.used and 0 or 1) end
  return count
end

--- Passes no time: a replay waits for nothing.
---@param ms integer
function Replay:sleep() end -- luacheck: ignore self

--- Has nothing to end.
function Replay:close() end -- luacheck: ignore self

-------------------------------------------------------------------------------------------------------------- reading

local function headers_of(value)
  local headers = {}
  for name, text in pairs(type(value) == "table" and value or {}) do
    headers[tostring(name):lower()] = tostring(text)
  end
  return headers
end

local function exchange_of(line)
  local value = type(line) == "string" and core.decode(line)
  if type(value) ~= "table" or type(value.target) ~= "string" or type(value.method) ~= "string" then
    return nil, "is no exchange"
  end
  if value.v ~= VERSION then return nil, "is of another version" end
  if type(value.body or "") ~= "string" then return nil, "has a body that is no text" end
  local failure = type(value.failure) == "table" and value.failure or nil
  if not failure and (type(value.status) ~= "number" or type(value.response) ~= "string") then
    return nil, "has no answer"
  end
  return {
    method = value.method, parts = parts_of(value.target, value.body or ""), failure = failure,
    status = value.status, headers = headers_of(value.response_headers), body = value.response, used = false,
  }
end

local function lines_of(source)
  if type(source) == "table" then return source end
  if type(source) ~= "string" then return nil, "the first argument is a path, or a list of lines" end
  local text, reason = files.read(source)
  if not text then return nil, reason end
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

--- Makes a transport out of a recording: the path of a file, or a list of lines.
---@param source string|string[]
---@return purser.transport.replayer|nil transport, string|nil message
function M.new(source)
  local lines, reason = lines_of(source)
  if not lines then return nil, "replay: " .. reason .. "; give the file of a recording" end
  local self = setmetatable({ list = {}, bound = new_binding() }, Replay)
  for i, line in ipairs(lines) do
    local exchange
    exchange, reason = exchange_of(line)
    if not exchange then return nil, ("replay: line %d %s; give the file of a recording"):format(i, reason) end
    self.list[i] = exchange
  end
  return self
end

return M
