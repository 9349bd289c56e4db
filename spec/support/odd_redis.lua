-- SPDX-License-Identifier: MIT
-- Servers in the place of Redis, each a process of its own on a free loopback port.

local files = require "files"

local M = {}

--- Bytes that are no reply of Redis to what is asked here.
M.replies = {
  ":5\r\n:0\r\n", "*0\r\n", "*-1\r\n", "$-1\r\n", "$5.5\r\nabcdefgh\r\n", "$nan\r\nabc\r\n", "$0x3\r\nabc\r\n",
  "*1e1\r\n",
  "*3\r\n$1\r\na\r\n:1\r\n:1\r\n", ("*1\r\n"):rep(300000), "*1000000000\r\n", "$99999999999\r\n", "\r\n",
  "HTTP/1.1 400\r\n",
  "*3\r\n*1\r\n:0\r\n:1\r\n:1\r\n", "-ERR no\r\n", ":nan\r\n",
}

local ODD = [[
  local socket = require "socket"
  local server = assert(socket.bind("127.0.0.1", 0))
  print((select(2, server:getsockname())))
  io.stdout:flush()
  local odd, reply = %q, %q
  local peer = server:accept()
  while true do
    local line = peer:receive "*l"
    if not line then break end
    local words = {}
    for i = 1, tonumber(line:sub(2)) do
      words[i] = peer:receive(tonumber((peer:receive "*l"):sub(2)) + 2):sub(1, -3)
    end
    peer:send(words[1] == odd and reply or words[1] == "INFO" and "$12\r\nrun_id:abc12\r\n"
      or words[1] == "SCRIPT" and "+sha\r\n" or "*3\r\n:0\r\n:0\r\n:1\r\n")
  end
]]

local running = {}

--- Starts one that answers one command, such as "INFO", with these bytes, and all others as Redis does.
function M.start(command, reply)
  local path = files.temporary(ODD:format(command, reply))
  local process = io.popen(("exec sh -c 'echo $$; exec %s %s'"):format(os.getenv "LUA" or "lua5.4", path))
  local pid, port = tonumber(process:read "*l"), tonumber(process:read "*l")
  os.remove(path)
  local server = { port = port }
  running[server] = true
  function server.stop()
    if not running[server] then return end
    running[server] = nil
    os.execute(("kill %d 2>/dev/null"):format(pid))
    process:close()
  end
  return server
end

--- Ends all that were started.
function M.stop_all()
  for server in pairs(running) do server.stop() end
end

return M
