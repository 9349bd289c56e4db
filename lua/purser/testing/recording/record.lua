-- SPDX-License-Identifier: MIT
--- A transport around another transport that writes each exchange as a redacted line of JSON. A failed recording never
--- changes an answer. Read the files in this order: record, redact, token, harmless, replay, drift/.

local core = require "purser.core"
local json = require "purser.json"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local plain_text = require "purser.client.util.plain_text"
local redact = require "purser.testing.recording.redact"

local M = {}

--- The version of the lines.
M.VERSION = 1

---@class purser.transport.recorder: purser.Transport
local Recorder = {}
Recorder.__index = Recorder
Recorder.__name = "purser.recording.record"
function Recorder:__tostring()
  return ("purser.transport.record (%s)"):format(plain_text.counted(self.count, "exchange"))
end

local function object_of(map)
  local members = {}
  for i, name in ipairs(names_of(map)) do members[i] = { name, map[name] } end
  return json.object(members)
end

local METHODS = { GET = true, POST = true, PUT = true, DELETE = true }
local KINDS = { transport = true, decode = true, argument = true, closed = true }
local PHASES = { resolve = true, connect = true, tls = true, send = true, receive = true }

-- Returns a failure without the message, which may name a host or a proxy.
local function failure_of(failure)
  failure = type(failure) == "table" and failure or {}
  return json.object {
    { "kind", KINDS[failure.kind] and failure.kind or "transport" },
    { "outcome", failure.outcome == "not_sent" and "not_sent" or "unknown" },
    { "phase", PHASES[failure.phase] and failure.phase or nil },
    { "code", tostring(failure.code or ""):match "^curl %d%d?%d?$" },
  }
end

local function line_of(self, request, response, failure)
  local redactor = self.redactor
  local members = {
    { "v", M.VERSION },
    { "method", METHODS[request.method] and request.method or "?" },
    { "target", redactor:target(request.target) },
    { "headers", object_of(redactor:headers(request.headers)) },
    { "body", redactor:body(request.body or "") },
  }
  if type(response) == "table" then
    local status = tonumber(response.status)
    members[#members + 1] = { "status", status and status >= 0 and status <= 999 and math.floor(status) or 0 }
    members[#members + 1] = { "response_headers", object_of(redactor:headers(response.headers)) }
    members[#members + 1] = { "response", redactor:body(tostring(response.body or "")) }
  else
    members[#members + 1] = { "failure", failure_of(failure) }
  end
  return json.encode(json.object(members)) .. "\n"
end

-- Keeps an exchange. A problem ends the recording, never the call.
local function keep(self, request, response, failure)
  if self.problem then return end
  local made, line = pcall(line_of, self, request, response, failure)
  if not made then
    self.problem = "an exchange could not be redacted, so nothing after it was recorded"
    return
  end
  local ok, written, reason = pcall(self.write, line)
  if not ok or written == false or written == nil and reason ~= nil then
    self.problem = "the recording could not be written: " .. tostring(ok and reason or written)
    return
  end
  self.count = self.count + 1
end

--- Sends a request by the inner transport, and records the exchange.
---@param request purser.transport.request
---@return purser.transport.response|nil, purser.transport.failure|nil
function Recorder:send(request)
  local response, failure = self.inner:send(request)
  keep(self, request, response, failure)
  return response, failure
end

--- Ends the recording and the inner transport. Returns true; or nil and why the recording is incomplete.
---@return true|nil ok, string|nil message
function Recorder:close()
  if self.inner.close then self.inner:close() end
  if self.file then
    local ok, reason = self.file:close()
    self.file = nil
    if not ok then self.problem = self.problem or "the recording could not be written: " .. tostring(reason) end
  end
  if self.problem then return nil, self.problem end
  return true
end

local function to_file(path)
  local made, reason = core.create_private(path)
  if not made then
    return nil, ("record: the file %s cannot be made: %s; give the name of a new file"):format(path, tostring(reason))
  end
  local file
  file, reason = io.open(path, "r+b")
  if not file then return nil, ("record: %s; give the name of a new file"):format(tostring(reason)) end
  file:setvbuf "no"
  return file
end

local rules = { file = "string", write = "function" }

--- Makes a transport that records the exchanges of `inner`. Options: `file`, the path of a new private file; or
--- `write`, a function of each line.
---@param inner purser.Transport
---@param options { file: string|nil, write: (fun(line: string): any, string|nil)|nil }
---@return purser.transport.recorder|nil transport, string|nil message
function M.new(inner, options)
  if type(inner) ~= "table" or type(inner.send) ~= "function" then
    return nil, "record: the first argument has no method send; give the transport to record"
  end
  local wrong = option_schema.text(options or {}, rules, "record option")
  if wrong then return nil, "record: " .. wrong end
  if not options or (options.file == nil) == (options.write == nil) then
    return nil, 'record: there is nowhere to write; give one of "file" and "write"'
  end
  local redactor, message = redact.new()
  if not redactor then return nil, "record: no random key: " .. tostring(message) .. "; try it again" end
  local self = { inner = inner, redactor = redactor, count = 0, write = options.write }
  if options.file then
    local file
    file, message = to_file(options.file)
    if not file then return nil, message end
    self.file = file
    function self.write(line) return file:write(line) end
  end
  -- a client asks a transport for these methods
  if inner.sleep then function self.sleep(_, ms) return inner:sleep(ms) end end
  if inner.discard then function self.discard(_, response) return inner:discard(response) end end
  return setmetatable(self, Recorder)
end

return M
