-- SPDX-License-Identifier: MIT
-- Servers between a client and Redis, or in its place, each a process of its own on a free loopback port:
--
--   start(command, reply)    answers one command, such as "INFO", with these bytes, and all others as Redis does
--   relay(port, operation)   hands everything on to Redis; after lose() it closes the connection once that operation
--                            was executed, without its reply

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

local HEAD = [[
  local socket = require "socket"
  local server = assert(socket.bind("127.0.0.1", 0))
  print((select(2, server:getsockname())))
  io.stdout:flush()
]]

local ODD = HEAD .. [[
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

local RELAY = HEAD .. [[
  local port, operation, mark = %d, %q, %q
  local function serve(peer)
    local redis = assert(socket.connect("127.0.0.1", port))
    peer:settimeout(0)
    redis:settimeout(0)
    while true do
      socket.select({ peer, redis }, nil)
      local text, why, part = peer:receive(65536)
      text = text or part
      if why == "closed" and text == "" then break end
      local loses = text:find(operation, 1, true) and io.open(mark)
      if text ~= "" then redis:send(text) end
      if loses then
        loses:close()
        os.remove(mark)
        redis:settimeout(nil)
        redis:receive(1)
        break
      end
      text, why, part = redis:receive(65536)
      text = text or part
      if text ~= "" then peer:send(text) end
      if why == "closed" then break end
    end
    peer:close()
    redis:close()
  end
  while true do serve(server:accept()) end
]]

local running = {}

-- Runs a program that prints its port.
local function launch(program)
  local path = files.temporary(program)
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

function M.start(command, reply)
  return launch(ODD:format(command, reply))
end

function M.relay(port, operation)
  local mark = os.tmpname()
  os.remove(mark)
  local relay = launch(RELAY:format(port, operation, mark))
  function relay.lose() files.write(mark, "") end
  return relay
end

--- Ends all that were started.
function M.stop_all()
  for server in pairs(running) do server.stop() end
end

return M
