-- SPDX-License-Identifier: MIT
-- In each situation in which nothing may be sent, each single failure in turn: of a statement, a file, a signature, a
-- digest, a random token, a reading of the service. Nothing is sent then, nor by the next call of the same client, nor
-- by a new client of a new process, and both of these end as they would have without the failure.
-- make test: 17 s, on lua5.4 and luajit, a third

local draws = require "draws"
local failures = require "single_failures"
local files = require "files"
local own_journal = require "own_journal"
local purser = require "purser"
local setting = require "approvals_setting"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local DAY, HOUR = 86400000, 3600000

local posts, is_lost, is_unreadable -- requests that write; whether an answer is lost; whether histories are read

local transport = {}

function transport.sleep(_, ms) setting.now = setting.now + ms end

function transport.send(_, request)
  if request.method == "POST" then
    posts = posts + 1
    if is_lost then return nil, "connection lost", "unknown" end
    return { status = 200, body = ('{"id":"r%d"}'):format(posts), headers = "" }
  end
  if failures.fails "a reading of the service" then return nil, "connection lost", "unknown" end
  if request.target:find("/time", 1, true) then
    return { status = 200, body = ('{"serverTime":%d}'):format(setting.now), headers = "" }
  end
  if is_unreadable then return { status = 400, body = '{"code":700007,"msg":"no"}', headers = "" } end
  return { status = 200, body = "[]", headers = "" }
end

local function client(options)
  local all = { transport = transport }
  for name, value in pairs(options or {}) do all[name] = value end
  return setting.client(all)
end

local TWO = { { group = "treasury", count = 2 } }
local ALL = { name = "all", effect = "allow", approvals = TWO }
local FREE = { name = "free", effect = "allow", approvals = {} }

local function forbid(when, unless) return { name = "no", effect = "forbid", when = when, unless = unless } end

local row = setting.row

