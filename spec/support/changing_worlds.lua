-- SPDX-License-Identifier: MIT
-- Payments at services that change (changing_services.lua): a client with a journal makes them, many answers are lost,
-- and whoever made a payment runs the same line again. What was executed is held against what was said.
--
--     local count = changing_worlds.count("release", FIRST_SEED, WORLDS)
--     count.payments, count.twice, count.false_done, count.undecided, count.left
--
--   twice       so many executions more than were said
--   false_done  so many payments said to be made that were not
--   undecided   payments that nobody can say, after up to six tries
--   left        of these, when two more payments were answered, and the line was run once more
--   first       why payments were undecided: reason -> how many

local changing_services = require "changing_services"
local core = require "purser.core"
local files = require "files"
local json = require "purser.json"
local purser = require "purser"
local schedule = require "purser.schedule"
local seeded = require "seeded"

local M = {}

local START = 1700000000000
local OUTSIDE = { code = "700003", msg = "Timestamp for this request is outside of the recvWindow." }

-- Puts a clock that only sleeps move in the place of the machine's. Returns the clock, and what gives the machine's
-- back.
local function virtual_clock(now)
  local real = { now_ms = core.now_ms, monotonic_ms = core.monotonic_ms, monotonic_us = core.monotonic_us,
    sleep_ms = core.sleep_ms }
  local clock = { now = now }
  function core.now_ms() return clock.now end
  function core.monotonic_ms() return clock.now - START + 1000 end
  function core.monotonic_us() return (clock.now - START + 1000) * 1000 end
  function core.sleep_ms(ms) clock.now = clock.now + math.ceil(ms) end
  return clock, function()
    for name, fn in pairs(real) do core[name] = fn end
  end
end

local function answer(status, value) return { status = status, headers = {}, body = json.encode(value) } end

local function rejection(code, message) return answer(400, { code = code, msg = message or "Rejected." }) end

local LOST = { message = "connection reset", outcome = "unknown" }

---@class changing.World
---@field service changing.Service
---@field ledger table[]   of entries { made, number, params, post, visible, dice }
---@field fates { before: integer, after: integer, rejected: integer }  percent of the requests

