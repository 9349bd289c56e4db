-- SPDX-License-Identifier: MIT
-- A replay answers from a recording alone.

local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local recorded_run = require "recorded_run"

describe("a replay", function()
  local run = recorded_run.new "document"

  it("gives the results of the recorded run, with this run's values where they were sent", function()
    local live = recorded_run.new "live"
    local replay, client = live:replay()
    local left, all = tostring(replay):match "(%d+) of (%d+) left"
    assert.equal(all, left)
    live:work(client, { deposit = function() return true end, advance = function() end })
    assert.equal(0, replay:left())
  end)

  it("puts the value of a request in the place of its token in every later answer, and nowhere else", function()
    local _, client = run:replay()
    local made = assert(client.sub_account:create_sub_account {
      subAccount = "payroll0001", note = 'for "Anna" in Köln',
    })
    assert.equal("payroll0001", made.subAccount)
    local names = {}
    for _, account in ipairs(assert(client.sub_account:list_sub_accounts {})) do names[account.subAccount] = true end
    assert.is_true(names.payroll0001)
    assert.is_nil(names.payroll0002) -- nobody sent it yet: the list shows its token
  end)

  it("answers no request that differs in its method, path, names, harmless values, length or kind", function()
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "66.654321" }
    local function outcome(change)
      local _, client = run:replay()
      local sent = {}
      for name, value in pairs(params) do sent[name] = change[name] or value end
      local result, err = client.wallet:transfer(sent)
      return result and "answered" or err.outcome .. " " .. err.kind
    end
    assert.equal("answered", outcome {})
    assert.equal("answered", outcome { amount = "11.654321" }) -- of the same length and kind
    for _, change in ipairs { { amount = "6.654321" }, { amount = "666543.21" }, { amount = "666543210" },
      { asset = "USDC" }, { fromAccountType = "FUTURES", toAccountType = "SPOT" } } do
      assert.equal("not_sent argument", outcome(change))
    end
  end)

  it("takes one value for one token throughout", function()
    local _, client = run:replay()
    assert(client.sub_account:create_sub_account { subAccount = "payroll0009", note = 'for "Anna" in Köln' })
    local key = { subAccount = "payroll0001", note = "anna's key", permissions = "SPOT_ACCOUNT_READ",
      ip = "203.0.113.77" }
    local _, err = client.sub_account:create_api_key(key)
    assert.equal("argument", err.kind)
    key.subAccount = "payroll0009"
    assert(client.sub_account:create_api_key(key))
  end)

  it("answers each exchange once, in the recorded order", function()
    local _, client = run:replay()
    assert(client.wallet:coins())
    local _, err = client.wallet:coins()
    assert.equal("not_sent", err.outcome)
  end)

  it("takes what is no recording for none", function()
    for _, case in ipairs { { "/nonexistent/file", "No such file" }, { { "{}" }, "line 1 is no exchange" },
      { { '{"v":2,"method":"GET","target":"/"}' }, "another version" },
      { { '{"v":1,"method":"GET","target":"/"}' }, "no answer" }, { 7, "a path" }, { { {} }, "line 1 is no exchange" },
      { { '{"v":1,"method":"GET","target":"/","body":5,"status":200,"response":""}' }, "a body that is no text" },
    } do
      local replay, message = purser.transport.replay(case[1])
      assert.is_nil(replay)
      assert.matches(case[2], message, 1, true)
    end
  end)

  it("of a failure that says nothing is unknown: a file that was edited proves nothing", function()
    for _, failure in ipairs { "{}", '{"kind":"transport","outcome":"done"}' } do
      local line = '{"v":1,"method":"GET","target":"/x","failure":' .. failure .. "}"
      local replay = assert(purser.transport.replay { line })
      local _, failed = replay:send { method = "GET", target = "/x" }
      assert.same({ "transport", "unknown", 1 }, { failed.kind, failed.outcome, failed.sends })
    end
  end)

  it("compares parameters by name, in whatever order they are sent", function()
    local lines = { '{"v":1,"method":"GET","target":"/x?limit=5&page=2","failure":{}}' }
    for target, message in pairs { ["/x?page=2&limit=5"] = "the recorded exchange failed",
      ["/x?limit=2&page=5"] = "no exchange that is left" } do
      local _, failed = assert(purser.transport.replay(lines)):send { method = "GET", target = target }
      assert.matches(message, failed.message)
    end
  end)

  it("has the time of the next exchange that has one, the last one after the end, and else this machine's", function()
    local function line(query) return '{"v":1,"method":"GET","target":"/x' .. query .. '","failure":{}}' end
    local replay = assert(purser.transport.replay { line "?timestamp=1700000000001", line "",
      line "?timestamp=1700000000003" })
    local times = { replay:now() }
    for i, query in ipairs { "?timestamp=1", "", "?timestamp=1" } do
      replay:send { method = "GET", target = "/x" .. query }
      times[i + 1] = replay:now()
    end
    assert.same({ 1700000000001, 1700000000001, 1700000000003, 1700000000003 }, times)
    assert.is_true(assert(purser.transport.replay {}):now() >= core.now_ms() - 60000)
  end)

  it("opens no socket: it loads no module that could, and the core calls nothing of the network", function()
    local script = os.tmpname()
    files.write(script, [[
      local before = {}
      for name in pairs(package.loaded) do before[name] = true end
      for _, name in ipairs { "purser.http", "purser.httpd", "purser.client.util.libcurl", "socket" } do
        package.preload[name] = function() error("a replay loaded " .. name) end
      end
      local purser = require "purser"
      local replay = assert(purser.transport.replay "spec/cassettes/coins.jsonl")
      local client = assert(purser.new { profile = "mexc", api_key = "mx0sample", secret_key = "sample",
        transport = replay, clock = function() return replay:now() end })
      assert(#assert(client.wallet:coins()) == 2)
      local _, err = client.wallet:coins()
      assert(err.outcome == "not_sent")
      client:close()
      for name in pairs(package.loaded) do
        if not before[name] and not name:find "^purser" then print("loaded " .. name) end
      end
      print "replayed"
    ]])
    local code, out = command.shell((os.getenv "LUA" or "lua5.4") .. " " .. script .. " 2>&1")
    assert.equal("replayed\n", out)
    assert.equal(0, code)
    os.remove(script)
    local build = os.getenv "BUILD" or "build/lua5.4"
    code, out = command.shell("nm -D --undefined-only " .. build .. "/purser/core.so")
    assert.equal(0, code)
    assert.matches("SHA256_Update", out, 1, true) -- it lists what the core calls
    for _, name in ipairs { "socket", "connect", "sendto", "recvfrom", "getaddrinfo", "BIO_new_connect", "SSL_" } do
      assert.is_nil(out:find(" " .. name, 1, true), name)
    end
  end)
end)
