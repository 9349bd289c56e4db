-- SPDX-License-Identifier: MIT
-- A client as users hold it leads to nothing that the client works with, and changing it changes nothing.

local private = require "purser.client.util.private"
local purser = require "purser"
local simulated = require "simulated"

local SECRET = "HostSecretThatNoScriptMayRead0123456"

local sim, account

local function client_with(options)
  return simulated.client(sim, account, { retry = false, rate_limit = false }, options)
end

before_each(function()
  sim = purser.sim.new { seed = 3 }
  account = assert(sim:account { name = "Host", role = "broker", secret_key = SECRET, balances = { USDT = "1000" } })
end)

-- Everything that is found from a value through its members, the function results it was given and metatables that can
-- be had: value -> how it was reached.
local function reachable(value, path, found)
  found = found or {}
  if found[value] then return found end
  found[value] = path
  local meta = getmetatable(value)
  if type(meta) == "table" and type(value) ~= "string" then reachable(meta, path .. " (metatable)", found) end
  if type(value) == "table" then
    for name, member in next, value do
      reachable(member, ("%s.%s"):format(path, tostring(name)), found)
      if type(name) == "table" then reachable(name, path .. " (key)", found) end
    end
  end
  return found
end

-- The inner state, and what it alone holds.
local function inner_things(client)
  local self = private.states[client]
  local things = { [self] = "the inner state", [self._signer] = "the signer", [account.api_key] = "the API key",
    [self._headers] = "the headers", [self._transport] = "the transport", [self._guard] = "the guard" }
  for _, row in ipairs(require("purser.client.operations").list) do things[row] = "a row" end
  return things
end

describe("the inner state of a client", function()
  it("is not found from anything that users hold", function()
    local client = client_with { guard = { read_only = true } }
    local info = {}
    assert(client.wallet:deposit_history({}, { info = info }))
    local _, rejection = client.wallet:convert { asset = "DOGE" }
    local walk = client.wallet:each_deposit { from = sim:now() - 1000 }
    local _, problem = client.wallet:each_deposit({ from = 1 }):next()
    local held = { client, client.profile, client.wallet, client.broker, client.sub_account, info, rejection, problem,
      walk, client:each "wallet.deposit_history", purser.operations, purser.profiles,
      client.wallet:plan_withdraw { coin = "USDT", network = "TRX", address = "T", amount = "5" },
      client.wallet.withdraw, purser.run }
    walk:collect()
    local found = reachable(held, "held")
    for thing, what in pairs(inner_things(client)) do
      assert.is_nil(found[thing] and what .. " at " .. found[thing])
    end
  end)

  it("is not read by the names of its fields", function()
    local client = client_with { guard = { read_only = true } }
    for name in pairs(private.states[client]) do
      if name ~= "profile" then
        assert.is_nil(client[name], name)
        assert.has_error(function() return client.wallet[name] end)
      end
    end
    assert.is_nil(client.wallet:each_deposit({}).source)
    for _, held in ipairs { client, client.wallet, client.wallet:each_deposit {}, select(2, client:call "x") } do
      assert.equal("string", type(getmetatable(held)))
      assert.has_error(function() setmetatable(held, {}) end)
    end
  end)

  it("is not changed by writing fields of the client", function()
    local client = client_with { guard = { read_only = true }, hooks = {} }
    local names = {}
    for name in pairs(private.states[client]) do names[#names + 1] = name end
    for _, name in ipairs(names) do rawset(client, name, nil) end
    rawset(client, "_guard", { check = function() end })
    rawset(client, "_transport", { send = function() error "the request passed here" end })
    local _, err = client.wallet:convert { asset = "DOGE" }
    assert.equal("guard.read_only", err.code)
    assert(client.wallet:deposit_history())
  end)

  it("stays in use while one group is held", function()
    local wallet = client_with().wallet
    collectgarbage()
    collectgarbage()
    assert(wallet:deposit_history())
    assert.same({}, assert(wallet:each_deposit({ from = sim:now() - 1000 }):collect()))
  end)

  it("is let go with the client", function()
    local states = setmetatable({}, { __mode = "v" })
    for i = 1, 20 do
      local client = client_with()
      assert(client.wallet:each_deposit({ from = sim:now() - 1000 }):collect())
      states[i] = private.states[client]
    end
    for _ = 1, 4 do collectgarbage() end
    local left = 0
    for _ in pairs(states) do left = left + 1 end
    assert.is_true(left <= 2, left .. " are still there")
  end)

  it("is needed by methods: called on anything else they say how to call them", function()
    local client = client_with()
    for _, wrong in ipairs { false, {}, "x", 1 } do
      assert.error_matches(function() client.call(wrong, "wallet.coins") end, "with a colon")
      assert.error_matches(function() client.wallet.coins(wrong) end, "with a colon")
      assert.error_matches(function() client.wallet.each_deposit(wrong) end, "with a colon")
    end
    assert.error_matches(function() client.now() end, "with a colon")
    assert.error_matches(function() client.wallet.coins() end, "with a colon")
  end)
end)

describe("a walk", function()
  it("is what it was: an iterator, its methods and its times", function()
    local from = sim:now() - 1000
    local client = client_with()
    local walk = client.wallet:each_deposit { from = from, to = from + 10 }
    assert.same({ from, from + 10 }, { walk.from, walk.to })
    assert.equal(("purser.walk (wallet.deposit_history from %d to %d)"):format(from, from + 10), tostring(walk))
    for _ in walk do error "there is none" end
    assert.is_string(walk:cursor())
    assert.error_matches(function() walk.next() end, "with a colon")
    assert.error_matches(function() for _ in client:each "wallet.withdraw" do error "none" end end, "no history")
  end)
end)

describe("conventions", function()
  it("of the package cannot be changed by who holds it", function()
    for _, change in ipairs {
      function() purser.profiles.mexc.base_url = "https://evil.example" end,
      function() purser.profiles.default.success_codes["500"] = true end,
      function() purser.profiles.mine = {} end,
      function() client_with().profile.success_codes["500"] = true end,
      function() client_with().profile.key_header = "X-Other" end,
    } do
      assert.error_matches(change, "read%-only")
    end
    purser.operations["wallet.withdraw"].effect = "read"
    assert.equal("transfer", purser.operations["wallet.withdraw"].effect)
    assert.equal("https://api.mexc.com", purser.profiles.mexc.base_url)
  end)

  it("of a client stay as they were when its options change", function()
    local profile = { success_codes = { ["0"] = true, ["200"] = true } }
    local client = client_with { profile = profile }
    profile.success_codes["10101"], profile.key_header = true, "X-Other"
    local _, err = client:parse("wallet.withdraw", 200, '{"code":10101,"msg":"no funds"}', "")
    assert.equal("rejected", err.outcome)
  end)
end)
