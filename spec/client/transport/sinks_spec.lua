-- SPDX-License-Identifier: MIT
-- Where events go: commands and webhooks, real ones.

local core = require "purser.core"
local files = require "files"
local json = require "purser.json"
local sinks = require "purser.client.transport.sinks"
local own = require("stage").new(nil, { good = { alt = "IP:127.0.0.1" }, other = { alt = "DNS:other.example" } })

local LUA = os.getenv "LUA" or "lua5.4"
local SECRET = "one that both know"
local folder, pids, pipes = nil, {}, {}

setup(function() folder = files.folder() end)
teardown(function()
  for _, pid in ipairs(pids) do os.execute("kill " .. pid) end
  files.remove(folder)
end)

-- Starts a receiver; returns its port and the file that it writes requests to.
local function receiver(statuses)
  local path = ("%s/requests%d"):format(folder, #pids)
  local pipe = assert(io.popen(("echo $$; exec %s spec/support/webhook.lua %s %s"):format(LUA, path, statuses or "")))
  pids[#pids + 1] = pipe:read "*l"
  pipes[#pipes + 1] = pipe -- a pipe that is collected waits for the end of its program
  return pipe:read "*l", path
end

local function requests(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = core.decode(line) end
  return list
end

describe("a command", function()
  it("gets the event on its standard input, quotes, line ends and all, and has it when it ends well", function()
    local path = folder .. "/got"
    local sink = assert(sinks.new { command = ("cat >%s # it's a file"):format(path) })
    assert.is_true(sink:deliver [[{"a":"it's \"so\" $HOME `x`"}]])
    assert.equal([[{"a":"it's \"so\" $HOME `x`"}]] .. "\n", files.read(path))
  end)

  it("that fails, does not read, or cannot be found does not have it", function()
    for command, status in pairs { ["exit 3"] = "3", ["no-such-command-here 2>/dev/null"] = "127" } do
      local ok, message = assert(sinks.new { command = command }):deliver(("x"):rep(100000))
      assert.is_nil(ok)
      if _VERSION ~= "Lua 5.1" then assert.equal("the command ended with status " .. status, message) end
    end
    assert.is_true(assert(sinks.new { command = "true" }):deliver(("x"):rep(100000)))
  end)
end)

describe("a webhook", function()
  it("goes to this machine alone in a rehearsal, whose payments are no money", function()
    local getenv, at = os.getenv, "http://localhost:1"
    finally(function() os.getenv = getenv end) -- luacheck: ignore
    os.getenv = function(name) return name == "PURSER_REHEARSAL" and at or getenv(name) end -- luacheck: ignore
    local sink, message = sinks.new { webhook = "https://shop.example/hook", secret = SECRET }
    assert.is_nil(sink)
    assert.matches("this is a rehearsal of `purser test`", message, 1, true)
    assert.is_truthy(sinks.new { webhook = "http://127.0.0.1:1/hook", secret = SECRET })
    at = nil
    assert.is_truthy(sinks.new { webhook = "https://shop.example/hook", secret = SECRET })
  end)

  it("has a secret that can sign", function()
    assert.same({ nil, "the key is empty" }, { sinks.new { webhook = "http://127.0.0.1:1/", secret = "" } })
  end)

  it("of an own authority gets the event by `ca_file` and its kin; a message names no service", function()
    local peer, made = own.start()
    peer:tls(made.path "good.crt", made.path "good.key")
    local function delivered(options)
      options.webhook, options.secret = peer:url "https" .. "/hook", SECRET
      return assert(sinks.new(options)):deliver "{}"
    end
    for name, value in pairs { ca_file = made.path "ca.crt", ca_path = made.path "authorities",
      ca_pem = made.text "ca.crt" } do
      assert.is_true(delivered { [name] = value })
    end
    local ok, message = delivered {}
    assert.is_nil(ok)
    assert.matches("^the server's certificate is not accepted: .* by `ca_file`, `ca_path` or `ca_pem`", message)
    peer:tls(made.path "other.crt", made.path "other.key")
    ok, message = delivered { ca_file = made.path "ca.crt" }
    assert.is_nil(ok)
    assert.matches("another host name; check `webhook`", message)
    own.stop()
  end)

  it("gets the event with a signature that its receiver can check, for five minutes", function()
    local port, path = receiver()
    local sink = assert(sinks.new { webhook = "http://127.0.0.1:" .. port .. "/hook?a=1", secret = SECRET })
    local body = json.encode { id = "ev_1", note = "ü\n" }
    assert.is_true(sink:deliver(body))
    local request = requests(path)[1]
    assert.same({ "POST", "/hook?a=1", body, "application/json" },
      { request.method, request.target, request.body, request.headers["content-type"] })
    local head = request.headers["purser-signature"]
    local at = tonumber(head:match "^t=(%d+),v1=%x+$")
    assert.is_true(sinks.verify(SECRET, head, request.body))
    assert.is_true(sinks.verify(SECRET, head, request.body, at + 300))
    assert.is_false(sinks.verify(SECRET, head, request.body, at + 301))
    assert.is_false(sinks.verify(SECRET, head, request.body, at - 301))
    assert.is_false(sinks.verify("another", head, request.body))
    assert.is_false(sinks.verify(SECRET, head, request.body .. " "))
    assert.is_false(sinks.verify(SECRET, (head:gsub("t=%d+", "t=" .. at + 1)), request.body))
    assert.is_false(sinks.verify(SECRET, "", request.body))
    assert.is_false(sinks.verify(SECRET, nil, request.body)) -- a request without the member
    assert.is_true(sinks.verify(SECRET, head:gsub(",v1=", ",v1=" .. ("0"):rep(64) .. ",v1="), request.body))
  end)

  it("that answers anything but 2xx, or cannot be reached, does not have it", function()
    local port = receiver "500 302 404 200 204"
    local sink = assert(sinks.new { webhook = "http://127.0.0.1:" .. port, secret = SECRET })
    for _, status in ipairs { 500, 302, 404 } do
      local ok, message = sink:deliver "{}"
      assert.same({ nil, ("the webhook answered %d"):format(status) }, { ok, message })
    end
    assert.is_true(sink:deliver "{}")
    assert.is_true(sink:deliver "{}")
    local ok, message = assert(sinks.new { webhook = "http://127.0.0.1:1/", secret = SECRET }):deliver "{}"
    assert.is_nil(ok)
    assert.is_string(message)
  end)

  it("goes to https, or to this machine", function()
    assert.is_table(sinks.new { webhook = "https://hooks.example.com/a", secret = SECRET })
    for _, url in ipairs { "http://hooks.example.com/a", "ftp://127.0.0.1/", "hooks.example.com", "" } do
      local sink, message = sinks.new { webhook = url, secret = SECRET }
      assert.is_nil(sink, url)
      assert.is_string(message)
    end
  end)

  it("has a secret, which no message shows", function()
    local sink, message = sinks.new { webhook = "https://hooks.example.com/a" }
    assert.same({ nil, "a webhook needs a secret, by which its receiver knows the sender" }, { sink, message })
  end)
end)

it("a sink is one of the two", function()
  assert.is_nil(sinks.new {})
  assert.is_nil(sinks.new { command = "true", webhook = "https://hooks.example.com/", secret = SECRET })
end)
