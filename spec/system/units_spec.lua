-- SPDX-License-Identifier: MIT
-- The units and the cron file of examples/: systemd knows each word of them, and each of their command lines runs
-- against the simulator with the environment of examples/systemd/environment.

local files = require "files"
local purser = require "purser"
local start = require("service").start

local here = files.output_of("pwd"):match "[^\n]+"
local shell = require("command").shell

local function units(kind) return files.lines_of(("ls examples/systemd/*.%s"):format(kind)) end

describe("the units of examples/systemd", function()
  local folder

  before_each(function() folder = files.folder() end)
  after_each(function() files.remove(folder) end)

  -- Returns what systemd says of copies of the units, in which `change` may break one.
  local function verified(change)
    assert(os.execute(("cp -r examples/systemd/* %s && cd %s && sed -i 's|^ExecStart=purser|ExecStart=%s/bin/purser|' "
      .. "*.service"):format(folder, folder, here)))
    if change then assert(os.execute(("cd %s && %s"):format(folder, change))) end
    return files.output_of(("systemd-analyze verify %s/*.service %s/*.timer 2>&1"):format(folder, folder))
  end

  it("have no word that systemd does not know", function()
    if not files.output_of("command -v systemd-analyze"):find "/" then
      return print "units_spec: systemd-analyze is not here, so nothing verified the units"
    end
    assert.equal("", verified())
    assert.matches("Unknown key", verified "sed -i s/^User/Usre/ purser-.service.d/common.conf")
    assert.matches("calendar", verified "sed -i s/^OnCalendar=.*/OnCalendar=sometimes/ purser-sync.timer")
  end)

  it("have a unit for each timer, and a page that names each", function()
    local page = files.read "docs/desk/in-production.md"
    for _, timer in ipairs(units "timer") do
      local service = timer:gsub("%.timer$", ".service")
      assert.is_string(files.read(service))
      assert.is_truthy(page:find(timer:match "[^/]+$", 1, true), timer)
    end
    for _, service in ipairs(units "service") do
      assert.is_truthy(page:find(service:match "/(purser%-%l+)@?%.service$", 1, true), service)
    end
  end)
end)

-- The command lines that stand in the files: { { path, line } }.
local function command_lines()
  local lines = {}
  for i, path in ipairs(units "service") do
    local unit = files.read(path):gsub("\\\n", "")
    lines[i] = { path, (assert(unit:match "\nExecStart=([^\n]+)"):gsub("%%i", "june")) }
  end
  lines[#lines + 1] = { "examples/purser-sync.cron", assert(files.read("examples/purser-sync.cron"):match
    "\n[%d/* ]+ purser set %-a; %. %S+; (purser [^\n]+)\n$") }
  return lines
end

describe("a command line of examples", function()
  local service, folder

  setup(function()
    folder = files.folder()
    service = start { "--demo" }
    assert(service.world:account { name = "desk1xxxx", role = "sub", parent = "Demo", balances = { USDT = "5" } })
    files.write(folder .. "/keys", ("api_key = mx0DEMOdemoDEMOdemo0\nsecret_key = demosecretworthnothing0000000000\n"
      .. "base_url = %s\n"):format(service.url))
    files.write(folder .. "/guard.json", '{ "max_amount": { "USDT": "5" } }')
    assert(purser.journal.open { sqlite = folder .. "/journal.db" }):close()
    files.write(folder .. "/purser", ('#!/bin/sh\nexec "%s" "%s/bin/purser" "$@"\n'):format(
      files.output_of(("command -v %s"):format(os.getenv "LUA" or "lua5.4")):match "%S+", here))
    -- what is left out of it is what the simulator in its plain form does not have
    files.write(folder .. "/environment", (files.read("examples/systemd/environment"):gsub("/etc/purser", folder)
      :gsub("/var/lib/purser", folder):gsub("\n#(PURSER_%u+=)", "\n%1"):gsub(" %-%-permissions %-%-key%-days 14", "")))
    assert(os.execute(("cd %s && chmod 600 keys guard.json && chmod 700 purser"):format(folder)))
  end)
  teardown(function()
    service.stop()
    files.remove(folder)
  end)

  local function run(line)
    return shell(("(cd %s && PATH=\"$PWD:$PATH\" && set -a && RUNTIME_DIRECTORY=$PWD && . ./environment && exec %s) "
      .. "2>&1"):format(folder, line))
  end

  it("runs, and does what its unit is for", function()
    local printed = {}
    for _, row in ipairs(command_lines()) do
      local path, line = row[1], row[2]
      local once, count = line:gsub(" %-%-every 60s", "")
      assert.equal(path:find "watch" and 1 or 0, count)
      local code, text = run((once:gsub("systemd%-cat [^']+", "cat >told")))
      -- a queue that is not there, and a place that `purser receive begin` makes
      local is_missing = path:find "payouts@" or path:find "receive"
      assert.equal(is_missing and 2 or 0, code, path .. ": " .. text)
      printed[path:match "[%w-]+@?%.%l+$"] = text
    end
    assert.matches("holds no payment of the account", printed["purser-payouts@.service"])
    assert.matches("purser receive begin", printed["purser-receive.service"])
    assert.matches("new or changed", printed["purser-sync.service"])
    assert.matches("ok%s+key", printed["purser-doctor.service"])
    assert.equal("", printed["purser-sync.cron"])
    for _, name in ipairs { "alerts.json", "requests.db" } do assert.is_string(files.read(folder .. "/" .. name)) end
    assert.matches("\npurser_oldest_call_seconds", files.read(folder .. "/purser.prom"))
  end)
end)
