-- SPDX-License-Identifier: MIT
-- One way to check options (purser.allowed): what is rejected, in which words, and how it is given: docs/errors.md.

local option_schema = require "purser.util.option_schema"
local purser = require "purser"

describe("a rule", function()
  local function matching(rule, values)
    local matches = {}
    for i, value in ipairs(values) do matches[i] = option_schema.matches(value, rule) end
    return matches
  end

  it("names types", function()
    assert.same({ true, false, false }, matching("string", { "x", 1, {} }))
    assert.same({ true, false, true }, matching("string or table", { "x", 1, {} }))
    assert.same({ true, true, true, true }, matching("any", { "x", 1, {}, false }))
  end)

  it("bounds whole numbers", function()
    assert.same({ false, true, true, false, false, false, false },
      matching({ 1, 10 }, { 0, 1, 10.0, 11, 1.5, 0 / 0, "5" }))
    assert.same({ true, false, false }, matching({ 1 }, { 1 / 0, -1 / 0, 0 / 0 }))
    assert.same({ true, false, false }, matching({ 1, option_schema.EXACT }, { 2 ^ 53, 2 ^ 54, 1 / 0 }))
    assert.same({ true, true, false, false },
      matching(option_schema.TIME, { 1700000000000, 1.7e12, 1700000000, 17000000000000 }))
  end)

  it("lists choices", function()
    assert.same({ true, false, false }, matching({ "wait", "reject" }, { "reject", "", 1 }))
  end)
end)

describe("a message", function()
  local rules = {
    name = "string", vault = "function or table", size = { 1, 10 }, pause_ms = { 0 }, since = option_schema.TIME,
    mode = { "wait", "reject" }, goal = { "a", "b", "c" },
  }

  it("names the option, what it is and what it must be", function()
    for _, case in ipairs {
      { { name = 5 }, 'option "name" is a number; it must be a string' },
      { { vault = 5 }, 'option "vault" is a number; it must be a function or table' },
      { { size = 11 }, 'option "size" must be a whole number from 1 to 10' },
      { { size = "5" }, 'option "size" is a string; it must be a whole number from 1 to 10' },
      { { pause_ms = 0.5 }, 'option "pause_ms" must be a whole number of milliseconds from 0' },
      { { since = 1700000000 }, 'option "since" must be a time in epoch milliseconds (13 digits)' },
      { { mode = "wit" }, 'option "mode" is "wit"; it must be wait or reject' },
      { { mode = true }, 'option "mode" is a boolean; it must be wait or reject' },
      { { goal = "d" }, 'option "goal" is "d"; it must be one of a, b, c' },
    } do
      local message, name = option_schema.check(case[1], rules, "option")
      assert.equal(case[2], message)
      assert.equal(next(case[1]), name)
    end
  end)

  it("hints at the nearest name, or lists all", function()
    assert.equal('option "siez" is not known (did you mean "size"?)', (option_schema.check({ siez = 1 }, rules,
      "option")))
    assert.equal('option "else" is not known; there are budget, window',
      (option_schema.check({ ["else"] = 1 }, { window = "any", budget = "any" }, "option")))
    assert.matches('option "1" is not known', (option_schema.check({ "x" }, rules, "option")), 1, true)
    assert.equal("retry options are given in a table, not as a string", (option_schema.check("x", rules,
      "retry option")))
  end)

  it("is about the first in the order of the names, whatever the order in the table", function()
    for _ = 1, 20 do
      local given = {}
      for _, name in ipairs { "zz", "size", "mode", "name" } do given[name] = {} end
      assert.equal("mode", select(2, option_schema.check(given, rules, "option")))
    end
  end)

  it("quotes a value only where it is one of a few", function()
    assert.is_nil((option_schema.check({ size = "s3cret" }, rules, "option")):find("s3cret", 1, true))
  end)
end)

