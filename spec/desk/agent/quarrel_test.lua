-- SPDX-License-Identifier: MIT
-- A quarrelsome agent: 5,000 random messages with lost answers, restarts and wrong digests, in 40 worlds. No reference
-- is executed twice, no limit of the policy is passed, and nothing but `pay` moves funds.
-- make test-all: 60 s

local core = require "purser.core"
local files = require "files"
local json = require "purser.json"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
local WORLDS, MESSAGES, LIMIT = 40, 125, 500

describe("a quarrelsome agent", function()
  local text, signatures

  setup(function()
    text = policies.text(policies.given({ rules = {
      { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "100" }, approvals = {} },
      { name = "day", effect = "require", when = { coin = "USDT", sum_over = { amount = tostring(LIMIT), hours = 24,
        per = "account" } }, approvals = { { group = "treasury", count = 2 } } },
    } }, true))
    signatures = ssh_keys.sign("alice", "purser-policy-1", text) .. ssh_keys.sign("bob", "purser-policy-1", text)
  end)

  -- Runs one world. Returns how many messages were answered, and how often each reference was executed.
  local function quarrel(seed)
    math.randomseed(seed)
    local folder = files.folder()
    assert(os.execute("mkdir -m 700 " .. folder .. "/policy"))
    files.write(folder .. "/policy/1.json", text)
    files.write(folder .. "/policy/1.sigs", signatures)
    local sim = purser.sim.new { seed = seed }
    local owner = assert(sim:account { role = "main", balances = { USDT = "100000" } })
    local journal, serve
    local function open()
      if journal then journal:close() end
      journal = assert(purser.journal.open { sqlite = folder .. "/pay.db" })
      local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(),
        clock = function() return sim:now() end, api_key = owner.api_key, secret_key = owner.secret_key,
        journal = journal, account = "treasury", policy = folder .. "/policy" })
      serve = assert(purser.agent.new { client = client, journal = journal, stop_file = folder .. "/stop" })
      return client
    end
    local client = open()
    local function call(tool, arguments)
      local answer = assert(core.decode(serve(json.encode(json.object { { "jsonrpc", "2.0" }, { "id", 1 },
        { "method", "tools/call" }, { "params", { name = tool, arguments = arguments } } }))))
      assert(answer.result, answer.error and answer.error.message)
      return answer.result.structuredContent
    end
    local digests, amounts = {}, {}
    for i = 1, 12 do amounts["inv-" .. i] = ("%d.%02d"):format(math.random(10, 90), i) end
    for _ = 1, MESSAGES do
      local reference = "inv-" .. math.random(12)
      local kind = math.random(10)
      if math.random(12) == 1 then
        sim:fault { kind = ({ "lost_answer", "server_error" })[math.random(2)], operation = "wallet.withdraw" }
      end
      if math.random(25) == 1 then client = open() end
      if kind <= 3 then
        digests[reference] = call("propose", { reference = reference, operation = "wallet.withdraw",
          params = { coin = "USDT", network = "TRX", address = ADDRESS, amount = amounts[reference] } }).digest
      elseif kind <= 8 then
        call("pay", { reference = reference, digest = digests[reference] or "none" })
      elseif kind == 9 then
        call("status", { reference = reference })
      else
        call("read", { operation = "wallet.withdraw", params = { coin = "USDT", amount = "9", address = "x" } })
      end
      sim:advance(math.random(0, 4000))
    end
    local made, sum = {}, purser.decimal "0"
    for _, record in ipairs(assert(client.wallet:withdrawal_history())) do
      made[record.amount] = (made[record.amount] or 0) + 1
      sum = sum + purser.decimal(record.amount)
    end
    journal:close()
    files.remove(folder)
    return made, sum
  end

  it("executes no reference twice and passes no limit", function()
    local executed = 0
    for seed = 1, WORLDS do
      local made, sum = quarrel(seed)
      for amount, times in pairs(made) do
        assert.equal(1, times, ("world %d, amount %s"):format(seed, amount))
        executed = executed + 1
      end
      assert.is_true(sum:compare(purser.decimal(tostring(LIMIT))) <= 0, ("world %d: %s"):format(seed, tostring(sum)))
    end
    assert.is_true(executed > WORLDS, executed)
  end)
end)
