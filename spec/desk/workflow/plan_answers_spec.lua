-- SPDX-License-Identifier: MIT
-- An answer must be the answer to the question. The table of operations says which read an address and what each is
-- asked by; each member of an answer is swapped for each wrong value, and no such answer is a success. Each name of the
-- right network is one. An operation that reads addresses in a way not known here fails the first test.
-- make test: 7 s

local json = require "purser.json"
local purser_address = require "purser.address"
local operations = require "purser.client.operations"
local shapes = require "purser.client.operations.shapes"
local simulated = require "simulated"

local sim, client = simulated.world({ seed = 1 }, { role = "main", balances = { USDT = "1000" } },
  { rate_limit = false })

-- Answers that the service is made to give, by operation; nil: its own.
local answers = {}

local inner = sim:transport()
local asker = simulated.client(sim, assert(sim:account { role = "main", name = "asker" }), { rate_limit = false,
  transport = {
    send = function(_, request)
      local body = answers[request.operation]
      if body then return { status = 200, headers = {}, body = body } end
      return inner:send(request)
    end,
    sleep = function(_, ms) return inner.sleep and inner:sleep(ms) end,
  } })

-- The form of each network's addresses. A plain answer is held against forms with a checksum alone.
local FORMS = { ETH = "evm", BSC = "evm", MATIC = "evm", ARB = "evm", OP = "evm", AVAX_CCHAIN = "evm", TRX = "tron",
  SOL = "solana", XRP = "ripple", XLM = "stellar", TONCOIN = "ton", DOGE = "dogecoin", LTC = "litecoin",
  ADA = "cardano", BTC = "bitcoin" }
local INDISTINCT = { solana = true } -- carries no checksum

-- The networks of the coin list with a good address of each, as the simulator makes it.
local networks = {}
for _, coin in ipairs(assert(client.wallet:coins())) do
  for _, network in ipairs(coin.networkList) do
    local made = client.wallet:create_deposit_address { coin = coin.coin, network = network.network }
    if made then
      networks[#networks + 1] = { coin = coin.coin, short = network.netWork, long = network.network,
        address = made.address, memo = made.memo, withdraws = network.withdrawEnable, min = network.withdrawMin }
    end
  end
end