-- Executes a payment.
local function execute(world, params, post)
  local service, now = world.service, core.now_ms()
  world.counter = world.counter + 1
  if service.kind == "renumber" and now >= service.switch and not world.is_renumbered then
    world.is_renumbered, world.counter = true, 1001
  end
  local entry = { made = now, number = tostring(world.counter), params = params, post = post,
    visible = now + world.lag(), dice = world.random(1000) / 1000 }
  world.ledger[#world.ledger + 1] = entry
  return entry
end

-- Answers a request for a payment.
local function pay(world, params)
  local service, fates, now = world.service, world.fates, core.now_ms()
  world.posts = world.posts + 1
  local is_out = service.kind == "brownout" and now >= service.switch and now < service.switch + service.blip
  if world.is_lost then return nil, LOST end
  local draw = world.random(100)
  if not world.is_quiet and (is_out or draw <= fates.before) then return nil, LOST end
  if not world.is_quiet and draw <= fates.before + fates.rejected then return rejection "10101" end
  local entry = execute(world, params, world.posts)
  local is_incident = service.kind == "incident" and now >= service.switch and now < service.switch + 3600000
  if not world.is_quiet and is_incident and draw <= 50 then return rejection(service.code) end
  if not world.is_quiet and draw > 100 - fates.after then
    world.lost = world.lost + 1
    return nil, LOST
  end
  return answer(200, { [service.family.record_id] = service:answered(entry) })
end

-- Answers a request for a list.
local function list(world, asked)
  local service, family, now, found = world.service, world.service.family, core.now_ms(), {}
  local first, last = tonumber(asked.startTime) or 0, tonumber(asked.endTime) or now
  local page, size = tonumber(asked.page or 1), tonumber(asked.limit or asked.size or 1000)
  for i = #world.ledger, 1, -1 do
    local entry = world.ledger[i]
    local shown = entry.visible <= now and service:shown(entry, now)
    local is_asked = shown and shown[family.time] >= first and shown[family.time] <= last
      and (family.client_id ~= "clientTranId" or not asked.clientTranId or asked.clientTranId == shown.clientTranId)
    if is_asked then found[#found + 1] = shown end
  end
  local part = json.list {}
  for i = (page - 1) * size + 1, math.min(#found, page * size) do part[#part + 1] = found[i] end
  if family.group == "sub_account" then return answer(200, { result = part, totalCount = #found }) end
  if family.name == "transfer" then return answer(200, { rows = part, total = #found }) end
  if family.name == "withdraw" then return answer(200, part) end
  return answer(200, { data = part, totalRecords = #found, page = page,
    totalPageNum = math.max(1, math.ceil(#found / size)) })
end

-- Returns the values of a query, by name.
local function values_of(request)
  local values, path = {}, request.target:match "^[^?]*"
  local text = (request.target:match "%?(.*)$" or "") .. "&" .. (request.body or "")
  for name, value in text:gmatch "([^&=]+)=([^&]*)" do
    values[name] = value:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
  end
  return path, values
end

local function transport_of(world)
  local transport = {}
  function transport.sleep(_, ms) schedule.sleep(math.max(1, math.floor(ms))) end
  function transport.send(_, request)
    schedule.sleep(19 + world.random(180))
    world.requests = world.requests + 1
    local path, values = values_of(request)
    local now, stamp = core.now_ms(), tonumber(values.timestamp)
    if path:find "/time$" then return answer(200, { serverTime = now }) end
    if path:find "sub%-account/list" then
      return answer(200, { subAccounts = json.list { { subAccount = "desk1", isFreeze = false, uid = "1",
        createTime = START } } })
    end
    if stamp and (stamp > now + 1000 or now - stamp > tonumber(values.recvWindow or 5000)) then
      return answer(400, OUTSIDE)
    end
    if request.method == "POST" then return pay(world, values) end
    return list(world, values)
  end
  return transport
end

-- Returns what is the same of equal payments.
local function class_of(family, params)
  return table.concat({ params[family.coin], family.payee and params[family.payee] or "", params.amount }, " ")
end

local function new_world(seed, kind, make)
  local random = seeded(seed)
  for _ = 1, 5 do random(7) end -- neighbours' first numbers are alike
  local now = START + random(86400000)
  local service = make and make(random, now) or changing_services.draw(kind, random, now)
  local world = { seed = seed, service = service, random = random, ledger = {}, posts = 0, counter = 1000, lost = 0,
    requests = 0, fates = { before = 10, rejected = 3, after = 28 } }
  function world.lag() return service.lag end
  function world.pick(from) return from[random(#from)] end
  local clock, leave = virtual_clock(now)
  world.clock, world.path = clock, files.path_in_memory()
  world.journal = assert(purser.journal.open { sqlite = world.path })
  world.client = assert(purser.new { base_url = "http://127.0.0.1:1", transport = transport_of(world),
    api_key = ("k"):rep(20), secret_key = ("s"):rep(32), clock = function() return clock.now end, account = "acc",
    rate_limit = false, journal = world.journal })
  function world.close()
    world.journal:close()
    files.remove_database(world.path)
    leave()
  end
  return world
end

--- Makes a payment of a world, or makes it again. Its `word` is what was said.
function M.make(world, payment)
  local family = world.service.family
  local params = {}
  for name, value in pairs(family.fixed) do params[name] = value end
  params[family.coin], params.amount = payment.coin, payment.amount
  if family.payee then params[family.payee] = payment.payee end
  if family.client_id then params[family.client_id] = payment.key end
  local group = world.client[family.group]
  local value, err = group[family.name](group, params, not family.client_id and { key = payment.key } or nil)
  payment.word, payment.why, payment.class = value and "done" or err.outcome, err and err.message or "",
    class_of(family, params)
  return payment.word
end

local function letters(random, count)
  local text = {}
  for i = 1, count do
    local at = random(62)
    text[i] = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"):sub(at, at)
  end
  return table.concat(text)
end

local PAYMENTS = 12 -- of a world

-- Returns the payments of a world, with the times at which they are made.
local function payments_of(world)
  local random, pick, family, list_ = world.random, world.pick, world.service.family, {}
  local payees, amounts = {}, { "35", "20.5", "20", "516.427", "7", tostring(9 + random(891)),
    ("%.2f"):format((99 + random(8901)) / 100) }
  for i = 1, 3 do payees[i] = "T" .. letters(random, 20) .. (family.name == "internal_transfer" and "@a.de" or "") end
  if family.group == "sub_account" then payees = { "desk1", "desk2" } end
  local at = 1000
  for i = 1, PAYMENTS do
    at = at + math.floor(world.service.span / PAYMENTS * random(2000) / 1000)
    if i > 1 and random(10) <= 3 then at = list_[i - 1].at + random(20000) end
    list_[i] = { at = at, key = letters(random, 32), payee = pick(payees), amount = pick(amounts),
      coin = pick { "USDT", "USDT", "USDC" } }
  end
  return list_
end

--- Holds what was said of payments against the ledger, class by class: equal payments are one another's. Adds to the
--- counts, and notes what was wrong.
function M.judge(world, payments, count)
  local executed, said, open, seen = {}, {}, {}, {}
  local function add(by, class) by[class] = (by[class] or 0) + 1 end
  for _, entry in ipairs(world.ledger) do
    if not seen[entry.post] then add(executed, class_of(world.service.family, entry.params)) end
    seen[entry.post] = true
  end
  for _, payment in ipairs(payments) do
    if payment.word == "done" then add(said, payment.class) end
    if payment.word == "unknown" then add(open, payment.class) end
  end
  local function note(what, class, number)
    count[what] = count[what] + number
    count.wrong[#count.wrong + 1] = ("%s, world %d: %s of %s"):format(world.service.kind, world.seed, what, class)
  end
  for _, payment in ipairs(payments) do
    local class = payment.class
    local made, done = executed[class] or 0, said[class] or 0
    if not seen[class] and done > made then note("false_done", class, done - made) end
    local more = made - done - (open[class] or 0)
    if not seen[class] and more > 0 then note("twice", class, more) end
    seen[class] = true
  end
end

function M.new_count()
  return { payments = 0, lost = 0, twice = 0, false_done = 0, undecided = 0, left = 0, requests = 0, wrong = {},
    first = {} }
end

-- Makes the payments of a world, each as a task that tries again.
local function make_all(world, payments)
  local tasks = {}
  for i, payment in ipairs(payments) do
    tasks[i] = function()
      schedule.sleep(payment.at)
      for _ = 1, 6 do
        if M.make(world, payment) == "done" then return end
        schedule.sleep(world.pick { 1000, 30000, 600000, 7200000 })
      end
    end
  end
  schedule.all(tasks)
end

--- Makes two payments that are answered, and asks once more about those that are undecided.
function M.ask_again(world, payments)
  world.is_quiet = true
  for i = 1, 2 do
    M.make(world, { key = letters(world.random, 32), payee = payments[i].payee, coin = payments[i].coin,
      amount = ("%d.17"):format(70 + i) })
    schedule.sleep(60000)
  end
  schedule.sleep(60000)
  local left = 0
  for _, payment in ipairs(payments) do
    if payment.word == "unknown" and M.make(world, payment) == "unknown" then left = left + 1 end
  end
  return left
end

-- Runs a world.
local function run(seed, kind, count)
  local world = new_world(seed, kind)
  local ok, problem = pcall(schedule.run, function()
    local payments = payments_of(world)
    make_all(world, payments)
    count.payments, count.lost, count.requests = count.payments + #payments, count.lost + world.lost,
      count.requests + world.requests
    for _, payment in ipairs(payments) do
      if payment.word == "unknown" then
        count.undecided = count.undecided + 1
        local why = payment.why:match "known: (%l+ ?%l*):" or payment.why
        count.first[why] = (count.first[why] or 0) + 1
      end
    end
    M.judge(world, payments, count)
    count.left = count.left + M.ask_again(world, payments)
  end)
  world.close()
  if not ok then error(("%s, world %d: %s"):format(kind, seed, tostring(problem)), 0) end
end

--- Runs so many worlds of a kind, from a seed on. Returns the counts.
function M.count(kind, first, worlds)
  local count = M.new_count()
  for seed = first, first + worlds - 1 do run(seed, kind, count) end
  return count
end

local TASKS = 6

-- Makes the calls of a busy program, side by side, and asks at once what became of each that was lost. Returns the
-- calls.
local function make_busily(world, is_equal)
  local random, family, calls, tasks = world.random, world.service.family, {}, {}
  local payees = { "T" .. letters(random, 20), "T" .. letters(random, 20) }
  if family.group == "sub_account" then payees = { "desk1" } end
  if family.name == "internal_transfer" then payees = { "a@a.example", "b@a.example" } end
  for i = 1, 39 + random(41) do
    calls[i] = { key = letters(random, 32), payee = payees[is_equal and 1 or random(#payees)], coin = "USDT",
      amount = is_equal and "25" or ("%d.%02d"):format(9 + i, random(99)) }
  end
  local at = 0
  for i = 1, TASKS do
    tasks[i] = function()
      while calls[at + 1] do
        at = at + 1
        local call = calls[at]
        schedule.sleep(random(8000))
        if M.make(world, call) == "unknown" then
          world.unknown = world.unknown + 1
          M.make(world, call) -- the same line
          if call.word == "unknown" then world.first_undecided = world.first_undecided + 1 end
        end
      end
    end
  end
  schedule.all(tasks)
  return calls
end

--- Counts what a busy program has to leave to a person, at a service that shows all as it was sent.
---@param family string
---@param shows_ids boolean
---@param is_equal boolean  all payments are equal
---@param before integer  of a hundred requests so many are lost that are not executed; 12 less these are executed
function M.count_busy(family, shows_ids, is_equal, first, worlds, before)
  local count = M.new_count()
  count.unknown, count.first_undecided = 0, 0
  for seed = first, first + worlds - 1 do
    local world = new_world(seed, "plain", function() return changing_services.plain(family, shows_ids, 0, 0) end)
    world.fates = { before = before, rejected = 0, after = 12 - before }
    world.unknown, world.first_undecided = 0, 0
    function world.lag() return 1999 + world.random(1000) end
    schedule.run(function()
      local calls = make_busily(world, is_equal)
      M.judge(world, calls, count)
      count.payments, count.left = count.payments + #calls, count.left + M.ask_again(world, calls)
      count.unknown = count.unknown + world.unknown
      count.first_undecided = count.first_undecided + world.first_undecided
      M.judge(world, calls, count)
    end)
    world.close()
  end
  return count
end

M.new_world, M.execute = new_world, execute

return M
