-- SPDX-License-Identifier: MIT
--- Starts Debian's nginx with a configuration of its own in a folder of its own, on a free loopback port.

local eventually = require "eventually"
local files = require "files"
local free_port = require "free_port"
local socket = require "socket"

local methods = {}
local meta = { __index = methods }

local M = {}

local output_of = files.output_of

--- Where nginx is, or nil.
M.program = output_of("PATH=$PATH:/usr/sbin command -v nginx"):match("%S+")

--- Where its modules are.
function M.modules()
  return output_of(M.program .. " -V 2>&1"):match("%-%-modules%-path=(%S+)")
end

--- Returns the line of a configuration that lets root's workers read what the test wrote. Others' workers can without,
--- and nginx warns of the line.
function M.user_line()
  local user = output_of("id -un"):match("%S+")
  return user == "root" and "user root;\n" or ""
end

--- Returns the connections of a worker: nginx warns of more than files may be open.
function M.most_connections()
  return math.min(4096, tonumber(output_of("ulimit -n"):match "%d+") or 4096)
end

-- The head of every configuration here: one worker unless asked for more, everything in the folder, errors in a
-- file.
local HEAD = [[
load_module %s/ndk_http_module.so;
load_module %s/ngx_http_lua_module.so;
%sworker_processes %d;
daemon on;
pid nginx.pid;
error_log error.log warn;
events { worker_connections %d; %s }
]]

local function wait_for(port)
  local connection = eventually(function() return (socket.connect("127.0.0.1", port)) end, nil, "nginx answers")
  connection:close()
end

local function fill(text, values)
  return (text:gsub("%${([^}]*)}", function(name)
    return tostring(values[name] == nil and error("nginx.start: no value for ${" .. name .. "}", 0) or values[name])
  end))
end

--- Runs a whole configuration; `prepare(port, folder)` returns its text. `command` goes in front of nginx's own, such
-- as "taskset -c 1" or "env NAME=value".
function M.run(prepare, command)
  local folder = files.folder()
  local port = free_port()
  files.write(folder .. "/nginx.conf", prepare(port, folder))
  local said = output_of(("%s %s -p %s/ -e %s/error.log -c nginx.conf 2>&1"):format(command or "", M.program, folder,
    folder))
  local server = setmetatable({ folder = folder, port = port }, meta)
  local ok, message = pcall(wait_for, port)
  if ok then return server end
  local errors = server:errors()
  server:stop()
  error(message .. "\n" .. said .. errors, 0)
end

--- Starts a server of which only the text of the http block is given; ${PORT} and ${name} of `values` are filled in.
-- `values.MAIN` goes outside of that block, `values.EVENTS` into the block events; `values.WORKERS`: 1 unless given.
function M.start(http, values, command)
  return M.run(function(port, folder)
    values = setmetatable({ PORT = port }, { __index = values })
    local temporary = {}
    for _, name in ipairs { "client_body", "proxy", "fastcgi", "uwsgi", "scgi" } do
      temporary[#temporary + 1] = ("%s_temp_path %s/%s;\n"):format(name, folder, name)
    end
    local modules = M.modules()
    return HEAD:format(modules, modules, M.user_line(), values.WORKERS or 1, M.most_connections(),
      values.EVENTS or "") .. (values.MAIN or "")
      .. "\nhttp {\naccess_log off;\n" .. table.concat(temporary) .. fill(http, values) .. "}\n"
  end, command)
end

function methods:url(scheme)
  return (scheme or "http") .. "://127.0.0.1:" .. self.port
end

--- Returns what nginx wrote into its error log.
function methods:errors()
  local file = io.open(self.folder .. "/error.log")
  local text = file and file:read("*a") or ""
  if file then file:close() end
  return text
end

--- Has new workers take over, as after a change of the configuration.
function methods:reload()
  os.execute(("kill -HUP $(cat %s/nginx.pid)"):format(self.folder))
end

--- Stops the server and waits until it is gone. May be called again.
function methods:stop()
  if self.stopped then return end
  self.stopped = true
  local pid = output_of("cat " .. self.folder .. "/nginx.pid 2>/dev/null"):match("%d+")
  if pid then
    os.execute("kill " .. pid)
    eventually(function() return output_of("kill -0 " .. pid .. " 2>&1") ~= "" end, nil, "nginx ends")
  end
  files.remove(self.folder)
end

return M
