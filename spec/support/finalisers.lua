-- SPDX-License-Identifier: MIT
-- Run by closing_spec.lua: `finalisers.lua CASE URL`. Does what the case says while a finaliser calls the same objects
-- at nearly every allocation, and prints how often it did.

local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"

local case, url = arg[1], arg[2]
local newproxy = rawget(_G, "newproxy")

-- An object whose finaliser is `fn`: Lua 5.1 finalises userdata only.
local function finalised(fn)
  if newproxy then getmetatable(newproxy(true)).__gc = fn
  else setmetatable({}, { __gc = fn }) end
end

-- Runs `fn`, with `act` called by finalisers meanwhile.
local function with(act, fn)
  local armed, runs = true, 0
  local function arm()
    finalised(function()
      if not armed then return end
      runs = runs + 1
      arm()
      act()
    end)
  end
  -- A whole collection at each step, and no pause between them. Here 0 means 0; to "incremental" it means no change.
  if _VERSION == "Lua 5.4" then collectgarbage("incremental", 1, 1000, 30)
  else collectgarbage("setstepmul", 1000000) end
  collectgarbage("setpause", 0)
  collectgarbage()
  arm()
  fn()
  armed = false
  print(runs .. " runs")
end

local function get() return { method = "GET", base_url = url, target = "/x", timeout_ms = 5000 } end

local cases = {}

function cases.http()
  local http = libcurl.easy {}
  local nowhere = { method = "GET", base_url = "http://127.0.0.1:1", target = "/",
    headers = { ["X-Other"] = ("3"):rep(900) } }
  with(function() http:send(nowhere) end, function()
    for _ = 1, 20 do
      local request = get()
      request.headers = { ["X-One"] = ("1"):rep(200), ["X-Two"] = ("2"):rep(200) }
      local response, failure = http:send(request)
      assert(response, failure and failure.message)
      assert(response.status == 200 and response.body == "{}" and response.sends == 1)
    end
  end)
end

function cases.multi()
  local multi, taken = libcurl.multi { max_in_flight = 2 }, {}
  local function take()
    local id, response, failure = multi:next()
    if id then taken[id] = response or failure.message end
    return id
  end
  with(function()
    take()
    pcall(multi.cancel, multi, 0)
    multi:fds()
    multi:step()
  end, function()
    for _ = 1, 20 do
      local id = assert(multi:submit(get()))
      repeat
        multi:wait(5)
        multi:step()
        take()
      until taken[id]
      assert(taken[id].status == 200 and taken[id].body == "{}", tostring(taken[id]))
    end
  end)
end

function cases.close()
  local closed = 0
  with(function() end, function()
    for _ = 1, 5 do
      local http, multi = libcurl.easy {}, libcurl.multi {}
      finalised(function()
        http:close()
        multi:close()
      end)
      for _ = 1, 20 do
        local response, failure = http:send(get())
        assert(response or failure.kind == "closed")
        local ok, id = pcall(multi.submit, multi, get())
        assert(ok and id or tostring(id):find "closed")
        if not response then closed = closed + 1 end
      end
      assert(tostring(http):find "closed" and tostring(multi):find "closed")
    end
  end)
  assert(closed > 0)
end

function cases.signer()
  local signer, layout = core.signer("hmac-sha256", "secret"), core.layout({ "a", "b" }, { "a" }, "object")
  local requested, given, others = {}, {}, {}
  for i, size in ipairs { 20, 3000, 100000 } do
    given[i], others[i] = { a = ("m"):rep(size), b = 1 }, { a = ("o"):rep(size), b = 2 }
    requested[i] = { layout:query(given[i]), layout:body(given[i]), signer:sign_query(layout, given[i], "s") }
  end
  local turn = 0
  with(function()
    turn = turn % 3 + 1
    local other = others[turn]
    layout:query(other)
    layout:body(other)
    signer:sign_query(layout, other, "s")
  end, function()
    local right = 0
    local function check(expected, ok, text)
      if ok then right = right + 1 end
      assert(ok and text == expected or tostring(text):find "finaliser used", "another text")
    end
    for i = 1, 150 do
      local at = i % 3 + 1
      check(requested[at][1], pcall(layout.query, layout, given[at]))
      check(requested[at][2], pcall(layout.body, layout, given[at]))
      check(requested[at][3], pcall(signer.sign_query, signer, layout, given[at], "s"))
    end
    assert(right >= 300) -- texts over 4 KB may be rejected before Lua 5.3, and only they
  end)
end

