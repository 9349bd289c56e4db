-- SPDX-License-Identifier: MIT
--- Plans of withdrawals and deposit addresses: the effect of a call, and each problem, before the call.

local purser_address = require "purser.address"
local views = require "purser.client.util.views"
local networks = require "purser.client.operations.network"
local option_schema = require "purser.client.util.option_schema"
local coins = require "purser.desk.workflow.coins"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local plain_text = require "purser.client.util.plain_text"
local planned = require "purser.write.planned"
local transactions = require "purser.client.util.transactions"

local M = {}

local MAX_AGE_MS = 300000

---@class purser.WithdrawPlanParams  those of wallet.withdraw, and
---@field coin string|nil          required, as are address and amount; the plan says what is missing
---@field network string|nil       by any name people use
---@field netWork string|nil       the same
---@field address string|nil
---@field amount purser.amount|nil
---@field memo string|integer|nil
---@field remark string|integer|nil
---@field contractAddress string|nil
---@field withdrawOrderId string|nil
---@field includeFee boolean|nil   asks the service to take the fee out of the amount, a parameter that only the live
--- service is known to have. Without it the fee is assumed to come on top. Default: false
---@field require_saved_address boolean|nil  looks the address up among the saved ones. Default: false
---@field unchecked_address boolean|nil  an address of another form, or with a wrong checksum, is only warned of.
--- Default: false
---@field without_coins boolean|nil  looks no coin up, for a key that may not read wallet.coins: coin and network are
--- sent as given; fee, minimum, maximum and the need of a memo are not checked. Default: false
---@field max_age_ms integer|nil   how old the coin configuration and the plan may be. Default: 300000
---@field password string|nil      of the operation that is named
---@field funds_password string|nil

---@class purser.AddressPlanParams
---@field coin string
---@field network string|nil      by any name people use
---@field another boolean|nil     a new one, whatever exists
---@field max_age_ms integer|nil  how old the coin configuration and the plan may be. Default: 300000

---@class purser.Plan
---@field ok boolean            no problem was found
---@field problems string[]     why it would fail, all of them
---@field warnings string[]     what to look at before
---@field params table          what will be sent
---@field operation string      the operation that execute() calls
---@field title string          its first line
---@field coin string|nil       as the service names it
---@field network purser.record.network|nil  the network that was found
---@field fee string|nil        a withdrawal's fee, as are the next two
---@field total string|nil      what leaves the balance
---@field arrives string|nil
---@field arrives_at_least string|nil  if the service takes the fee out of the amount
---@field existing purser.record.deposit_address|nil  the deposit address that is there already
---@field addresses purser.record.deposit_address[]|nil  all of them
local Plan = { __name = "purser.plan" }
Plan.__index = Plan

local function failure(plan, outcome, message, details)
  return errors.new { kind = "workflow", outcome = outcome, phase = "plan", operation = plan.operation,
    message = message, details = details }
end

local function with_extra(plan, opts)
  if not plan.includes_fee then return opts end
  local all, extra = {}, { includeFee = true }
  for name, value in pairs(opts or {}) do all[name] = value end
  for name, value in pairs(all.extra_params or {}) do extra[name] = extra[name] or value end
  all.extra_params = extra
  return all
end

--- Makes the call once; again only where the service rejected it or nothing was sent. A plan with problems, or older
--- than its `max_age_ms`, is refused. A call that was made before with its key or id returns its result.
---@param opts purser.CallOptions|nil
---@return any result, purser.Error|nil err
function Plan:execute(opts)
  local made, unknown = self.client:recall(self.operation, self.params, with_extra(self, opts))
  if made or unknown then return made, unknown end
  local age = self.client:now() - self.made_at
  local why_not = not self.ok and "the plan has problems: " .. table.concat(self.problems, "; ")
    or self.state == "done" and "the plan was executed already"
    or self.state == "unknown" and "the plan was executed with an unknown outcome; reconcile that first"
    or age > self.max_age_ms and ("the plan is %d s old; plan again"):format(math.floor(age / 1000))
  if why_not then return nil, failure(self, "not_sent", why_not) end
  if self.existing then return self.existing end
  self.state = "unknown" -- until an answer says otherwise
  local result, err = self.client:call(self.operation, self.params, with_extra(self, opts))
  local why = result and self.operation == "wallet.create_deposit_address"
    and networks.answer_problem(self.params, result, self.coin_record)
  if why then
    return nil, failure(self, "unknown", "the answer is not the answer to what was asked: " .. why, { result = result })
  end
  if result then
    self.state, self.result = "done", result
  elseif err.outcome ~= "unknown" then
    self.state = "rejected"
  end
  return result, err