-- Brings a plan of rows that these persons signed: "alice bob", "alice/withdraw".
local function bring(rows, names, head)
  local text, signatures = setting.plan(rows, head), {}
  for name, purpose in (names or "alice bob"):gmatch "(%w+)/?(%w*)" do
    local namespace = purpose ~= "" and ("purser-plan-%s-1"):format(purpose) or nil
    signatures[#signatures + 1] = setting.sign(text, name, namespace)
  end
  setting.add(text, signatures)
end

local function send_one(key, amount, more)
  local one = row(key, amount, more)
  return function(by) return by:call(one.operation, one.params) end
end

local a10 = send_one("a", "10")

-- A queue of a payment that one person signed, one whose plan was withdrawn, and one that is forbidden.
local REFUSED = { a = "it waits for approval", b = "was withdrawn", c = "the policy forbids it" }

local function queue_of(by)
  return purser.payouts.new { client = by, journal = setting.journal, queue = "q", worker = "w", retry_ms = 1,
    idle_ms = 1 }
end

local function fill_queue()
  local rows, names = { a = row("a", "10"), b = row("b", "10"), c = row("c", "60") },
    { a = "alice", b = "alice bob bob/withdraw", c = "alice bob" }
  local queue = assert(queue_of(assert(client())))
  for key, one in pairs(rows) do
    bring({ one }, names[key], { queue = "q" })
    assert(queue:add(key, one.operation, one.params))
  end
end

local function run_queue(by)
  local queue, err = queue_of(by)
  if queue then queue, err = queue, select(2, queue:run()) end
  for key, message in pairs(queue and not err and REFUSED or {}) do
    local payment
    payment, err = queue:find(key)
    if not payment then return nil, err end
    assert.matches(message, payment.message)
    assert.equal("waiting", payment.state)
  end
  return nil, err or { code = "waiting" }
end

local function lose_the_answer(options)
  is_lost = true
  assert.equal("unknown", select(2, a10(assert(client(options)))).outcome)
  is_lost = false
end

-- Makes a later version of the policy that is not in the folder yet; `show` puts it there, and `hide` takes it out.
local function later_version(changes)
  setting.next_version(changes, "alice", "bob")
  for _, name in ipairs { "2.json", "2.sigs" } do
    assert(os.rename(setting.folder .. "/" .. name, setting.folder .. "/later." .. name))
  end
end

local function move_later(from, to)
  for _, name in ipairs { "2.json", "2.sigs" } do
    assert(os.rename(("%s/%s%s"):format(setting.folder, from, name), ("%s/%s%s"):format(setting.folder, to, name)))
  end
end

-- name; code: of the error; rules: of the policy; prepare: what was before; act(client): the call, a10 unless it is
-- given; options: of the client; changed: what happens once the client is made; unmade: of the message with
-- which a new client is not made.
local situations = {
  { "nobody signed", "missing", prepare = function() end },
  { "one of two signed", "missing", prepare = function() bring({ row("a", "10") }, "alice") end },
  { "the maker signed for the second", "missing", prepare = function()
    bring({ row("a", "10") }, "alice bob", { maker = "bob" })
  end },
  { "one person signed twice, and a stranger", "missing", prepare = function()
    bring({ row("a", "10") }, "alice alice eve")
  end },
  { "the plan was withdrawn", "withdrawn", prepare = function()
    bring({ row("a", "10") }, "alice bob alice/withdraw")
  end },
  { "the plan ended", "expired", prepare = function()
    bring { row("a", "10") }
    setting.now = setting.NOW + 9 * DAY
  end },
  { "the plan ends behind plan_days", "plan_days", prepare = function()
    bring({ row("a", "10") }, nil, { not_after = "2027-06-30" })
  end },
  { "the plan has another amount", "changed", prepare = function() bring { row("a", "11") } end },
  { "the plan is of another queue", "missing", prepare = function()
    bring({ row("a", "10") }, nil, { queue = "other" })
  end },
  { "the plan is of another journal", "journal", prepare = function()
    bring({ row("a", "10") }, nil, { journal = "other" })
  end },
  { "the key is for another service", "service", prepare = function() bring { row("a", "10") } end,
    options = { base_url = "https://other.example" } },
  { "the address is forbidden", "rule", rules = { ALL, forbid { to = "cold" } }, prepare = function()
    bring { row("a", "10", { address = "TCold" }) }
  end, act = send_one("a", "10", { address = "TCold" }) },
  { "the address is forbidden, and a memo stands behind it", "rule", rules = { FREE, forbid { to = "cold" } },
    prepare = function() end, act = function(by)
      return by:call("broker.withdraw", { coin = "USDT", network = "TRX", amount = "10", address = "TCold:7" })
    end },
  { "more is required for so much", "missing", rules = { ALL, { name = "large", effect = "require",
    when = { coin = "USDT", amount_over = "5" }, approvals = { { group = "treasury", count = 3 } } } },
    prepare = function() bring { row("a", "10") } end },
  { "the maker is unknown", "rule", rules = { ALL, forbid { made_by = "finance" } },
    prepare = function() bring { row("a", "10") } end },
  { "the plan has to rest", "missing", rules = { { name = "all", effect = "allow", approvals = TWO,
    wait_hours = 24 } }, prepare = function() bring { row("a", "10") } end },
  { "the office is closed", "rule", rules = { ALL, forbid({ coin = "USDT" }, { { hours = "17:00-18:00" } }) },
    prepare = function() bring { row("a", "10") } end },
  { "the address was paid at another service alone", "journal.other_service", rules = { ALL, { name = "known",
    effect = "allow", approvals = {}, when = { known_days = 0 } } }, prepare = function()
      local there = { base_url = "https://other.example" }
      bring({ row("z", "10") }, nil, there)
      assert(send_one("z", "10")(assert(client(there))))
    end, unmade = 'is the journal of account "treasury" at other.example, and this client is of service.example' },
  { "the address is not in the service's book", "rule",
    rules = { ALL, forbid({ coin = "USDT" }, { { saved = true } }) },
    prepare = function() bring { row("a", "10") } end },
  { "a person said that it was not made, and signed no other plan", "repeated", prepare = function()
    bring { row("a", "10") }
    lose_the_answer()
    setting.now = setting.NOW + HOUR
    local id = assert(setting.journal:entries())[1].intent.id
    assert(setting.journal:settle(id, { outcome = "not_done", by = "alice", now = setting.now }))
  end },
  { "the sum of a day is reached", "rule", rules = { FREE, forbid { coin = "USDT",
    sum_over = { amount = "15", hours = 24, per = "account" } } },
    prepare = function() assert(send_one("z", "10")(assert(client()))) end },
  { "the sum of a place is reached", "rule", rules = { FREE, forbid { coin = "USDT",
    sum_over = { amount = "15", hours = 24, per = "destination" } } },
    prepare = function() assert(send_one("z", "10", { memo = "7" })(assert(client()))) end },
  { "the sum was reached before there was a policy", "rule", rules = { FREE, forbid { coin = "USDT",
    sum_over = { amount = "15", hours = 24, per = "account" } } },
    prepare = function() assert(send_one("z", "10")(assert(client { policy = false }))) end },
  { "the spending limit is reached", "guard.spending_limit", options = { policy = false,
    guard = { spending_limit = { USDT = { amount = "15", period_ms = DAY } } } },
    prepare = function(options) assert(send_one("z", "10")(assert(client(options)))) end },
  { "an equal call has no known end", "guard.no_duplicates", options = { policy = false,
    guard = { no_duplicates = true } }, prepare = lose_the_answer, act = send_one("b", "10") },
  { "the key was used for another amount", "journal.other_content", options = { policy = false },
    prepare = function(options) assert(send_one("a", "11")(assert(client(options)))) end },
  { "the key was used, and nobody knows what became of it", "journal.unknown", options = { policy = false },
    prepare = function(options)
      lose_the_answer(options)
      is_unreadable = true
    end },
  { "the key was used, and its call was done", "done", options = { policy = false },
    prepare = function(options) assert(a10(assert(client(options)))) end },
  { "the used key is prepared", "journal.used", options = { policy = false }, prepares = true,
    prepare = function(options) assert(a10(assert(client(options)))) end },
  { "what nobody signed is prepared", "missing", prepares = true, prepare = function() end },
  { "the API key is another account's", "journal.other_account", options = { policy = false, account = "other" },
    prepare = function() assert(client()) end,
    unmade = 'is the journal of account "treasury", and this client is account "other"' },
  { "the second client has no policy", "policy", options = { policy = false },
    prepare = function() assert(client()) end },
  { "what extra_params do is unknown", "rule", rules = { FREE }, options = { guard = { allow_extra = true } },
    prepare = function() end, act = function(by)
    return by:call("wallet.withdraw", row("a", "10").params, { extra_params = { more = "1" } })
  end },
  { "the clock is behind the newest call", "clock", prepare = function()
    bring { row("a", "10") }
    bring { row("z", "10") }
    assert(send_one("z", "10")(assert(client())))
    setting.now = setting.NOW - 2 * HOUR
  end },
  { "a stricter policy was installed since", "rule", prepare = function()
    bring { row("a", "10") }
    later_version { rules = { ALL, forbid { coin = "USDT" } } }
  end, changed = function()
    move_later("later.", "")
    assert(client())
  end, restore = function() move_later("", "later.") end },
  { "a stricter policy lies in the folder", "rule", prepare = function()
    bring { row("a", "10") }
    assert(client())
    setting.next_version({ rules = { ALL, forbid { coin = "USDT" } } }, "alice", "bob")
  end },
  { "the next version is signed by one", unmade = "not all have signed", prepare = function()
    assert(client())
    setting.next_version({ rules = { FREE } }, "alice")
  end },
  { "others can write the folder", unmade = "can be changed by others", rules = { FREE }, prepare = function()
    assert(os.execute(("chmod g+w '%s'"):format(setting.folder)))
  end },
  { "the folder lost the version that is in force", "rollback", prepare = function()
    bring { row("a", "10") }
    later_version { rules = { FREE } }
  end, changed = function()
    move_later("later.", "")
    assert(client())
    move_later("", "later.")
  end, unmade = "newer policy" },
  { "a queue waits for approvals", "waiting", rules = { ALL, forbid { coin = "USDT", amount_over = "50" } },
    prepare = fill_queue, act = run_queue, changed = function() end },
}

-- Opens the journal, as it was when its file had these bytes where any are given.
local function open_journal(bytes)
  setting.journal:close() -- removes the log
  if bytes then whole.write(setting.path, bytes) end
  setting.journal = assert(purser.journal.open { sqlite = setting.path })
  assert(setting.journal.db:rows "PRAGMA synchronous = OFF") -- no machine dies here
  own_journal.journal = setting.journal
end

-- Returns what a call ended with, as one word.
local function word_of(value, err)
  if value then return "done" end
  local code = err.details and err.details.code or err.code or err.message
  return (tostring(code):gsub("^approval%.", ""))
end

-- Acts while the point of a number fails, by a client that is made meanwhile where none is given. Returns the client,
-- what the call ended with, and the name of what failed; nil where there are fewer points.
local function act_while_failing(situation, act, number, by)
  local results, failed = failures.at(number, function()
    local err
    if not by then by, err = client(situation.options) end
    if not by then return nil, err end
    return act(by)
  end)
  -- a digest that cannot be made is raised, as is want of memory: the message says what failed
  local is_told = results[1] or tostring(results[2]):find(tostring(failed) .. " failed", 1, true)
  assert(is_told, ("%s, failure %d (%s) raised %s"):format(situation[1], number, tostring(failed),
    tostring(results[2])))
  return by, failed, results[2], results[3]
end

-- Acts in a situation while the point of a number fails, and after. Returns whether there is such a point.
local function try(situation, act, number, bytes, now)
  open_journal(bytes)
  setting.now, posts = now, 0
  local by = situation.changed and assert(client(situation.options)) or nil
  if by then situation.changed() end
  local failed, value, err
  by, failed, value, err = act_while_failing(situation, act, number, by)
  local place = ("%s, failure %d (%s)"):format(situation[1], number, tostring(failed))
  assert.equal(0, posts, place .. ": sent while it failed")
  local function check(when, ended, problem)
    assert.equal(0, posts, place .. ": sent " .. when)
    if by then assert.equal(situation[2], word_of(ended, problem), place .. ": " .. when)
    else assert.matches(situation.unmade or "^$", problem.message, place .. ": " .. when) end
  end
  if not failed then check("without a failure", value, err) end
  if by then check("by the next call", act(by)) end
  open_journal()
  by, err = client(situation.options)
  if by then value, err = act(by) end
  check("by a new client", value, err)
  if situation.restore then situation.restore() end
  return failed ~= nil
end

describe("where nothing may be sent", function()
  setup(failures.begin)
  teardown(function()
    failures.restore()
    ssh_keys.remove()
  end)
  after_each(setting.finish)

  for _, situation in ipairs(situations) do
    it("nothing is, whatever fails: " .. situation[1], function()
      posts, is_lost, is_unreadable = 0, false, false
      setting.begin { rules = situation.rules or { ALL } }
      situation.prepare(situation.options)
      local now, act = setting.now, situation.act or a10
      setting.journal:close()
      local bytes, tried, number = files.read(setting.path), 0, 1 - draws.STEP
      open_journal()
      if situation.prepares then
        act = function(by) return by:prepare("wallet.withdraw", row("a", "10").params) end
      end
      repeat
        number, tried = number + draws.STEP, tried + 1
      until not try(situation, act, number, bytes, now)
      assert.is_true(tried > 1, "only " .. tried - 1 .. " points")
    end)
  end
end)
