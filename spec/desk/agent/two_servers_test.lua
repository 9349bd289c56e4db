-- SPDX-License-Identifier: MIT
-- Two servers of different revisions on one journal quarrel about references, and are killed while they pay: no
-- reference is executed twice, the day's grant is kept, and what a server calls accepted was made.
-- make test-all: 60 s, waits

local agent_process = require "agent_process"
local core = require "purser.core"
local files = require "files"
local policies = require "policies"
local purser = require "purser"
local service = require "service"
local ssh_keys = require "ssh_keys"

local PAYEE, REFERENCES, ROUNDS, GRANT = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", 10, 24, 200
local REVISIONS = { "2026-07-28", "2025-06-18", "2025-03-26" }

describe("two servers of agents", function()
  it("pay each reference once at most, within the grant, whenever they are killed", function()
    local folder, sim = files.folder(), service.start()
    local account = assert(sim.world:account { role = "main", balances = { USDT = "10000" } })
    local text = policies.text(policies.given({ rules = {
      { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "50" }, approvals = {} },
      { name = "day", effect = "require", when = { coin = "USDT", sum_over = { amount = tostring(GRANT), hours = 24,
        per = "account" } }, approvals = { { group = "treasury", count = 2 } } } } }, true))
    assert(os.execute("mkdir -m 700 " .. folder .. "/policy"))
    files.write(folder .. "/policy/1.json", text)
    files.write(folder .. "/policy/1.sigs", ssh_keys.sign("alice", "purser-policy-1", text)
      .. ssh_keys.sign("bob", "purser-policy-1", text))
    local environment = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key,
      PURSER_BASE_URL = sim.url, PURSER_ACCOUNT = "treasury" }
    local arguments = { "agent", "--account", "treasury", "--journal", folder .. "/pay.db", "--policy",
      folder .. "/policy" }
    local servers, started = {}, 0
    local function start(i)
      started = started + 1
      servers[i] = agent_process.start(("%s/%d"):format(folder, started), arguments, environment,
        REVISIONS[started % #REVISIONS + 1])
    end
    finally(function()
      for _, server in pairs(servers) do server.kill() end
      sim.stop()
      files.remove(folder)
      ssh_keys.remove()
    end)
    start(1)
    start(2)
    for _, kind in ipairs { "lost_answer", "server_error" } do
      assert(sim.world:fault { kind = kind, operation = "wallet.withdraw", probability = 0.15 })
    end
    math.randomseed(63)
    local function amount(number) return ("%d.%02d5"):format(20 + number, number) end
    for _ = 1, ROUNDS do
      local number, waits = math.random(REFERENCES), {}
      for i, server in ipairs(servers) do
        local plan = server.call("propose", { reference = "inv-" .. number, operation = "wallet.withdraw",
          params = { coin = "USDT", network = "TRX", address = PAYEE, amount = amount(number) } })
        waits[i] = { reference = "inv-" .. number, digest = plan.digest }
      end
      local ids = {}
      for i, server in ipairs(servers) do ids[i] = server.send("tools/call", { name = "pay", arguments = waits[i] }) end
      local killed = math.random(4)
      for i, server in ipairs(servers) do
        if killed == i then
          core.sleep_ms(math.random(0, 30))
          server.kill()
          start(i)
        else
          assert(server.answer(ids[i]).result)
        end
      end
    end
    assert(sim.world:disarm())
    local client = assert(purser.new { base_url = sim.url, api_key = account.api_key, secret_key = account.secret_key })
    local made, sum, count = {}, purser.decimal "0", 0
    for record in client.wallet:each_withdrawal { coin = "USDT" } do
      made[record.amount] = (made[record.amount] or 0) + 1
      sum, count = sum + purser.decimal(record.amount), count + 1
    end
    client:close()
    for shown, times in pairs(made) do assert.equal(1, times, shown) end
    assert.is_true(sum:compare(purser.decimal(tostring(GRANT))) <= 0, tostring(sum))
    assert.is_true(count >= 4, count)
    for number = 1, REFERENCES do
      local state = servers[1].call("status", { reference = "inv-" .. number }).state
      local is_made = made[amount(number)] ~= nil
      if state == "accepted" or state == "sent" then assert.is_true(is_made, number) end
      if state == "none" or state == "rejected" then assert.is_false(is_made, number) end
    end
  end)
end)
