-- SPDX-License-Identifier: MIT
-- A journal whose host waits for locks by a function of its own.

local purser = require "purser"
local simulated = require "simulated"

local path, sim, account

local function client_of(journal)
  return simulated.client(sim, account, { rate_limit = false, journal = journal, account = "acme",
    guard = { spending_limit = { USDT = { amount = "1000", period_ms = 86400000 } } } })
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
  sim = purser.sim.new { seed = 11 }
  account = assert(sim:account { name = "Acme", role = "main", email = "acme@mail.example",
    balances = { USDT = "5000" } })
end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

local function payment(amount)
  return { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = tostring(amount) }
end

describe("a journal of a host that waits in its own way", function()
  it("waits for another process's lock by the host's sleep", function()
    local slept, other = 0, nil
    local journal = assert(purser.journal.open { sqlite = path, sleep = function()
      slept = slept + 1
      if slept == 3 then assert(other:rows "COMMIT") end
    end })
    other = assert(require("purser.client.util.database").open { sqlite = path })
    assert(other:rows "BEGIN IMMEDIATE")
    assert(client_of(journal).wallet:withdraw(payment(10)))
    assert.equal(3, slept)
    other:close()
    journal:close()
  end)
end)
