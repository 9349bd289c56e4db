-- SPDX-License-Identifier: MIT
-- Random lives of payments at the real rooms: an account with two API keys under a policy, or one under a limit, each
-- with its journal; processes with right and wrong labels, at the service and at another host, with and without the
-- policy and the limit; plans signed early, late, by too few and
-- withdrawn; answers that get lost, requests that never arrive, processes that die; one statement, file, signature or
-- random token that fails; persons who settle wrongly, and words taken back; copies of the journal that are put back,
-- after which persons keep from the scripts what the histories show since the copy, and the journal does not
-- (docs/write/journal.md). True at each request that pays:
--
--   - under a policy it is a row of a plan that two persons signed and nobody withdrew
--   - a payment is made again only by a person's word, and under a policy by a plan that names the newest word
--   - once a client brought a limit, no client of its account passes the limit, whatever it brings, until a person's
--     word sets another; but by a payment that a word lets be made again
--   - a process that knew the journal before a copy was put back sends nothing
--   - nothing is sent under another name, or at another host, than the journal's
--   - at the end an honest operator gets each payment paid, by three commands
--
--   local lives = require "lives"
--   lives.run(300)   PURSER_LIVES=N runs others, PURSER_SEED=N begins elsewhere

local accounts = require "purser.testing.sim.accounts"
local database = require "purser.client.util.database"
local digest = require "purser.client.util.digest"
local failures = require "single_failures"
local own_journal = require "own_journal"
local planned = require "purser.write.planned"
local purser = require "purser"
local seeded = require "seeded"
local setting = require "approvals_setting"

local HOUR, DAY = 3600000, 86400000
local LIVE, MIRROR = "https://service.example", "https://mirror.example"
local LIMITS = { 30, 30, 60 } -- 60: raised in a script, without a word
local LABELS = { first = "treasury", second = "desk", other = "elsewhere" }
local AMOUNTS = { a = 10, b = 12, c = 14, d = 16, e = 11, va = 10, vb = 12, vc = 14, vd = 16, ve = 11 }
local KEYS = { "a", "b", "c", "d", "e" }
local KEYS_OF = { first = KEYS, second = { "va", "vb", "vc", "vd", "ve" } }
local ADDRESS = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

local M = { counts = {} }
local unpack = table.unpack or unpack -- luacheck: ignore 143

local random -- of a life
local world

