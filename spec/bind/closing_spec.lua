-- SPDX-License-Identifier: MIT
-- Objects end in every order, more than once, while others use them, and in the middle of their own work. What is
-- closed says so; what is open goes on; nothing is used after its end (make asan and make valgrind watch this).

local core = require "purser.core"
local eventually = require "eventually"
local libcurl = require "purser.client.util.libcurl"
local httpd = require "purser.httpd"
local peers = require "peer"
local purser = require "purser"

local peer
setup(function() peer = peers.start() end)
teardown(function() peer:stop() end)
before_each(function() peer:script "head body ok" end)

local function get() return { method = "GET", base_url = peer:url "http", target = "/x", timeout_ms = 5000 } end

local makers = {
  signer = function() return core.signer("hmac-sha256", "secret") end,
  layout = function() return core.layout({ "a", "b" }, {}) end,
  decoder = function() return core.decoder { list = "string" } end,
  http = function() return libcurl.easy { connect_timeout_ms = 3000 } end,
  http_multi = function() return libcurl.multi { max_in_flight = 4 } end,
  httpd = function() return httpd.listen { port = 0 } end,
  client = function()
    return purser.new { base_url = peer:url "http", allow_insecure = true, api_key = "k", secret_key = "s",
      retry = false }
  end,
  curl = function() return purser.transport.curl {} end,
  multi = function() return purser.transport.multi {} end,
}

