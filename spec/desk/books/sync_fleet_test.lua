-- SPDX-License-Identifier: MIT
-- make test-all: 60 s
-- 300 sub-accounts with keys, under the rate limit of the live service on a clock that only waiting moves: everything
-- is read in at most 300 s, after a day in at most 400 s, and what runs on stays within 60 % of the limit.

local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local COUNT, MINUTE = 300, 60000

describe("Books of 300 sub-accounts", function()
  after_each(files.remove_kept)

  it("are read in minutes, and within 60 % of the limit when it runs on", function()
    local sim = assert(purser.sim.new { seed = 3, key_days = 0, max_sub_accounts = 0, record_requests = 0,
      rate_limit = true, profile = "mexc" })
    local main = assert(sim:account { role = "main", name = "Acme", balances = { USDT = "100000" } })
    local options = { profile = "mexc", rate_limit = purser.rate_limit { profile = "mexc",
      now = function() return sim:now() end } }
    options.transport = sim:transport()
    options.transport.sleep = function(_, ms) sim:advance(math.ceil(ms)) end
    local keys = {}
    for i = 1, COUNT do
      local sub = assert(sim:account { role = "sub", name = "desk" .. i, parent = main.uid,
        balances = { USDT = "50" } })
      keys["desk" .. i] = simulated.client(sim, sub, options)
    end
    local books = assert(purser.books.open { sqlite = files.new_path(), client = simulated.client(sim, main, options),
      keys = keys })
    local function sync(params)
      local began = sim:now()
      local report = assert(books:sync(params))
      assert.same({}, report.problems)
      return (sim:now() - began) / 1000, report
    end
    local function used() return sim:rate_limit().pools["ip 127.0.0.1"].total end
    print(("# the first reading: %.0f s"):format((sync())))
    -- after a longer pause more is read again: what was young when the lists were read last
    for _, pause in ipairs { { hours = 5, most = 300 }, { hours = 24, most = 400 } } do
      sim:advance(pause.hours * 60 * MINUTE)
      for i = 1, COUNT, 2 do
        assert(sim:deposit { account = "desk" .. i, coin = "USDT", network = "TRX", amount = "5" })
      end
      sim:advance(MINUTE)
      local seconds, report = sync()
      print(("# everything after %d hours: %.0f s, %d changes"):format(pause.hours, seconds, report.changes))
      assert.is_true(seconds <= pause.most and report.changes == COUNT / 2)
    end

    -- as it is after some quiet days: nobody is hot but thirty to whom something happens
    assert(books.store.db:rows "UPDATE purser_books_owner SET hot_until = '0000000000000', every = '0000021600000'")
    local function deposits()
      for i = 1, 30 do
        assert(sim:deposit { account = "desk" .. i, coin = "USDT", network = "TRX", amount = "5" })
      end
    end
    deposits()
    sim:advance(MINUTE)
    sync()
    local before, began, reads = used(), sim:now(), 0
    for step = 1, 60 do -- of 20 s: what is due is read when it is
      if step % 30 == 1 then deposits() end
      local _, done = sync { due = true }
      reads = reads + done.owners
      sim:advance(math.max(0, math.floor(began + step * MINUTE / 3 - sim:now())))
    end
    assert.is_true(reads >= 30 * 14)
    local share = (used() - before) / ((sim:now() - began) / 10000 * 300)
    print(("# it runs on at %.0f %% of the limit"):format(share * 100))
    assert.is_true(share <= 0.6)
    books:close()
  end)
end)
