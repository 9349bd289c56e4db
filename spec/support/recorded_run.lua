-- SPDX-License-Identifier: MIT
--- A run of calls of every group against the simulator, recorded, with everything that is secret in it.

local purser = require "purser"

local M = {}

local TYPES = { fromAccountType = "SPOT", toAccountType = "FUTURES" }

-- A transport that notes what is secret of each request that passes.
local function noting(inner, secrets)
  return setmetatable({ send = function(_, request)
    secrets[#secrets + 1] = request.target:match "signature=([^&]+)"
    return inner:send(request)
  end }, { __index = inner })
end

local methods = {}
methods.__index = methods

--- A client with the keys of the run.
function methods:client_of(transport, clock)
  return assert(purser.new { base_url = "http://127.0.0.1:1", transport = transport, api_key = self.owner.api_key,
    secret_key = self.owner.secret_key, clock = clock or function() return self.sim:now() end, retry = false })
end

--- A replay of the run's lines, or of others, and a client on it.
function methods:replay(lines)
  local replay = assert(purser.transport.replay(lines or self.lines))
  return replay, self:client_of(replay, function() return replay:now() end)
end

local function texts_of(value, into)
  if type(value) ~= "table" then
    local text = tostring(value)
    local is_plain = text:find "^[%u_]+$" or text == "Tron(TRC20)" -- and counts, states, times
      or text:find "^%d%d?%d?%d?$" or text:find "^17%d+$" or #text < 6
    if not is_plain then into[#into + 1] = text end
    return
  end
  for _, inner in pairs(value) do texts_of(inner, into) end
end

--- Calls of every group; the results go into `secrets`, but for what is the service's own. `sim`: what becomes of the
-- deposit and the time; that of the run unless given.
function methods:work(client, sim)
  local owner, secrets = self.owner, self.secrets
  sim = sim or self.sim
  local function call(name, params)
    local result, err = client:call(name, params)
    texts_of(params or {}, secrets)
    if name ~= "wallet.coins" then texts_of(result or {}, secrets) end
    return result, err
  end
  local function must(name, params)
    local result, err = call(name, params)
    return assert(result, tostring(err)) -- the assert of Lua 5.1 takes no other message
  end
  call "wallet.coins"
  must("sub_account.create_sub_account", { subAccount = "payroll0001", note = 'for "Anna" in Köln' })
  must("sub_account.create_api_key", { subAccount = "payroll0001", note = "anna's key",
    permissions = "SPOT_ACCOUNT_READ", ip = "203.0.113.77" })
  must("sub_account.transfer", { toAccount = "payroll0001", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "77.123456" })
  must("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
    amount = "66.654321" })
  must("wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "anna@koeln.example", asset = "USDT",
    amount = "55.654987" })
  local address = must("wallet.create_deposit_address", { coin = "USDT", network = "Tron(TRC20)" })
  assert(sim:deposit { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", amount = "1234.567891" })
  sim:advance(3600000)
  call("wallet.withdraw", { coin = "USDT", netWork = "TRX", address = address.address, amount = "44.123987",
    withdrawOrderId = "invoice-anna-17", remark = "rent of may" })
  call("broker.create_sub_account", { subAccount = "payroll0002", note = "bob's desk" })
  call("broker.create_api_key", { subAccount = "payroll0002", note = "bob's key", permissions = "SPOT_ACCOUNT_READ" })
  for _, name in ipairs { "wallet.deposit_history", "wallet.withdrawal_history", "wallet.internal_transfer_history",
    "sub_account.list_sub_accounts", "broker.list_sub_accounts", "wallet.convertible_balances" } do
    must(name)
  end
  must("wallet.transfer_history", TYPES)
  call("sub_account.balances", { subAccount = "nosuchname0001", accountType = "SPOT" })
  call("wallet.get_transfer", { tranId = "1234567890123456789" })
end

--- A simulator of a variant and its owner's keys, with nothing recorded yet: `sim`, `owner`, `secrets`, `lines`.
---@param variant string
function M.prepare(variant)
  local sim = purser.sim.new { seed = 41, variant = variant }
  local owner = assert(sim:account { name = "Treasury01", role = "broker", email = "boss@corp.example",
    balances = { USDT = "98765.4321", MX = "123.456789" } })
  assert(sim:account { name = "Anna", role = "user", email = "anna@koeln.example" })
  local secrets = { owner.api_key, owner.secret_key, "boss@corp.example", "Treasury01" }
  return setmetatable({ sim = sim, owner = owner, secrets = secrets, lines = {} }, methods)
end

--- The same after all the work, with its `recorder`.
function M.new(variant)
  local run = M.prepare(variant)
  local function write(line)
    run.lines[#run.lines + 1] = line
    return true
  end
  run.recorder = assert(purser.transport.record(noting(run.sim:transport(), run.secrets), { write = write }))
  run:work(run:client_of(run.recorder))
  return run
end

return M