-- What each takes, and what it says of a misspelt name and of a value that will not do.
describe("every place that takes options", function()
  local sim, client, journal, path

  before_each(function()
    sim = purser.sim.new {}
    local owner = sim:account { role = "broker", balances = { USDT = "1000" } }
    path = os.tmpname()
    journal = assert(purser.journal.open { sqlite = path })
    client = assert(purser.new {
      base_url = "http://localhost", transport = sim:transport(), api_key = owner.api_key,
      secret_key = owner.secret_key, clock = function() return sim:now() end, journal = journal,
    })
  end)

  after_each(function()
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  end)

  local function new(options)
    options.base_url, options.api_key, options.secret_key = "http://localhost", "a", "b"
    return purser.new(options)
  end

  local function check(kind, parameter, words, value, err)
    assert.is_nil(value)
    assert.same({ kind, "not_sent" }, { err.kind, err.outcome }, err.message)
    assert.equal(parameter, err.parameter)
    assert.is_truthy(err.message:find(words, 1, true), err.message)
    assert.same({}, sim:requests())
  end

  it("returns an error of kind config where something is made of them", function()
    local function config(words, ...) check("config", nil, words, ...) end
    config('option "timeout" is not known (did you mean "timeout_ms"?)', new { timeout = 1 })
    config('option "timeout_ms" must be a whole number of milliseconds from 1 to 3600000', new { timeout_ms = 0 })
    config('option "recv_window" must be a whole number from 1 to 60000', new { recv_window = 70000 })
    config('option "profile" is a number; it must be a string or table', new { profile = 5 })
    config("options are given in a table, not as a nil", purser.new())
    config('hook "afer" is not known (did you mean "after"?)', new { hooks = { afer = print } })
    config('retry option "atempts" is not known (did you mean "attempts"?)', new { retry = { atempts = 1 } })
    config('retry option "attempts" must be a whole number from 1', new { retry = { attempts = 0 } })
    config('rate_limit option "pool" is not known (did you mean "pools"?)', new { rate_limit = { pool = {} } })
    config('rate_limit option "when_full" is "wit"; it must be wait or reject', new { rate_limit = {
      when_full = "wit" } })
    config('profile convention "ordr" is not known (did you mean "order"?)', new { profile = { ordr = "sent" } })
    config('profile convention "encoding" is "hx"; it must be hex or base64', new { profile = { encoding = "hx" } })
    config('guard rail "no_duplicate" is not known (did you mean "no_duplicates"?)',
      new { guard = { no_duplicate = true } })
    config('guard rail "no_duplicates" is a number; it must be a boolean', new { guard = { no_duplicates = 1 } })
    config('spending_limit of USDT: entry "perod_ms" is not known (did you mean "period_ms"?)',
      new { guard = { spending_limit = { USDT = { amount = "1", perod_ms = 3600000 } } } })
    config('entry "period_ms" must be a whole number of milliseconds from 1000',
      new { guard = { spending_limit = { USDT = { amount = "1", period_ms = 10 } } } })
    config('journal option "sqlit" is not known (did you mean "sqlite"?)', purser.journal.open { sqlit = path })
    config('journal option "lock_timeout_ms" must be a whole number of milliseconds from 0 to 2147483647',
      purser.journal.open { sqlite = path, lock_timeout_ms = 0.5 })
    config('postgresql option "port" is a string; it must be a whole number from 1 to 65535',
      purser.journal.open { postgresql = { port = "5432" } })
    config('payouts option "que" is not known (did you mean "queue"?)', purser.payouts.new { que = "x" })
    config('payouts option "lease_ms" must be a whole number of milliseconds from 1',
      purser.payouts.new { client = client, journal = journal, lease_ms = 0 })
    config('reconcile option "pol_ms" is not known (did you mean "poll_ms"?)',
      purser.payouts.new { client = client, journal = journal, reconcile = { pol_ms = 5 } })
    config("payouts options are given in a table, not as a nil", purser.payouts.new())
    config('fleet option "vualt" is not known (did you mean "vault"?)',
      purser.fleet.new { client = client, vualt = print })
  end)

  it("returns an error of kind argument, with the option as its parameter, where something is done", function()
    local function argument(name, words, ...) check("argument", name, words, ...) end
    local wallet = client.wallet
    argument("timeout", 'option "timeout" is not known', wallet:coins(nil, { timeout = 1 }))
    argument("timeout_ms", 'option "timeout_ms" is a string; it must be', wallet:coins(nil, { timeout_ms = "1" }))
    argument("recv_window", "from 1 to 60000", wallet:coins(nil, { recv_window = 60001 }))
    argument("lag", 'reconcile option "lag" is not known', client:reconcile({}, { lag = 1 }))
    argument("wait", 'reconcile option "wait" is a number; it must be a boolean', client:reconcile({}, { wait = 0 }))
    argument("gaol", 'option "gaol" is not known (did you mean "goal"?)', wallet:wait_deposit({}, { gaol = "seen" }))
    argument("goal", "one of credited, final, seen", wallet:wait_deposit({}, { goal = "" }))
    argument("since", "time in epoch milliseconds", wallet:wait_withdrawal("1", { since = 1700000000 }))
    argument("first_ms", "whole number of milliseconds from 1", client:wait_for { first_ms = 0 })
    argument("polls", 'parameter "polls" is not known', wallet:watch_deposits({ polls = 1 }):next())
    argument("since", "time in epoch milliseconds", wallet:watch_deposits({ since = 1 }):next())
    argument("from", 'parameter "from" must be a time in epoch milliseconds', wallet:each_deposit({ from = 1 }):next())
    argument("late_arrival_ms", "whole number of milliseconds from 0",
      wallet:each_deposit({ late_arrival_ms = -1 }):next())
    argument("onyl", 'parameter "onyl" is not known (did you mean "only"?)', wallet:convert_all { onyl = {} })
    argument("except", 'parameter "except" is a string; it must be a table', wallet:convert_all { except = "MX" })
    argument("adress", 'did you mean "address"', wallet:plan_withdraw { adress = "x" })
    argument("max_age_ms", "whole number of milliseconds", wallet:plan_withdraw { max_age_ms = "1" })
    argument("coins", 'did you mean "coin"', wallet:plan_create_deposit_address { coins = "USDT" })
    local fleet = assert(purser.fleet.new { client = client, vault = function() end, accounts = {} })
    argument("max_age", 'did you mean "max_age_ms"', fleet:rotate { max_age = 1 })
    argument("overlap_ms", "whole number of milliseconds from 0", fleet:retire { overlap_ms = -1 })
    argument("to", 'option "to" is "nowhere"; it must be parent', fleet:sweep { to = "nowhere" })
    argument("asset", 'option "asset" is a number; it must be a string', fleet:distribute { asset = 5 })
  end)

  it("raises where nobody would look at a second result", function()
    assert.error_matches(function() purser.rate_limit { pool = {} } end, 'rate_limit option "pool" is not known')
    assert.error_matches(function() purser.sim.new { sead = 1 } end,
      'purser.sim: option "sead" is not known %(did you mean "seed"%?%)')
    assert.error_matches(function() purser.sim.new { clock = "sundial" } end, "it must be virtual or real")
    assert.error_matches(function() sim:fault { kind = "reset", tims = 1 } end, 'did you mean "times"')
  end)
end)

