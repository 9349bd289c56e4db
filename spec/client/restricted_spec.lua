-- SPDX-License-Identifier: MIT
-- Scripts that are given a restricted client, a sandbox's environment, and bad intentions.

local purser = require "purser"
local raised_here = require "raised_here"
local simulated = require "simulated"

local sim, account, client

before_each(function()
  sim = purser.sim.new { seed = 5 }
  account = assert(sim:account { name = "Host", role = "main", balances = { USDT = "1000" } })
  client = simulated.client(sim, account, { retry = false, rate_limit = false, account = "host" })
end)

local function restricted(list)
  return assert(purser.restricted(client, list))
end

local function rejected(value, err)
  assert.is_nil(value)
  assert.same({ "argument", "not_sent", "restricted" }, { err.kind, err.outcome, err.code })
  return err
end

local function moved()
  local total = 0
  for _, count in pairs(sim:counts()) do total = total + count.received end
  return total
end

-- Runs a script with nothing but what a sandbox gives it.
local function run_script(text, given)
  local environment = { client = given, pairs = pairs, next = next, type = type, tostring = tostring, error = error,
    getmetatable = getmetatable, rawget = rawget, rawset = rawset, rawequal = rawequal, pcall = pcall,
    string = { rep = string.rep }, select = select }
  local chunk
  if setfenv then -- luacheck: ignore 113
    chunk = setfenv(assert(loadstring(text, "=script")), environment) -- luacheck: ignore 113
  else
    chunk = assert(load(text, "=script", "t", environment))
  end
  return chunk()
end

local TRANSFER = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }

describe("a restricted client", function()
  it("runs the operations of its list, and the walks of its histories", function()
    local limited = restricted { "wallet.deposit_history", "wallet.transfer" }
    assert.same({}, assert(limited.wallet:deposit_history { coin = "USDT" }))
    assert.is_string(assert(limited.wallet:transfer(TRANSFER)).tranId)
    assert.is_string(assert(limited:call("wallet.transfer", TRANSFER)).tranId)
    local walk = limited.wallet:each_deposit { from = sim:now() - 1000 }
    assert.same({}, assert(walk:collect()))
    for _ in limited.wallet:each_deposit { from = sim:now() - 1000 } do error "there is none" end
    assert.is_string(walk:cursor())
  end)

  it("cannot be changed, which is said at the line of the script", function()
    local limited = restricted { "wallet.deposit_history" }
    for _, held in ipairs { limited, limited.wallet } do
      local message, is_here = raised_here(function(line)
        line()
        held.call = 1
      end)
      assert.matches("a restricted client cannot be changed", message)
      assert.is_true(is_here, message)
      assert.equal("purser.client.restricted", getmetatable(held))
    end
    assert.matches("^purser.client.restricted %(wallet%)$", tostring(limited.wallet))
  end)

  it("takes tables in fifteen others, and none deeper", function()
    local limited = restricted { "wallet.deposit_history" }
    local function nested(depth)
      local value = {}
      for _ = 2, depth do value = { value } end
      return { coin = value }
    end
    assert.matches('parameter "coin"', select(2, limited.wallet:deposit_history(nested(15))).message)
    assert.matches("a table in too many others", rejected(limited.wallet:deposit_history(nested(16))).message)
  end)

  it("shows an error as the client would, but for what the host alone may use", function()
    client = simulated.client(sim, account, { retry = false, rate_limit = false, transport = { send = function()
      return nil, { kind = "transport", outcome = "unknown", message = "gone", phase = "receive", code = 7 }
    end } })
    local _, err = restricted({ "wallet.coins" }).wallet:coins()
    assert.same({ "transport", "unknown", true, "gone", "receive", "7", "wallet.coins" },
      { err.kind, err.outcome, err.retryable, err.message, err.phase, err.code, err.operation })
    _, err = restricted({ "wallet.transfer" }).wallet:transfer(TRANSFER)
    assert.same({ "unknown", nil, nil }, { err.outcome, err.intent, err.advice })
    assert.equal("an operation without a name", rejected(restricted({ "wallet.coins" }):call(5)).operation)
  end)

  it("rejects every other operation as an argument, and sends nothing", function()
    local limited = restricted { "wallet.deposit_history" }
    for _, row in ipairs(purser.operations) do
      if row.full_name ~= "wallet.deposit_history" then
        rejected(limited[row.group][row.name](limited[row.group], {}))
        rejected(limited:call(row.full_name, {}))
        if row.paging then rejected(limited[row.group]["each_" .. row.paging.iterator](limited[row.group])) end
      end
    end
    rejected(limited.wallet:plan_withdraw {})
    rejected(limited.wallet:convert_all())
    rejected(limited:call "ping")
    rejected(limited:call({}))
    for _, name in ipairs { "reconcile", "prepare", "parse", "close", "each", "sleep", "account", "profile" } do
      assert.is_nil(limited[name])
    end
    assert.equal(0, moved())
  end)

  it("takes a star for reads alone", function()
    local limited = restricted { "wallet.*", "*.list_sub_accounts" }
    assert(limited.wallet:coins())
    rejected(limited.wallet:transfer(TRANSFER))
    rejected(limited.wallet:withdraw {})
    rejected(limited.broker:create_sub_account {})
    local _, err = limited.sub_account:list_sub_accounts { limit = "none" }
    assert.equal("limit", err.parameter)
    limited = restricted { "*" }
    for _, row in ipairs(purser.operations) do
      if row.effect ~= "read" then rejected(limited:call(row.full_name, {})) end
    end
  end)

  it("is made of names that exist", function()
    for expected, list in pairs { ["wallet.withdraws"] = { "wallet.withdraws" }, ["wallet.widthdraw*"] = {
      "wallet.widthdraw*" },
      ["has no name; give a text"] = { 1 }, ["did you mean \"wallet.coins\""] = { "wallet.coin" },
      ["operations are missing"] = false, ["operations are no list"] = { "wallet.coins", a = "wallet.coins" },
      ["give their names without keys"] = { [3] = "wallet.coins" } } do
      local limited, err = purser.restricted(client, list or nil)
      assert.is_nil(limited)
      assert.equal("config", err.kind)
      assert.truthy(tostring(err):find(expected, 1, true), tostring(err))
    end
    local _, err = purser.restricted({}, {})
    assert.matches("no client", err.message)
    _, err = purser.restricted(nil, {})
    assert.matches("no client", err.message)
  end)

  it("gives plain data: what a script does to it reaches no one else", function()
    local limited = restricted { "wallet.coins", "wallet.transfer" }
    local coins = assert(limited.wallet:coins())
    coins[1].coin = "X"
    assert.is_nil(getmetatable(coins))
    sim:fault { kind = "lost_answer", operation = "transfer" }
    local _, err = limited.wallet:transfer(TRANSFER)
    assert.equal("unknown", err.outcome)
    assert.same({}, { err.intent, err.advice })
    assert.matches("^wallet.transfer: ", tostring(err))
  end)

  it("takes parameters as data and no options", function()
    local limited = restricted { "wallet.transfer", "wallet.deposit_history" }
    rejected(limited.wallet:transfer(TRANSFER, { extra_params = { a = "1" } }))
    rejected(limited.wallet:transfer(TRANSFER, {}))
    rejected(limited.wallet:transfer { asset = function() end })
    rejected(limited.wallet:transfer { [{}] = "x" })
    rejected(limited.wallet:transfer "x")
    local loop = {}
    loop.loop = loop
    rejected(limited.wallet:transfer(loop))
    local _, err = limited.wallet:each_deposit({ from = function() end }):next()
    assert.equal("restricted", err.code)
    local tricky = setmetatable({ coin = "USDT" }, { __pairs = function() error "code of the script ran" end,
      __index = function() error "code of the script ran" end })
    assert(limited.wallet:deposit_history(tricky))
  end)
end)

