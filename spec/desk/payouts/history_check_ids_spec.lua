-- SPDX-License-Identifier: MIT
-- Payouts with a journal that was lost, at a service whose history shows ids cut short, hidden in part or as numbers.

local purser = require "purser"
local simulated = require "simulated"

local DIGITS = "12345678901234567890123456789012"
local sim, account, path, journal, spell

local function transport()
  return simulated.transport(sim, function(request, inner)
    local response, failure = inner:send(request)
    if response and request.operation == "sub_account.transfer_history" then
      response.body = response.body:gsub('("clientTranId":%s*)"([^"]*)"', function(name, id)
        return name .. spell(id)
      end)
    end
    return response, failure
  end)
end

local function payouts_with(more)
  local options = { journal = journal, worker = "one", retry_ms = 1, idle_ms = 1, client = assert(purser.new {
    base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key, account = "treasury",
    transport = transport(), clock = function() return sim:now() end, rate_limit = false, journal = journal }) }
  for name, value in pairs(more or {}) do options[name] = value end
  return assert(purser.payouts.new(options))
end

local function move(amount, id)
  return { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount, clientTranId = id }
end

local function pay(payouts, key, amount, id)
  assert(payouts:add(key, "sub_account.transfer", move(amount, id)))
  assert(payouts:run())
  return assert(payouts:find(key)).state
end

local function applied()
  local count = sim:counts()["sub_account.transfer"]
  return count and count.applied or 0
end

local function remove(name)
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(name .. suffix) end
end

local function lose_journal()
  journal:close()
  remove(path)
  journal = assert(purser.journal.open { sqlite = path })
end

before_each(function()
  path = os.tmpname()
  remove(path)
  sim = purser.sim.new { seed = 5, repeated_ids = "execute" }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  journal = assert(purser.journal.open { sqlite = path })
  spell = function(id) return ('"%s"'):format(id) end
end)

after_each(function()
  journal:close()
  remove(path)
  remove(path .. ".witness")
  os.execute(("rm -f '%s'.witness-w*"):format(path))
end)

local spellings = {
  ["cut to three characters"] = function(id) return ('"%s"'):format(id:sub(1, 3)) end,
  ["cut to one character"] = function(id) return ('"%s"'):format(id:sub(-1)) end,
  ["hidden in part"] = function(id) return ('"%s****%s"'):format(id:sub(1, 2), id:sub(-2)) end,
  ["hidden"] = function() return '"********"' end,
  ["a word for none"] = function() return '"undefined"' end,
  ["a number"] = function(id) return id == DIGITS and "1.2345678901234567e31" or ('"%s"'):format(id) end,
}

describe("a payment of a lost journal whose record shows its id", function()
  for words, as in pairs(spellings) do
    it(words .. " is undecided, and never sent again", function()
      assert.equal("done", pay(payouts_with(), "a", "5", DIGITS))
      spell = as
      lose_journal()
      assert.equal("undecided", pay(payouts_with(), "a", "5", DIGITS))
      assert.equal(1, applied())
      lose_journal() -- the history is read for another payment, and kept
      assert.equal("done", pay(payouts_with(), "b", "70", ("y"):rep(32)))
      assert.equal("undecided", pay(payouts_with(), "a", "5", DIGITS))
      assert.equal(2, applied())
    end)
  end
end)

it("A payment is sent although a record of other content shows an id that may be its own", function()
  assert.equal("done", pay(payouts_with(), "a", "5", DIGITS))
  spell = spellings["cut to one character"]
  lose_journal()
  assert.equal("done", pay(payouts_with(), "b", "6", ("y"):rep(31) .. "2"))
  assert.equal(2, applied())
end)
