-- SPDX-License-Identifier: MIT
-- The programs of the hosts of `make hosts-test`: each program in its real host against a simulated service.
-- make test-all: 28 s, waits

local files = require "files"
local free_port = require "free_port"
local nginx = require "nginx"
local packaged_host = require "packaged_host"

local LUA = os.getenv "LUA" or "lua5.4"

-- Appended to a program: what measures it. OVER ends the host.
local MEASURED = [[
local tick = require "host_ticks" {
  done = function() return left == 0 end,
  check = CHECKED,
  spawn = SPAWN,
  ends = function() OVER end,
}
]]

local LIBUV = MEASURED .. [[
local ticker = assert(LOOP.new_timer())
ticker:start(10, 10, function()
  tick()
  turn()
end)
]]

local CQUEUES = MEASURED .. [[
loop:wrap(function()
  while not over do
    cqueues.sleep(0.01)
    tick()
  end
end)
assert(loop:loop())
]]

local NGINX = [[
    local begun, report = false, ""
    finished = false
    local tick = require "host_ticks" {
      done = function() return finished end,
      check = require("purser").transport.openresty,
      spawn = function(fn) ngx.timer.at(0, fn) end,
      over = function(text) report = text end,
    }
    function answer(name)
      begun, finished = true, name == "finish"
      return report
    end
    ngx.timer.every(0.01, function() if begun then tick() end end)
]]

local NGINX_SERVER = [[
  server {
    listen 127.0.0.1:TEST;
    location / { content_by_lua_block { ngx.print(answer(ngx.var.uri:sub(2))) } }
  }
]]

local NGINX_START = [[
PATH=$PATH:/usr/sbin
nginx -p FOLDER/ -e FOLDER/error.log -c nginx.conf
lua5.4 FOLDER/driver.lua
kill $(cat FOLDER/nginx.pid)
cat FOLDER/error.log
]]

local NGINX_DRIVER = [[
local http, socket = require "socket.http", require "socket"
local function get(path, port) return http.request(("http://127.0.0.1:%d/%s"):format(port or TEST, path)) end
get "begin"
print((get("purser", FRONT)))
local report
repeat
  socket.sleep(0.05)
  report = assert(get "finish")
until report ~= ""
local file = assert(io.open(os.getenv "HOST_REPORT", "w"))
file:write(report)
file:close()
]]

local ERRORS = [[
local purser = require "purser"
local schedule = require "purser.schedule"
local uv = require "luv"
local raised, woke = 0, 0
local turn = purser.transport.luv(uv, assert(purser.transport.multi()), function() raised = raised + 1 end)
for i = 1, 3 do purser.spawn(function() error("task " .. i) end) end
purser.spawn(function() purser.sleep(30) woke = woke + 1 end)
turn()
uv.run()
print(("%d raised, %d woke, timeout %s"):format(raised, woke, tostring(schedule.timeout())))
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

-- libuv's transports of the check are stepped by tasks, those of cqueues by the bridge.
local function values(of)
  of.CHECKED, of.SPAWN = "purser.transport.multi", "purser.spawn"
  return of
end

describe("a page's program", function()
  it("for cqueues lets its loop go on, and the bridge passes the check of a transport", function()
    local shown, report = host:run("cqueues", { lua = LUA, command = LUA .. " FOLDER/main.lua",
      replaced = { { "assert%(loop:loop%(%)%)\n", "" } }, prepended = { ["main.lua"] = "local over = false\n" },
      appended = { ["main.lua"] = CQUEUES }, values = { OVER = "over = true", SPAWN = "function(fn) loop:wrap(fn) end",
        CHECKED = 'function(options) return require "purser.hosts.cqueues".new(loop, options) end' } })
    host:measured("cqueues", shown, report, true)
  end)

  it("for luv lets its loop go on, and its transport passes the check", function()
    local shown, report = host:run("luv", { lua = LUA, command = LUA .. " FOLDER/main.lua",
      replaced = { { "uv%.run%(%)\n", "" } }, appended = { ["main.lua"] = LIBUV .. "uv.run()\n" },
      values = values { LOOP = "uv", OVER = "uv.stop()" } })
    host:measured("luv", shown, report, true)
  end)

  it("for Neovim lets its loop go on, and its transport passes the check, and Neovim ends", function()
    local shown, report = host:run("neovim", { lua = "luajit",
      command = 'nvim --headless -u NONE -i NONE -c "luafile FOLDER/main.lua"',
      appended = { ["main.lua"] = LIBUV },
      values = values { LOOP = "vim.loop", OVER = 'vim.schedule(function() vim.cmd "qa!" end)' } })
    host:measured("Neovim", shown, report, true)
  end)

  it("for nginx lets its worker go on, and its transport passes the check", function()
    local front, test = free_port(), free_port()
    local temporary = ""
    for _, name in ipairs { "client_body", "proxy", "fastcgi", "uwsgi", "scgi" } do
      temporary = temporary .. ("%s_temp_path FOLDER/%s;\n"):format(name, name)
    end
    local shown, report = host:run("nginx", { lua = "luajit", command = "sh FOLDER/start.sh",
      files = { ["start.sh"] = NGINX_START, ["driver.lua"] = NGINX_DRIVER }, values = { FRONT = front, TEST = test },
      replaced = { { "8088", front }, { "/usr/lib/nginx/modules/", nginx.modules() .. "/" },
        { "events {}", nginx.user_line() .. "worker_processes 1;\nevents {}\nenv HOST_REPORT;\nenv CHECK;\nenv CA;\n"
          .. "env GOOD;\nenv OTHER_NAME;\nenv OTHER_AUTHORITY;" },
        { "http {\n", "http {\n" .. temporary .. NGINX_SERVER },
        { 'lua_package_path "', 'lua_package_path "ROOT/spec/support/?.lua;' },
        { "init_worker_by_lua_block {\n", "init_worker_by_lua_block {\n" .. NGINX } } })
    host:measured("nginx", shown, report, true)
    assert.matches("^done\n", shown)
  end)
end)

describe("the programs of hosts", function()
  it("have at most 40 lines a file, and stand on docs/hosts/hosts.md", function()
    local page, count = files.read "docs/hosts/hosts.md", 0
    for _, path in ipairs(files.lines_of "find examples/hosts -type f") do
      local _, lines = files.read(path):gsub("\n", "")
      assert.is_true(lines <= 40, path .. ": " .. lines)
      assert.is_truthy(page:find("](../../" .. path .. ")", 1, true), path)
      count = count + 1
    end
    assert.is_true(count >= 8, count)
  end)
end)

describe("the bridges", function()
  it("have at most 17 lines of code each", function()
    for _, path in ipairs(files.lines_of "ls lua/purser/hosts/*.lua") do
      local lines = path:find "/init%.lua$" and -math.huge or 0
      for line in io.lines(path) do
        if line:find "%S" and not line:find "^%s*%-%-" then lines = lines + 1 end
      end
      assert.is_true(lines <= 17, path .. ": " .. lines)
    end
  end)
end)

describe("the bridge to libuv", function()
  it("loses no error of a task, and goes on after each", function()
    assert.matches("3 raised, 1 woke", host:lua(LUA, ERRORS))
  end)
end)
