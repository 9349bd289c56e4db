-- SPDX-License-Identifier: MIT
-- A random life of an account with sub-accounts, from a seed, with books beside it. Whenever the balances were read
-- quietly, the books must equal what the simulator holds; what they cannot explain must be the trades, no more; and at
-- the end the books have every record in the state that the simulator has it in.

local books_world = require "books_world"
local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local writers = require "purser.desk.books.writers"

local M = {}

local MINUTE = 60000
local OUTSIDE = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

-- Park and Miller's numbers: the same on every Lua.
local function dice_of(seed)
  local state = seed * 7919 % 2147483646 + 1
  return function(n)
    state = state * 16807 % 2147483647
    return math.floor(state % n) + 1
  end
end

local function amount_of(dice) return ("%d.%02d"):format(dice(9) + 4, dice(99)) end

local function spot_client(life, number)
  return number == 1 and life.world.client or life.world.clients["desk" .. number - 1]
end

local function uid_of(life, number)
  return (number == 1 and life.world.main or life.world.subs["desk" .. number - 1]).uid
end

local steps = {}

function steps.deposit(life, dice)
  local made = assert(life.world.sim:deposit { account = uid_of(life, dice(3)), coin = "USDT", network = "TRX",
    amount = amount_of(dice) })
  life.deposits[#life.deposits + 1] = made.id
end

function steps.twins(life, dice)
  local uid, amount = uid_of(life, dice(3)), amount_of(dice)
  for _ = 1, 2 do
    life.world.sim:deposit { account = uid, coin = "USDT", network = "TRX", amount = amount, tx_id = ("ab"):rep(32) }
  end
end

function steps.family(life, dice)
  local params = { fromAccountType = dice(4) > 1 and "SPOT" or "FUTURES", toAccountType = dice(4) > 1 and "SPOT"
    or "FUTURES", asset = "USDT", amount = amount_of(dice) }
  params[dice(2) == 1 and "toAccount" or "fromAccount"] = "desk" .. dice(2)
  life.world.client.sub_account:transfer(params)
end

function steps.pair(life, dice)
  life.world.client.sub_account:transfer { fromAccount = "desk1", toAccount = "desk2", fromAccountType = "SPOT",
    toAccountType = "SPOT", asset = "USDT", amount = amount_of(dice) }
end

function steps.futures(life, dice)
  local client = spot_client(life, dice(3))
  local to_futures = dice(2) == 1
  client.wallet:transfer { fromAccountType = to_futures and "SPOT" or "FUTURES",
    toAccountType = to_futures and "FUTURES" or "SPOT", asset = "USDT", amount = amount_of(dice) }
end

function steps.internal(life, dice)
  local from, to = dice(3), dice(4)
  local uid = to == 4 and life.stranger.uid or uid_of(life, to)
  spot_client(life, from).wallet:internal_transfer { toAccountType = "UID", toAccount = uid, asset = "USDT",
    amount = amount_of(dice) }
end

function steps.withdraw(life, dice)
  local params = { coin = "USDT", netWork = "TRX", amount = tostring(decimal(amount_of(dice)) + 10), address = OUTSIDE }
  local made = spot_client(life, dice(3)).wallet:withdraw(params)
  if made then life.withdrawals[#life.withdrawals + 1] = made.id end
end

function steps.to_own_address(life, dice)
  spot_client(life, dice(3)).wallet:withdraw { coin = "USDT", netWork = "TRX",
    amount = tostring(decimal(amount_of(dice)) + 10), address = life.addresses[dice(3)] }
end

function steps.withdrawal_state(life, dice)
  local id = life.withdrawals[dice(#life.withdrawals + 1)]
  if id then life.world.sim:set_withdrawal(id, dice(10)) end
end

function steps.deposit_state(life, dice)
  local id = life.deposits[dice(#life.deposits + 1)]
  if id then life.world.sim:set_deposit(id, dice(12)) end
end

function steps.convert(life, dice)
  spot_client(life, dice(3)).wallet:convert { asset = ({ "DOGE", "TRX" })[dice(2)] }
end

function steps.trade(life, dice)
  if not life.trades then return end
  local number, amount = dice(3), amount_of(dice)
  local changes = { USDT = (dice(2) == 1 and "-" or "") .. amount, MX = "1" }
  if not life.world.sim:trade { account = uid_of(life, number), changes = changes } then return end
  local owner = life.owners[number]
  for asset, change in pairs(changes) do
    local key = owner .. " " .. asset
    life.traded[key] = (life.traded[key] or decimal(0)) + change
  end
end

function steps.rebate(life, dice)
  if not life.is_broker then return end
  assert(life.world.sim:rebate { account = uid_of(life, 1), asset = "USDT", amount = amount_of(dice),
    uid = "77", grows = true })
end

function steps.vanish(life, dice)
  local list = dice(2) == 1 and life.deposits or life.withdrawals
  local id = list[dice(#list + 1)]
  if id then
    assert(life.world.sim:hide(id))
    life.hidden[#life.hidden + 1] = id
  end
end

function steps.come_back(life)
  for _, id in ipairs(life.hidden) do assert(life.world.sim:hide(id, false)) end
  life.hidden = {}
end

function steps.wait(life, dice) life.world.sim:advance(dice(10) * MINUTE) end

local names = {}
for name in pairs(steps) do names[#names + 1] = name end
table.sort(names)

local function held_by_sim(life)
  local held = {}
  for _, account in ipairs(life.world.sim:state().accounts) do
    local owner = life.by_uid[account.uid]
    for _, place in ipairs { "spot", "futures" } do
      for _, row in ipairs(owner and account[place] or {}) do
        local key = ("%s %s %s"):format(owner, place, row.asset)
        held[key] = tostring(decimal(row.free) + row.locked)
      end
    end
  end
  return held
end

local function held_by_books(made)
  local held = {}
  for _, leg in ipairs(made.closing) do
    local owner, place = leg[1]:match "^Assets:Account:([^:]+):(%a+)$"
    if owner then
      local key = ("%s %s %s"):format(owner, place == "Futures" and "futures" or "spot", leg[2])
      held[key] = (held[key] or decimal(0)) + leg[3]
    end
  end
  for key, amount in pairs(held) do held[key] = not amount:is_zero() and tostring(amount) or nil end
  return held
end

local function same(life, what, expected, got)
  for key, value in pairs(expected) do
    if value ~= "0" and got[key] ~= value then
      error(("seed %d: %s: %s is %s, and not %s"):format(life.seed, what, key, tostring(got[key]), value), 0)
    end
  end
  for key, value in pairs(got) do
    if expected[key] == nil then error(("seed %d: %s: %s is %s, and not 0"):format(life.seed, what, key, value), 0) end
  end
end

-- Returns what an account holds by asset, from a statement and from the events that rotki imports; money on its way is
-- nobody's for rotki.
local function totals_of(made)
  local held, told, parts = {}, {}, {}
  local function add(sums, asset, amount) sums[asset] = (sums[asset] or decimal(0)) + amount end
  for _, leg in ipairs(made.closing) do
    if leg[1] ~= "Assets:Account:Transit" then add(held, leg[2], leg[3]) end
  end
  writers.rotki(made, function(piece) parts[#parts + 1] = piece end)
  for i, row in ipairs(assert(csv.parse(table.concat(parts)))) do
    local is_gain = row[1] == "Deposit" or row[1] == "Income"
    if i > 1 then add(told, row[3], (is_gain and "" or "-") .. row[4]) end
    if i > 1 and row[5] ~= "" then add(told, row[6], "-" .. row[5]) end
  end
  for _, sums in ipairs { held, told } do
    for asset, sum in pairs(sums) do sums[asset] = not sum:is_zero() and tostring(sum) or nil end
  end
  return held, told
end

local function look(life)
  life.world.sim:advance(1)
  local report, err = life.books:sync()
  if not report then error(("seed %d: %s"):format(life.seed, tostring(err)), 0) end
  if #report.problems > 0 then
    error(("seed %d: %s %s"):format(life.seed, report.problems[1].list, report.problems[1].message), 0)
  end
  local _, made = assert(life.books:statement { from = 1600000000000, to = life.world.sim:now() + 1, format = "jsonl" })
  same(life, "balance", held_by_sim(life), held_by_books(made))
  same(life, "the events for rotki", totals_of(made))
  life.looks = life.looks + 1
  life.world.sim:advance(1)
  return made
end

local function texts_of(sums)
  for key, amount in pairs(sums) do sums[key] = not amount:is_zero() and tostring(amount) or nil end
  return sums
end

local function add(sums, key, amount) sums[key] = (sums[key] or decimal(0)) + amount end

-- Holds what the books cannot explain against what was traded.
local function check_unexplained(life, made)
  local left, expected = {}, {}
  for _, line in ipairs(made.unexplained) do add(left, line.owner .. " " .. line.asset, line.amount) end
  for key, amount in pairs(life.traded) do add(expected, key, amount) end
  -- where a trade hides where a fee stands, it is assumed, and the statement says so
  if made.assumed == 0 then same(life, "unexplained", texts_of(expected), texts_of(left)) end
end

--- Holds what came from nowhere, at first and later, against what was held at first and what was traded. A record that
--- comes late may be taken for a part of either, and a closed day's share of either is corrected later.
function M.check_sources(life, made, held)
  local left, expected = {}, {}
  for _, leg in ipairs(made.all) do
    if leg[1]:find "^Equity:Account:Opening" or leg[1]:find "^Equity:Account:Unexplained" then
      add(left, leg[2], -decimal(leg[3]))
    end
  end
  for key, amount in pairs(life.traded) do add(expected, key:match "%S+$", amount) end
  for key, amount in pairs(held) do add(expected, key:match "%S+$", amount) end
  if made.assumed == 0 then same(life, "from nowhere", texts_of(expected), texts_of(left)) end
end

-- Every record of the simulator in its state, counted.
local function check_records(life)
  local expected, got = {}, {}
  local function count(map, key) map[key] = (map[key] or 0) + 1 end
  local histories = life.world.sim:snapshot().histories
  for _, row in ipairs(histories.deposits) do
    count(expected, ("deposit %s %s %d"):format(life.by_uid[row.uid], tostring(decimal(row.amount)), row.status))
  end
  for _, row in ipairs(histories.withdrawals) do
    count(expected, ("withdrawal %s %s %d"):format(life.by_uid[row.uid], tostring(decimal(row.amount)), row.status))
  end
  for _, row in ipairs(histories.rebates) do count(expected, ("rebate Main %s SUCCESS"):format(row.amount)) end
  for row in life.books:each() do
    if row.entity == "deposit" or row.entity == "withdrawal" or row.entity == "rebate" then
      local state = row.class == "unreadable" and row.class or row.missing_since ~= "" and "missing" or row.state
      count(got, ("%s %s %s %s"):format(row.entity, row.owner, row.amount, state))
    end
  end
  for key, number in pairs(expected) do expected[key] = ("%d"):format(number) end
  for key, number in pairs(got) do got[key] = ("%d"):format(number) end
  same(life, "records", expected, got)
end

--- Returns a life from a seed, whose books are not open yet, and the dice.
---@param seed integer
function M.new(seed)
  local is_broker = seed % 3 == 1
  local world = books_world.new { role = is_broker and "broker" or "main", subs = 2, sim = { seed = seed, key_days = 0,
    fee = seed % 2 == 0 and "inside" or "on_top", variant = seed % 3 == 0 and "live" or nil,
    transfer_wait_ms = seed % 5 == 0 and 20 * MINUTE or nil },
    balances = { USDT = "1000", DOGE = "10", TRX = "12" } }
  local life = { seed = seed, world = world, deposits = {}, withdrawals = {}, traded = {}, looks = 0,
    hidden = {}, is_broker = is_broker,
    trades = seed % 4 == 0, owners = { "Main", "Sub-desk1", "Sub-desk2" }, addresses = {}, by_uid = {} }
  life.stranger = assert(world.sim:account { role = "user" })
  for number, owner in ipairs(life.owners) do
    life.by_uid[uid_of(life, number)] = owner
    life.addresses[number] = assert(spot_client(life, number).wallet:create_deposit_address { coin = "USDT",
      network = "Tron(TRC20)" }).address
  end
  return life, dice_of(seed)
end

--- Opens the books of a life.
function M.open(life, options)
  local all = { pairs = { { "desk1", "desk2" }, { "desk2", "desk1" } },
    identities = { [life.world.main.uid] = "Main" } }
  for name, value in pairs(options or {}) do all[name] = value end
  return books_world.open(life.world, all)
end

--- Does one thing at random.
function M.step(life, dice) steps[names[dice(#names)]](life, dice) end

--- Looks when nothing has moved for a while and nothing is hidden, and holds the records of the books against the
--- simulator's. Returns a statement of all time.
function M.finish(life)
  steps.come_back(life)
  life.world.sim:advance(40 * MINUTE)
  look(life)
  life.world.sim:advance(40 * MINUTE)
  local made = look(life)
  check_records(life)
  return made
end

--- Lives one life. Raises a text that says what is wrong. Returns the number of quiet looks.
---@param seed integer
function M.live(seed)
  local life, dice = M.new(seed)
  life.books = M.open(life)
  look(life)
  for step = 1, 24 do
    M.step(life, dice)
    life.world.sim:advance(dice(3000))
    if step % 6 == 0 then look(life) end
  end
  check_unexplained(life, M.finish(life))
  life.books:close()
  return life.looks
end

M.look, M.come_back, M.held = look, steps.come_back, held_by_sim

return M
