-- SPDX-License-Identifier: MIT
-- The world of the torture: accounts at the simulator, its faults, the payments, and the API keys.

local M = {}

local SUBS = 8
local KINDS = {
  "reject", "lost_answer", "reset", "truncate", "slow", "throttle", "ban", "server_error", "garbage",
}
local TWIN = "7"
local WITHDRAW_TO = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

local function sub_name(number) return ("tradingdesk%d"):format(number) end

--- The names of all sub-accounts.
function M.sub_names()
  local names = {}
  for i = 1, SUBS do names[i] = sub_name(i) end
  return names
end

--- Opens the accounts at a simulator; returns the one that pays.
function M.open_accounts(simulator)
  local payer = assert(simulator:account { name = "Payer", role = "broker", balances = { USDT = "900000000" } })
  for i = 1, SUBS do assert(simulator:account { name = sub_name(i), role = "sub", parent = payer.uid }) end
  assert(simulator:account { name = "Payee", role = "main", email = "payee@mail.example" })
  return payer
end

--- Saves the address that withdrawals go to.
function M.save_address(simulator, payer)
  assert(simulator:save_address { account = payer.uid, coin = "USDT", network = "TRX", address = WITHDRAW_TO })
end

local OTHER_SUB = "otherdesk1"

--- Opens another account that pays, from the same journal; returns it.
function M.open_other(simulator)
  local payer = assert(simulator:account { name = "Other", role = "broker", balances = { USDT = "900000000" } })
  assert(simulator:account { name = OTHER_SUB, role = "sub", parent = payer.uid })
  return payer
end

--- Returns true if the balance of an account of that name belongs to the other payer.
function M.is_other(name) return name == OTHER_SUB end

-- No amount is another one with fewer places: a service may show amounts cut.
local function new_amount(i, roll)
  return ("%d.%05d1"):format(10 + roll:roll(90), i)
end

--- The other account's payments, under the same keys: of an operation that the first does not use.
function M.other_payments(count, roll)
  local list = {}
  for i = 1, count do
    list[i] = { key = "p" .. i, operation = "broker.transfer", params = { toAccount = OTHER_SUB,
      fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = new_amount(i, roll) } }
  end
  return list
end

--- Arms faults of every kind, so that `share` of all requests meets one.
function M.arm(simulator, share)
  local each = 1 - (1 - share) ^ (1 / #KINDS)
  for _, kind in ipairs(KINDS) do
    local fault = { kind = kind, probability = each }
    if kind == "throttle" or kind == "ban" then fault.retry_after = 0 end
    if kind == "slow" then fault.delay_ms = 800 end
    if kind == "garbage" then fault.bytes = 100000 end
    assert(simulator:fault(fault))
  end
end

--- The payments: transfers to sub-accounts, withdrawals, and transfers to another user, which nothing but their content
--- identifies; of these one in `twin_in` (20) has an equal. With `identified` there are none of these.
function M.payments(count, roll, twin_in, identified)
  local list = {}
  for i = 1, count do
    local amount = new_amount(i, roll)
    local which = roll:roll(identified and 8 or 10)
    if which <= 6 then
      list[i] = { key = "p" .. i, operation = "sub_account.transfer", params = {
        toAccount = sub_name(roll:roll(SUBS)), fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = amount } }
    elseif which <= 8 then
      list[i] = { key = "p" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX",
        address = WITHDRAW_TO, amount = amount } }
    else
      if roll:roll(twin_in or 20) == 1 then amount = TWIN end
      list[i] = { key = "p" .. i, operation = "wallet.internal_transfer", params = { toAccountType = "EMAIL",
        toAccount = "payee@mail.example", asset = "USDT", amount = amount } }
    end
  end
  return list
end

--- Returns true if a payment is one of the equal ones that nothing identifies.
function M.is_twin(payment) return payment.params.amount == TWIN end

--- The keys that the `number`th of `workers` is to make, `count` by all: a list of { note, sub-account }.
function M.keys_of(number, workers, count)
  local keys = {}
  for i = number, count, workers do keys[#keys + 1] = { "bot" .. i, sub_name(i % SUBS + 1) } end
  return keys
end

return M
