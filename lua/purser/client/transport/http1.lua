-- SPDX-License-Identifier: MIT
--- HTTP/1.1 without a socket: the bytes of a request, and a strict reader of its answer, for transports on a host's
-- sockets (docs/client/transports.md).
--
--     local bytes = assert(http1.request(request)) -- http1.request(request, true) without `Connection: close`
--     local reader = http1.reader()
--     repeat
--       local whole, message = reader:feed(socket_text) -- true: whole; false: more is needed; nil: broken
--     until whole or message
--     local response = reader:response()
--
-- An answer that two readers could understand in two ways is an error. There is one length, all bytes are bounded, and
-- `reader.reusable` is true only if the answer ended exactly where it says.

---@class purser.modules.http1
local M = {}

local byte, find, format, gmatch = string.byte, string.find, string.format, string.gmatch
local gsub, lower, match, sub = string.gsub, string.lower, string.match, string.sub

---@class purser.transport.http1.url
---@field secure boolean   https
---@field host string      without the brackets of an IPv6 address
---@field port integer
---@field authority string as the Host header has it
---@field prefix string    the path in front of each target; no slash at its end

local default_ports = { http = 80, https = 443 }

--- Returns the parts of a base URL; or nil and a fault.
---@param base_url string
---@return purser.transport.http1.url|nil
---@return string|nil message
function M.url(base_url)
  local text = type(base_url) == "string" and base_url or ""
  local scheme, authority, path = match(text, "^(https?)://([^/]+)(.*)$")
  if not scheme then return nil, "base_url must begin with https:// or http:// and name a host" end
  if find(text, "[^\33-\126]") or find(text, "[@?#\\]") then
    return nil, "base_url must not hold a user name, a query, a fragment, a blank or a control character"
  end
  local host, port = match(authority, "^%[([%x:.]+)%]:?(%d*)$")
  if not host then host, port = match(authority, "^([^:%[%]]+):?(%d*)$") end
  local number = port == "" and default_ports[scheme] or tonumber(port)
  if not host or not number or number < 1 or number > 65535 then
    return nil, "base_url must hold one host, and after a colon a port from 1 to 65535"
  end
  path = gsub(path, "/+$", "")
  return { secure = scheme == "https", host = host, port = number, authority = authority, prefix = path }
end

