-- SPDX-License-Identifier: MIT
--- The stage of the transports' specs: a peer that misbehaves to order, certificates for it, and the transports a
-- test made, which end with it.
--
--   local stage = require("stage").new(curl.new)
--   setup(function() peer, made = stage.start() end)      teardown(stage.stop)
--   before_each(stage.reset)                              after_each(stage.close)
--   local t = stage.transport { ... }                     to the peer, within 2 s, unless the options say otherwise

local certificates = require "certificates"
local peers = require "peer"

local M = {}

local GOOD = { good = { alt = "IP:127.0.0.1,DNS:localhost" } }

--- The requests of a read call and of a write call.
function M.get() return { method = "GET", target = "/" } end
function M.withdrawal() return { method = "POST", target = "/withdraw", body = "{}", at_most_once = true } end

--- Returns the sockets that a child of this process inherits, as a set.
function M.inherited()
  local sockets, pipe = {}, assert(io.popen "ls -l /proc/self/fd")
  for line in pipe:lines() do
    local socket = line:match "socket:%[%d+%]"
    if socket then sockets[socket] = true end
  end
  pipe:close()
  return sockets
end

---@param make (fun(options: table): table|nil, string|nil)|nil  what `transport` calls
---@param subjects table|nil  of the certificates: { good = ... } unless given
function M.new(make, subjects)
  local stage, open = {}, {}
  local peer, made

  function stage.start()
    made = certificates.make(subjects or GOOD)
    peer = peers.start()
    return peer, made
  end

  function stage.stop()
    peer:stop()
    certificates.remove(made)
  end

  --- The peer answers again, without TLS.
  function stage.reset()
    peer:plain()
    peer:script "head body ok"
  end

  function stage.transport(options)
    options = options or {}
    options.base_url = options.base_url or peer:url()
    options.timeout_ms = options.timeout_ms or 20000
    local t = assert(make(options))
    open[#open + 1] = t
    return t
  end

  function stage.close()
    for _, t in ipairs(open) do t:close() end
    open = {}
  end

  return stage
end

return M