end

function Plan:__tostring()
  local lines = {}
  local function add(text) lines[#lines + 1] = plain_text.clean(text) end
  add(self.title)
  for _, line in ipairs(self.lines) do add(("  %-8s %s"):format(line[1], line[2])) end
  for _, problem in ipairs(self.problems) do add("  error    " .. problem) end
  for _, warning in ipairs(self.warnings) do add("  warning  " .. warning) end
  if self.ok then
    add("  ok       " .. (self.warnings[1] and "no error found; read the warnings first" or "no problem found"))
  end
  return table.concat(lines, "\n")
end

local function add(list, text, ...) list[#list + 1] = select("#", ...) > 0 and text:format(...) or text end

local function problem(plan, ...) add(plan.problems, ...) end

local function warn(plan, ...) add(plan.warnings, ...) end

local function line(plan, name, text, ...) plan.lines[#plan.lines + 1] = { name, text:format(...) } end

-- Takes coin and network as they are given.
local function take_network(plan, given)
  local name = given.netWork or given.network
  plan.network, plan.coin = { netWork = name, network = given.network or name }, given.coin
  line(plan, "network", "%s, as given", name or "none")
  warn(plan, "the coin was not looked up: fee, minimum, maximum, network and the need of a memo are not checked")
end

local function find_network(plan, all, given)
  if type(given.coin) ~= "string" or given.coin == "" then
    return problem(plan, "the coin is missing; give coin = \"USDT\" or another")
  end
  local coin, network, message
  coin, message = coins.find(all, given.coin)
  if coin then network, message = networks.find(coin, given.network or given.netWork) end
  if not network then return problem(plan, message) end
  plan.network, plan.coin, plan.coin_record = network, coin.coin, coin
  line(plan, "network", "%s (%s)", network.netWork or "?", network.network or "?")
end

-- Begins a plan with its network, or a problem. Misspelt parameters are an error.
local function begin(client, operation, given, known, title)
  local message, name, hint = option_schema.check(given, known, "parameter")
  if message then return nil, errors.argument(name, message, hint) end
  local max_age_ms = given.max_age_ms or MAX_AGE_MS
  local all, read_at = {}, client:now()
  if not given.without_coins then all, read_at = coins.read(client, max_age_ms) end
  if not all then return nil, read_at end
  local plan = setmetatable({ client = client, operation = operation, title = title(), problems = {}, warnings = {},
    lines = {}, params = {}, made_at = read_at, max_age_ms = max_age_ms, state = "new" }, Plan)
  if given.without_coins then take_network(plan, given) else find_network(plan, all, given) end
  return plan
end

local function limit(plan, network, member)
  local text = network[member]
  if text == nil or text == "" then return nil end
  local value = decimal.shown(text)
  if value and value:sign() >= 0 then return value end -- a fee below 0 would lower sums
  warn(plan, "%s is %s, which is no decimal from 0 on; it was not checked", member, text)
end

local function check_amount(plan, network, amount, given)
  local min, max = limit(plan, network, "withdrawMin"), limit(plan, network, "withdrawMax")
  local step, fee = limit(plan, network, "withdrawIntegerMultiple"), limit(plan, network, "withdrawFee")
  line(plan, "limits", "%s to %s%s", min and tostring(min) or "?", max and tostring(max) or "?",
    step and step:sign() > 0 and (", in steps of " .. tostring(step)) or "")
  if min and amount:compare(min) < 0 then
    problem(plan, "the amount %s is below the minimum of %s", tostring(amount), tostring(min))
  end
  if max and amount:compare(max) > 0 then
    problem(plan, "the amount %s is above the maximum of %s: pay it in parts, each a payment of its own",
      tostring(amount), tostring(max))
  end
  if step and step:sign() > 0 then
    local rounded = amount:round_down_to(step)
    if rounded:compare(amount) ~= 0 then
      problem(plan, "the amount %s is no multiple of %s; the next below is %s", tostring(amount), tostring(step),
        tostring(rounded))
    end
  end
  if not fee then return warn(plan, "the fee is not known") end
  local coin, covers, rest = network.coin or plan.coin, amount:compare(fee) > 0, tostring(amount - fee)
  plan.fee = tostring(fee)
  if given.includeFee then
    plan.total, plan.arrives = tostring(amount), rest
    line(plan, "fee", "%s %s, asked for inside the amount; %s arrives", plan.fee, coin, rest)
    if not covers then problem(plan, "the amount does not cover the fee of %s", plan.fee) end
  else
    plan.total, plan.arrives, plan.arrives_at_least = tostring(amount + fee), tostring(amount), rest
    line(plan, "fee", "%s %s, assumed to come on top; with the amount %s", plan.fee, coin, plan.total)
    line(plan, "arrives", "%s %s; %s if the service takes the fee out of the amount, which it does not document",
      plan.arrives, coin, rest)
    if not covers then warn(plan, "the fee of %s is not less than the amount", plan.fee) end
  end
end

-- Judges an address and a memo by their network. Returns whether a memo within the address is a problem already.
local function check_address(plan, client, network, given)
  if not client:check_value(plan.operation, "address", given.address) then return false end
  local has_memo = given.memo ~= nil and client:check_value(plan.operation, "memo", given.memo)
  local judged = purser_address.check { address = given.address, memo = has_memo and given.memo or nil,
    network = network, coin = plan.coin_record, as_is = given.unchecked_address }
  local front, behind = purser_address.apart(given.address)
  if not front and network.sameAddress then front, behind = purser_address.parts_of_unread(given.address) end
  if front and behind ~= "" and not given.memo then
    problem(plan, "the address carries its memo after a colon; give address = %q and memo = %q", front, behind)
    return true
  end
  for _, found in ipairs(judged.problems) do problem(plan, "%s", tostring(found)) end
  for _, found in ipairs(judged.warnings) do warn(plan, "%s", tostring(found)) end
  return judged.cures.memo ~= nil
end

local function check_destination(plan, client, network, given)
  local address, memo = given.address, given.memo
  line(plan, "to", "%s%s", tostring(address or "?"), memo and (" with memo " .. tostring(memo)) or "")
  if type(address) ~= "string" or address == "" then return problem(plan, "the address is missing") end
  for _, name in ipairs { "address", "memo" } do
    local fits, message = client:check_value(plan.operation, name, given[name])
    if not fits and given[name] ~= nil then problem(plan, "the " .. name .. " " .. message) end
  end
  if not network then return end
  local has_memo_within = check_address(plan, client, network, given)
  if network.sameAddress then
    if not memo and not has_memo_within then
      problem(plan, "the network %s needs a memo: the address is shared, and funds sent without one are lost%s",
        network.netWork or network.network, client:check_value(plan.operation, "memo", "1") and ""
        or ("; %s takes none, so withdraw from the main account"):format(plan.operation))
    end
  elseif memo and network.sameAddress == false then
    warn(plan, "a memo is given, though addresses of this network are not shared")
  elseif network.sameAddress == nil and not given.without_coins then
    warn(plan, "the service does not say whether this network needs a memo")
  end
end

-- Looks the address up among the saved ones. Returns nil, or an error.
local function require_saved_address(plan, client, network, given)
  local walk = client:each("wallet.withdrawal_addresses", { coin = plan.coin })
  while true do
    local saved, err = walk:next()
    if err then return err end
    if not saved then break end
    local entry = networks.saved_address(saved)
    if purser_address.same(entry, given)
      and not networks.other_coin(plan.coin, saved.coin)
      and networks.find(plan.coin_record, entry.network) == network then
      line(plan, "saved", "the address is in the address book")
      return nil
    end
  end
  problem(plan, "the address is not among the saved addresses of %s on this network", plan.coin)
end

-- Tells of a look-alike of a payee that the client's journal knows, and of a transaction.
local function check_alike(plan, client, address)
  local transaction = not plan.problems[1] and transactions.of(client)(address)
  if transaction then warn(plan, "%s", transaction) end
  local look_alikes, err = planned.look_alikes(client)
  if not look_alikes then
    return warn(plan, "a look-alike of an earlier payee is not told, as the journal cannot be read: %s", err.message)
  end
  for _, text in ipairs(look_alikes(address)) do warn(plan, "%s", text) end
end

-- Compares the sum with the balance, where the profile shows one.
local function check_balance(plan, client)
  if not client.profile.live_operations or not plan.total then return end
  local account, err = client:call "live.account"
  if not account or not account.balances then
    warn(plan, "the balance cannot be read: %s", err and err.message or "the answer does not show it")
    return
  end
  local free, why = decimal "0", nil
  for _, balance in ipairs(account.balances) do
    if balance.asset == plan.coin then free, why = decimal.shown(balance.free) end
  end
  if not free then
    warn(plan, "the balance was not checked: %s", why)
  elseif free:compare(decimal(plan.total)) < 0 then
    problem(plan, "the balance of %s %s is less than %s", tostring(free), plan.coin, plan.total)
  else
    line(plan, "balance", "%s %s", tostring(free), plan.coin)
  end
end

local withdraw_rules = {
  coin = "any", network = "any", netWork = "any", address = "any", amount = "any", memo = "any", remark = "any",
  contractAddress = "string", includeFee = "boolean", withdrawOrderId = "any",
  require_saved_address = "boolean", unchecked_address = "boolean", without_coins = "boolean", max_age_ms = { 0 },
  password = "any",
  funds_password = "any",
}

-- The withdrawals, with the parameter of the network.
local withdrawals = {
  ["wallet.withdraw"] = { "netWork", is_short = true }, ["wallet.withdraw_legacy"] = { "network" },
  ["broker.withdraw"] = { "network" },
}

local function take_amount(plan, given)
  local amount, message = decimal(given.amount)
  if type(given.amount) == "number" and math.floor(given.amount) ~= given.amount or not amount then
    problem(plan, given.amount == nil and "the amount is missing"
      or message and "the amount is no exact decimal: " .. message
      or ("the amount %s is no exact decimal; pass a text"):format(tostring(given.amount)))
  elseif amount:sign() <= 0 or tostring(given.amount):find "^0%d" then -- a mark of another country may be lost
    problem(plan, "the amount %s %s", tostring(given.amount), amount:sign() <= 0 and "is not positive"
      or "begins with 0 and another digit")
  else
    return amount
  end
end

-- Checks a withdrawal against its network. Returns the amount; or nil and an error of a read.
local function check_withdrawal(plan, client, network, given, is_alone)
  if network and given.network and given.netWork and networks.find(plan.coin_record, given.netWork) ~= network then
    problem(plan, "network and netWork name two networks; give one")
  end
  check_destination(plan, client, network, given)
  if is_alone then check_alike(plan, client, given.address) end
  local amount = take_amount(plan, given)
  if not network then return amount end
  if network.withdrawEnable == false then
    problem(plan, "withdrawals of %s on %s are suspended%s", plan.coin, network.netWork or network.network,
      network.withdrawTips and ": " .. network.withdrawTips or "")
  elseif network.withdrawEnable == nil then
    warn(plan, "the service does not show if withdrawals of %s on %s are open", plan.coin,
      network.netWork or network.network)
  end
  if given.without_coins then return amount end
  if given.contractAddress and given.contractAddress:lower() ~= (network.contract or ""):lower() then
    problem(plan, "contractAddress is not that of %s on this network", plan.coin)
  end
  if amount then check_amount(plan, network, amount, given) end
  local err = given.require_saved_address and require_saved_address(plan, client, network, given) or nil
  if not err and is_alone then check_balance(plan, client) end
  return amount, err
end

-- Parameters that are not sent under these names.
local of_the_plan = { network = true, netWork = true, includeFee = true, require_saved_address = true,
  unchecked_address = true, without_coins = true, max_age_ms = true }

-- Returns the parameters of the operation, with the service's names of coin and network.
local function withdraw_params(plan, given, network, amount)
  local form, params = withdrawals[plan.operation], {}
  for name, value in pairs(given) do
    if not of_the_plan[name] then params[name] = value end
  end
  params.coin, params.amount = plan.coin or given.coin, amount and tostring(amount)
  params[form[1]] = network and (form.is_short and network.netWork or network.network or network.netWork)
  return params
end

--- Plans a withdrawal: wallet.withdraw (C2), or the named operation. Returns a plan, with its problems; or nil and an
--- error.
---@param client purser.Client
---@param given purser.WithdrawPlanParams
---@param operation string|nil  "wallet.withdraw" unless given
---@param without_balance boolean|nil  of one among many: who plans many compares the balance with their sum, and looks
--- for look-alikes of earlier payees once
---@return purser.Plan|nil plan, purser.Error|nil err
function M.withdraw(client, given, operation, without_balance)
  if operation ~= nil and not withdrawals[operation] then
    return nil, errors.argument("operation", ("%s is no withdrawal"):format(tostring(operation)), "leave it out")
  elseif type(given) == "table" and given.without_coins and given.require_saved_address then
    return nil, errors.argument("without_coins", "without_coins looks up no coin, and require_saved_address needs its "
      .. "networks", "leave one of the two out")
  end
  local plan, err = begin(client, operation or "wallet.withdraw", given, withdraw_rules, function()
    return ("Withdrawal of %s %s"):format(tostring(given.amount or "?"), tostring(given.coin or "?"))
  end)
  if not plan then return nil, err end
  local network = plan.network
  local amount
  amount, err = check_withdrawal(plan, client, network, given, not without_balance)
  if err then return nil, err end
  plan.params = withdraw_params(plan, given, network, amount)
  plan.includes_fee = given.includeFee
  plan.ok = #plan.problems == 0
  return plan
end

--- Plans wallet.create_deposit_address (C6). execute() returns an existing address, unless `another` is wanted.
---@param client purser.Client
---@param given purser.AddressPlanParams
---@return purser.Plan|nil plan, purser.Error|nil err
function M.create_deposit_address(client, given)
  local plan, err = begin(client, "wallet.create_deposit_address", given, { coin = "any", network = "any",
    another = "boolean", max_age_ms = { 0 } }, function() return "Deposit address for " .. tostring(given.coin) end)
  if not plan then return nil, err end
  local network = plan.network
  if network then
    plan.params = { coin = plan.coin, network = network.network }
    local list
    list, err = client.wallet:deposit_addresses(plan.params)
    if not list then return nil, err end
    for _, row in ipairs(list) do
      line(plan, "exists", "%s%s", tostring(row.address), (row.memo or "") ~= "" and " with memo " .. row.memo or "")
      local why = networks.answer_problem(plan.params, row, plan.coin_record)
      if why then problem(plan, "%s", why) end
    end
    plan.addresses = list
    plan.existing = #list == 1 and not given.another and #plan.problems == 0 and list[1] or nil
    if list[2] and not given.another then
      problem(plan, "there are %d addresses of %s on %s: choose one of them", #list, plan.coin, network.network)
    elseif (given.another or not list[1]) and network.depositEnable == false then
      problem(plan, "deposits of %s on %s are suspended%s", plan.coin, network.network,
        network.depositTips and ": " .. network.depositTips or "")
    elseif (given.another or not list[1]) and network.depositEnable == nil then
      warn(plan, "the service does not show if deposits of %s on %s are open", plan.coin, network.network)
    end
    if network.sameAddress then line(plan, "memo", "senders must give the memo as well as the address") end
  end
  plan.ok = #plan.problems == 0
  return plan
end

views.check_colon(Plan, "plan")

return M