describe("a script with a restricted client", function()
  -- Each tries one way out, and returns what it found; nil where there is none.
  local ways_out = {
    ["the guard as a field"] = "client._guard = nil return client._guard",
    ["the key"] = "return client._api_key or rawget(client, '_api_key')",
    ["the signer of a group"] = "return type(client.wallet._client) == 'table' or nil",
    ["the metatable"] = "return type(getmetatable(client)) == 'table' or nil",
    ["a group's metatable"] = "return type(getmetatable(client.wallet)) == 'table' or nil",
    ["the fields"] = "for name in next, client do return name end for name in next, client.wallet do return name end",
    ["a walk's source"] = "local walk = client.wallet:each_deposit { from = NOW } return walk.source or walk.walk",
    ["a walk's class"] = "return type(getmetatable(client.wallet:each_deposit { from = NOW })) == 'table' or nil",
    ["an error's class"] = "local _, err = client.wallet:withdraw {} return type(getmetatable(err)) == 'table' or nil",
    ["an error's intent"] = "local _, err = client.wallet:withdraw {} return err.intent",
    ["withdrawing"] = [[return (client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" })]],
    ["withdrawing through the walk's method"] = [[local walk = client.wallet:each_deposit { from = NOW }
      local ok, value = pcall(walk.next, { walk = { next = function() return "the script's own function" end } })
      return ok and value or nil]],
    ["a method of another group"] = [[local ok, found = pcall(client.wallet.deposit_history, client.broker)
      return ok and found or nil]],
    ["closing"] = "return client.close or client.wallet.close(client.wallet)",
    ["signing"] = "return client.prepare",
  }

  for way, text in pairs(ways_out) do
    it("does not get out by " .. way, function()
      local limited = restricted { "wallet.deposit_history" }
      local ok, found = pcall(run_script, (text:gsub("NOW", ("%d"):format(sim:now() - 1000))), limited)
      assert.is_true(not ok or found == nil, tostring(found))
      assert.equal(0, sim:counts()["wallet.withdraw"] and sim:counts()["wallet.withdraw"].received or 0)
      assert(limited.wallet:deposit_history())
      assert(client.wallet:coins())
    end)
  end

  it("ends no process by finalisers: there is no C object to close under way", function()
    local finalisers = _VERSION ~= "Lua 5.1"
    local limited = restricted { "wallet.deposit_history" }
    for i = 1, 2000 do
      if finalisers and i % 50 == 0 then
        setmetatable({}, { __gc = function() limited.wallet:deposit_history { coin = i } end })
      end
      limited.wallet:deposit_history { coin = i + 0.5 }
    end
    assert(limited.wallet:deposit_history())
  end)
end)
