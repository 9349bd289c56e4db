-- SPDX-License-Identifier: MIT
-- A transport on HAProxy's `core.tcp`, for http:// to this machine: a `listen` section adds TLS (docs/hosts).
local core, http1 = core, require "purser.http1" -- luacheck: ignore 113
local transport = { sleep = function(_, ms) core.msleep(math.ceil(ms)) end }

local function checked(whole, message)
  if whole == nil then error(message, 0) end
  return whole
end

function transport.send(_, request)
  local socket, reader, sent, whole = core.tcp(), http1.reader(), false, false
  core.register_task(function() core.msleep(request.timeout_ms) socket:close() end) -- bounds the whole exchange
  local ok, problem = pcall(function() -- connect raises for a name that it cannot resolve
    local bytes, url = assert(http1.request(request)), http1.url(request.base_url)
    socket:settimeout(math.ceil(request.timeout_ms / 1000) + 1)
    assert(not url.secure and socket:connect(url.host, url.port), "no connection (http:// alone is possible)")
    sent = true
    assert(socket:send(bytes) == #bytes, "the connection ended before the request was sent")
    while not whole do
      local text = socket:receive(reader:needs(16384)) or ""
      if text ~= "" then whole = checked(reader:feed(text)) else whole = checked(reader:finish()) end
    end
  end)
  socket:close()
  if ok then return reader:response() end
  return nil, { message = tostring(problem), outcome = sent and "unknown" or "not_sent" }
end

return transport
