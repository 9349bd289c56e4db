-- SPDX-License-Identifier: MIT
-- No call of a loop waits for a name: with a name server that does not answer, each way to begin and to end a request
-- returns at once, with each option of a transport.
-- make test: 5 s, waits

local files = require "files"
local multi = require "purser.client.transport.multi"

local SLOW_S = 6

local PROGRAM = [[
local LIMIT_MS = tonumber(...)
local core = require "purser.core"
local curl = require "purser.client.transport.curl"
local multi = require "purser.client.transport.multi"
local worst, name = 0, "?"
local function timed(what, fn, ...)
  local began = core.monotonic_ms()
  local result = fn(...)
  local ms = core.monotonic_ms() - began
  if ms > worst then worst, name = ms, what end
  if ms > LIMIT_MS then print(worst, name) io.stdout:flush() os.exit(0, false) end
  return result
end
local function begin(what, options)
  local t = timed(what .. ": making", multi.new, options)
  if not t then return end
  local id = timed(what .. ": submit", t.submit, t, { method = "GET", base_url = "https://slow.invalid", target = "/",
    timeout_ms = 60000 })
  timed(what .. ": step", t.step, t)
  return t, id
end
local function walk(what, options)
  local t, id = begin(what, options)
  if not t then return print(what .. " is refused") end
  timed(what .. ": cancel", t.cancel, t, id)
  t = begin(what, options)
  timed(what .. ": close", t.close, t)
  t = begin(what, options)
  t = nil
  timed(what .. ": collect", collectgarbage)
  local t = begin(what, options)
  timed(what .. ": step", t.step, t)
  t:close()
end
for _, case in ipairs { CASES } do walk(case[1], case[2]) end
local t = assert(multi.new { connect_timeout_ms = 200 })
t:submit { method = "GET", base_url = "https://slow.invalid", target = "/" }
local began = core.monotonic_ms()
while core.monotonic_ms() - began < 400 do timed("the step that ends it", t.step, t) core.sleep_ms(5) end
local own = assert(curl.new { connect_timeout_ms = 200 })
timed("a blocking call", own.send, own, { method = "GET", base_url = "https://slow.invalid", target = "/" })
print(worst, name)
io.stdout:flush()
os.exit(0, false)
]]

-- Each option of a transport, as Lua. Those of the host and `base_url` reach no other way of libcurl.
local VALUES = {
  base_url = '"https://slow.invalid"', timeout_ms = "50000", connect_timeout_ms = "50000", max_response_bytes = "1000",
  user_agent = '"x"', proxy = '"http://slow.invalid:1"', ca_file = '"/nowhere"', ca_path = '"/nowhere"',
  ca_pem = '"-----BEGIN "', pinned_key = '"sha256//x"', interface = '"slow.invalid"', http_version = '"1.1"',
  compressed = "true", fresh_connect = "true", at_most_once_idle_s = "1", max_in_flight = "2", allow_insecure = "true",
  outside_tasks = '"reject"', self_stepping = "nil", wait = "nil", wake = "nil",
}

local function has_quick_exit()
  local major, minor = files.output_of("pkg-config --modversion libcurl 2>&1"):match "^(%d+)%.(%d+)"
  return tonumber(major) * 1000 + tonumber(minor) >= 7087
end

describe("a look-up that hangs", function()
  it("holds up no call of a loop, whatever the option and however the request ends", function()
    if not has_quick_exit() then return pending "libcurl before 7.87 joins the thread of a look-up" end
    local names, cases = {}, {}
    for name in select(2, multi.new { unknown = 1 }):match "there are (.*)$":gmatch "[%w_]+" do
      assert(VALUES[name], name .. ": give the option a value here")
      names[#names + 1] = name
      if VALUES[name] ~= "nil" then cases[#cases + 1] = ('{ "%s", { %s = %s } }'):format(name, name, VALUES[name]) end
    end
    local folder = files.folder()
    finally(function() files.remove(folder) end)
    assert(os.execute(("env -u LD_PRELOAD cc -shared -fPIC -o %s/slow.so spec/support/slow_names.c"):format(folder)))
    files.write(folder .. "/walk.lua", (PROGRAM:gsub("CASES", function() return table.concat(cases, ", ") end)))
    local said = files.output_of(("LD_PRELOAD=$LD_PRELOAD:%s/slow.so SLOW_NAMES_S=%d %s %s/walk.lua %d 2>&1"):format(
      folder, SLOW_S,
      os.getenv "LUA" or "lua5.4", folder, SLOW_S * 500))
    local ms, what = said:match "(%d+)\t([^\n]+)\n$"
    assert(ms, said)
    assert.is_true(tonumber(ms) < SLOW_S * 500, ("%s takes %s ms"):format(what, ms))
    assert.equal("interface is refused\n", said:match "^(.*\n)%d+\t[^\n]+\n$")
    assert.equal(21, #names)
  end)
end)
