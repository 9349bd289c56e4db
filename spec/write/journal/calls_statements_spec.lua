-- SPDX-License-Identifier: MIT
-- So many statements a call costs on SQLite: `make spec SPEC=spec/write/journal/calls_statements_spec.lua` prints them.

local connection = require "purser.client.util.database.connection"
local own = require "own_journal"
local simulated = require "simulated"

describe("a call with a journal", function()
  local run = connection.run

  after_each(function()
    connection.run = run
    own.finish()
  end)

  it("costs few statements, with a key and without one", function()
    local journal, count = own.begin(), 0
    local sim, account = simulated.broker(nil, { futures_balances = { USDT = "10" } })
    local client = simulated.client(sim, account, { journal = journal, account = "treasury", rate_limit = false,
      retry = false })
    function connection.run(...)
      count = count + 1
      return run(...)
    end
    local function counted(fn)
      fn "1" -- the first binds the journal, and makes the statements
      count = 0
      fn "2"
      return count
    end
    local plain = counted(function(amount)
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = amount })
    end)
    local with_key = counted(function(amount)
      assert(client.sub_account:transfer(simulated.transfer(amount), { key = "key-" .. amount }))
    end)
    print(("# %d statements a call, %d with a key"):format(plain, with_key))
    assert.is_true(plain <= 11 and with_key <= 14)
  end)
end)
