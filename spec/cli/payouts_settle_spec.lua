-- SPDX-License-Identifier: MIT
-- `purser payouts settle` and `drop`: what a person says of a payment, or of all that is undecided, is kept with who
-- said so; no other payment is settled than the screen showed.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("a person's word on payments", function()
  local at, journal, client

  before_each(function()
    at = at_shell({ "--seed", "31" }, { role = "main", balances = { USDT = "5000" } })
    journal = at.file()
    client = assert(purser.new { api_key = at.keys.PURSER_API_KEY, secret_key = at.keys.PURSER_SECRET_KEY,
      base_url = at.url })
  end)
  after_each(function()
    client:close()
    at.stop()
  end)

  local function params(amount) return { coin = "USDT", netWork = "TRX", address = TRON, amount = amount } end
  local function applied() return (select(2, at.received "wallet.withdraw")) end

  -- Opens the queue. Returns what fn(queue, journal) returns.
  local function with_queue(fn)
    local opened = assert(purser.journal.open { sqlite = journal })
    local payer = assert(purser.new { api_key = at.keys.PURSER_API_KEY, secret_key = at.keys.PURSER_SECRET_KEY,
      base_url = at.url, journal = opened, account = "treasury" })
    local result = fn(assert(purser.payouts.new { client = payer, journal = opened, queue = "june" }), opened)
    payer:close()
    opened:close()
    return result
  end

  local LOST = "UPDATE purser_calls SET attempt = '1', tries = '1', state = 'undecided', stage = 'undecided', "
    .. "message = 'nothing decides', sent_at = $1, first_sent_at = $1, recv_window = '5000' WHERE payment = $2"

  -- Leaves payments of 21, 22 ... USDT undecided, as calls whose answers were lost ten minutes ago.
  local function leave_undecided(...)
    local keys = { ... }
    with_queue(function(queue, opened)
      for i, key in ipairs(keys) do
        assert(queue:add(key, "wallet.withdraw", params(tostring(20 + i))))
        assert(opened.db:rows(LOST, ("%013d"):format(core.now_ms() - 600000), key))
      end
    end)
  end

  local function found(key) return with_queue(function(queue) return assert(queue:find(key)) end) end
  local function words_on(key)
    local id = found(key).id
    return with_queue(function(_, opened)
      return assert(opened.db:rows("SELECT word, person FROM purser_words WHERE call = $1", id))
    end)
  end
  local function line_of(...)
    local words = { "payouts", ... }
    for _, word in ipairs { "--queue", "june", "--journal", journal } do words[#words + 1] = word end
    return words
  end
  local function payouts(...) return at.run(unpack(line_of(...))) end

  it("ends all that is undecided by one look; what was made all the same is found by its id", function()
    leave_undecided("a", "b", "c")
    local made = params "22"
    made.withdrawOrderId = found "b".client_id
    assert(client.wallet:withdraw(made))
    local before = applied()
    local _, _, err = payouts("run", "--yes")
    assert.matches("where none was made: `purser payouts settle --all not_done --queue june", err, 1, true)
    local code, out
    code, out, err = payouts("settle", "--all", "not_done", "--yes", "--by", "alice")
    assert.equal(0, code, err)
    for key, amount in pairs { a = "21", b = "22", c = "23" } do
      assert.matches(("%s +%s  USDT +TRX +%s\n"):format(key, amount, TRON), out)
      assert.same({ { word = "not_done", person = "alice" } }, words_on(key))
      assert.same({ "waiting", "alice said that it was not executed" }, { found(key).state, found(key).message })
    end
    assert.matches('undecided: 3 payments, the first "a": nothing decides\n', out, 1, true)
    assert.matches("3 of 3 wait again; next: purser payouts run --queue june", err, 1, true)
    assert.equal(before, applied())
    assert.equal(0, (payouts("run", "--yes", "--allow-odd")))
    assert.equal(before + 2, applied())
    code, out, err = payouts("settle", "--all", "not_done", "--yes", "--by", "alice")
    assert.same({ 0, "" }, { code, out })
    assert.matches("no payment of the queue is undecided", err, 1, true)
    at.rejected(line_of("drop", "b", "--by", "alice"), 'payment "b" is done') -- before any question
  end)

  it("asks with the sum, and changes nothing without a yes or a terminal", function()
    leave_undecided("a", "b")
    local words = line_of("settle", "--all", "not_done", "--by", "alice")
    local code, _, err = at.run(unpack(words))
    assert.equal(2, code)
    assert.matches("there is no terminal to confirm it on; give --yes", err, 1, true)
    local shown
    code, shown = command.run_on_terminal(words, at.keys, "no\n")
    assert.equal(2, code, shown)
    assert.matches("Type yes if none was made of 2 payments, 43 USDT: ", shown, 1, true)
    code, shown = command.run_on_terminal(line_of("settle", "a", "not_done", "--by", "alice"), at.keys, "no\n")
    assert.equal(2, code, shown)
    assert.matches("21 USDT to " .. TRON, shown, 1, true)
    assert.same({ "undecided", "undecided" }, { found "a".state, found "b".state })
    code, shown = command.run_on_terminal(line_of("settle", "a", "not_done", "--by", "alice"), at.keys, "no\n")
    assert.equal(2, code, shown)
    for name, text in pairs { payment = "a", state = "undecided", message = "nothing decides" } do
      assert.matches(("\n +%s +| %s"):format(name, text), shown)
    end
  end)

  it("leaves out what became undecided after the screen, and another attempt of what it showed", function()
    leave_undecided("a", "b", "c")
    with_queue(function(_, opened)
      assert(opened.db:rows "UPDATE purser_calls SET stage = 'waiting' WHERE payment = 'c'")
    end)
    local screen = at.file ""
    local between = ([[local opened = assert(require("purser").journal.open { sqlite = "%s" })
      assert(opened.db:rows "UPDATE purser_calls SET attempt = '2' WHERE payment = 'a'")
      assert(opened.db:rows "UPDATE purser_calls SET stage = 'undecided' WHERE payment = 'c'")
      opened:close()]]):format(journal)
    local line = command.line(line_of("settle", "--all", "not_done", "--by", "alice"), at.keys)
    local code, out = command.shell(("(until grep -q 'Type yes' %s; do sleep 0.02; done; %s -e %s; echo yes) "
      .. "| script -q -e -f -c %s %s"):format(screen, os.getenv "LUA" or "lua5.4", command.quote(between),
      command.quote(line), screen))
    assert.equal(4, code, out)
    assert.matches('left undecided: 2 payments, the first "a": it became undecided after the list was shown', out, 1,
      true)
    assert.matches("1 of 2 wait again", out, 1, true)
    assert.same({ "undecided", "waiting", "undecided" }, { found "a".state, found "b".state, found "c".state })
    assert.is_nil(files.read(screen):match "\nc +23 ")
  end)

  it("takes not_done alone for all, since a payment that was made needs its record", function()
    leave_undecided "a"
    at.rejected(line_of("settle", "--all", "done", "--by", "alice"), "a payment that was made needs its record")
    for _, words in ipairs { {}, { "a" }, { "a", "done" }, { "a", "not_done", "r-1" },
      { "a", "not_done", "--all", "not_done" } } do
      at.rejected(line_of("settle", "--by", "alice", unpack(words)),
        "give KEY done with the id that the service shows, KEY not_done, or --all not_done")
    end
    assert.equal("undecided", found "a".state)
  end)

  it("is kept of one payment with who said so, and nobody says nothing", function()
    leave_undecided("a", "b", "c")
    at.keys.USER = false
    at.rejected(line_of("drop", "a", "--yes"),
      "payouts: the name of the person is missing, as USER is not set; give --by NAME")
    assert.equal(0, (payouts("settle", "a", "not_done", "--yes", "--by", "alice")))
    local code, _, err = payouts("settle", "b", "done", "r-1", "--yes", "--by", "bob")
    assert.equal(0, code, err)
    assert.is_nil(core.file_mode "r-1") -- the id names a record, and no file of --record
    assert.same({ { word = "not_done", person = "alice" } }, words_on "a")
    assert.same({ { word = "done", person = "bob" } }, words_on "b")
    assert.equal(0, (payouts("drop", "a", "--yes", "--by", "carol")))
    assert.same({ "dropped", "carol gave it up" }, { found "a".state, found "a".message })
  end)
end)
