-- SPDX-License-Identifier: MIT
--- Receivers of events: a command of the shell, or a signed webhook. Either may get an event more than once.
--
--   command   gets the event on standard input; exit status 0 within ten seconds: it has the event
--   webhook   gets the event by POST; 2xx within ten seconds: it has the event. `Purser-Signature` in the head is
--             `t=SECONDS,v1=HEX`: HMAC-SHA256 of "SECONDS.BODY"; M.verify checks it.

local core = require "purser.core"
local curl = require "purser.client.transport.curl"
local http1 = require "purser.client.transport.http1"
local loopback = require "purser.client.util.loopback"

local M = {}

local TIMEOUT_MS, TOLERANCE_S = 10000, 300

---@class purser.SinkOptions
---@field command string|nil         of the shell
---@field webhook string|nil         an https:// URL, or http:// to this machine
---@field secret string|userdata|nil with webhook: the key of its signatures
---@field limit_ms integer|nil       how long a receiver may take. Default: 10000
---@field ca_file string|nil         with webhook: a file of certificates to trust, in place of the system's
---@field ca_path string|nil         a directory of such
---@field ca_pem string|nil          such certificates, as text

---@class purser.Sink
---@field deliver fun(self: purser.Sink, text: string): true|nil, string|nil

-- Runs the command with the text from a file: a pipe whose reader ends early would end this process by a signal, and
-- Lua 5.1 does not say how a pipe's reader ended. timeout(1) ends a hanging command.
local function run(self, text)
  local path = os.tmpname()
  local file, message = io.open(path, "wb")
  if not file then return nil, message end
  local written, why = file:write(text, "\n")
  local closed, reason = file:close()
  if not (written and closed) then
    os.remove(path)
    return nil, ("the event could not be written to %s: %s"):format(path, tostring(why or reason))
  end
  local command = ("( %s\n) <'%s'"):format(self.command, path)
  local first, _, status = os.execute(("if command -v timeout >/dev/null; then timeout -k 1 %g sh -c '%s'; else %s; fi")
    :format(self.limit_ms / 1000, command:gsub("'", "'\\''"), command))
  os.remove(path)
  if first == true or first == 0 then return true end
  local code = status or first
  if not status and first >= 256 then code = math.floor(first / 256) end -- Lua 5.1 gives the status of wait()
  if code == 124 then return nil, ("the command took more than %g s"):format(self.limit_ms / 1000) end
  return nil, ("the command ended with status %s"):format(code)
end

-- Returns a body's signature for the head, at a time (epoch s).
local function signature(signer, seconds, body)
  return ("t=%d,v1=%s"):format(seconds, signer:sign(("%d.%s"):format(seconds, body)))
end

local function post(self, text)
  local head = { ["Content-Type"] = "application/json",
    ["Purser-Signature"] = signature(self.signer, math.floor(core.now_ms() / 1000), text) }
  local response, failure = self.transport:send { method = "POST", target = self.target, body = text, headers = head,
    timeout_ms = self.limit_ms }
  if not response then return nil, (failure.message:gsub("`base_url`", "`webhook`")) end
  if response.status >= 200 and response.status < 300 then return true end
  return nil, ("the webhook answered %d"):format(response.status)
end

local function new_webhook(options)
  local base, target = options.webhook:match "^(https?://[^/%s]+)(/?[^%s#]*)$"
  local url = base and http1.url(base)
  local address = url and loopback.address(url.host)
  if not url or not (url.secure or address) then
    return nil, "the webhook is no https:// URL, nor http:// to this machine"
  end
  if os.getenv "PURSER_REHEARSAL" and not address then -- what a simulator shows is nobody's money
    return nil, "this is a rehearsal of `purser test`: a webhook goes to this machine alone"
  end
  if not options.secret then return nil, "a webhook needs a secret, by which its receiver knows the sender" end
  local signer, message = core.signer("hmac-sha256", options.secret)
  if not signer then return nil, message end
  local transport
  transport, message = curl.new { base_url = base, timeout_ms = options.limit_ms or TIMEOUT_MS,
    ca_file = options.ca_file, ca_path = options.ca_path, ca_pem = options.ca_pem }
  if not transport then return nil, message end
  return { deliver = post, signer = signer, transport = transport, target = target == "" and "/" or target,
    limit_ms = options.limit_ms or TIMEOUT_MS }
end

--- Makes a receiver. `deliver` returns true if it has the event; or nil and a message.
---@param options purser.SinkOptions  either `command` or `webhook`
---@return purser.Sink|nil sink, string|nil message
function M.new(options)
  if (options.command == nil) == (options.webhook == nil) then return nil, "give either a command or a webhook" end
  if options.webhook then return new_webhook(options) end
  return { deliver = run, command = options.command, limit_ms = options.limit_ms or TIMEOUT_MS }
end

-- Compares two texts in constant time.
local function is_equal(a, b)
  if #a ~= #b then return false end
  local differs = 0
  for i = 1, #a do differs = differs + (a:byte(i) == b:byte(i) and 0 or 1) end
  return differs == 0
end

--- Tells if a webhook's event is from a holder of the secret, and was sent within five minutes.
---@param secret string|userdata
---@param head string  the member Purser-Signature of the request's head
---@param body string
---@param now integer|nil  epoch s; default: this machine's clock
---@return boolean is_genuine
function M.verify(secret, head, body, now)
  if type(head) ~= "string" or type(body) ~= "string" then return false end -- a request may lack it
  local seconds = tonumber(head:match "^t=(%d+),")
  now = now or math.floor(core.now_ms() / 1000)
  local signer = seconds and math.abs(now - seconds) <= TOLERANCE_S and core.signer("hmac-sha256", secret)
  if not signer then return false end
  local expected = signature(signer, seconds, body):match "v1=(%x+)$"
  for shown in head:gmatch "v1=(%x+)" do
    if is_equal(shown, expected) then return true end
  end
  return false
end

return M
