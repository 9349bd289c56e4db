-- SPDX-License-Identifier: MIT
-- Counts statements of a journal's database, each a round trip on PostgreSQL: of a call, of a call with a key, and of a
-- payment of a list of 50.
--
--     local counts = counted_statements(journal_options)   -- { call =, with_key =, payment =, texts = of the calls }

local assert = require "luassert"
local connection = require "purser.client.util.database.connection"
local purser = require "purser"
local schedule = require "purser.schedule"
local simulated = require "simulated"

local PAYMENTS = 50

return function(options)
  local journal, run, count, texts = assert(purser.journal.open(options)), connection.run, 0, nil
  local sim, account = simulated.broker(nil, { futures_balances = { USDT = "1000" } })
  local client = simulated.client(sim, account, { journal = journal, account = "treasury", rate_limit = false,
    retry = false })
  function connection.run(db, sql, ...)
    count = count + 1
    if texts then texts[#texts + 1] = sql:gsub("%s+", " ") end
    return run(db, sql, ...)
  end
  local counts = { texts = {} }
  local ok, problem = schedule.protect(function()
    local function counted(name, fn)
      fn "1" -- the first binds the journal, and makes the statements
      count, texts = 0, {}
      fn "2"
      counts[name], counts.texts[name], texts = count, texts, nil
    end
    counted("call", function(amount)
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = amount })
    end)
    counted("with_key", function(amount)
      assert(client.sub_account:transfer(simulated.transfer(amount), { key = "key-" .. amount }))
    end)
    local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "w" })
    local function pay(first, last)
      local list = {}
      for i = first, last do
        list[#list + 1] = { key = "p" .. i, operation = "sub_account.transfer",
          params = simulated.transfer("0." .. 100 + i) }
      end
      assert(payouts:add_all(list))
      count = 0
      assert.equal(last, assert(payouts:run()).done)
    end
    pay(1, 20)
    pay(21, 20 + PAYMENTS)
    counts.payment = count / PAYMENTS
  end)
  connection.run = run
  journal:close()
  if not ok then error(problem, 0) end
  return counts
end