local names = {}
for name in pairs(makers) do names[#names + 1] = name end
table.sort(names)

local function close(object)
  if type(object) == "userdata" then
    local ok, method = pcall(function() return object.close end)
    if not (ok and method) then return end
  end
  object:close()
end

local function collect()
  collectgarbage()
  collectgarbage()
end

-- All orders of the numbers from 1 to n, a function call each (Heap's way).
local function orders(list, n, fn)
  if n == 1 then return fn(list) end
  for i = 1, n do
    orders(list, n - 1, fn)
    local other = n % 2 == 0 and i or 1
    list[other], list[n] = list[n], list[other]
  end
end

describe("closing", function()
  for _, name in ipairs(names) do
    it("may be asked for again: " .. name, function()
      local object = assert(makers[name]())
      assert.is_string(tostring(object))
      for _ = 1, 3 do close(object) end
      assert.is_string(tostring(object))
      object = nil -- luacheck: ignore 311
      collect()
    end)

    it("is not needed: " .. name, function()
      for _ = 1, 5 do assert(makers[name]()) end
      collect()
    end)
  end

  it("goes in any order: signer, layout, decoder, both transports and a server", function()
    local order = { "signer", "layout", "decoder", "http", "http_multi", "httpd" }
    local count = 0
    orders(order, #order, function(list)
      count = count + 1
      local objects = {}
      for i, name in ipairs(list) do objects[i] = assert(makers[name]()) end
      for i = 1, #objects do
        if (count + i) % 3 == 0 then close(objects[i]) end
        objects[i] = nil
        if count % 24 == 0 then collect() end
      end
    end)
    assert.equal(720, count)
    collect()
  end)

  it("of the whole Lua state takes objects in any order", function()
    local script = ([[
      local core, httpd, purser = require "purser.core", require "purser.httpd", require "purser"
      local libcurl = require "purser.client.util.libcurl"
      objects = {}
      for i = 1, 3 do
        objects[#objects + 1] = core.signer("hmac-sha256", "x")
        objects[#objects + 1] = libcurl.easy {}
        objects[#objects + 1] = libcurl.multi {}
        objects[#objects + 1] = httpd.listen { port = 0 }
        objects[#objects + 1] = purser.new { base_url = "http://127.0.0.1:1", allow_insecure = true, api_key = "k",
          secret_key = "s" }
        objects[#objects + 1] = purser.transport.multi {}
        local id = objects[#objects]:submit { method = "GET", base_url = "http://127.0.0.1:1", target = "/" }
        assert(id)
      end
      print "end"
    ]]):gsub("%s+", " ")
    local pipe = assert(io.popen(("%s -e '%s' 2>&1; echo $?"):format(os.getenv "LUA" or "lua5.4", script)))
    assert.equal("end\n0\n", pipe:read "*a")
    pipe:close()
  end)
end)

describe("what is closed", function()
  local function says_closed(fn)
    local ok, message = pcall(fn)
    assert.is_false(ok)
    assert.matches("closed", message)
  end

  it("does not work: signer", function()
    local signer, layout = makers.signer(), makers.layout()
    signer:close()
    says_closed(function() return signer:sign "x" end)
    says_closed(function() return signer:sign_query(layout, {}, "signature") end)
    assert.equal("a=1", layout:query { a = 1 })
  end)

  it("does not work: server", function()
    local server = makers.httpd()
    server:close()
    says_closed(function() return server:next(0) end)
    says_closed(function() return server:respond(1, 200) end)
    says_closed(function() return server:port() end)
  end)

  it("sends nothing: transports and clients", function()
    local mark = peer:count()
    for _, name in ipairs { "http", "curl", "multi", "client" } do
      local object = makers[name]()
      object:close()
      local response, failure
      if name == "client" then response, failure = object:ping() else response, failure = object:send(get()) end
      assert.is_nil(response)
      assert.same({ "closed", "not_sent" }, { failure.kind, failure.outcome })
    end
    local multi = makers.http_multi()
    multi:close()
    says_closed(function() return multi:submit(get()) end)
    says_closed(function() return multi:step() end)
    says_closed(function() return multi:next() end)
    assert.equal(0, peer:count(mark).requests)
  end)
end)

describe("an object that ends in the middle", function()
  it("a client in its own hooks", function()
    for _, hook in ipairs { "before", "after" } do
      local client
      client = assert(purser.new { base_url = peer:url "http", allow_insecure = true, api_key = "k", secret_key = "s",
        retry = false, hooks = { [hook] = function() client:close() end } })
      local result, err = client:ping()
      if hook == "before" then
        assert.is_nil(result)
        assert.same({ "closed", "not_sent" }, { err.kind, err.outcome })
      else
        assert.is_true(result)
      end
      assert.equal("closed", select(2, client:ping()).kind)
    end
  end)

  it("a client in its clock, its credentials and its transport", function()
    local client
    local options = { base_url = "https://service.example", retry = false, api_key = "k", secret_key = "s" }
    local function run(change)
      local given = { transport = { send = function() return { status = 200, body = "[]", headers = "" } end } }
      for name, value in pairs(options) do given[name] = value end
      change(given)
      client = assert(purser.new(given))
      local ok, result, err = pcall(client.wallet.coins, client.wallet)
      assert.is_true(ok, tostring(result))
      client:close()
      return result, err
    end
    local _, err = run(function(o) o.clock = function()
      client:close()
      return 1700000000000
    end end)
    assert.same({ "closed", "not_sent" }, { err.kind, err.outcome })
    _, err = run(function(o)
      o.api_key, o.secret_key = nil, nil
      o.credentials = function()
        client:close()
        return "k", "s"
      end
    end)
    assert.same({ "closed", "not_sent" }, { err.kind, err.outcome })
    local result = run(function(o) o.transport.send = function()
      client:close()
      return { status = 200, body = "[]", headers = "" }
    end end)
    assert.same({}, result)
  end)

  it("a multi transport with requests queued, on the wire and answered", function()
    peer:script "head body wait=30 ok"
    for steps = 0, 20, 4 do
      local multi = makers.http_multi()
      for _ = 1, 8 do assert(multi:submit(get())) end
      for _ = 1, steps do
        multi:wait(10)
        multi:step()
        if steps % 8 == 0 then multi:next() end
      end
      multi:close()
      multi:close()
    end
    local multi = makers.http_multi()
    for _ = 1, 8 do assert(multi:submit(get())) end
    multi:step()
    multi = nil -- luacheck: ignore 311
    collect()
  end)

  it("a server with requests unanswered", function()
    local server, multi = makers.httpd(), makers.http_multi()
    local request = { method = "GET", base_url = "http://127.0.0.1:" .. server:port(), target = "/", timeout_ms = 5000 }
    for _ = 1, 3 do multi:submit(request) end
    eventually(function()
      multi:step()
      return server:next(2)
    end)
    server:close()
    local ended = 0
    repeat
      multi:wait(5)
      multi:step()
      while true do
        local id, response = multi:next()
        if not id then break end
        assert.is_nil(response)
        ended = ended + 1
      end
    until ended == 3
  end)
end)

-- Finalisers run at any allocation. The program next to this runs what the case says while one of them uses, or closes,
-- the same object at nearly every allocation. It is a process of its own: a collection each time wants a small heap.
describe("a finaliser that runs in the middle", function()
  local function run(case)
    local command = "MALLOC_PERTURB_=165 %s spec/support/finalisers.lua %s %s 2>&1" -- freed memory is overwritten
    local pipe = assert(io.popen(command:format(os.getenv "LUA" or "lua5.4", case, peer:url "http")))
    local output = pipe:read "*a"
    pipe:close()
    local runs = tonumber(output:match "^(%d+) runs\n$")
    assert.is_true(runs and runs > 10, output)
  end

  it("regression: cannot change the answer of a blocking transport that it uses", function() run "http" end)
  it("regression: cannot take away the answer that a multi transport is giving", function() run "multi" end)
  it("regression: cannot change a text that a signer or layout is giving", function() run "signer" end)
  it("may use the same decoder", function() run "decoder" end)
  it("regression: may close a signer whose text is still a number", function() run "signer_numbers" end)
  it("regression: may close a server that is handing out a request", function() run "server_closed" end)
  it("regression: gets no request that is being handed out", function() run "server_taken" end)
  it("regression: may bring back a decoder, whose own finaliser then runs in a decoding", function()
    run "decoder_brought_back"
  end)
  it("regression: may bring back a decimal, whose own finaliser then runs in an addition", function()
    run "decimal_brought_back"
  end)
  it("may close the transport, which then ends after the call", function() run "close" end)
end)
