-- SPDX-License-Identifier: MIT
-- Arguments of the wrong kind, in functions that take no table of options: each mistake is named where it was made.

local purser = require "purser"

local client, sim

setup(function()
  sim = purser.sim.new()
  local account = assert(sim:account { role = "main", balances = { USDT = "100" } })
  client = assert(purser.new { base_url = "http://127.0.0.1:1", transport = sim:transport(), api_key = account.api_key,
    secret_key = account.secret_key })
end)

teardown(function() client:close() end)

-- Returns what a function raises, with the name of the file that it is said to have happened in.
local function raised(fn, ...)
  local arguments = { n = select("#", ...), ... }
  local ok, problem = pcall(function()
    local result = fn((table.unpack or unpack)(arguments, 1, arguments.n)) -- luacheck: ignore
    return result
  end)
  assert.is_false(ok)
  return problem
end

describe("an argument of the wrong kind", function()
  it("is named at the caller by the functions for tasks", function()
    for message, fn in pairs {
      ["purser.run: the argument is a nil; give a function"] = function() return raised(purser.run) end,
      ["purser.spawn: the argument is a number; give a function"] = function() return raised(purser.spawn, 5) end,
      ["purser.all: the argument is a nil; give a table"] = function() return raised(purser.all) end,
      ["purser.all: the argument is a number; give a function"] = function() return raised(purser.all, { 5 }) end,
      ["purser.join: the argument is a nil and no task; give what purser.spawn returned"] = function()
        return raised(purser.join)
      end,
      ["purser.sleep: the time is a nil; give milliseconds from 0 to 2147483647"] = function()
        return raised(purser.sleep)
      end,
      ["purser.sleep: the time is -1; give milliseconds from 0 to 2147483647"] = function()
        return raised(purser.sleep, -1)
      end,
      ["client:sleep: the time is a string; give milliseconds from 0"] = function()
        return raised(function() local result = client:sleep "x" return result end)
      end,
    } do
      local problem = fn()
      assert.is_truthy(problem:find(message, 1, true), problem)
      assert.is_truthy(problem:find("argument_mistakes_spec.lua:%d+: "), problem)
    end
    assert.equal("slept", purser.run(function() purser.sleep(0.5) return "slept" end))
  end)

  it("is an error of the simulator", function()
    local none, err = purser.sim.new { foo = 1 }
    assert.is_nil(none)
    assert.matches('option "foo" is not known', tostring(err), 1, true)
  end)

  it("that is the module itself says that it was called with a colon", function()
    local _, err = purser:new { base_url = "http://127.0.0.1:1" } -- luacheck: ignore
    assert.equal("new() is called with a colon; write .new { ... }", err.message .. "; " .. err.hint)
    _, err = purser.journal:open { sqlite = "x" }
    assert.equal("open() is called with a colon; write .open { ... }", err.message .. "; " .. err.hint)
    _, err = purser.payouts:new {}
    assert.equal("write .new { ... }", err.hint)
  end)

  it("is an error of a secret's file or variable", function()
    assert.same({ nil, "the path of the file is a nil; give a text" }, { purser.secrets.from_file() })
    assert.same({ nil, "the name of the variable is a number; give a text" }, { purser.secrets.from_environment(5) })
  end)

  it("is an error of a plan, a policy and their signatures", function()
    for _, text in ipairs { 5, false, {} } do
      local what = "it is a " .. type(text) .. ", and no text"
      local _, err = purser.approvals.show(text)
      assert.matches(what, err.message, 1, true)
      _, err = purser.approvals.check(text)
      assert.matches(what, err.message, 1, true)
    end
    for _, signatures in ipairs { "-----BEGIN SSH SIGNATURE-----", { 5 } } do
      local _, err = purser.approvals.verify("text", signatures, "folder")
      assert.equal("the signatures are no plain list of texts", err.message)
    end
  end)

  it("is an error of what takes a client, a journal, a list or options", function()
    for message, fn in pairs {
      ["payouts.plan has no client"] = function() return purser.payouts.plan({ { key = "a" } }) end,
      ["payouts.plan has no list of payments"] = function() return purser.payouts.plan(client) end,
      ["payment 2 of the list is none"] = function()
        return purser.payouts.plan(client, { { key = "a", params = {} }, "b" })
      end,
      ["payouts.queues has no journal"] = function() return purser.payouts.queues "payments.db" end,
      ["monitor.alerts has no client"] = function() return purser.monitor.alerts(nil, { networks = {} }) end,
      ["find_network has no coin"] = function() return client.wallet:find_network "USDT" end,
      ["5 is no withdrawal"] = function() return client.wallet:plan_withdraw({ coin = "USDT" }, 5) end,
      ["the parameters are a string"] = function() return client.wallet:withdraw("USDT", "TRX") end,
      ["options are given as a nil"] = function() return purser.books.open() end,
    } do
      local result, err = fn()
      assert.same({ nil, message }, { result, err.message })
    end
    assert.same({ nil, "the path of the list is a nil; give a text" }, { purser.payouts.read() })
  end)

  it("is an error of a transport and of a restricted client", function()
    assert.same({ nil, "the options are a string; give a table" }, { purser.transport.curl "x" })
    local _, err = purser.restricted(client, { x = "wallet.coins" })
    assert.equal("purser.restricted: the operations are no list", err.message)
  end)

  it("is an error of a queue and of a journal, and no address of a table is shown", function()
    local path = os.tmpname()
    os.remove(path)
    local journal = assert(purser.journal.open { sqlite = path })
    finally(function()
      journal:close()
      for _, suffix in ipairs { "", "-wal", "-shm", ".witness", ".witness-witness" } do os.remove(path .. suffix) end
    end)
    local account = assert(sim:account { role = "main", balances = { USDT = "100" } })
    local own = assert(purser.new { base_url = "http://127.0.0.1:1", transport = sim:transport(), journal = journal,
      api_key = account.api_key, secret_key = account.secret_key, account = "treasury" })
    local queue = assert(purser.payouts.new { client = own, journal = journal })
    local _, err = queue:add { key = "a", operation = "wallet.withdraw", params = {} }
    assert.equal("the key of a payment is a table", err.message)
    _, err = queue:add("a", {})
    assert.equal('payment "a": a table is no operation that moves funds', err.message)
    _, err = queue:add_all "a"
    assert.equal("the payments are a string", err.message)
    _, err = queue:add_all { "a" }
    assert.equal("payment 1 of the list is a string", err.message)
    _, err = queue:run { progress = print }
    assert.equal('option of payouts:run "progress" is not known', err.message)
    assert.matches("the options of a worker belong to payouts.new", err.hint, 1, true)
    _, err = journal:recover()
    assert.equal("journal:recover has no client", err.message)
    own:close()
  end)
end)