-- Returns the answers that differ from the right one in one member, by the name of that member.
local function swapped(one)
  local list, seen = {}, {}
  local function add(member, value, ...)
    if seen[member .. value] then return end
    seen[member .. value] = true
    local answer = { member = member, coin = one.coin, network = one.long, address = one.address, is_distinct = ... }
    answer[member] = value
    list[#list + 1] = answer
  end
  for _, other in ipairs(networks) do
    if other.coin ~= one.coin then add("coin", other.coin) end
    if other.short ~= one.short then add("network", other.long) end
    if other.short ~= one.short then add("network", other.short) end
    local form = FORMS[other.short]
    local judged = purser_address.check { address = other.address, network = one.short }
    if not seen[form] and judged.state == "refused" then
      seen[form] = true
      add("address", other.address, not INDISTINCT[form])
    end
  end
  return list
end

local function record(answer)
  return json.encode(json.object { { "coin", answer.coin }, { "network", answer.network },
    { "address", answer.address }, { "memo", answer.memo or json.null } })
end

-- A way to ask an operation for a network's address: what the service answers, and the call. `by_list` says that a plan
-- knows the coin's list; `outcome` is that of the error.
local function plan_and_execute(one)
  local plan, err = asker.wallet:plan_create_deposit_address { coin = one.coin, network = one.short }
  if plan then return plan:execute() end
  return nil, err
end

local ways = {
  record = { wrap = "%s", outcome = "unknown", ask = function(_, row, params)
    return asker[row.group][row.name](asker[row.group], params)
  end },
  list = { wrap = "[%s]", ask = function(_, row, params)
    local list, err = asker[row.group][row.name](asker[row.group], params)
    return list and list[1], err
  end },
  -- The book of addresses, which a plan of a withdrawal asks.
  page = { wrap = '{"data":[%s],"totalRecords":1,"page":1,"totalPageNum":1}', by_list = true, ask = function(one)
    local plan, err = asker.wallet:plan_withdraw { coin = one.coin, network = one.short, address = one.address,
      memo = one.memo, amount = one.min, require_saved_address = true }
    if not plan then return nil, err end
    for _, problem in ipairs(plan.problems) do
      if problem:find("saved addresses", 1, true) then return nil, { outcome = "not_sent" } end
    end
    return plan
  end },
}
local plans = {
  ["wallet.create_deposit_address"] = { wrap = "%s", outcome = "unknown", by_list = true, ask = plan_and_execute,
    others = { ["wallet.deposit_addresses"] = "[]" } },
  ["wallet.deposit_addresses"] = { wrap = "[%s]", by_list = true, ask = plan_and_execute },
}

-- The operations that read an address and are no history of movements, each with its ways.
local table_of_ways = {}
for _, row in ipairs(operations.every) do
  local result, has = row.result, {}
  for _, member in ipairs(shapes[result.record or result.list or result.page] or {}) do has[member[1]] = true end
  if has.address and has.coin and not row.window then
    local form = result.record and "record" or result.list and "list" or result.page and "page"
    table_of_ways[#table_of_ways + 1] = { row = row, way = ways[form], form = form }
    if plans[row.full_name] then
      table_of_ways[#table_of_ways + 1] = { row = row, way = plans[row.full_name], form = "plan" }
    end
  end
end

-- Asks in one way and with one answer.
local function ask(entry, one, answer)
  local row, way, params = entry.row, entry.way, { coin = one.coin }
  if row.by_name.network then params.network = one.long end
  answers = { [row.full_name] = way.wrap:format(record(answer)) }
  for name, body in pairs(way.others or {}) do answers[name] = body end
  local value, err = way.ask(one, row, params)
  answers = {}
  return value, err
end

-- Returns whether an answer is wrong by what was asked, or by the form of its address.
local function is_wrong(entry, answer)
  if answer.member == "coin" then return true end
  local names_network = entry.way.by_list or entry.row.by_name.network ~= nil
  if answer.member == "network" then return names_network end
  return entry.form == "plan" or answer.is_distinct
end

describe("An address that an operation reads", function()
  it("is of the operations that the table of operations names", function()
    local names = {}
    for _, entry in ipairs(table_of_ways) do
      assert.truthy(entry.way, entry.row.full_name .. ": say how a wrong address shows")
      names[#names + 1] = entry.row.id .. " " .. entry.form
    end
    table.sort(names)
    assert.same({ "A8 record", "A9 list", "C6 plan", "C6 record", "C7 list", "C7 plan", "C8 page" }, names)
  end)

  it("of another coin or network, or of a form that the network cannot have, is never a success", function()
    local counts = {}
    for _, one in ipairs(networks) do
      local list = swapped(one)
      for _, entry in ipairs(table_of_ways) do
        local name = entry.row.full_name .. " " .. entry.form
        for _, answer in ipairs(list) do
          if is_wrong(entry, answer) then
            local value, err = ask(entry, one, answer)
            local what = ("%s of %s %s: %s %s"):format(name, one.coin, one.short, answer.member, answer[answer.member])
            assert.is_nil(value, what)
            if entry.way.outcome then assert.equal(entry.way.outcome, err.outcome, what) end
            counts[name] = (counts[name] or 0) + 1
          end
        end
      end
    end
    local sum = 0
    for _, entry in ipairs(table_of_ways) do
      local count = counts[entry.row.full_name .. " " .. entry.form]
      assert.is_true(count > 700, count)
      sum = sum + count
    end
    assert.is_true(sum > 1314, sum)
  end)

  it("by each name of the right network is one", function()
    for _, one in ipairs(networks) do
      for _, entry in ipairs(table_of_ways) do
        for _, name in ipairs { one.short, one.long, one.long:match "%((.*)%)" } do
          local value, err = ask(entry, one, { coin = one.coin, network = name, address = one.address,
            memo = one.memo })
          assert.truthy(value, ("%s of %s %s: %s"):format(entry.row.full_name, one.coin, name, tostring(err)))
        end
      end
    end
  end)

  it("is not the first of several: all are shown, and a person chooses", function()
    local one = networks[1]
    local text = record { coin = one.coin, network = one.long, address = one.address }
    answers["wallet.deposit_addresses"] = ("[%s,%s]"):format(text, text)
    local plan = assert(asker.wallet:plan_create_deposit_address { coin = one.coin, network = one.short })
    answers = {}
    assert.is_false(plan.ok)
    assert.matches("there are 2 addresses", plan.problems[1])
    assert.is_nil((plan:execute()))
  end)
end)
