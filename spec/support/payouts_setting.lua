-- SPDX-License-Identifier: MIT
-- A service, a journal and a client for specs of payouts, made for each test:
--
--     local at = require "payouts_setting"
--     before_each(at.begin)
--     after_each(at.finish)
--     local payouts = at.payouts_with { worker = "two" }   -- uses at.client and at.journal, which may be replaced

local purser = require "purser"

local M = { TRANSFER = "sub_account.transfer" }

--- A client of the account "treasury"; an option that is false is left out.
function M.client_with(options)
  local all = { base_url = "http://localhost", transport = M.sim:transport(), rate_limit = false,
    clock = function() return M.sim:now() end, journal = M.journal, retry = { attempts = 5, base_ms = 1 },
    account = "treasury" }
  if not (options and options.credentials) then
    all.api_key, all.secret_key = M.account.api_key, M.account.secret_key
  end
  for name, value in pairs(options or {}) do all[name] = value or nil end
  return assert(purser.new(all))
end

function M.payouts_with(options)
  local all = { client = M.client, journal = M.journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

--- The parameters of a transfer, which carries an id.
function M.move(amount, fields)
  local params = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
  for name, value in pairs(fields or {}) do params[name] = value end
  return params
end

--- The parameters of wallet.transfer, which carries none.
function M.own(amount)
  return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
end

--- Adds the payments "invoice-FIRST" to "invoice-LAST", of as many USDT each.
function M.add(payouts, first, last)
  local list = {}
  for i = first, last do
    list[#list + 1] = { key = "invoice-" .. i, operation = M.TRANSFER, params = M.move(tostring(i)) }
  end
  assert(payouts:add_all(list))
end

--- How often the service got an operation (`word` "received"), or executed it ("applied").
function M.counted(operation, word)
  local count = M.sim:counts()[operation]
  return count and count[word] or 0
end

--- A transport to the service whose requests go through send(request, inner); `inner` sends them.
function M.transport(send)
  local inner = M.sim:transport()
  return { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request) return send(request, inner) end }
end

--- Removes a database with what belongs to it.
function M.remove(path)
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end

--- A copy of a database's file, as it is when nobody has it open.
function M.copy(from, to)
  M.remove(to)
  local source = assert(io.open(from, "rb"))
  assert(os.execute(("umask 077 && : > '%s'"):format(to)))
  local target = assert(io.open(to, "wb"))
  target:write(source:read "*a")
  source:close()
  target:close()
end

--- Opens the journal, and makes a client of it.
function M.open()
  M.journal = assert(purser.journal.open { sqlite = M.path })
  M.client = M.client_with()
end

function M.lose_journal()
  M.journal:close()
  M.remove(M.path)
  M.open()
end

function M.begin()
  M.path = os.tmpname()
  os.remove(M.path)
  -- an id that was used before is executed once more, so the service prevents nothing
  M.sim = purser.sim.new { seed = 5, repeated_ids = "execute" }
  M.account = assert(M.sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" },
    futures_balances = { USDT = "10" } })
  assert(M.sim:account { name = "tradingdesk1", role = "sub", parent = M.account.uid })
  M.open()
end

function M.finish()
  M.journal:close()
  for _, suffix in ipairs { "", ".copy", ".witness" } do M.remove(M.path .. suffix) end
  os.execute(("rm -f '%s'.witness-worker-*"):format(M.path))
end

return M
