-- SPDX-License-Identifier: MIT
-- Lists whose total is how many records the page itself holds, as a service with the form {"result", "totalCount"} may
-- mean it: walks and strict readings read them whole, and a total that is none of a page is held to.

local reading = require "purser.write.reading"
local simulated = require "simulated"
local operations = require "purser.client.operations"
local purser = require "purser"

local TYPES = { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "tradingdesk1" }

-- A simulator with that many transfers, and a client, each answer passed through `change(target, response)`.
local function world(count, change)
  local sim = purser.sim.new { variant = "live" }
  local owner = assert(sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000000" } })
  local client = simulated.client(sim, owner, { rate_limit = false,
    transport = simulated.transport(sim, function(request, inner)
      local response, failure = inner:send(request)
      if response and change then change(request.target, response) end
      return response, failure
    end) })
  assert(client.sub_account:create_sub_account { subAccount = TYPES.toAccount, note = "n" })
  for i = 1, count do
    assert(client.sub_account:transfer { toAccount = TYPES.toAccount, fromAccountType = "SPOT",
      toAccountType = "SPOT", asset = "USDT", amount = tostring(i) })
    sim:advance(5)
  end
  return sim, client
end

local function read(sim, client, group)
  local function run(row, params) return client:call(row.full_name, params) end
  return reading.all(run, operations.by_name[group .. ".transfer_history"], TYPES, sim:now() - 60000,
    sim:now() + 60000, "timestamp")
end

local function amounts(records)
  local seen, count = {}, 0
  for _, record in ipairs(records) do
    assert.is_nil(seen[record.amount])
    seen[record.amount], count = true, count + 1
  end
  return count
end

describe("a list whose total is of the page", function()
  for _, count in ipairs { 0, 1, 9, 10, 25, 500, 510 } do
    it(("is read whole: %d records"):format(count), function()
      local sim, client = world(count)
      for _, group in ipairs { "sub_account", "broker" } do
        local records, err, why = read(sim, client, group)
        assert.is_nil(err or why)
        assert.equal(count, amounts(records))
        local walked, params = {}, { from = sim:now() - 60000 }
        for name, value in pairs(TYPES) do params[name] = value end
        for record in client[group]:each_transfer(params) do walked[#walked + 1] = record end
        assert.equal(count, amounts(walked))
      end
    end)
  end

  it("is believed only where every page says so: another total that falls is an error", function()
    for _, total in ipairs { 1, 24 } do
      local sim, client = world(25, function(target, response)
        if target:find "page=2" then response.body = response.body:gsub('"totalCount":0', '"totalCount":' .. total) end
      end)
      local records, err = read(sim, client, "sub_account")
      assert.is_nil(records)
      assert.equal("unknown", err.outcome)
    end
  end)

  it("is not believed of an empty page that names records", function()
    local sim, client = world(510, function(target, response)
      if target:find "limit=500" and target:find "page=2" then
        response.body = response.body:gsub('^{"result":.*$', '{"result":[],"totalCount":3}')
      end
    end)
    local records, err = read(sim, client, "sub_account")
    assert.is_nil(records)
    assert.equal("unknown", err.outcome)
  end)
end)
