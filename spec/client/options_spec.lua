-- SPDX-License-Identifier: MIT
-- The options of purser.new, and one way to check options everywhere: what is rejected, in which words, and how it is
-- given: docs/write/outcomes.md.

local client_options = require "purser.client.options"
local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

-- Returns what each takes, and what it says of a misspelt name and of a value that will not do.
describe("every place that takes options", function()
  local sim, client, journal

  before_each(function()
    sim = purser.sim.new {}
    local owner = sim:account { role = "broker", balances = { USDT = "1000" } }
    journal = own.begin()
    client = simulated.client(sim, owner, { journal = journal, account = "acme" })
  end)
  after_each(own.finish)

  local function new(options)
    options.base_url, options.api_key, options.secret_key = "http://localhost", "a", "b"
    return purser.new(options)
  end

  local function check(kind, option, words, value, err)
    assert.is_nil(value)
    assert.same({ kind, "not_sent" }, { err.kind, err.outcome }, err.message)
    assert.equal(option, err.option or err.parameter)
    assert.is_truthy(tostring(err):find(words, 1, true), tostring(err))
    assert.matches("^spec/client/options_spec.lua:%d+: ", tostring(err))
    assert.same({}, sim:requests())
  end

  it("returns an error of kind config where something is made of them", function()
    local function config(words, value, err) check("config", err and err.option, words, value, err) end
    config('option "timeout" is not known (did you mean "timeout_ms"?)', new { timeout = 1 })
    config('option "timeout_ms" is 0; it must be a whole number of milliseconds from 1 to 3600000',
      new { timeout_ms = 0 })
    config('option "recv_window" is 70000; it must be a whole number from 1 to 60000', new { recv_window = 70000 })
    config('option "profile" is a number; it must be a string or table', new { profile = 5 })
    config("options are given as a nil; give a table", purser.new())
    config('hook "afer" is not known (did you mean "after"?)', new { hooks = { afer = print } })
    config('retry option "atempts" is not known (did you mean "attempts"?)', new { retry = { atempts = 1 } })
    config('retry option "attempts" is 0; it must be a whole number from 1', new { retry = { attempts = 0 } })
    config('rate_limit option "pool" is not known (did you mean "pools"?)', new { rate_limit = { pool = {} } })
    config('rate_limit option "when_full" is "wit"; it must be wait or reject', new { rate_limit = {
      when_full = "wit" } })
    config('profile convention "time_pth" is not known (did you mean "time_path"?)',
      new { profile = { time_pth = "X" } })
    config('profile convention "object_body" is "form"; it must be object or query',
      new { profile = { object_body = "form" } })
    config('guard rail "no_duplicate" is not known (did you mean "no_duplicates"?)',
      new { guard = { no_duplicate = true } })
    config('guard rail "no_duplicates" is a number; it must be a boolean', new { guard = { no_duplicates = 1 } })
    config('spending_limit of USDT: entry "perod_ms" is not known (did you mean "period_ms"?)',
      new { guard = { spending_limit = { USDT = { amount = "1", perod_ms = 3600000 } } } })
    config('entry "period_ms" is 10; it must be a whole number of milliseconds from 1000',
      new { guard = { spending_limit = { USDT = { amount = "1", period_ms = 10 } } } })
    config('journal option "sqlit" is not known (did you mean "sqlite"?)', purser.journal.open { sqlit = own.path })
    config('journal option "lock_timeout_ms" is 0.5; it must be a whole number of milliseconds from 0 to 2147483647',
      purser.journal.open { sqlite = own.path, lock_timeout_ms = 0.5 })
    config('postgresql option "port" is a string; it must be a whole number from 1 to 65535',
      purser.journal.open { postgresql = { port = "5432" } })
    config('payouts option "que" is not known (did you mean "queue"?)', purser.payouts.new { que = "x" })
    config('payouts option "lease_ms" is 0; it must be a whole number of milliseconds from 1',
      purser.payouts.new { client = client, journal = journal, lease_ms = 0 })
    config("payouts options are given as a nil; give a table", purser.payouts.new())
    config('fleet option "vualt" is not known (did you mean "vault"?)',
      purser.fleet.new { client = client, vualt = print })
  end)

  it("returns an error of kind argument, with the name of the option, where something is done", function()
    local function argument(name, words, ...) check("argument", name, words, ...) end
    local wallet = client.wallet
    argument("timeout", 'option "timeout" is not known', wallet:coins(nil, { timeout = 1 }))
    argument("timeout_ms", 'option "timeout_ms" is a string; it must be', wallet:coins(nil, { timeout_ms = "1" }))
    argument("recv_window", "from 1 to 60000", wallet:coins(nil, { recv_window = 60001 }))
    argument("lag", 'reconcile option "lag" is not known', client:reconcile({}, { lag = 1 }))
    argument("wait", 'reconcile option "wait" is a number; it must be a boolean', client:reconcile({}, { wait = 0 }))
    argument("gaol", 'option "gaol" is not known (did you mean "goal"?)',
      wallet:wait_withdrawal("1", { gaol = "sent" }))
    argument("goal", "one of cancelled, final, sent, success", wallet:wait_withdrawal("1", { goal = "" }))
    argument("since", "time in epoch milliseconds", wallet:wait_withdrawal("1", { since = 1700000000 }))
    argument("first_ms", "whole number of milliseconds from 1", client:wait_for { first_ms = 0 })
    argument("from", 'parameter "from" is 1; it must be a time in epoch milliseconds',
      wallet:each_deposit({ from = 1 }):next())
    argument("late_arrival_ms", "whole number of milliseconds from 0",
      wallet:each_deposit({ late_arrival_ms = -1 }):next())
    argument("onyl", 'parameter "onyl" is not known (did you mean "only"?)', wallet:convert_all { onyl = {} })
    argument("except", 'parameter "except" is no plain list of texts; it must be a list such as',
      wallet:convert_all { except = "MX" })
    argument("adress", 'did you mean "address"', wallet:plan_withdraw { adress = "x" })
    argument("max_age_ms", "whole number of milliseconds", wallet:plan_withdraw { max_age_ms = "1" })
    argument("coins", 'did you mean "coin"', wallet:plan_create_deposit_address { coins = "USDT" })
    local fleet = assert(purser.fleet.new { client = client, vault = function() end, accounts = {} })
    argument("max_age", 'did you mean "max_age_ms"', fleet:rotate { max_age = 1 })
    argument("overlap_ms", "whole number of milliseconds from 0", fleet:retire { overlap_ms = -1 })
    argument("to", 'option "to" is "nowhere"; it must be parent', fleet:sweep { to = "nowhere", name = "x" })
    argument("asset", 'option "asset" is a number; it must be a string', fleet:distribute { asset = 5 })
  end)

  it("is an error of every constructor, and raised by a fault that a test asks for", function()
    assert.matches('rate_limit option "pool" is not known', tostring(select(2, purser.rate_limit { pool = {} })))
    assert.matches('purser.sim: option "sead" is not known %(did you mean "seed"%?%)',
      select(2, purser.sim.new { sead = 1 }))
    assert.matches("it must be virtual or real", select(2, purser.sim.new { clock = "sundial" }))
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
      assert(not package.loaded["purser.client.util.suggest"])
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

  it("looks for the authorities before the first call", function()
    for _, path in ipairs { "/no/such/folder", "Makefile" } do
      assert.equal(('option "ca_path": %s is no folder'):format(path), rejection { ca_path = path })
    end
    assert.is_nil(rejection { ca_path = "/etc" })
    assert.equal('option "ca_file": /no/such/file cannot be read', rejection { ca_file = "/no/such/file" })
    assert.matches("a file is named by ca_file", rejection { ca_pem = "Makefile" }, 1, true)
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

describe("a base URL", function()
  it("is split into its origin, as it was given, and its path", function()
    for url, parts in pairs {
      ["https://api.example.org"] = { "https://api.example.org", "" },
      ["https://api.example.org/"] = { "https://api.example.org", "" },
      ["HTTPS://Api.Example.org:8443/v1/x//"] = { "https://Api.Example.org:8443", "/v1/x" },
      ["https://[2001:db8::1]:443/a%20b"] = { "https://[2001:db8::1]:443", "/a%20b" },
      ["http://127.0.0.1:65535"] = { "http://127.0.0.1:65535", "" },
    } do
      assert.same(parts, { client_options.split_url(url, false) })
    end
  end)

  it("that is none, or that hides something, is rejected with what to do", function()
    for url, words in pairs {
      ["https://a b"] = "holds a blank", ["https://a\n"] = "holds a blank", ["https://a\0.example"] = "control",
      ["ftp://a"] = "not that of a service", ["https://"] = "not that of a service", ["https:a"] = "not that of a",
      ["https://a?b=c"] = "not that of a service", ["https://a/#b"] = "not that of a service", [""] = "not that",
      ["https://api.mexc.com@evil.example"] = "a user name or password", ["https://u:p@a"] = "a user name or password",
      ["https://a:"] = "a host or port", ["https://a:0"] = "a host or port", ["https://a:65536"] = "a host or port",
      ["https://a:80:90"] = "a host or port", ["https://a:8x"] = "a host or port", ["https://:80"] = "a host or port",
      ["https://[::1"] = "a host or port", ["https://[::1]x"] = "a host or port",
      ["https://a/\195\164"] = "beyond ASCII", ["http://a"] = "to another machine",
    } do
      local origin, message, hint = client_options.split_url(url, false)
      assert.is_nil(origin, url)
      assert.matches(words, message, 1, true)
      assert.is_string(hint)
    end
    assert.equal("allow_insecure", (select(4, client_options.split_url("http://a", false))))
    assert.equal("http://a", (client_options.split_url("http://a", true)))
  end)
end)

describe("the options of a client", function()
  it("fit up to their bounds, and no further", function()
    for name, bounds in pairs { recv_window = { 1, nil, 0 }, timeout_ms = { 1, 3600000, 0, 3600001 },
      connect_timeout_ms = { 1, 3600000, 0, 3600001 }, max_response_bytes = { 1024, 2 ^ 31, 1023, 2 ^ 31 + 1 },
      visibility_delay_ms = { 0, 3600000, -1, 3600001 } } do
      for i = 1, 4 do
        local message, option = client_options.check { [name] = bounds[i] }
        assert.equal(i > 2 and bounds[i] ~= nil, message ~= nil, name .. " " .. tostring(bounds[i]))
        assert.equal(message and name, option)
      end
    end
  end)

  it("of each kind have a rule of their own, which pages are held against", function()
    local of = client_options.vocabulary
    assert.same({ "string", "table", "function" }, { of.client.base_url, of.call.info, of.hooks.wait })
    assert.is_nil(of.client.info or of.call.base_url)
  end)

  it("take a journal that is one", function()
    local message, option, hint = client_options.check { journal = {} }
    assert.same({ 'option "journal" is no journal', "journal" }, { message, option })
    assert.matches("purser.journal.open", hint)
    assert.is_nil((client_options.check { journal = { begin = print } }))
  end)

  it("say of a base URL what one looks like", function()
    for url, words in pairs { ["https://a?b=c"] = "^it must begin with https", ["a"] = "^it must begin with https",
      ["ftp://a"] = "^it must look like https://host" } do
      assert.matches(words, (select(3, client_options.split_url(url))))
    end
  end)
end)

describe("where a key comes from", function()
  it("is one place", function()
    for _, case in ipairs {
      { { secret_key = "hidden", secret_key_file = "f" }, '"secret_key" and "secret_key_file" are given together' },
      { { secret_key_file = "f", secret_key_env = "E" }, '"secret_key_file" and "secret_key_env" are given together' },
      { { credentials = print, api_key = "hidden" }, '"credentials" is given together with a key' },
      { { credentials = print, secret_key_env = "E" }, '"credentials" is given together with a key' },
    } do
      local message = client_options.check(case[1])
      assert.equal(case[2], message)
    end
    for _, given in ipairs { { credentials = print }, { secret_key = "s", api_key = "k" }, { secret_key_env = "E" } } do
      assert.is_nil((client_options.check(given)))
    end
  end)
end)
