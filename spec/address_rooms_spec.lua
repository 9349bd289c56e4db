-- SPDX-License-Identifier: MIT
-- One payee in all spellings of 79 networks, as each room sees them: the guard's list and its look for repetitions, a
-- list of payments, a policy, and the crediting of deposits. The spellings are those of address_spec.lua.

local digests = require "purser.write.digests"
local json = require "purser.json"
local operations = require "purser.client.operations"
local plan = require "purser.desk.payouts.plan"
local purser = require "purser"
local readers = require "purser.desk.receive.reader"
local rules = require "purser.desk.approvals.rules"

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

describe("an address in any spelling", function()
  for room, is_same in pairs(rooms) do
    it("is one payee, and no other's: " .. room, function()
      local equal, different = 0, 0
      for network, payees in pairs(spellings()) do
        local before
        for payee, list in pairs(payees) do
          for _, text in ipairs(list) do
            assert.is_true(is_same(network, list[1], text), ("%s %s: %s %s"):format(network, payee, list[1], text))
            equal = equal + 1
          end
          if before then
            assert.is_false(is_same(network, before, list[1]), ("%s: %s %s"):format(network, before, list[1]))
            different = different + 1
          end
          before = list[1]
        end
      end
      assert.equal(507, equal)
      assert.is_true(different >= 79, different)
    end)
  end
end)
