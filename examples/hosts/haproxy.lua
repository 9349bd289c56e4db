-- SPDX-License-Identifier: MIT
-- A transport on HAProxy's `core.tcp`, for http:// to this machine: a `listen` section adds TLS (docs/hosts).
local core, exchange = core, require "purser.transport.exchange" -- luacheck: ignore 113
local transport = { sleep = function(_, ms) core.msleep(math.ceil(ms)) end }

function transport.send(_, request)
  return exchange.run(request, { connect = function(url, left_ms)
    local socket = core.tcp() -- HAProxy ends one that is not connected when it next gets a turn: so no work before that
    socket:settimeout(math.ceil(left_ms / 1000) + 1)
    core.register_task(function() core.msleep(left_ms) socket:close() end) -- bounds the whole exchange
    local ok, message = socket:connect(url.host, url.port)
    return ok and socket, message
  end })
end

return transport
