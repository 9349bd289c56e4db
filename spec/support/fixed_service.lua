-- SPDX-License-Identifier: MIT
-- A service that answers every request with the text of one file: `lua fixed_service.lua FILE [TYPE]` prints its port.

local file = assert(io.open(arg[1], "rb"))
local body = file:read "*a"
file:close()

require("purser.testing.sim.serve").run(function()
  return { status = 200, headers = { ["content-type"] = arg[2] or "application/json" }, body = body }
end, {
  idle_timeout_ms = 600000,
  on_listen = function(port)
    io.stdout:write(port, "\n")
    io.stdout:flush()
  end,
})