local function pick(list) return list[random(#list)] end

local function count(what) M.counts[what] = (M.counts[what] or 0) + 1 end

local function note(...)
  if M.tell then print((...):format(select(2, ...))) end
end

---------------------------------------------------------------------------------------------------- what must be true

-- Notes what is wrong: an error raised within a request is an unknown outcome to the client, and would be lost.
local function violation(what, ...) world.violated = world.violated or what:format(...) end

local function true_signers(plan)
  local seen, n = {}, 0
  for _, name in ipairs(plan.signers) do
    if not seen[name] and name ~= plan.maker then seen[name], n = true, n + 1 end
  end
  return n
end

-- Returns the latest thing that happened to a payment of an account: "executed" or a person's word.
local function latest(real, key, kind)
  for i = #world.events, 1, -1 do
    local event = world.events[i]
    if event.real == real and event.key == key and event.kind == kind then return i, event end
  end
  return 0
end

local function check_policy(sent)
  local last_word = select(2, latest(sent.real, sent.key, "word"))
  local was_made = latest(sent.real, sent.key, "executed") > 0
  local admitted
  for _, plan in ipairs(world.plans) do
    if plan.added and not plan.withdrawn and plan.key == sent.key and plan.amount == sent.amount
      and true_signers(plan) >= 2 and (not was_made or plan.word == (last_word and last_word.id)) then
      admitted = true
    end
  end
  if not admitted then violation("%s of %s was sent, and no plan lets it", sent.key, sent.real) end
end

local function check_limit(real)
  local sum, seen = 0, {}
  for _, event in ipairs(world.events) do
    local is_in = event.kind == "executed" and event.real == real and event.limit
      and event.at >= setting.now - setting.now % DAY and not seen[event.key]
    if is_in then
      seen[event.key] = true
      sum = sum + AMOUNTS[event.key]
    end
  end
  local limit = world.limits[real]
  if sum > limit then violation("%d of %d are paid by %s", sum, limit, real) end
end

local function check_executed(sent)
  local made, word = latest(sent.real, sent.key, "executed"), latest(sent.real, sent.key, "word")
  if made > 0 and (word < made or world.events[word].outcome ~= "not_done") then
    violation("%s of %s is paid twice, and no word lets it", sent.key, sent.real)
  end
  if made > 0 then count "paid again by a word" end
end

--------------------------------------------------------------------------------------------------------- the service

local service = {}

function service.sleep(_, ms)
  world.sim:advance(ms)
  setting.now = world.sim:now()
end

function service.send(_, request)
  local api_key = request.headers["X-MEXC-APIKEY"] or request.headers["x-mexc-apikey"]
  if request.method ~= "POST" then
    if failures.fails "a reading of the service" then return nil, "connection lost", "unknown" end
    return world.inner:send(request)
  end
  local sent = { real = world.real_of[api_key], key = request.target:match "withdrawOrderId=(%w+)",
    amount = request.target:match "amount=([%d.]+)", at = setting.now, kind = "executed" }
  count "requests"
  local brought = world.payer.limit
  if brought and not world.payer.is_old then -- what a client wrote before a word, the word replaced
    world.limits[sent.real] = math.min(brought, world.limits[sent.real] or brought)
  end
  sent.limit = world.limits[sent.real]
  if sent.limit and not brought then count "requests without their account's limit" end
  if world.policed[sent.real] then check_policy(sent) end
  local fate = world.is_honest and 7 or random(7)
  if fate == 1 then error("killed", 0) end
  if fate == 2 then return nil, "connection lost", "unknown" end -- before it arrives
  if fate == 3 then return { status = 400, headers = {}, body = '{"code":10101,"msg":"Insufficient balance"}' } end
  local response, message, outcome = world.inner:send(request)
  if response and response.status == 200 then
    check_executed(sent)
    table.insert(world.events, sent)
    note("executed %s of %s", sent.key, sent.real)
    if sent.limit then check_limit(sent.real) end
  end
  if fate == 4 then error("killed", 0) end
  if fate == 5 then return nil, "connection lost", "unknown" end
  return response, message, outcome
end

-------------------------------------------------------------------------------------------------------------- persons

local function client_of(process)
  local label = LABELS[process.label]
  local client, err = setting.client { base_url = process.host, api_key = process.api_key, transport = service,
    secret_key = world.secrets[process.api_key], account = label or false, policy = process.policy and setting.folder
      or false, guard = process.limit and { spending_limit = { USDT = tostring(process.limit) } } or nil }
  if not client then
    world.refused = err.message
    count("no client: " .. tostring(err.message):gsub("%S+/%S+", "FILE"):sub(1, 90))
    note("no client: %s", err.message)
    return nil
  end
  local real = world.real_of[process.api_key]
  if process.policy then world.policed[real] = true end
  return client
end

-- Starts a process that is right three times of four.
local function process(is_right, real)
  real = real or world.kind
  local function oddly(right, wrong)
    if is_right or random(3) > 1 then return right end
    return wrong
  end
  local api_key = real == "second" and world.keys[3] or world.keys[is_right and 1 or random(2)]
  return { real = real, api_key = api_key, label = oddly(real, pick { "other", "none" }), host = oddly(LIVE, MIRROR),
    policy = real == "first" and oddly(true, nil), limit = real == "second" and oddly(pick(LIMITS), nil) or nil }
end

-- Returns a process of that account.
local function process_of(real)
  for _, one in ipairs(world.processes) do
    if one.real == real then return one end
  end
  return process(false, real)
end

local function row_of(key, more)
  return setting.row(key, tostring(AMOUNTS[key] + (more or 0)), { address = ADDRESS })
end

-- Returns what a failure or a death leaves: nothing.
local function guarded(fn)
  local ok, value, err = pcall(fn)
  if ok then return value, err end
  if not tostring(value):find("killed", 1, true) and not tostring(value):find("fail", 1, true)
    and not tostring(value):find("error", 1, true) then error(value, 0) end
  return nil, { code = "died", message = tostring(value) }
end

local function pay(of, key)
  if world.lost[of.real .. key] then return nil, { code = "paid since the copy" } end
  of.client = of.client or client_of(of)
  if not of.client then return nil, { code = "no client" } end
  world.payer = of
  of.has_written = true
  local row = row_of(key, not world.is_honest and random(12) == 1 and 1 or 0) -- or another amount than was signed
  local value, err = guarded(function() return of.client:call(row.operation, row.params) end)
  if err and err.code == "died" then of.client, of.has_written, of.is_old = nil, nil, nil end
  local is_over = err and err.code == "guard.spending_limit"
  if is_over then count("exceeds " .. (of.limit and "a limit" or "another's limit")) end
  note("pay %s by %s/%s/%s: %s", key, of.real, of.label, of.host, value and "done" or err.details
    and err.details.code or err.code or err.message)
  if err and M.tell == "2" then print(err.message, err.hint, err.details and err.details.plan) end
  return value, err
end

local function entry_of(label, key)
  for _, entry in ipairs(assert(setting.journal:entries { key = key })) do
    if entry.intent.account == label then return entry end
  end
end

local function settle(real, key, outcome)
  local entry = entry_of(LABELS[real], key)
  if not entry then return nil end
  local before = entry.intent.id
  local ok, err = setting.journal:settle(before, { outcome = outcome, by = "alice", now = setting.now })
  count(ok and "settled" or "not settled")
  note("settle %s of %s %s: %s", key, real, outcome, ok and "ok" or err.message)
  if not ok then return nil, err end
  local id = own_journal.within(function(tx) return (planned.standing_word(tx, before)) end)
  table.insert(world.events, { real = real, key = key, kind = "word", outcome = outcome, id = id })
  return true
end

-- A plan of the first account's payment. A plan that `text` brings is the one that an error showed.
local function plan(key, signers, word, text)
  local row = row_of(key)
  word = word or text and text:match '"word":"(%w+)"'
  row.word = word
  local made = { key = key, amount = tostring(AMOUNTS[key]), signers = {}, word = word, maker = "maker" .. #world.plans,
    text = text or setting.plan({ row }, { maker = "maker" .. #world.plans, not_after = "2026-11-30" }) }
  for name in signers:gmatch "%w+" do table.insert(made.signers, name) end
  table.insert(world.plans, made)
  return made
end

local function add(made, ...)
  local signatures = {}
  for i, name in ipairs(made.signers) do signatures[i] = setting.sign(made.text, name) end
  for _, name in ipairs { ... } do
    signatures[#signatures + 1] = setting.sign(made.text, name, "purser-plan-withdraw-1")
  end
  made.added, made.withdrawn = true, select("#", ...) > 0
  setting.add(made.text, signatures)
end

local function word_of(key)
  local entry = entry_of("treasury", key)
  return entry and own_journal.within(function(tx) return (planned.standing_word(tx, entry.intent.id)) end)
end

----------------------------------------------------------------------------------------------------------------- lives

-- Settles a payment wrongly perhaps, if one has no known end, and tries it again: under a plan that names the word, or
-- under an old one.
local function settle_one()
  local real = world.kind
  local key = pick(KEYS_OF[real])
  for _, other in ipairs(KEYS_OF[real]) do
    local entry = entry_of(LABELS[real], other)
    if entry and entry.state ~= "done" and latest(real, other, "executed") > 0 then key = other end
  end
  if random(4) > 1 then world.sim:advance(HOUR) end
  setting.now = world.sim:now()
  local is_said = settle(real, key, pick { "done", "not_done", "not_done", "not_done" })
  if is_said and real == "first" and random(2) == 1 then add(plan(key, "alice bob", word_of(key))) end
  if is_said then pay(process_of(real), key) end
end

local function pay_any()
  local of = pick(world.processes)
  pay(of, pick(KEYS_OF[of.real]))
end

-- A person sets another limit of the second account, or ends the limit.
local function set_limit()
  local limit = pick { 40, 20, false }
  local ok, err = setting.journal:limit({ asset = "USDT", by = "alice",
    amount = limit and tostring(limit) or nil })
  note("limit %s: %s", tostring(limit), ok and "ok" or err.message)
  if not ok then return end
  count "limits by a word"
  world.limits.second = limit or nil
  for _, one in ipairs(world.processes) do one.is_old = one.has_written end
end

------------------------------------------------------------------------------------------------------------ a copy

local function flat(map)
  local copy = {}
  for name, value in pairs(map) do copy[name] = value end
  return copy
end

local function keep_copy()
  os.remove(setting.path .. ".copy")
  assert(setting.journal.db:rows(("VACUUM INTO '%s.copy'"):format(setting.path)))
  world.copy = { events = #world.events, policed = flat(world.policed), limits = flat(world.limits),
    plans = {} }
  for i, made in ipairs(world.plans) do world.copy.plans[i] = { made.added, made.withdrawn } end
end

-- Makes the journal hold what its copy holds, by another program.
local function write_back()
  local other = assert(database.open { sqlite = setting.path })
  assert(other:rows(("ATTACH '%s.copy' AS copy"):format(setting.path)))
  local in_copy = {}
  for _, row in ipairs(assert(other:rows "SELECT name FROM copy.sqlite_master WHERE type = 'table'")) do
    in_copy[row.name] = true
  end
  for _, row in ipairs(assert(other:rows "SELECT name FROM main.sqlite_master WHERE type = 'table'")) do
    assert(other:rows("DELETE FROM main." .. row.name))
    if in_copy[row.name] then assert(other:rows(("INSERT INTO main.%s SELECT * FROM copy.%s"):format(row.name,
      row.name))) end
  end
  other:close()
end

local function check_old_process()
  local of = process_of(pick { "first", "second" })
  if not of.client then return end
  local before = M.counts.requests
  local _, err = pay(of, pick(KEYS_OF[of.real]))
  if M.counts.requests ~= before then violation("a process that knew the journal before a copy paid") end
  if err and tostring(err.message):find("the journal is older than it was", 1, true) then count "older journals" end
end

local function put_back()
  local copy = world.copy
  if not copy or copy.events == #world.events then return end
  write_back()
  note "a copy is put back"
  check_old_process()
  setting.journal:close()
  setting.journal = assert(purser.journal.open { sqlite = setting.path })
  own_journal.journal = setting.journal
  for i = #world.events, copy.events + 1, -1 do
    local event = world.events[i]
    if event.kind == "word" then table.remove(world.events, i) else
      world.lost[event.real .. event.key], event.limit = true, nil
    end
  end
  world.policed, world.limits = flat(copy.policed), flat(copy.limits)
  for i, made in ipairs(world.plans) do
    local was = copy.plans[i] or {}
    made.added, made.withdrawn = was[1], was[2]
  end
  for _, one in ipairs(world.processes) do one.client, one.has_written, one.is_old = nil, nil, nil end
  count "copies put back"
end

local steps = {
  keep_copy,
  put_back,
  set_limit,
  pay_any,
  pay_any,
  pay_any,
  pay_any,
  function() -- the same while something fails
    local of = pick(world.processes)
    local key = pick(KEYS_OF[of.real])
    of.client = of.client or client_of(of)
    local _, failed = failures.at(random(60), pay, of, key)
    if failed then count "failures" end
  end,
  function() -- after a crash
    local of = pick(world.processes)
    of.client = of.client or client_of(of)
    if of.client then guarded(function() return setting.journal:recover(of.client, { wait = random(2) == 1 }) end) end
  end,
  settle_one,
  settle_one,
  function() -- signed early, or late; by two, or too few
    local key = pick(KEYS)
    add(plan(key, pick { "alice bob", "alice bob", "alice", "bob bob", "dave alice" },
      random(2) == 1 and word_of(key) or nil), unpack(pick { {}, {}, {}, { "alice" } }))
  end,
  function()
    local given = world.plans[1] and pick(world.plans)
    if given then
      add(given, pick { "alice", "bob", "dave" })
      pay(process_of "first", given.key)
    end
  end,
  function() world.sim:advance(pick { 1000, 10000, HOUR, 2 * HOUR }) end,
  function() world.processes[random(#world.processes)] = process() end,
}

-- An honest operator pays one payment. Returns the number of commands that it took.
local function finish(of, key)
  local commands = 0
  for _ = 1, 8 do
    setting.now = world.sim:now()
    local value, err = pay(of, key)
    if value or world.lost[of.real .. key] then return commands end
    commands = commands + 1
    local code = tostring(err.details and err.details.code or err.code)
    if code:find "^approval" then
      add(plan(key, "alice bob", err.details.word, err.details.plan))
    else
      world.sim:advance(HOUR)
      setting.now = world.sim:now()
      setting.journal:recover(of.client)
      local was_made = latest(of.real, key, "executed") > 0
      local entry = entry_of(LABELS[of.real], key)
      if entry and (entry.state ~= "done" or not was_made) then
        settle(of.real, key, was_made and "done" or "not_done")
      end
      if was_made or code == "journal.other_content" then return commands end -- another amount
    end
  end
  error(("%s of %s is never paid"):format(key, of.real), 0)
end

local function live(seed)
  random = seeded(seed)
  local sim = purser.sim.new { seed = seed, repeated_ids = "execute", start_time = setting.NOW }
  world = { sim = sim, inner = sim:transport(), events = {}, limits = {}, lost = {}, plans = {}, policed = {},
    kind = seed % 3 == 0 and "second" or "first", keys = {}, secrets = {}, real_of = {}, processes = {} }
  for i, real in ipairs { "first", "second" } do
    local account = assert(sim:account { name = real, role = "main", balances = { USDT = "1000" } })
    local permissions = sim.keys:of(account.uid)[1].permissions
    local second = i == 1 and accounts.add_key(sim, account, { permissions = permissions }) or nil
    for _, one in ipairs { account, second } do
      world.keys[#world.keys + 1] = one.api_key
      world.secrets[one.api_key], world.real_of[one.api_key] = one.secret_key, real
    end
  end
  local signer = world.keys[world.kind == "first" and 1 or 3]
  assert(setting.journal:identify(LABELS[world.kind], digest.account_of(signer), nil, "service.example"))
  for i = 1, 4 do world.processes[i] = process(i < 3) end
  setting.now = sim:now()
  for _, key in ipairs(KEYS) do
    if random(2) == 1 and world.kind == "first" then add(plan(key, "alice bob")) end
  end
  for _ = 1, 24 do
    pick(steps)()
    setting.now = sim:now()
  end
  if world.violated then error(world.violated, 0) end
  if world.kind == "second" then return end -- whose limit keeps some payments back
  world.is_honest = true
  sim:advance(HOUR)
  local of = { real = "first", label = "first", api_key = world.keys[1], host = LIVE, policy = true }
  for _, key in ipairs(KEYS) do
    local commands = finish(of, key)
    count(commands .. " commands")
    if commands > 3 then violation("%s is paid by %d commands", key, commands) end
  end
  if world.violated then error(world.violated, 0) end
end

--- Runs so many lives. Raises what is wrong in one of them.
---@param n integer
---@param first integer|nil  the first one's seed. Default: 1
function M.run(n, first)
  n, first = tonumber(os.getenv "PURSER_LIVES") or n, tonumber(os.getenv "PURSER_SEED") or first or 1
  M.counts = {}
  failures.begin()
  local problem
  for seed = first, first + n - 1 do
    setting.begin { rules = { { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } } } }
    local ok, raised = pcall(live, seed)
    os.remove(setting.path .. ".copy")
    setting.finish()
    problem = not ok and ("PURSER_SEED=%d: %s"):format(seed, tostring(raised)) or nil
    if problem then break end
  end
  failures.restore()
  if problem then error(problem, 0) end
end

return M
