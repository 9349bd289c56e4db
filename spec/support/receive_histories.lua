-- SPDX-License-Identifier: MIT
-- Forty hours of the product at a service of deposits, by seed: readings of the depths that it has, statements that
-- fail, receivers that fail, act and fail, and vanish, and an honest operator. The events are compared with the truth.

local address = require "purser.address"
local assert = require "luassert"
local core = require "purser.core"
local files = require "files"
local identity = require "purser.desk.receive.identity"
local judges = require "purser.desk.receive.judge"
local readers = require "purser.desk.receive.reader"
local service = require "receive_service"
local stores = require "purser.desk.receive.store"

local M = {}

local MIN, HOUR, DAY = 60000, 3600000, 86400000
local T0, END = service.T0, service.T0 + 40 * HOUR
local R = math.random
local function p(x) return R() < x end

local World = {}
World.__index = World

local function as_shown(coin, network) return coin, network end

--- Opens an empty database; one serves all histories of a spec.
function M.open()
  return assert(stores.open { sqlite = files.new_path(), relaxed = true })
end

local function clear(store)
  for _, name in ipairs { "deposit", "trace", "wait", "customer", "receiver", "event", "delivery" } do
    assert(store:rows("DELETE FROM purser_receive_" .. name))
  end
end

-- A statement fails now and then, as on a full disk or with a process that is killed: its transaction is undone. What
-- a server is asked besides, such as whose session a connection has, draws no number, so that a history fails at the
-- same places in both databases.
local function fail_at(store, chance)
  local rows, is_within = getmetatable(store.db).rows, false
  local function ended(...)
    is_within = false
    return ...
  end
  function store.db.rows(self, sql, ...)
    local is_counted = not is_within and not sql:find "^ROLLBACK" and not sql:find("purser.session", 1, true)
    if chance > 0 and is_counted and p(chance) then return nil, "FAILED" end
    if self.busy then return rows(self, sql, ...) end
    is_within = true
    return ended(rows(self, sql, ...))
  end
end

local function must(ok, message)
  if not ok and not tostring(message):find "FAILED" then error(message) end
  return ok
end