local methods = { GET = true, POST = true, PUT = true, DELETE = true }
-- Headers of the writer: a second one would make two requests of one for some reader.
local own_headers = { ["host"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["connection"] = true,
  ["expect"] = true, ["upgrade"] = true, ["te"] = true, ["trailer"] = true }

local TOKEN = "^[A-Za-z0-9!#$%%&'*+%-.^_`|~]+$"
local NO_TEXT = "[^\t\32-\126\128-\255]"

local function header_lines(headers)
  local lines, seen = {}, {}
  for name, value in pairs(headers or {}) do
    if type(name) ~= "string" or type(value) ~= "string" then return nil, "must be strings with string names" end
    if not find(name, TOKEN) then return nil, "have a name that HTTP does not allow" end
    if find(value, NO_TEXT) then return nil, "hold a line break or another control character" end
    local header = lower(name)
    if own_headers[header] then return nil, format("hold %s, which the transport writes itself", header) end
    if seen[header] then return nil, format("hold %s twice", header) end
    seen[header] = true
    lines[#lines + 1] = name .. ": " .. value
  end
  if not seen["user-agent"] then lines[#lines + 1] = "User-Agent: purser" end
  table.sort(lines)
  return lines
end

--- Returns the bytes of a request; or nil and a fault, and nothing may be sent.
---@param request purser.transport.request
---@param keep? boolean  the connection may be kept after the answer
---@param url? purser.transport.http1.url  that of `request.base_url`, where the caller has it
---@return string|nil bytes
---@return string|nil message
function M.request(request, keep, url)
  local message
  if not url then
    url, message = M.url(request.base_url)
    if not url then return nil, message end
  end
  if not methods[request.method] then return nil, "the request method must be GET, POST, PUT or DELETE" end
  local target, body = request.target, request.body or ""
  if type(target) ~= "string" or sub(target, 1, 1) ~= "/" then return nil, "the request target must begin with /" end
  if find(target, "[^\33-\126]") or find(target, "#", 1, true) then
    return nil, "the request target holds a byte that must be percent-encoded"
  end
  if type(body) ~= "string" then return nil, "the request body must be a string" end
  local lines
  lines, message = header_lines(request.headers)
  if not lines then return nil, "the request headers " .. message end
  if body ~= "" or sub(request.method, 1, 1) == "P" then
    lines[#lines + 1] = format("Content-Length: %d", #body)
  end
  if not keep then lines[#lines + 1] = "Connection: close" end
  -- Joined, not formatted: Lua 5.1 ends a short text of format at a zero byte.
  return request.method .. " " .. url.prefix .. target .. " HTTP/1.1\r\nHost: " .. url.authority .. "\r\n"
    .. table.concat(lines, "\r\n") .. "\r\n\r\n" .. body
end

local MAX_LINE, MAX_HEADERS, MAX_FIELDS, MAX_INTERIM = 16384, 256 * 1024, 256, 16
local MAX_BODY, MAX_FRAMING = 16 * 1024 * 1024, 1024 * 1024

---@class purser.transport.http1.reader
---@field reusable boolean  the answer is whole, ended exactly, and the service keeps the connection
---@field began boolean     a byte of an answer came
---@field too_large boolean what broke the reader is one of its bounds
---@field status integer|nil  once its status line is read
local reader = {}
reader.__index = reader

--- Makes a reader of one answer. `max_body`: bytes, default 16 MiB. An answer without a length and without chunks is an
--- error: the end of a connection does not show that the answer is whole.
---@param options? { max_body: integer? }
---@return purser.transport.http1.reader
function M.reader(options)
  options = options or {}
  return setmetatable({
    max_body = options.max_body or MAX_BODY,
    rest = "", at = 1, state = "status", parts = {}, body_bytes = 0, header_bytes = 0, framing_bytes = 0,
    field_count = 0, interim = 0, reusable = false, began = false, too_large = false,
  }, reader)
end

local function broken(self, message, too_large)
  self.state, self.message, self.too_large, self.reusable = "broken", message, too_large or false, false
  return nil, message
end

-- Returns the next line without its end; false before the end; nil and a message.
local function take_line(self)
  local stop = find(self.rest, "\n", self.at, true)
  local length = (stop or #self.rest) - self.at + 1
  if length > MAX_LINE then return broken(self, "a line of the answer is too long", true) end
  if not stop then return false end
  local line = sub(self.rest, self.at, stop - 2)
  if byte(self.rest, stop - 1) ~= 13 or stop == self.at or find(line, NO_TEXT) then
    return broken(self, "a line of the answer has a control character, or does not end with CR LF")
  end
  self.at = stop + 1
  return line, length
end

local steps = {}

function steps.status(self)
  local line, length = take_line(self)
  if not line then return line, length end
  local minor, status = match(line, "^HTTP/1%.([01]) (%d%d%d)$")
  if not minor then minor, status = match(line, "^HTTP/1%.([01]) (%d%d%d) ") end
  status = tonumber(status)
  if not status or status < 100 or status > 599 then return broken(self, "the answer is not HTTP/1.1") end
  self.status, self.minor = status, tonumber(minor)
  self.header_bytes, self.block = self.header_bytes + length, { line }
  self.length, self.chunked, self.closes = nil, false, minor == "0"
  self.state = "fields"
  return true
end

local function note_length(self, value)
  if self.length then return broken(self, "the answer has two lengths") end
  if not find(value, "^%d+$") or #value > 15 then return broken(self, "the answer's Content-Length is no number") end
  self.length = tonumber(value)
  return true
end

local function note_coding(self, value)
  if self.chunked or lower(value) ~= "chunked" then
    return broken(self, "the answer has a Transfer-Encoding other than chunked")
  end
  if self.minor == 0 then return broken(self, "the answer has chunks in HTTP/1.0") end
  self.chunked = true
  return true
end

local function note_connection(self, value)
  for word in gmatch(lower(value), "[^%s,]+") do
    if word == "close" then self.closes = true end
  end
  return true
end

local notes = { ["content-length"] = note_length, ["transfer-encoding"] = note_coding, connection = note_connection }

-- Reads a field of header or trailer. The trailer's are dropped: they may say nothing about the answer's form.
local function take_field(self, in_trailer)
  local line, length = take_line(self)
  if not line then return line, length end
  self.header_bytes, self.field_count = self.header_bytes + length, self.field_count + 1
  if self.header_bytes > MAX_HEADERS or self.field_count > MAX_FIELDS then
    return broken(self, "the answer has too many headers", true)
  end
  if line == "" then return "end" end
  local name, value = match(line, "^([^:%s]+):[ \t]*(.-)[ \t]*$")
  if not name or not find(name, TOKEN) then return broken(self, "a header of the answer is not of HTTP's form") end
  if in_trailer then return true end
  self.block[#self.block + 1] = line
  local note = notes[lower(name)]
  if note then return note(self, value) end
  return true
end

local function ended(self)
  local excess = self.at <= #self.rest
  self.state, self.reusable = "whole", not self.closes and not excess
  return true
end

-- Finds, after the header, what frames the body.
local function begin_body(self)
  if self.length and self.chunked then return broken(self, "the answer has a length and chunks") end
  if self.status < 200 then
    self.interim = self.interim + 1
    if self.status == 101 or self.length or self.chunked or self.interim > MAX_INTERIM then
      return broken(self, "the server sent an interim answer that was not asked for")
    end
    self.state = "status"
    return true
  end
  if self.status == 204 or self.status == 304 then
    if self.chunked or (self.length or 0) > 0 then self.closes = true end
    return ended(self)
  end
  if self.length and self.length > self.max_body then
    return broken(self, "the answer is larger than `max_response_bytes`", true)
  end
  if not self.chunked and not self.length then
    return broken(self, "the answer has no length, and the end of a connection is no certain end")
  end
  self.state = self.chunked and "chunk_size" or "length"
  self.left = self.length
  return true
end

function steps.fields(self)
  local found, message = take_field(self, false)
  if found == "end" then return begin_body(self) end
  return found, message
end

-- Takes at most `max` bytes of the body. Returns whether there were any.
local function take_bytes(self, max)
  local have = #self.rest - self.at + 1
  if have <= 0 then return false end
  local count = max and max < have and max or have
  self.body_bytes = self.body_bytes + count
  if self.body_bytes > self.max_body then
    return broken(self, "the answer is larger than `max_response_bytes`", true)
  end
  self.parts[#self.parts + 1] = sub(self.rest, self.at, self.at + count - 1)
  self.at = self.at + count
  if max then self.left = max - count end
  return true
end

function steps.length(self)
  if self.left == 0 then return ended(self) end
  return take_bytes(self, self.left)
end

function steps.chunk_size(self)
  local line, length = take_line(self)
  if not line then return line, length end
  self.framing_bytes = self.framing_bytes + length
  if self.framing_bytes > MAX_FRAMING + self.max_body then
    return broken(self, "the chunks of the answer frame more than `max_response_bytes` allow", true)
  end
  local size = match(line, "^(%x+)[ \t]*$") or match(line, "^(%x+)[ \t]*;")
  if not size or #size > 12 then return broken(self, "a chunk of the answer has no size") end
  self.left = tonumber(size, 16)
  if self.body_bytes + self.left > self.max_body then
    return broken(self, "the answer is larger than `max_response_bytes`", true)
  end
  self.state = self.left == 0 and "trailer" or "chunk"
  return true
end

function steps.chunk(self)
  if self.left > 0 then return take_bytes(self, self.left) end
  local line, length = take_line(self)
  if not line then return line, length end
  if line ~= "" then return broken(self, "a chunk of the answer is longer than its size") end
  self.state = "chunk_size"
  return true
end

function steps.trailer(self)
  local found, message = take_field(self, true)
  if found == "end" then return ended(self) end
  return found, message
end

--- Takes bytes. True: the answer is whole; false: more is needed; nil and a message: broken, and the connection must be
--- closed. Bytes after a whole answer make `reusable` false.
---@param text string
---@return boolean|nil whole
---@return string|nil message
function reader:feed(text)
  if text ~= "" then self.began = true end
  if self.state == "broken" then return nil, self.message end
  if self.state == "whole" then
    if text ~= "" then self.reusable = false end
    return true
  end
  self.rest, self.at = self.at > #self.rest and text or sub(self.rest, self.at) .. text, 1
  local found, message
  repeat
    found, message = steps[self.state](self)
    if found == nil then return nil, message end
  until not found or self.state == "whole"
  return self.state == "whole"
end

--- Returns how many bytes the answer surely still has, 1 to `max`, for sockets that wait for all.
---@param max integer
---@return integer
function reader:needs(max)
  local in_body = self.state == "length" or self.state == "chunk"
  return in_body and self.left > 1 and math.min(self.left, max) or 1
end

--- Ends the connection. True: the answer is whole; nil and a message: cut off.
---@return boolean|nil whole
---@return string|nil message
function reader:finish()
  if self.state == "whole" then
    self.reusable = false
    return true
  end
  if self.state == "broken" then return nil, self.message end
  return broken(self, self.began and "the connection ended in the middle of the answer"
    or "the connection ended before an answer came")
end

--- Returns the whole answer as a transport's response; else nil.
---@return purser.transport.response|nil
function reader:response()
  if self.state ~= "whole" then return nil end
  return { status = self.status, body = table.concat(self.parts), http_version = "1." .. self.minor,
    headers = table.concat(self.block, "\r\n") .. "\r\n\r\n" }
end

return M
