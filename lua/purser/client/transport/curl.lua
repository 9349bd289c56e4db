-- SPDX-License-Identifier: MIT
--- The blocking transport: one libcurl handle with kept connections. A request with `at_most_once` reaches the wire at
-- most once (docs/write/outcomes.md).

local libcurl = require "purser.client.util.libcurl"

---@class purser.transport.curl: purser.Transport
---@field private http userdata
local methods = {}
local meta = { __name = "purser.transport.curl", __index = methods }

function meta:__tostring()
  return (tostring(self.http):gsub("^purser%.http", meta.__name))
end

---@class purser.transport.request
---@field method string "GET", "POST", "PUT" or "DELETE"
---@field base_url? string that of the transport when absent
---@field target string path and query, percent-encoded
---@field headers? table<string, string>
---@field body? string
---@field timeout_ms? integer of the whole exchange, in milliseconds
---@field at_most_once? boolean the request must never reach the wire twice
---@field operation? string such as "wallet.withdraw", for messages
---@field brief? boolean only status, body and headers of the answer are requested; the rest may be left out

---@class purser.transport.response
---@field status integer
---@field body string
---@field headers string|table<string, string> the raw header block, or a map
---@field connection? integer which one it came on, for `discard`
---@field http_version? string
---@field address? string the peer's IP address
---@field reused? boolean on a kept connection
---@field sends? integer how often the request was sent: 2 when libcurl repeated a read
---@field total_us? integer microseconds, as are the three below, all from the start of the exchange
---@field lookup_us? integer  when the name was known
---@field connect_us? integer
---@field tls_us? integer
---@field first_byte_us? integer

---@class purser.transport.failure
---@field kind? "transport"|"decode"|"argument"|"closed" "decode": the answer was over the ceiling
---@field outcome "not_sent"|"unknown"
---@field message string what happened and what to do
---@field code? string such as "curl 28"
---@field phase? "resolve"|"connect"|"tls"|"send"|"receive"
---@field status? integer when a status line had arrived
---@field sends? integer

--- Sends one request and returns its answer.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  return self.http:send(request)
end

--- Sends no later request on the connection of an answer that was not believed.
---@param response purser.transport.response
function methods:discard(response)
  if response.connection then self.http:discard(response.connection) end
end

--- Ends the kept connections. May be called again.
function methods:close()
  self.http:close()
end

meta.__close = methods.close

---@class purser.CurlOptions
---@field base_url string|nil
---@field timeout_ms integer|nil          default 10000
---@field connect_timeout_ms integer|nil  default 3000
---@field max_response_bytes integer|nil  default 16 MiB
---@field user_agent string|nil
---@field proxy string|nil                URL of a proxy
---@field ca_file string|nil              a file of certificates to trust
---@field ca_path string|nil              a directory of certificates
---@field ca_pem string|nil               certificates, as text
---@field pinned_key string|nil           the hash of the service's public key: `sha256//...`
---@field interface string|nil            from which it connects
---@field http_version "1.1"|"2"|"auto"|nil  "auto": HTTP/2 for reads, 1.1 for writes. Default: "1.1"; of multi: "auto"
---@field compressed boolean|nil          accepts compressed answers
---@field fresh_connect boolean|nil       keeps no connection
---@field at_most_once_idle_s integer|nil how old an idle connection may be that a write call uses. Default: 2
---@field allow_insecure boolean|nil      permits http:// to other machines, and through a proxy

local M = {}

--- Makes the blocking transport.
---@param options? purser.CurlOptions
---@return purser.transport.curl|nil
---@return string|nil message
function M.new(options)
  if options ~= nil and type(options) ~= "table" then
    return nil, ("the options are a %s; give a table"):format(type(options))
  end
  local http, message = libcurl.easy(options or {})
  if not http then return nil, message end
  return setmetatable({ http = http }, meta)
end

return M
