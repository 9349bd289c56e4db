-- SPDX-License-Identifier: MIT
-- Every small world of equal calls: what became of each of them, what the service shows of its record, in which order
-- they are asked about, and one answer that is another request's. No more are said to be done than were made, no more
-- to be not done than were not, and each question ends.
-- make test: 20 s

local copy_of = require "copy_of"
local intents = require "purser.write.intent"
local listing_service = require "listing_service"
local memory = require "purser.write.journal.memory"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW, MOST_WAITED_MS = 1700000000000, 900000

local transfer = { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "Desk0001", asset = "USDT",
  amount = "2" }
local withdrawal = { coin = "USDT", network = "TRX", address = "TSample", amount = "20" }
local kinds = {
  ["a transfer without an id"] = { "broker.transfer", transfer },
  ["a transfer with an id"] = { "broker.transfer", transfer, carries_id = true },
  ["a transfer with an id that is not shown"] = { "broker.transfer", transfer, carries_id = true, hides_id = true },
  ["a withdrawal"] = { "broker.withdraw", withdrawal },
  ["a withdrawal with a remark"] = { "broker.withdraw", withdrawal, remark = "rent" },
  ["a conversion"] = { "wallet.convert", { asset = "BTC,ETH" } },
  ["a conversion of coins that come again"] = { "wallet.convert", { asset = "BTC,ETH" }, comes_again = true },
}

-- A fate says what became of a call: the service made its record, the answer was heard, another call's came in its
-- place; what was left open by a process that is gone is not asked about.
local HEARD, LOST, NEVER = { made = true, heard = true }, { made = true, asked = true }, { asked = true }
local some = { HEARD, LOST, NEVER }
local all = { HEARD, LOST, NEVER, { made = true }, {}, { made = true, asked = true, mixed = true },
  { asked = true, mixed = true } }

local lies = {
  nothing = function() return {} end,
  first = function(records) return { records[1] } end,
  last = function(records) return { records[#records] } end,
}

-- The record of a call, as the service of a world shows it.
local function record_of(world, intent, number)
  local kind, row, at = world.kind, operations.by_name[intent.operation], intent.sent_at + world.delay
  if row.name == "convert" then
    return { convertTime = at, convertDetails = { { asset = "BTC" }, { asset = "ETH" } } }
  end
  local record = copy_of(intent.params, { [row.reconcile.time_member] = at, status = 7,
    [row.name == "withdraw" and "id" or "tranId"] = world.shows_ids and "r" .. number or nil })
  if row.reconcile.failed_status then record.status = "SUCCESS" end
  if kind.hides_id then record.clientTranId = nil end
  return record
end

local function service_of(world, records)
  local service
  service = listing_service(function(row, asked)
    if row.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk0001" } } or {} end
    if row.name == "convertible_balances" then
      return (world.kind.comes_again or not records[1]) and { { asset = "BTC" } } or {}
    end
    local shown = service.reads == world.place and lies[world.lie](records) or records
    return page_of(row, shown, row.paging.time_member, asked)
  end, { journal = memory.new(), now = NOW + 60000, signs_as = function() return true end })
  return service
end

-- Makes the calls of a world. Returns the service, and the calls.
local function begin(world)
  local name, records, calls, heard = world.kind[1], {}, {}, nil
  local row, service = operations.by_name[name], service_of(world, records)
  for i, fate in ipairs(world.fates) do
    local intent = { operation = name, params = copy_of(world.kind[2], { remark = world.kind.remark,
      clientTranId = world.kind.carries_id and ("Ab3"):rep(10) .. "Z" .. i or nil }),
      sent_at = NOW + (i - 1) * world.gap, recv_window = 5000, id = "c" .. i, account = "a" }
    assert(service.journal:begin(intent, row, nil, intents.own_key(row, intent.params)))
    if fate.made then records[#records + 1] = record_of(world, intent, i) end
    calls[i] = { intent = intent, fate = fate, said = fate.heard and "done" }
    if fate.heard then
      assert(service.journal:finish(intent, row.name == "convert" and {} or { tranId = "r" .. i }))
      heard = i
    end
  end
  for _, call in ipairs(calls) do
    if call.fate.mixed and heard and row.name ~= "convert" then
      assert.is_false(service.journal:finish(call.intent, { tranId = "r" .. heard }))
    end
    if call.fate.asked then service.journal:finish(call.intent, nil, { outcome = "unknown", message = "lost" }) end
  end
  return service, calls
end

-- Asks about the calls of a world that were lost. Returns how many answers were read, and what is wrong.
local function play(world)
  local service, calls = begin(world)
  local made, done, not_done = 0, 0, 0
  for _, i in ipairs(world.order) do
    local before = service.paused
    calls[i].said = assert(reconcile.reconcile(service, calls[i].intent)).outcome
    if service.paused - before > MOST_WAITED_MS then return service.reads, "waits without end" end
  end
  for _, call in ipairs(calls) do
    made = made + (call.fate.made and 1 or 0)
    done = done + (call.said == "done" and 1 or 0)
    not_done = not_done + (call.said == "not_done" and 1 or 0)
  end
  local wrong = done > made and "one is not done" or not_done > #calls - made and "one is done"
  return service.reads, wrong or nil
end

local function permutations(list, at, fn)
  if at >= #list then return fn(list) end
  for i = at, #list do
    list[at], list[i] = list[i], list[at]
    permutations(list, at + 1, fn)
    list[at], list[i] = list[i], list[at]
  end
end

-- Calls fn(fates, order) for each list of so many fates, and each order of those that are asked about.
local function each(fates, count, list, fn)
  if #list < count then
    for _, fate in ipairs(fates) do
      list[#list + 1] = fate
      each(fates, count, list, fn)
      list[#list] = nil
    end
    return
  end
  local asked = {}
  for i, fate in ipairs(list) do asked[#asked + 1] = fate.asked and i or nil end
  if asked[1] then permutations(asked, 1, function(order) fn(list, order) end) end
end

-- Plays all worlds of so many calls. Returns those that go wrong.
local function wrong_worlds(kind, fates, count, with_lies)
  local found = {}
  each(fates, count, {}, function(list, order)
    for _, way in ipairs { { 1000, 400 }, { 7000, 400 }, { 1000, 4900 }, { 12000, 4900 } } do
      for _, shows_ids in ipairs { true, false } do
        local world = { kind = kind, fates = list, order = order, gap = way[1], delay = way[2], shows_ids = shows_ids }
        local reads, wrong = play(world)
        found[#found + 1] = wrong
        for lie in pairs(with_lies and lies or {}) do
          for place = 1, math.min(reads, 8) do
            world.lie, world.place = lie, place
            found[#found + 1] = select(2, play(world))
          end
        end
      end
    end
  end)
  return found
end

for name, kind in pairs(kinds) do
  describe("equal calls, " .. name, function()
    it("one or two, with an answer of another request", function()
      assert.same({}, wrong_worlds(kind, some, 1, true))
      assert.same({}, wrong_worlds(kind, some, 2, true))
    end)

    it("two, and a third", function()
      assert.same({}, wrong_worlds(kind, all, 2))
      assert.same({}, wrong_worlds(kind, some, 3))
    end)
  end)
end
