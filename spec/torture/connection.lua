-- SPDX-License-Identifier: MIT
-- The journal on PostgreSQL when its server goes away, for `make torture`: nothing is sent that was not recorded first,
-- and the error says so. The last line says `N passed, N failed`.

local postgresql = dofile "spec/torture/postgresql.lua"
local purser = require "purser"

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p " .. folder)

local passed, failed = 0, 0
local function check(name, ok, ...)
  if ok then passed = passed + 1 else failed = failed + 1 end
  if not ok then print("  not ok: " .. name, ...) end
end

local sim = purser.sim.new { seed = 5 }
local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })

local function applied()
  local count = sim:counts()["sub_account.transfer"]
  return count and count.applied or 0
end

local inner, interrupt = sim:transport(), nil
local transport = {
  send = function(_, request)
    local response, failure = inner:send(request)
    if interrupt then interrupt() end
    return response, failure
  end,
  sleep = function(_, ms) inner:sleep(ms) end,
}

local function run(server)
  local journal = assert(purser.journal.open { postgresql = server.options, lock_timeout_ms = 300 })
  local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
    secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end, rate_limit = false,
    journal = journal, account = "treasury", guard = { spending_limit = { USDT = "500" }, no_duplicates = true } })
  local function move(amount, opts)
    return client.sub_account:transfer({ toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = amount }, opts)
  end

  check("works", move "1")
  server.restart()
  check("goes on after the server was restarted", move "2")

  server.stop "immediate"
  local result, err = move "3"
  check("is not sent", result == nil and err.outcome == "not_sent" and err.phase == "journal" and applied() == 2, err)
  check("says so", tostring(err):find "nothing was sent", err)
  local _, opening = purser.journal.open { postgresql = server.options }
  check("cannot be opened", opening and opening.kind == "config", opening)

  server.start()
  interrupt = function() server.stop "immediate" end
  local info = {}
  result, err = move("4", { info = info })
  interrupt = nil
  check("keeps what was done", result and result.tranId and info.journal_error, err)
  server.start()
  local _, rejection = move "4"
  check("does not make an equal move meanwhile", rejection and rejection.code == "guard.no_duplicates", rejection)
  local reconciled = assert(journal:recover(client))
  check("recover finds it", #reconciled == 1 and reconciled[1].answer.record.tranId == result.tranId)

  local other = assert(purser.journal.open { postgresql = server.options })
  assert(other.db:transaction(function(tx)
    tx:rows "LOCK TABLE purser_calls IN ACCESS EXCLUSIVE MODE"
    result, err = move "5"
    return true
  end))
  check("is not sent while locked", result == nil and err.outcome == "not_sent" and tostring(err):find "lock", err)
  check("nor afterwards by itself", applied() == 3)

  check("the budget is exact", move "493" and select(2, move "0.01").code == "guard.spending_limit")
  assert(other.db:rows "UPDATE purser_meta SET value = '99' WHERE name = 'version'")
  local _, newer = purser.journal.open { postgresql = server.options }
  check("a newer version is rejected", newer and newer.message:find "version 99", newer)
  other:close()
  journal:close()
end

local server = postgresql.start(folder)
local ok, message = pcall(run, server)
check("ran", ok, message)
pcall(server.stop)
os.execute("rm -r " .. folder)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
