-- SPDX-License-Identifier: MIT
-- make test: 5 s, on lua5.4 and luajit
-- A lost journal, and a service that answers one request of the look with an empty list: no payment is made twice,
-- whichever request that is and however old the payment. Each window is read twice for that reason.

local files = require "files"
local made_address = require "made_address"
local purser = require "purser"
local reading = require "purser.write.reading"

local ADDRESS = made_address("trx", 1)
local DAY = 86400000
local EMPTY = { status = 200, headers = "", body = "[]" }

-- Pays once, loses the journal, and pays the same list so many days later; the request of this number is answered with
-- an empty list. Returns how often the service paid, and how many requests of histories the second run made.
local function pay_again(days, emptied)
  local sim = purser.sim.new { seed = 1 }
  local owner = assert(sim:account { role = "main", balances = { USDT = "1000" } })
  local asked
  assert(sim:save_address { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", address = ADDRESS })
  local function run(number)
    asked = 0
    local inner = sim:transport()
    local transport = { sleep = function(_, ms) return inner:sleep(ms) end }
    function transport.send(_, request)
      if request.target:find("withdraw/history", 1, true) then
        asked = asked + 1
        if asked == number then return EMPTY end
      end
      return inner:send(request)
    end
    local path = files.path_in_memory()
    local journal = assert(purser.journal.open { sqlite = path })
    local client = assert(purser.new { base_url = "http://localhost", transport = transport, account = "me",
      api_key = owner.api_key, secret_key = owner.secret_key, journal = journal, rate_limit = false,
      clock = function() return sim:now() end })
    local payouts = assert(purser.payouts.new { journal = journal, client = client, idle_ms = 1, retry_ms = 1 })
    assert(payouts:add("k", "wallet.withdraw", { coin = "USDT", netWork = "TRX", amount = "12", address = ADDRESS }))
    payouts:run()
    journal:close()
    files.remove_database(path)
  end
  run(0)
  sim:advance(days * DAY)
  run(emptied)
  return sim:counts()["wallet.withdraw"].applied, asked
end

-- Returns how often the payment was made twice, over every request of the look.
local function made_twice(days)
  local _, requests = pay_again(days, 0)
  local twice = 0
  for number = 1, requests do twice = twice + (pay_again(days, number) > 1 and 1 or 0) end
  return twice, requests
end

describe("A look whose one request is answered with an empty list", function()
  for _, days in ipairs { 1, 61 } do
    it("sends nothing twice, after " .. days .. " days", function()
      local twice, requests = made_twice(days)
      print(("# %d requests, one of them empty in turn: %d made twice"):format(requests, twice))
      assert.equal(0, twice)
    end)
  end

  it("would send twice where each window was read once", function()
    local all = reading.all
    finally(function() reading.all = all end)
    reading.all = function(reader, row, params, first, last, to, state)
      if state then state.is_second = true end
      return all(reader, row, params, first, last, to, state)
    end
    local twice, requests = made_twice(61)
    print(("# %d requests, one of them empty in turn: %d made twice"):format(requests, twice))
    assert.is_true(twice > 0)
  end)
end)
