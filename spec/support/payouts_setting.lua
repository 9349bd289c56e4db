-- SPDX-License-Identifier: MIT
-- A service, a journal and a client for specs of payouts, made for each test:
--
--     local at = require "payouts_setting"
--     before_each(at.begin)
--     after_each(at.finish)
--     local payouts = at.payouts_with { worker = "two" }   -- uses at.client and at.journal, which may be replaced

local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

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
M.move = simulated.transfer

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

--- Returns how often the service got an operation (`word` "received"), or executed it ("applied").
function M.counted(operation, word) return simulated.counted(M.sim, operation, word) end

--- A transport to the service whose requests go through send(request, inner); `inner` sends them.
function M.transport(send) return simulated.transport(M.sim, send) end

--- Adds the payments "invoice-FIRST" to "invoice-LAST" to a queue of its own worker, and runs it. Returns the report.
function M.pay(first, last, options)
  local payouts = M.payouts_with(options)
  M.add(payouts, first, last)
  return assert(payouts:run())
end

--- Changes what is kept of the payments, as a clock that was wrong would have written it.
function M.set(sql, ...) assert(M.journal.db:rows("UPDATE purser_calls SET " .. sql, ...)) end

--- A time of the machine's clock, as it is kept.
function M.ahead(ms) return ("%013d"):format(core.now_ms() + ms) end

--- A copy of a database's file, as it is when nobody has it open.
function M.copy(from, to)
  files.remove_database(to)
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

--- Keeps a copy of the journal, and puts that copy back.
function M.keep_copy()
  M.journal:close()
  M.copy(M.path, M.path .. ".copy")
  M.open()
end

function M.put_back()
  M.journal:close()
  M.copy(M.path .. ".copy", M.path)
  M.open()
end

function M.lose_journal()
  M.journal:close()
  files.remove_database(M.path)
  M.open()
end

---@param options { balance: string?, key_days: integer?, clock: string? }|nil
function M.begin(options)
  options = options or {}
  M.path = files.path_in_memory()
  -- an id that was used before is executed once more, so the service prevents nothing
  M.sim, M.account = simulated.broker({ seed = 5, repeated_ids = "execute", key_days = options.key_days,
    clock = options.clock }, { balances = { USDT = options.balance or "100000" }, futures_balances = { USDT = "10" } })
  M.open()
end

function M.finish()
  M.journal:close()
  for _, suffix in ipairs { "", ".copy", ".witness" } do files.remove_database(M.path .. suffix) end
  os.execute(("rm -f '%s'.witness-w*"):format(M.path))
end

return M
