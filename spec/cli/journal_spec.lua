-- SPDX-License-Identifier: MIT
-- `purser journal`: what was recorded, and what became of calls that are open.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local journal_command = require "purser.cli.journal"
local purser = require "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRANSFER = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT" }

describe("purser journal", function()
  local at, path, given

  setup(function()
    at = at_shell({ "--seed", "7" }, { role = "main", balances = { USDT = "100" } })
    path = at.folder() .. "/journal.db"
    given = { "--journal", path, "--account", "treasury" }
  end)
  teardown(function() at.stop() end)

  local function transfer(amount)
    local words = { unpack(TRANSFER) }
    for _, word in ipairs { "--amount", amount, "--yes", unpack(given) } do words[#words + 1] = word end
    return at.run(unpack(words))
  end

  local function journal(...)
    local words, of_client = { "journal", ... }, ... == "recover"
    for _, word in ipairs(of_client and given or { given[1], given[2] }) do words[#words + 1] = word end
    return at.run(unpack(words))
  end

  local function entries(...)
    local code, out, err = journal("list", "--json", ...)
    assert.equal(0, code, err)
    return core.decode(out)
  end

  it("lists what was done and rejected, oldest first, of a state, up to a number, with a filter", function()
    assert.equal(0, (transfer "1.50"))
    assert.equal(1, (transfer "100000")) -- the balance does not cover it
    assert.equal(0, (transfer "2"))
    local list = entries()
    assert.same({ { "done", "1.50" }, { "rejected", "100000" }, { "done", "2" } }, {
      { list[1].state, list[1].params.amount }, { list[2].state, list[2].params.amount },
      { list[3].state, list[3].params.amount } })
    assert.equal("wallet.transfer", list[1].operation)
    assert.equal(1, #entries("--state", "rejected"))
    assert.equal("1.50", entries("--limit", "1")[1].params.amount)
    assert.equal("2", entries("--filter", "amount=2")[1].params.amount)
    assert.same({}, entries("--state", "open"))
    local _, plain = journal "list"
    assert.same({ 0, plain, "" }, { at.run("journal", "list", "--journal", "sqlite:" .. path) })
    local code, out = journal("list", "--csv", "--filter", "state=done")
    assert.equal(0, code)
    assert.matches("^sent_at,state,operation,key,amount,asset,to,record_id,id\n"
      .. "%d+,done,wallet.transfer,,1.50,USDT,,%w+,%w+\n%d+,done,[^\n]*,2,[^\n]*\n$", out)
    local cli, seen = require "purser.cli.journal", {}
    for _, params in ipairs { { address = "T1", toAccount = "u" }, { toAccount = "u", subAccount = "s" },
      { subAccount = "s" } } do
      seen[#seen + 1] = cli.record_of({ state = "done", intent = { params = params } }).to
    end
    assert.same({ "T1", "u", "s" }, seen)
    local id = list[2].id
    code, out = journal("show", id)
    assert.equal(0, code)
    assert.same({ id, "rejected" }, { core.decode(out).id, core.decode(out).state })
    assert.matches("balance", core.decode(out).message)
  end)

  it("shows the call that a key stands for, and a call of other content under that key names the command", function()
    local function pay(amount)
      return at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
        "--amount", amount, "--yes", "--key", "sweep-1", unpack(given))
    end
    assert.equal(0, (pay "1"))
    assert.equal("sweep-1", entries("--filter", "key=sweep-1")[1].key)
    local code, out = journal("show", "sweep-1")
    assert.same({ 0, "1" }, { code, core.decode(out).params.amount })
    local err
    code, out, err = pay "2"
    assert.same({ 2, "" }, { code, out })
    local shown, said = err:match "`purser (journal show %w+ %-%-journal %S+)`", {}
    for word in assert(shown, err):gmatch "%S+" do said[#said + 1] = word end
    code, out = at.run(unpack(said))
    assert.same({ 0, "1" }, { code, core.decode(out).params.amount })
  end)

  it("is of one account: a call without a name makes no file, and another name is told whose the journal is", function()
    local words = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
      "--amount", "1.25", "--yes", "--key", "named", "--journal", path }
    local none = at.folder() .. "/unnamed.db"
    local unnamed = { unpack(words) }
    unnamed[#unnamed] = none
    local code, _, err = command.run(unnamed, at.with { PURSER_ACCOUNT = false })
    assert.equal(2, code)
    assert.matches(none .. " is the journal of one account, and no account is named; give --account NAME", err, 1, true)
    assert.matches("Nothing was sent", err, 1, true)
    assert.is_true((select(3, core.file_mode(none))))
    code, _, err = command.run(words, at.with { PURSER_ACCOUNT = "other" })
    assert.equal(2, code)
    assert.matches(path .. ' is the journal of account "treasury", and this client is account "other"', err, 1, true)
    assert.matches("purser journal rename other", err, 1, true)
  end)

  it("is of one user of the service: keys of another send nothing, with --key as without", function()
    local other = assert(at.world:account { role = "main", balances = { USDT = "10" } })
    local mine = at.folder() .. "/mine.db"
    local function move(keys, ...)
      return command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
        "USDT", "--amount", "1", "--yes", "--journal", mine, "--profile", "mexc", "--base-url", at.url, ... }, keys)
    end
    local code, _, err = move(at.keys, "--key", "first")
    assert.equal(0, code, err)
    local swapped = at.with { PURSER_API_KEY = other.api_key, PURSER_SECRET_KEY = other.secret_key }
    for _, key in ipairs { "first", "second" } do
      code, _, err = move(swapped, "--key", key)
      assert.equal(2, code, err)
      assert.matches("journal.other_key", err, 1, true)
      assert.is_nil(err:find "OUTCOME UNKNOWN")
    end
    assert.equal(2, (move(swapped)))
  end)

  it("finds out what became of a call whose answer was lost", function()
    assert.same({ 0, "nothing is open\n", "" }, { journal "recover" })
    assert(at.world:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 })
    assert.equal(4, (transfer "3.25"))
    assert.equal("3.25", entries("--state", "unknown")[1].params.amount)
    local before, applied = at.received "wallet.transfer"
    local code, out, err = journal("recover", "--csv")
    assert.equal(0, code, err)
    assert.matches("^outcome,operation,amount,id,reason\ndone,wallet.transfer,3.25,%w+,", out)
    assert.same({ before, applied }, { at.received "wallet.transfer" }) -- to look sends no write call
    assert.same({}, entries("--state", "unknown"))
  end)

  it("ends with 4 while a call is open that nobody can look for", function()
    assert(at.world:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 })
    assert.equal(4, (transfer "4.5"))
    assert(at.world:fault { kind = "reject", operation = "wallet.transfer_history", code = "700007" })
    local code, out = journal "recover"
    assert.equal(4, code)
    assert.matches("wallet.transfer +4.5 ", out)
    assert.equal("4.5", entries("--state", "unknown")[1].params.amount)
    at.world:disarm()
    assert.equal(0, (journal "recover"))
  end)

  it("writes a list page by page for programs, with no more than two pages in memory", function()
    local long = at.folder() .. "/long.db"
    local opened = assert(purser.journal.open { sqlite = long })
    assert(opened.db:rows [[INSERT INTO purser_calls (id, operation, history, key, content, params, digest,
      state, sent_at) SELECT 'id' || i, 'wallet.transfer', '', '', '', '{"amount":"1"}', '', 'done',
      printf('%013d', i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)
      SELECT i FROM n)]])
    local class, written = getmetatable(opened).__index, {}
    local real, real_write, pages, most, asked = class.entries, report.write, setmetatable({}, { __mode = "k" }), 0, 0
    finally(function()
      class.entries, report.write, terminal.settings.has_output = real, real_write, nil
      opened:close()
    end)
    function report.write(text)
      written[#written + 1], terminal.settings.has_output = text, true
    end
    function class.entries(...)
      local page, err = real(...)
      collectgarbage()
      local count = 1
      for _ in pairs(pages) do count = count + 1 end
      pages[page], most, asked = true, math.max(most, count), asked + 1
      return page, err
    end
    local function list(options)
      options.action, options.journal, options.format = "list", long, options.format or "json"
      written, asked = {}, 0
      journal_command.actions.list.say(nil, options)
      return table.concat(written)
    end
    local lines = 0
    for line in list({ format = "csv" }):gmatch "[^\n]+" do
      assert.equal(lines > 0 and ("id%d"):format(lines) or "id", line:match "[^,]*$")
      lines = lines + 1
    end
    assert.same({ 1701, 4 }, { lines, asked })
    local decoded = core.decode(list {})
    assert.same({ 1700, "id1", "id1700" }, { #decoded, decoded[1].id, decoded[1700].id })
    assert.same({ 600, 2 }, { #core.decode(list { limit = 600 }), asked })
    local one = core.decode(list { filter = { { "id", "id1650" } } })
    assert.same({ 1, "id1650" }, { #one, one[1].id })
    assert.equal("[]\n", list { filter = { { "id", "none" } } })
    assert.equal(2, most)
    function class.entries(...)
      if asked == 1 then return nil, errors.config "disk I/O error" end
      asked = 1
      return real(...)
    end
    for _, format in ipairs { "csv", "json" } do
      assert.is_false((pcall(list, { format = format })))
      assert.is_nil(terminal.settings.has_output) -- what is not whole gets no file
    end
  end)

  it("keeps what a person says of a call that nobody finds out, and of the journal", function()
    assert(at.world:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 })
    assert.equal(4, (transfer "6.5"))
    local id = entries("--state", "unknown")[1].id
    at.rejected({ "journal", "settle", id, "not_done", "--by", "alice", "--journal", path },
      "the service may take the request yet")
    local opened = assert(purser.journal.open { sqlite = path })
    assert(opened.db:rows("UPDATE purser_calls SET sent_at = '1700000000000' WHERE id = $1", id))
    assert.equal(0, (at.run("journal", "settle", id, "not_done", "--by", "bob", "--journal", path)))
    local code, _, err = at.run("journal", "settle", id, "done", "r-1", "--by", "alice", "--journal", path)
    assert.same({ 0, "purser: " .. id .. " is done, as alice said\n" }, { code, err })
    local entry = assert(opened:entries { id = id })[1]
    assert.same({ "done", "alice said that it was executed" }, { entry.state, entry.message })
    local earlier = core.decode((select(2, journal("show", id)))).earlier
    assert.same({ "unknown", nil, "not_done", "bob", 1, 1700000000000 }, { earlier[1].state, earlier[1].person,
      earlier[2].state, earlier[2].person, earlier[2].number, earlier[2].sent_at })
    for _, case in ipairs { { "rename", "main", 'the journal is of the account "main"' },
      { "moved", "here.example", "the journal's service is at here.example" },
      { "vouch", ("ab"):rep(8), ('the key "%s" is of the account'):format(("ab"):rep(8)) } } do
      code, _, err = at.run("journal", case[1], case[2], "--by", "alice", "--journal", path)
      assert.same({ 0, ("purser: %s, as alice said\n"):format(case[3]) }, { code, err })
    end
    assert.same({ "main", "here.example" }, { opened:account() })
    at.rejected({ "journal", "limit", "USDT", "9", "--by", "alice", "--journal", path },
      "no such limit of USDT")
    assert(opened.db:rows [[INSERT INTO purser_limits (asset, period_ms, amount, person, at)
      VALUES ('USDT', '1000', '5', '', '1'), ('USDT', '2000', '5', '', '2')]])
    for _, amount in ipairs { "9", "none" } do
      code, _, err = at.run("journal", "limit", "USDT", amount, "--period", "2s", "--by", "alice",
        "--journal", path)
      assert.same({ 0, ('purser: the limit is %s USDT, as alice said\n'):format(amount) }, { code, err })
    end
    assert.same({ { amount = "9" }, { amount = "" } },
      (opened.db:rows "SELECT amount FROM purser_limits WHERE person = 'alice' ORDER BY at"))
    code, _, err = command.run({ "journal", "settle", id, "not_done", "--journal", path }, at.with { USER = "" })
    assert.same({ 2, "purser: journal: the name of the person is missing, as USER is not set; give --by NAME\n" },
      { code, err })
    assert(opened.db:rows("UPDATE purser_calls SET queue = 'june', payment = 'a' WHERE id = $1", id))
    opened:close()
    at.rejected({ "journal", "settle", id, "not_done", "--by", "alice", "--journal", path },
      "`purser payouts settle KEY not_done`")
  end)

  it("makes no journal to look at one, and says which is missing", function()
    local none = at.folder() .. "/none"
    for _, words in ipairs { { "list" }, { "show", "x" }, { "recover" } } do
      at.rejected({ "journal", words[1], words[2] or "--json", "--journal", none }, "there is no journal " .. none)
      assert.is_nil(core.file_mode(none))
    end
    at.rejected({ "journal", "list" }, "journal list needs --journal FILE (or PURSER_JOURNAL)")
    at.rejected({ "journal", "show", "--journal", path }, "missing argument 'id'")
    at.rejected({ "journal", "show", "nosuchid", "--journal", path },
      "no call and no payment has the id or the key nosuchid")
    local other = at.file "this is no database, and is longer than nothing"
    at.rejected({ "journal", "list", "--journal", other }, other
      .. " is another file, not the SQLite database of a journal; give that\n")
  end)
end)
