-- SPDX-License-Identifier: MIT
--- Returns a loopback port that nobody listens on at this moment.

local socket = require "socket"

return function()
  local server = assert(socket.bind("127.0.0.1", 0))
  local _, port = server:getsockname()
  server:close()
  return tonumber(port)
end
