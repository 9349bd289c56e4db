-- SPDX-License-Identifier: MIT
-- `purser agent` while a payment takes long: other requests are answered meanwhile, and a client that is gone ends no
-- payment.

local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local json = require "purser.json"
local policies = require "policies"
local purser = require "purser"
local service = require "service"
local ssh_keys = require "ssh_keys"

describe("purser agent", function()
  local sim, folder, input

  after_each(function()
    if input then input:close() end
    sim.stop()
    files.remove(folder)
    ssh_keys.remove()
  end)

  local function send(id, method, params)
    input:write(json.encode(json.object { { "jsonrpc", "2.0" }, { "id", id }, { "method", method },
      { "params", params } }), "\n")
    input:flush()
  end

  local function text_of(name)
    local file = io.open(folder .. "/" .. name)
    local text = file and file:read "*a"
    if file then file:close() end
    return text
  end

  local function answer(number)
    return eventually(function()
      local found = 0
      for line in (text_of "out" or ""):gmatch "([^\n]+)\n" do
        found = found + 1
        if found == number then return core.decode(line) end
      end
    end)
  end

  it("answers pings while a payment takes long, and pays to the end when the client is gone", function()
    sim, folder = service.start(), files.folder()
    local account = assert(sim.world:account { role = "main", balances = { USDT = "100" } })
    local text = policies.text(policies.given({ rules = {
      { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "50" }, approvals = {} } } }, true))
    assert(os.execute(("mkdir -m 700 %s/policy && mkfifo -m 600 %s/in"):format(folder, folder)))
    files.write(folder .. "/policy/1.json", text)
    files.write(folder .. "/policy/1.sigs", ssh_keys.sign("alice", "purser-policy-1", text)
      .. ssh_keys.sign("bob", "purser-policy-1", text))
    local agent = command.line({ "agent", "--journal", folder .. "/pay.db", "--policy",
      folder .. "/policy", "--timeout", "900s", "--account", "treasury" }, { PURSER_API_KEY = account.api_key,
      PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = sim.url, PURSER_ACCOUNT = "treasury" })
    assert(os.execute(("(%s 2>%s/err; echo $? >%s/code) <%s/in | sed -u 2q >%s/out &"):format(agent, folder, folder,
      folder, folder)))
    input = assert(io.open(folder .. "/in", "w"))

    send(1, "tools/call", { name = "propose", arguments = { reference = "inv-1", operation = "wallet.withdraw",
      params = { coin = "USDT", network = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" } } })
    local plan = answer(1).result.structuredContent
    assert.equal("proposed", plan.state, plan.reason)
    assert(sim.world:fault { kind = "slow", operation = "wallet.withdraw", delay_ms = 3600000 })
    send(2, "tools/call", { name = "pay", arguments = { reference = "inv-1", digest = plan.digest } })
    send(3, "ping", json.object {})
    local pong = answer(2) -- the reader ends with this line
    assert.same({ 3, {} }, { pong.id, pong.result })
    input:close()
    input = nil

    local journal = assert(purser.journal.open { sqlite = folder .. "/pay.db" })
    assert(sim.world:advance(3600000))
    eventually(function()
      local entries = assert(journal:entries { key = "inv-1" })
      return entries[1] and entries[1].state == "done"
    end)
    journal:close()
    assert.equal("5", eventually(function() return (text_of "code" or ""):match "%d" end))
    assert.matches("the client is gone", text_of "err", 1, true)
  end)
end)