describe("a program whose options are right", function()
  it("never loads what reports on them", function()
    local command = [[
      local client = assert(require("purser").new { base_url = "http://localhost", api_key = "a", secret_key = "b",
        retry = { attempts = 2 }, rate_limit = { pools = { ip = { capacity = 5 } } },
        hooks = { after = function() end },
        transport = { send = function() return { status = 200, body = "[]", headers = "" } end } })
      assert(client.wallet:coins(nil, { timeout_ms = 5 }))
      assert(not package.loaded["purser.util.option_messages"] and not package.loaded["purser.util.suggest"])
    ]]
    local pipe = assert(io.popen(("%s -e '%s' 2>&1"):format(os.getenv "LUA" or "lua5.4", command)))
    local text = pipe:read "*a"
    pipe:close()
    assert.equal("", text)
  end)
end)

describe("purser.new", function()
  local function rejection(options)
    local given = { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s" }
    for name, value in pairs(options) do given[name] = value end
    local client, err = purser.new(given)
    if client then client:close() end
    return err and err.message
  end

  it("rejects what only a transport can do next to a transport", function()
    local given = {
      pinned_key = "sha256//x", ca_file = "/a", ca_path = "/a", ca_pem = "-----BEGIN ", proxy = "",
      max_response_bytes = 2048, connect_timeout_ms = 100,
    }
    local transport = { send = function() end }
    for name, value in pairs(given) do
      local message = rejection { transport = transport, [name] = value }
      assert.matches('"' .. name .. '" is the transport\'s', message, 1, true)
    end
    assert.is_nil(rejection { transport = transport, timeout_ms = 100, user_agent = "x" })
  end)

  it("takes for this machine what no name server is asked about", function()
    for _, host in ipairs { "127.0.0.1", "127.255.255.255", "127.0.10.200", "localhost", "LocalHost", "[::1]" } do
      assert.is_nil(rejection { base_url = "http://" .. host .. ":8080" }, host)
    end
    for _, host in ipairs { "127.0.0.256", "127.999.999.999", "127.0.0.01", "127.00.0.1", "127.1", "127.0.0.1.evil",
      "127.0.0.1x", "localhost.evil", "[::2]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "127.0.0.1000" } do
      assert.matches("another machine", rejection { base_url = "http://" .. host .. ":8080" }, 1, true)
      assert.is_nil(rejection { base_url = "http://" .. host .. ":8080", allow_insecure = true }, host)
    end
  end)

  it("rejects a proxy that could read the key, unless it is allowed", function()
    for _, base in ipairs { "http://127.0.0.1:1", "HTTP://localhost" } do
      assert.matches('^"proxy" would see the key', rejection { base_url = base, proxy = "http://127.0.0.1:3128" })
      assert.is_nil(rejection { base_url = base, proxy = "http://127.0.0.1:3128", allow_insecure = true })
      assert.is_nil(rejection { base_url = base, proxy = "" })
    end
    assert.is_nil(rejection { base_url = "https://example.org", proxy = "http://127.0.0.1:3128" })
  end)
end)