function World:read(from, is_first)
  local list, now, s = {}, self.now, self.service
  local is_whole = is_first or p(.97)
  for _, d in ipairs(s.deps) do
    local r = service.show(d, now)
    if r and r.insertTime >= from and r.insertTime <= now and (is_first or s.lose == 0 or not p(s.lose)) then
      list[#list + 1] = r
    end
  end
  for i = #list, 2, -1 do
    local j = R(i)
    list[i], list[j] = list[j], list[i]
  end
  if s.odd.pages and list[2] and p(.05) then
    if p(.5) then list[#list + 1] = list[1] else table.remove(list) end
  end
  return { from = from, list = list, is_whole = is_whole, is_first = is_first, at = now }
end

-- Takes a reading, as desk/receive/reader does. Returns whether it was taken, and how far back the next has to go.
function World:take(reading)
  if not reading.is_whole then return false end
  reading.values = {}
  for i, r in ipairs(reading.list) do reading.values[i] = readers.value(r, as_shown) end
  local need
  local ok = must(self.store:write(function(book) need = identity.take(book, reading) end))
  return ok, need
end

function World:rows(sql) return assert(self.store:rows(sql)) end

local function uid_of(row) return row.raw:match '"uid":"(u%d+)"' end

-- Returns how often each deposit was credited, and as which.
function World:credited()
  local n, dp = {}, {}
  local function count(row)
    local uid = uid_of(row)
    n[uid], dp[uid] = (n[uid] or 0) + 1, row.dp
  end
  for _, row in ipairs(self:rows "SELECT id, subject AS dp, raw FROM purser_receive_event WHERE kind = 'credit'") do
    if not self.acted.shop[row.id] then count(row) end
  end
  for id, event in pairs(self.acted.shop) do -- a copy that was put back knows less than the receiver's books
    if id:find "/credit event$" then count { raw = '"uid":"' .. self.acted.shop[id:gsub("event$", "uid")] .. '"',
      dp = event.deposit } end
  end
  for _, row in ipairs(self:rows "SELECT dp, raw FROM purser_receive_deposit WHERE state LIKE 'old%'") do count(row) end
  return n, dp
end

-- Notes who is asked about what, for the counts at the end.
function World:note()
  for _, row in ipairs(self:rows "SELECT raw, ask FROM purser_receive_deposit WHERE asked <> ''") do
    self.asked[uid_of(row)] = row.ask
  end
end

-- An operator who knows the truth ends the lines.
function World:operate()
  local now = self.now
  for _, row in ipairs(self:rows "SELECT * FROM purser_receive_deposit WHERE asked <> '' ORDER BY dp") do
    local list, good = self.service.by_uid[uid_of(row)], 0
    local d, n, of = list[1], self:credited()
    for _, x in ipairs(list) do good = good + (service.ever(x, now) and 1 or 0) end
    local verb, with
    local is_old = service.ever(d, T0) and d.visible <= T0 and (row.ask == "before" or service.state(d, T0) == 5)
    if judges.is_credited(row) then verb = "seen"
    elseif is_old and not n[d.uid] then verb = "refuse"
    elseif n[d.uid] and n[d.uid] >= good then verb, with = "same", of[d.uid]
    elseif not d.customer then verb = "refuse"
    elseif service.state(d, now) == 5 then verb, with, self.given[row.dp] = "give", d.customer, true
    elseif now >= END then verb = "refuse" end
    local is_there = verb == "same" and with ~= row.dp
      and self:rows(("SELECT dp FROM purser_receive_deposit WHERE dp = '%s'"):format(with))[1]
    if verb == "same" and not is_there then verb = "refuse" end
    if verb then
      must(self.store:write(function(book) return judges.settle(book, row.dp, verb, with, "operator", now) end))
    end
  end
end

local TABLES = { "meta", "deposit", "trace", "wait", "customer", "receiver", "event", "delivery" }

-- Returns all rows of the database: a copy of it.
function World:copy()
  fail_at(self.store, 0)
  local copy = {}
  for _, name in ipairs(TABLES) do copy[name] = self:rows("SELECT * FROM purser_receive_" .. name) end
  return copy
end

-- Puts a copy back, and begins again.
function World:put_back(copy)
  fail_at(self.store, 0)
  self.back = self.back + 1
  for _, name in ipairs(TABLES) do
    assert(self.store:rows("DELETE FROM purser_receive_" .. name))
    for _, row in ipairs(copy[name]) do
      local names, marks, values = {}, {}, {}
      for column, value in pairs(row) do
        names[#names + 1], values[#values + 1], marks[#marks + 1] = ('"%s"'):format(column), value, "$" .. #values + 1
      end
      assert(self.store:rows(("INSERT INTO purser_receive_%s (%s) VALUES (%s)"):format(name, table.concat(names, ", "),
        table.concat(marks, ", ")), (table.unpack or unpack)(values))) -- luacheck: ignore
    end
  end
  local reading = self:read(self.now - 90 * DAY, true)
  reading.is_first, reading.is_again = nil, true
  assert(self.store:write(function(book) book:set_meta("since", self.now) end))
  assert(self:take(reading))
end

local function new_receiver(world, name)
  local poison = p(.2) and R(2)
  return { deliver = function(_, body)
    local e = core.decode(body)
    if poison and name == "crm" and e.deposit:byte(-1) % 3 == poison and world.now < T0 + 30 * HOUR then
      return nil, "poison"
    end
    local acted, x = world.acted[name], R()
    if x < .1 then return nil, "failed" end
    acted[e.id] = (acted[e.id] or 0) + 1
    if (acted[e.id .. " body"] or body) ~= body then world.f.ids = world.f.ids + 1 end
    acted[e.id .. " body"] = body -- kept before the reading that may fail
    if not acted[e.id .. " event"] then -- the receiver's own books; the reading of the first time may fail
      local row = world:rows(("SELECT raw FROM purser_receive_event WHERE id = '%s'"):format(e.id))[1]
      acted[e.id .. " uid"], acted[e.id .. " event"] = uid_of(row), e
    end
    if e.kind == "reversed" and not acted[e.deposit .. "/credit"] then world.f.order = world.f.order + 1 end
    return x > .2 or nil, "acted and failed"
  end }
end

local function begin(store, class, seed)
  math.randomseed(seed)
  for _ = 1, 3 do R() end
  clear(store)
  local world = setmetatable({ store = store, service = service.new(class, seed % 25 == 0), now = T0, asked = {},
    given = {}, back = 0, acted = { shop = {}, crm = {} }, f = { order = 0, ids = 0 } }, World)
  world.senders = { shop = new_receiver(world, "shop"), crm = new_receiver(world, "crm") }
  fail_at(store, 0)
  assert(store:write(function(book)
    book:set_meta("since", T0)
    book.outbox:add(book, { "shop", "crm" })
    for _, c in ipairs(world.service.base) do
      book:rows("INSERT INTO purser_receive_customer VALUES ($1, $2, $3, $4, $5, $6, '', '', 'file')",
        (address.place(c[2])),
        c[3], c[4] and stores.time_text(c[4]) or "", c[5] and stores.time_text(c[5]) or "", c[1], c[2])
    end
  end))
  world:take(world:read(T0 - 90 * DAY, true))
  return world
end

-- Looks until nothing has to be read again at once.
local function look(world, marks)
  local now = world.now
  local from = math.min(now, marks.ok) - 2 * HOUR
  if now - marks.ok > 30 * MIN or now - marks.wide > 30 * MIN then from = marks.ok - 2 * DAY end
  if now - marks.deep > 12 * HOUR then from = now - 90 * DAY end
  for _ = 1, 3 do
    local reading = world:read(math.min(from, marks.need or from))
    local ok, need = world:take(reading)
    if ok then
      marks.need, marks.ok = need, world.now
      if reading.from <= world.now - 2 * DAY then marks.wide = world.now end
      if reading.from <= world.now - 89 * DAY then marks.deep = world.now end
    end
    if not (ok and need) then return end
    world.now = world.now + R(10, 90) * 1000
  end
end

local function deliver(world, has_shop)
  local senders = { shop = has_shop and world.senders.shop or nil, crm = world.senders.crm }
  must(pcall(world.store.outbox.deliver, world.store.outbox, world.store, senders, function() return world.now end, {}))
end

-- Lives through the forty hours, and through the end, at which nothing fails.
local function live(world)
  local marks, has_shop, copy = { ok = T0, wide = T0, deep = T0 }, true, nil
  fail_at(world.store, .0005)
  while world.now < END do
    world.now = world.now + (world.now < T0 + 13 * HOUR and R(3, 15) or R(30, 120)) * MIN
    if p(.01) then world.now = world.now + R(6) * HOUR end -- it is down
    if p(.02) then has_shop = not has_shop end
    if world.restores and p(.03) then
      if copy and p(.6) then
        world:put_back(copy)
        world:note()
        marks, copy = { ok = world.now, wide = world.now, deep = world.now }, nil
      else
        copy = world:copy()
      end
      fail_at(world.store, .0005)
    end
    look(world, marks)
    fail_at(world.store, 0)
    world:note()
    if p(.15) then
      world:operate()
      world:note()
    end
    fail_at(world.store, .0005)
    deliver(world, has_shop)
  end
  fail_at(world.store, 0)
  world.service.lose, world.service.odd.pages = 0, nil
  for _ = 1, 4 do
    world.now = world.now + 2 * HOUR
    local reading = world:read(world.now - 90 * DAY, true)
    reading.is_first = nil
    world:take(reading)
    world:note()
    world:operate()
    world:note()
  end
  for _ = 1, 30 do
    world.now = world.now + 2 * HOUR
    deliver(world, true)
  end
end

-- Compares the events with the truth.
local function judge_events(world, f)
  local count, reversed = {}, {}
  for _, row in ipairs(world:rows "SELECT * FROM purser_receive_event") do
    local e, raw = core.decode(row.body), core.decode(row.raw)
    local list = world.service.by_uid[raw.uid]
    if e.kind == "credit" then
      count[raw.uid] = (count[raw.uid] or 0) + 1
      if e.customer ~= list[1].customer or e.coin ~= raw.coin or tonumber(e.amount) ~= tonumber(raw.amount) then
        f.wrong = f.wrong + 1
      end
      local was_ever
      for _, d in ipairs(list) do was_ever = was_ever or service.ever(d, world.now) end
      if world.given[e.deposit] then f.given = f.given + 1 end
      if not world.given[e.deposit] and (not was_ever or raw.status ~= 5) then f.early = f.early + 1 end
    else
      reversed[raw.uid] = (reversed[raw.uid] or 0) + 1
    end
    for _, acted in pairs(world.acted) do f.lost = f.lost + (acted[e.id] and 0 or 1) end
  end
  return count, reversed
end

local BY_HAND = { edge = true, state = true, before = true, old = true }

local function judge_deposit(world, f, list, n, backs)
  local uid, good, back, old, refunds = list[1].uid, 0, 0, 0, 0
  for _, d in ipairs(list) do
    local final, is_ever, shown = service.state(d, world.now), service.ever(d, world.now), service.show(d, T0)
    if is_ever then good = good + 1 end
    if is_ever and final ~= 5 and final ~= 4 and final ~= 6 then back = back + 1 end
    local is_refunded = false
    for _, step in ipairs(d.plan) do is_refunded = is_refunded or step[2] == 7 or step[2] == 8 or step[2] == 10 end
    if is_refunded then refunds = refunds + 1 end
    if shown and shown.status == 5 and shown.insertTime <= T0 then old = old + 1 end
  end
  local why = world.asked[uid]
  f.n = f.n + good - old
  f.twice = f.twice + math.max(0, n - (good - old))
  if n < good - old - back and not why then f.never = f.never + good - old - back - n end
  if why and list[1].customer and not BY_HAND[why] then f.ask = f.ask + 1 end
  if why and list[1].customer then f.person = f.person + 1 end
  if refunds > 0 and #list == 1 and n > 0 and backs == 0 and not why then f.untold = f.untold + 1 end
  if backs > #list or backs > 0 and refunds == 0 then f.reversed = f.reversed + 1 end
end

-- Compares the receiver's books with the truth, where copies were put back.
local function judge_books(world, f)
  local count, reversed, books = {}, {}, world.acted.shop
  for id, e in pairs(books) do
    if id:find " event$" then
      local uid = books[id:gsub("event$", "uid")]
      local list = world.service.by_uid[uid]
      local of = e.kind == "credit" and count or reversed
      of[uid] = (of[uid] or 0) + 1
      if e.kind == "credit" and (e.customer ~= list[1].customer) then f.wrong = f.wrong + 1 end
    end
  end
  return count, reversed
end

--- Runs histories of a class. With `restores`, copies of the database are put back at random moments, and what the
--- receiver's books hold is judged. Returns the counts, each of which but n, ask, person and given is a fault.
---@param class string  plain, one or hard
---@param first integer
---@param last integer
---@param restores boolean|nil
function M.run(store, class, first, last, restores)
  local f = { n = 0, twice = 0, wrong = 0, never = 0, ask = 0, person = 0, early = 0, untold = 0, reversed = 0,
    lost = 0, given = 0, order = 0, ids = 0, open = 0, back = restores and 0 or nil }
  local began = core.monotonic_ms()
  for seed = first, last do
    local world = begin(store, class, seed)
    world.restores = restores
    live(world)
    local count, backs = (restores and judge_books or judge_events)(world, f)
    if restores then f.back = f.back + world.back end
    for uid, list in pairs(world.service.by_uid) do
      judge_deposit(world, f, list, count[uid] or 0, backs[uid] or 0)
    end
    f.open = f.open + #world:rows "SELECT dp FROM purser_receive_deposit WHERE asked <> ''"
    f.order, f.ids = f.order + world.f.order, f.ids + world.f.ids
  end
  return f, core.monotonic_ms() - began
end

--- Holds 222 histories of a class in a database of their own. identity_spec runs the first
--- few of the same. None has a fault.
---@param class string
function M.hold(class)
  local store = M.open()
  local found = M.run(store, class, 1001, 1222)
  store:close()
  print(class, ("n %d, given by a person %d, twice %d, wrong %d, never %d"):format(found.n, found.given,
    found.twice, found.wrong, found.never))
  if class == "plain" then
    assert.equal(0, found.ask) -- matching asks nobody
    assert.is_true(found.given <= .02 * found.n, found.given)
  end
  for name in pairs { n = 1, ask = 1, person = 1, given = 1 } do found[name] = nil end
  for name, count in pairs(found) do
    assert.equal(0, count, name)
  end
end

return M
