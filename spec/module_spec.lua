-- SPDX-License-Identifier: MIT
-- The module itself: its members are loaded at their first use.

local run = require("spec.support.files").output_of_program
local purser = require "purser"

describe("purser", function()
  it("loads a member when it is first used, and only that", function()
    assert.equal("none\npurser.client.util.utc\n", run [[
      local purser = require "purser"
      local heavy = { "purser.client", "purser.schedule", "purser.testing.sim", "purser.client.util.utc",
        "purser.desk.fleet",
        "purser.write.journal", "purser.client.transport.curl", "purser.client.operations" }
      local function loaded()
        for _, name in ipairs(heavy) do
          if package.loaded[name] then return name end
        end
        return "none"
      end
      print(loaded())
      purser.utc.text(0)
      print(loaded())
    ]])
  end)

  it("gives the conventions of a profile, complete and as a copy", function()
    local profile = assert(purser.profile { base = "mexc", object_body = "query" })
    assert.same({ "query", "signature" }, { profile.object_body, profile.signature_name })
    purser.profile().signature_name = "x"
    assert.are_not.equal("x", purser.profile().signature_name)
    local none, message = purser.profile "mex"
    assert.is_nil(none)
    assert.matches("mexc", message)
  end)

  it("has each member as the same thing each time, but a copy of the rows for each reader", function()
    for _, name in ipairs { "decimal", "secrets", "fleet", "sim", "vault", "states", "utc", "journal", "payouts",
      "profiles", "rate_limit", "run", "spawn", "join", "all", "sleep", "transport" } do
      assert.is_not_nil(purser[name], name)
      assert.equal(purser[name], purser[name])
    end
    local rows = purser.operations
    rows["wallet.withdraw"].path, rows[1] = "/elsewhere", nil
    assert.equal("/api/v3/capital/withdraw", purser.operations["wallet.withdraw"].path)
    assert.is_not_nil(purser.operations[1])
  end)

  it("raises what was meant by a name that is nearly one, or a client's group, and has nil for any other", function()
    for name, meant in pairs { jornal = 'did you mean "journal"', Decimal = 'did you mean "decimal"', restricte =
      'did you mean "restricted"', wallet = "client.wallet", sub_account = "client.sub_account" } do
      local ok, message = pcall(function() return purser[name] .. "" end)
      assert.is_false(ok)
      assert.matches("^spec/module_spec%.lua:%d+: purser has no", message)
      assert.matches(meant, message, 1, true)
    end
    for _, name in ipairs { "nope", "_jornal", "x", 5 } do assert.is_nil(purser[name]) end
  end)

  it("ties stores of the rate limit to clients and to rate limits of their own", function()
    local named = { store = { sqlite = "/nonexistent/limits", namespace = "a b" } }
    for _, made in ipairs { { purser.rate_limit(named) }, { purser.new { base_url = "http://localhost", api_key = "k",
      secret_key = "s", rate_limit = named } } } do
      assert.is_nil(made[1])
      assert.matches("namespace", made[2].message)
    end
    named.store.namespace = "a"
    assert(purser.rate_limit(named)):close()
  end)

  it("makes ids of 32 letters and digits, never the same", function()
    local seen = {}
    for _ = 1, 1000 do
      local id = assert(purser.client_id())
      assert(#id == 32 and not id:find "[^0-9A-Za-z]" and not seen[id], id)
      seen[id] = true
    end
  end)
end)

describe("a program that makes one read call", function()
  -- A byte of source costs some 130 instructions at a start, one of an installation 25: what is new here is paid by
  -- every script. What a call does not use is loaded by `lazy`.
  it("loads these modules and no other", function()
    local loaded = run [[
      local purser = require "purser"
      local answer = { status = 200, body = '[{"coin":"USDT"}]', headers = "" }
      local client = assert(purser.new { profile = "mexc", base_url = "http://127.0.0.1:1", api_key = "k",
        secret_key = "s", transport = { send = function() return answer end } })
      assert(#assert(client.wallet:deposit_history { coin = "USDT" }) == 1)
      local names = {}
      for name in pairs(package.loaded) do names[#names + 1] = name:match "^purser%.(.*)" end
      table.sort(names)
      print(table.concat(names, " "))
    ]]
    assert.equal("client client.build client.call.call_options client.call.clock client.call.decoders "
      .. "client.call.pipeline client.call.rate_limit client.call.rate_limit.options "
      .. "client.call.rate_limit.process client.call.rate_limit.sliding_log client.call.response "
      .. "client.call.validate client.operations client.operations.facts client.operations.parameters "
      .. "client.operations.profile_rules client.operations.profiles client.operations.shapes "
      .. "client.operations.text client.operations.wallet client.options client.util.archive "
      .. "client.util.digest client.util.lazy client.util.loopback client.util.names_of "
      .. "client.util.option_schema client.util.private client.util.rocks core module version "
      .. "write.policy\n", loaded)
  end)
end)
