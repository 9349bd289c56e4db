-- SPDX-License-Identifier: MIT
-- One payee in all spellings of 79 networks, as each room sees them: the guard's list and its look for repetitions, a
-- list of payments, a policy, an agent's question for equal payments, and the crediting of deposits. The spellings are
-- those of address_spec.lua.
-- make test: 8 s

local core = require "purser.core"
local digests = require "purser.write.digests"
local files = require "files"
local json = require "purser.json"
local operations = require "purser.client.operations"
local plan = require "purser.desk.payouts.plan"
local policies = require "policies"
local purser = require "purser"
local readers = require "purser.desk.receive.reader"
local rules = require "purser.desk.approvals.rules"
local ssh_keys = require "ssh_keys"

local ROW = operations.by_name["wallet.withdraw"]

local function payment(network, address)
  return { coin = "USDT", netWork = network, address = address, amount = "5" }
end

-- Each tells whether a room takes two texts for one payee.
local rooms = {}

local function is_sent(guard, network, address)
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, guard = guard, transport = { sleep = function() end, send = function()
      return { status = 200, headers = "", body = json.encode { id = "1" } }
    end } })
  local made, err = client.wallet:withdraw(payment(network, address))
  assert(made or err.code == "guard.addresses", tostring(err))
  return made ~= nil
end

function rooms.guard(network, one, other) return is_sent({ addresses = { { address = one } } }, network, other) end

function rooms.repetition(network, one, other)
  return digests.likeness(ROW, payment(network, one)) == digests.likeness(ROW, payment(network, other))
end

function rooms.list(network, one, other)
  local rows = {}
  for i, address in ipairs { one, other } do
    rows[i] = { key = "k" .. i, operation = "wallet.withdraw", row = ROW, params = payment(network, address), odd = {},
      problems = {} }
  end
  plan.find_odd(rows, {}, {})
  return table.concat(rows[2].odd, "\n"):find("2 equal rows", 1, true) ~= nil
end

function rooms.policy(network, one, other)
  local call = assert(rules.call("wallet.withdraw", payment(network, other)))
  local rule = { when = { to = { cold = true } }, unless = {} }
  return rules.matches(rule, call, { addresses = { cold = { { address = one } } } }) == true
end

function rooms.crediting(_, one, other)
  local account, memo = readers.place(one)
  local second, of_second = readers.place(other)
  return account == second and memo == of_second
end

-- An agent that may pay anybody, on a network that the table does not know, so that each spelling may be sent.
local function new_agent()
  local folder = files.folder()
  assert(os.execute("mkdir -m 700 " .. folder .. "/policy"))
  local text = policies.text(policies.given({ rules = { { name = "all", effect = "allow", approvals = {} } } }, true))
  local signatures = { ssh_keys.sign("alice", "purser-policy-1", text), ssh_keys.sign("bob", "purser-policy-1", text) }
  files.write(folder .. "/policy/1.json", text)
  files.write(folder .. "/policy/1.sigs", table.concat(signatures))
  local network = json.object { { "netWork", "NEW" }, { "network", "New" }, { "withdrawEnable", true },
    { "withdrawFee", "1" }, { "withdrawMin", "1" }, { "sameAddress", false } }
  local coins = json.encode(json.list { json.object { { "coin", "USDT" }, { "networkList", json.list { network } } } })
  local journal = assert(purser.journal.open { sqlite = files.path_in_memory() })
  local now, made = 1700000000000, 0
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, journal = journal, account = "treasury", policy = folder .. "/policy",
    clock = function() return now end, transport = { sleep = function() end, send = function(_, request)
      made = made + 1
      return { status = 200, headers = "", body = request.method == "GET" and coins
        or json.encode { id = ("%d"):format(made) } }
    end } })
  local serve, count = assert(purser.agent.new { client = client, journal = journal, stop_file = folder .. "/stop" }), 0
  local function call(tool, arguments)
    local answer = assert(core.decode(serve(json.encode(json.object { { "jsonrpc", "2.0" }, { "id", 1 },
      { "method", "tools/call" }, { "params", { name = tool, arguments = arguments } } }))))
    return assert(answer.result, answer.error and answer.error.message).structuredContent
  end
  local agent = {}
  function agent.pay(address)
    count = count + 1
    local params = payment(nil, address)
    params.network = "NEW"
    local proposed = call("propose", { reference = "r" .. count, operation = "wallet.withdraw", params = params })
    assert.equal("proposed", proposed.state, address .. ": " .. table.concat(proposed.problems or {}, "; "))
    return call("pay", { reference = "r" .. count, digest = proposed.digest }), "r" .. count
  end
  function agent.forget() now = now + 8 * 86400000 end -- an equal payment of last week is none
  function agent.close()
    journal:close()
    files.remove(folder)
    ssh_keys.remove()
  end
  return agent
end

-- Returns network -> payee -> spellings.
local function spellings()
  local networks = {}
  for line in io.lines "spec/golden/addresses.tsv" do
    local network, payee, text = line:match "^([^#\t]+)\t(%d+)\t(.+)$"
    if network then
      networks[network] = networks[network] or {}
      networks[network][payee] = networks[network][payee] or {}
      table.insert(networks[network][payee], text)
    end
  end
  return networks
end

-- Calls each(network, one, other, is_same) for two spellings of one payee, and for each two of different payees.
local function each_pair(each)
  for network, payees in pairs(spellings()) do
    for payee, list in pairs(payees) do
      for _, text in ipairs(list) do
        each(network, list[1], text, true)
        for other, texts in pairs(payees) do
          for _, second in ipairs(other > payee and texts or {}) do each(network, text, second, false) end
        end
      end
    end
  end
end

describe("an address in any spelling", function()
  for room, is_same in pairs(rooms) do
    it("is one payee, and no other's: " .. room, function()
      local count = { [true] = 0, [false] = 0 }
      each_pair(function(network, one, other, is_one)
        assert.equal(is_one, is_same(network, one, other), ("%s: %s %s"):format(network, one, other))
        count[is_one] = count[is_one] + 1
      end)
      assert.same({ 507, 1362 }, { count[true], count[false] })
    end)
  end

  it("is one payee, and no other's: an agent, which a person is asked about", function()
    local agent, count = new_agent(), 0
    finally(agent.close)
    for network, payees in pairs(spellings()) do
      local references = {}
      agent.forget()
      for payee, list in pairs(payees) do
        local paid, reference = agent.pay(list[1])
        assert.equal("accepted", paid.state, ("%s: %s %s"):format(network, list[1], paid.reason or ""))
        references[payee] = reference
      end
      for payee, list in pairs(payees) do
        for _, text in ipairs(list) do
          local paid = agent.pay(text)
          local reference = (paid.reason or ""):match "equal payment was made or begun under the reference (r%d+)"
          assert.same({ "needs a person", references[payee] }, { paid.state, reference }, ("%s: %s"):format(network,
            text))
          count = count + 1
        end
      end
    end
    assert.equal(507, count)
  end)
end)
