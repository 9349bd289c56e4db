-- SPDX-License-Identifier: MIT
-- The page of HAProxy: a service in a chroot on HAProxy's own sockets, and its `listen` section, which compares
-- certificates.
-- make test-all: 10 s, waits

local nginx = require "nginx"
local packaged_host = require "packaged_host"

-- The turns of HAProxy's loop are those of a task of its own.
local MEASURED = [[
local transport = dofile "ROOT/examples/hosts/haproxy.lua"
require "purser.recording.check"
local begun, finished, report = false, false, ""
local tick = require "host_ticks" {
  done = function() return finished end,
  check = function() return transport end,
  tls = false,
  spawn = core.register_task,
  over = function(text) report = text end,
}
core.register_task(function()
  while true do
    core.msleep(10)
    if begun then tick() end
  end
end)
local function answer(name, fn)
  core.register_service(name, "http", function(applet)
    local text = fn()
    applet:set_status(200)
    applet:start_response()
    applet:send(text)
  end)
end
answer("begin", function() begun = true return "begun" end)
answer("finish", function() finished = true return "finished" end)
answer("report", function() return report end)
]]

-- Starts HAProxy, asks for what the page's program does, and waits for the report.
local DRIVER = [[
local http, socket = require "socket.http", require "socket"
local function get(path)
  return http.request(("http://127.0.0.1:%d/%s"):format(path == "purser" and FRONT or TEST, path))
end
for _ = 1, 1000 do
  if get "begin" then break end
  socket.sleep(0.02)
end
print((get "purser"))
get "finish"
local report
repeat
  socket.sleep(0.05)
  report = assert(get "report")
until report ~= ""
for _, port in ipairs { GOODPORT, NAMEPORT, AUTHORITYPORT } do
  local _, status = http.request("http://127.0.0.1:" .. port .. "/plain")
  print(port, status)
end
local file = assert(io.open(os.getenv "HOST_REPORT", "w"))
file:write(report)
file:close()
]]

local TEST_FRONT = [[
frontend test
  bind 127.0.0.1:TEST
  http-request use-service lua.begin if { path /begin }
  http-request use-service lua.finish if { path /finish }
  http-request use-service lua.report if { path /report }
]]

local START = [[
mkdir FOLDER/root
PATH=$PATH:/usr/sbin
ROOTED haproxy -db -f FOLDER/haproxy.cfg &
proxy=$!
lua5.4 FOLDER/driver.lua
kill $proxy
wait $proxy
]]

-- What comes after the page's section: the same one for the service with the certificate of another name and for that
-- of an unknown authority.
local function sections(ports)
  local text = packaged_host.text("haproxy", "haproxy.cfg"):match "listen service.*"
  local function section(name, listens, port)
    return (text:gsub("listen service", "listen " .. name):gsub("8089", listens)
      :gsub("SERVICE:443", "localhost:" .. port):gsub("SERVICE", "localhost"))
  end
  return section("name", ports.name, ports.other_name) .. section("authority", ports.authority, ports.other_authority)
end

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("HAProxy", function()
  it("serves on in its chroot while a service waits, and its sockets pass the check", function()
    local tls = host.hostile.tls
    local ports = { front = nginx.free_port(), good = nginx.free_port(), name = nginx.free_port(),
      authority = nginx.free_port(), test = nginx.free_port() }
    for _, way in ipairs { "other_name", "other_authority" } do ports[way] = tls[way]:match "%d+$" end
    local authorities = "/etc/ssl/certs/ca%-certificates%.crt"
    local is_root = io.popen("id -u"):read "*n" == 0
    local shown, report = host:run("haproxy", { lua = "lua5.3", command = "sh FOLDER/start.sh",
      files = { ["driver.lua"] = DRIVER, ["start.sh"] = START },
      appended = { ["service.lua"] = MEASURED,
        ["haproxy.cfg"] = TEST_FRONT .. sections(ports):gsub(authorities, tls.ca_file) },
      replaced = { { "8088", ports.front }, { "8089", ports.good }, { "SERVICE:443", tls.good:match "//(.*)$" },
        { "SERVICE", "localhost" }, { authorities, tls.ca_file } },
      values = { FRONT = ports.front, TEST = ports.test, GOODPORT = ports.good, NAMEPORT = ports.name,
        AUTHORITYPORT = ports.authority, ROOTED = is_root and "" or "unshare -r" } })
    host:measured("HAProxy", shown, report, 32)
    assert.matches("done\n", shown)
    assert.matches(("%d\t200\n%d\t503\n%d\t503\n"):format(ports.good, ports.name, ports.authority), shown)
  end)
end)
