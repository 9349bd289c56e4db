-- SPDX-License-Identifier: MIT
-- A receiver of webhooks: `lua webhook.lua FILE [STATUS ...]` prints its port and appends each request to FILE as a
-- line of JSON. It answers the statuses one after the other, then 204.

local json = require "purser.json"

local statuses, at = { (table.unpack or unpack)(arg, 2) }, 0 -- luacheck: ignore

require("purser.testing.sim.serve").run(function(request)
  local file = assert(io.open(arg[1], "ab"))
  file:write(json.encode(request), "\n")
  file:close()
  at = at + 1
  return { status = tonumber(statuses[at] or 204), headers = { ["content-type"] = "text/plain" }, body = "" }
end, {
  idle_timeout_ms = 600000,
  on_listen = function(port)
    io.stdout:write(port, "\n")
    io.stdout:flush()
  end,
})
