-- SPDX-License-Identifier: MIT
-- `purser doctor --drift`: what it prints of a comparison, and its exit code. What is found stands in
-- recording/drift/drift_spec.lua.
-- make test: 2 s, on lua5.4 and luajit

local command = require "command"
local core = require "purser.core"
local service = require "service"

describe("purser doctor --drift", function()
  local world

  setup(function() world = service.start { "--demo", "--seed", "3" } end)
  teardown(function() world.stop() end)

  local keys = { PURSER_API_KEY = "mx0DEMOdemoDEMOdemo0", PURSER_SECRET_KEY = "demosecretworthnothing0000000000" }

  it("compares a service over HTTP, and its report holds no value of an answer", function()
    local environment = { PURSER_BASE_URL = world.url }
    for name, value in pairs(keys) do environment[name] = value end
    local code, out, err = command.run({ "doctor", "--drift" }, environment)
    assert.equal(0, code, out .. err)
    assert.equal("(none)\n", out)
    assert.matches("19 answers compared with purser %d[%d.]+, profile default: 0 differences", err)
    world.world:fault { kind = "reject", operation = "wallet.coins", code = "987654", times = 1 }
    code, out = command.run({ "doctor", "--drift", "--format", "json" }, environment)
    assert.equal(1, code)
    local report = core.decode(out)
    assert.same({ "other code", "987654" }, { report[1].kind, report[1].found })
    for _, secret in ipairs { keys.PURSER_API_KEY, keys.PURSER_SECRET_KEY, "demo@mail.example", "1250.5",
      "127.0.0.1" } do
      assert.is_nil(out:find(secret, 1, true), secret)
    end
  end)

  it("shows the differences that --filter names; the sum and the exit code are those of all", function()
    local environment = { PURSER_BASE_URL = world.url }
    for name, value in pairs(keys) do environment[name] = value end
    local function filtered(filter, ...)
      for _, operation in ipairs { "wallet.coins", "wallet.deposit_history" } do
        world.world:fault { kind = "reject", operation = operation, code = "987654", times = 1 }
      end
      return command.run({ "doctor", "--drift", "--filter", filter, ... }, environment)
    end
    local code, out, shown = filtered "operation=wallet.coins"
    assert.same({ 1, nil }, { code, out:find("deposit_history", 1, true) }, out)
    assert.matches("\nwallet.coins +other code +code +one that is known for the operation +987654\n", out)
    assert.matches("19 answers compared .*: 2 differences", shown)
    code, out = filtered("operation=wallet.deposit_history", "--csv")
    assert.equal(1, code)
    assert.equal("operation,kind,path,expected,found\nwallet.deposit_history,other code,code,"
      .. "one that is known for the operation,987654\n", out)
    code, out = filtered("found=none", "--json")
    assert.equal(1, code)
    assert.equal("[]\n", out)
    code, out, shown = command.run({ "doctor", "--drift", "--filter", "operatoin=x" }, environment)
    assert.same({ 2, "" }, { code, out })
    assert.matches('did you mean "operation"', shown, 1, true)
    code, out, shown = command.run({ "doctor", "--drift", "--filter", "topic=key" }, environment)
    assert.same({ 2, "", true }, { code, out, shown:find("topic", 1, true) ~= nil })
  end)

  it("says so when nothing answers", function()
    local code, _, err = command.run({ "doctor", "--drift" }, { PURSER_BASE_URL = "http://127.0.0.1:1",
      PURSER_API_KEY = keys.PURSER_API_KEY, PURSER_SECRET_KEY = keys.PURSER_SECRET_KEY })
    assert.equal(3, code)
    assert.matches("0 answers compared", err, 1, true)
  end)
end)