function cases.decoder()
  local decoder = core.decoder { list = { record = { name = "r", fields = { { name = "a", type = "string" } } } } }
  local text = '[{"a":"x","new":1},{"a":"y","other":[{"a":"z"}]}]'
  with(function() decoder:decode '[{"a":"1","more":2,"b":{}},{"late":0}]' end, function()
    for _ = 1, 50 do
      local list = assert(decoder:decode(text))
      assert(#list == 2 and list[1].a == "x" and list[1].new == 1 and list[2].a == "y" and list[2].other[1].a == "z")
    end
  end)
end

-- A number becomes a text after the signer was looked at, and that text is an allocation.
function cases.signer_numbers()
  local layout, values, ended, signer = core.layout({ "a" }, {}), {}, 0, nil
  local function try(ok, text)
    assert(ok and #text >= 64 or tostring(text):find "closed", tostring(text))
    if not ok then ended = ended + 1 end
  end
  with(function() if signer then signer:close() end end, function()
    for i = 1, 300 do
      signer = core.signer("hmac-sha256", "secret")
      try(pcall(signer.sign, signer, i + 0.5))
      signer = core.signer("hmac-sha256", "secret")
      try(pcall(signer.sign_query, signer, layout, values, i + 0.25))
    end
  end)
  assert(ended > 0)
end

-- A server that hands out a request while a finaliser does `act`, which returns what it took of the server.
local function server_case(act)
  local httpd, socket = require "purser.httpd", require "socket"
  local target = "/" .. ("x"):rep(300)
  local function is_whole(request) return request.target == target and #request.headers["x-one"] == 300 end
  for _ = 1, 40 do
    local server = assert(httpd.listen { port = 0 })
    local client = assert(socket.connect("127.0.0.1", server:port()))
    client:send(("GET %s HTTP/1.1\r\nHost: a\r\nX-One: %s\r\n\r\n"):format(target, ("1"):rep(300)))
    local taken = 0
    finalised(function() if act(server) then taken = taken + 1 end end)
    repeat
      local ok, request = pcall(server.next, server, 10)
      if ok and request then
        assert(is_whole(request))
        taken = taken + 1
      end
    until not ok and request:find "closed" or taken > 0
    assert(taken <= 1, "a request was handed out twice")
    client:close()
    server:close()
  end
end

function cases.server_closed()
  with(function() end, function() server_case(function(server) server:close() end) end)
end

function cases.server_taken()
  with(function() end, function() server_case(function(server) return server:next(0) end) end)
end

-- An object that a finaliser brought back, while its own finaliser is still to come; nil where that ran already.
local function brought_back(make, is_open)
  local kept
  collectgarbage "stop"
  local function leave()
    local object = make()
    for _ = 1, 1500 do finalised(function() end) end
    local holder = { object }
    finalised(function() kept = holder[1] end)
  end
  leave()
  for _ = 1, 100000 do
    if kept then break end
    collectgarbage("step", 0)
  end
  collectgarbage "restart"
  return is_open(assert(kept, "nothing was brought back")) and kept or nil
end

local function slow_collector()
  if _VERSION == "Lua 5.4" then collectgarbage("incremental", 1000, 1, 3) else collectgarbage("setstepmul", 1) end
end

function cases.decoder_brought_back()
  slow_collector()
  local function is_open(decoder) return not tostring(decoder):find "closed" end
  local records, found = {}, 0
  for i = 1, 20000 do records[i] = ('{"a":"%d","new":1}'):format(i) end
  local text = "[" .. table.concat(records, ",") .. "]"
  for _ = 1, 5 do
    local decoder = brought_back(function()
      return core.decoder { list = { record = { name = "r", fields = { { name = "a", type = "string" } } } } }
    end, is_open)
    if decoder then
      found = found + 1
      local list = assert(decoder:decode(text))
      for i = 1, 20000 do assert(list[i].a == tostring(i) and list[i].new == 1) end
    end
  end
  print((100 + found) .. " runs")
end

function cases.decimal_brought_back()
  slow_collector()
  local function is_open(decimal) return pcall(tostring, decimal) end
  local found = 0
  for _ = 1, 5 do
    local decimal = brought_back(function() return assert(core.decimal "12345678901234567890123.5") end, is_open)
    for i = 1, decimal and 50000 or 0 do
      local ok, sum = pcall(function() return decimal + ("1." .. i) end)
      if not ok then
        found = found + 1
        assert(sum:find "has been collected", sum)
        break
      end
    end
  end
  print((100 + found) .. " runs")
end

cases[case]()
