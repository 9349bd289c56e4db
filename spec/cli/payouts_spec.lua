-- SPDX-License-Identifier: MIT
-- `purser payouts`: a list of payments from the shell, each made once, also when the command is killed.
-- make test: 25 s, waits, on lua5.4 and luajit

local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("purser payouts", function()
  local service, keys, folder

  setup(function()
    service = require("service").start { "--seed", "11" }
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 700 " .. folder))
  end)
  teardown(function()
    os.execute("rm -rf " .. folder)
    service.stop()
  end)
  -- Each has an account whose history is empty: beside equal payments that it does not know a new journal leaves the
  -- first to a person, since no call of its own shows yet how this service shows ids.
  before_each(function()
    service.world:disarm()
    local account = assert(service.world:account { role = "main", balances = { USDT = "5000", BTC = "1" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url,
      PURSER_ACCOUNT = "treasury" }
  end)
  after_each(function() assert(service.world:verify()) end)

  local function purser(...) return command.run({ "payouts", ... }, keys) end

  -- The keys for a process that does not rest a minute before the first payment of a new journal.
  local function hasty()
    local variables = { LUA_INIT = command.SHORT_SLEEPS }
    for name, value in pairs(keys) do variables[name] = value end
    return variables
  end

  local function counts(name) return service.world:counts()[name] or { received = 0, applied = 0 } end
  local function list(name, text)
    local path = folder .. "/" .. name .. ".csv"
    files.write(path, text)
    return path
  end

  it("shows what would be paid, with fees, sums and the balance, and sends and keeps nothing", function()
    local path = list("plan", "\239\187\191key,coin,network,address,amount\r\ninv-1,USDT,trc20," .. TRON .. ",20\r\n"
      .. 'inv-2,usdt,"Tron(TRC20)",' .. TRON .. ",30.5\r\n")
    keys.PURSER_JOURNAL = folder .. "/only-named.journal"
    local code, out, err = purser("plan", path, "--operation", "wallet.withdraw")
    assert.equal(0, code, err)
    assert.is_nil(core.file_mode(keys.PURSER_JOURNAL))
    assert.matches("plan.csv: 2 payments to send (2 new)\n", out, 1, true)
    assert.matches("2  inv%-1%s+20  USDT%s+TRX%s+" .. TRON .. "\n", out)
    assert.matches("USDT%s+2%s+50%.5%s+2%s+52%.5%s+5000%s+covered\n", out)
    assert.matches("the fees are assumed to come on top of the amounts\n", out, 1, true)
    assert.equal(0, counts("wallet.withdraw").received)
  end)

  it("makes no journal for a list that is not there, or has no payment", function()
    local journal = folder .. "/none.journal"
    for path, said in pairs { [folder .. "/none.csv"] = "none.csv cannot be read",
      [list("head", "key,coin,network,address,amount\n")] = "head.csv has no payment" } do
      local code, out, err = purser(path, "--operation", "wallet.withdraw", "--journal", journal, "--yes")
      assert.same({ 2, "" }, { code, out })
      assert.matches(said, err, 1, true)
      assert.is_nil(core.file_mode(journal))
    end
  end)

  it("has an error for a queue that is to go on and holds no payment", function()
    local journal = folder .. "/empty.journal"
    assert(require("purser").journal.open { sqlite = journal }):close()
    local code, _, err = purser("run", "--queue", "june", "--journal", journal, "--yes")
    assert.equal(2, code)
    assert.matches('the queue "june" of .* holds no payment', err)
  end)

  it("exits with 3 while payments are blocked, and names them", function()
    local journal, guard = folder .. "/blocked.journal", folder .. "/guard.json"
    files.write(guard, '{"no_duplicates": true}')
    local payer, before = assert(service.world:account { role = "main", balances = { USDT = "50" } }),
      counts("wallet.transfer").applied
    local own = { PURSER_API_KEY = payer.api_key, PURSER_SECRET_KEY = payer.secret_key, PURSER_BASE_URL = service.url,
      PURSER_ACCOUNT = "treasury" }
    local given = { "--journal", journal, "--account", "treasury", "--yes" }
    local code, _, err = command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "3", unpack(given) }, own)
    assert.equal(0, code, err)
    local opened = assert(require("purser").journal.open { sqlite = journal })
    assert(opened.db:rows "UPDATE purser_calls SET state = 'undecided'")
    opened:close()
    local path = list("blocked", "key,fromAccountType,toAccountType,asset,amount\nb-1,SPOT,FUTURES,USDT,3\n")
    code, _, err = command.run({ "payouts", path, "--operation", "wallet.transfer", "--guard", guard, "--allow-equal",
      unpack(given) }, own)
    assert.equal(3, code, err)
    assert.matches('blocked: payment "b-1": an equal call is undecided', err, 1, true)
    code = command.run({ "payouts", "status", "--journal", journal, "--account", "treasury" }, own)
    assert.equal(3, code)
    assert.equal(before + 1, counts("wallet.transfer").applied)
  end)

  -- Makes a journal with a payment that waits, due in so many ms where that is given.
  local function leave(name, due_in)
    local journal, purser_module = folder .. "/" .. name .. ".journal", require "purser"
    local opened = assert(purser_module.journal.open { sqlite = journal })
    local client = assert(purser_module.new { api_key = keys.PURSER_API_KEY, secret_key = keys.PURSER_SECRET_KEY,
      base_url = service.url, journal = opened, account = "treasury" })
    assert(assert(purser_module.payouts.new { client = client, journal = opened }):add("l-1", "wallet.transfer",
      { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "4" }))
    if due_in then
      assert(opened.db:rows("UPDATE purser_calls SET due_at = $1", ("%013d"):format(core.now_ms() + due_in)))
    end
    client:close()
    opened:close()
    return journal
  end

  it("exits with 3 for the state of a list whose payments are not made yet", function()
    local code, out, err = purser("status", "--journal", leave "left", "--account", "treasury", "--json")
    assert.equal(3, code, err)
    local state = core.decode(out)
    assert.same({ 1, 0, 1 }, { state.total, state.done, state.waiting })
    assert.matches("3 while one waits", select(2, purser("status", "--help")), 1, true)
  end)

  it("exits with 3 where a run leaves a payment to a later one, and says when that is due", function()
    local code, _, err = purser("run", "--journal", leave("later", 3600000), "--account", "treasury", "--yes")
    assert.equal(3, code, err)
    assert.matches("1 wait, and the next is due at %d+%-%d%d%-%d%dT", err)
  end)

  it("leaves rows above a limit a day to a later run, and exits with 3; the same line goes on", function()
    local guard, journal = folder .. "/day.json", folder .. "/day.journal"
    files.write(guard, '{"spending_limit": {"USDT": {"amount": "30", "period_ms": 86400000}}}')
    local path = list("day", ("key,coin,network,address,amount\nd-1,USDT,TRX,%s,20\nd-2,USDT,TRX,%s,25\n"):format(TRON,
      TRON))
    local before = counts("wallet.withdraw").applied
    for _ = 1, 2 do
      local code, out, err = purser(path, "--operation", "wallet.withdraw", "--journal", journal, "--guard", guard,
        "--yes", "--json")
      assert.equal(3, code, out .. err)
      local state = core.decode(out)
      assert.same({ 1, 1, 0 }, { state.done, state.waiting, state.failed }, err)
    end
    assert.equal(before + 1, counts("wallet.withdraw").applied)
    files.write(guard, '{"spending_limit": {"USDT": {"amount": "500", "period_ms": 86400000}}}')
    local code, out, err = purser(path, "--operation", "wallet.withdraw", "--journal", journal, "--guard", guard,
      "--yes")
    assert.equal(3, code) -- a limit is raised by a person's word
    assert.matches("purser journal limit USDT AMOUNT", ((out .. err):gsub("%s+", " ")), 1, true)
    local kept = assert(require("purser").journal.open { sqlite = journal })
    assert(kept:limit({ asset = "USDT", amount = "500", by = "alice" }))
    kept:close()
    assert.equal(0, (purser(path, "--operation", "wallet.withdraw", "--journal", journal, "--guard", guard, "--yes")))
    assert.equal(before + 2, counts("wallet.withdraw").applied)
  end)

  it("pays no list that has a row above the network's maximum: a part is a row of its own", function()
    local path = list("huge", ("key,coin,network,address,amount\nh-1,USDT,TRX,%s,20\nh-2,USDT,TRX,%s,10000001\n")
      :format(TRON, TRON))
    local before = counts("wallet.withdraw").received
    local code, _, err = purser(path, "--operation", "wallet.withdraw", "--journal", folder .. "/huge.journal", "--yes")
    assert.equal(2, code)
    assert.matches('huge.csv:3: error: payment "h-2": the amount 10000001 is above the maximum of 10000000: pay it in '
      .. "parts, each a payment of its own\n", err, 1, true)
    assert.equal(before, counts("wallet.withdraw").received)
  end)

  it("shows the state of a queue while another process writes: it only reads", function()
    local journal = leave "locked"
    local other = assert(require("purser").journal.open { sqlite = journal })
    assert(other.db:rows "BEGIN IMMEDIATE")
    for _, action in ipairs { "status", "report" } do
      local code, _, err = purser(action, "--journal", journal, "--account", "treasury")
      assert.equal(action == "status" and 3 or 0, code, err)
    end
    assert(other.db:rows "ROLLBACK")
    other:close()
  end)

  it("names file, line and key of every mistake at once, and sends nothing", function()
    local path = list("wrong", "key,coin,network,address,amount\na,USDT,TRX," .. TRON .. ',"1,5"\nb,USDT,,' .. TRON
      .. ",20\nc,USDT,TRX," .. TRON .. ",20\n")
    local given = { path, "--operation", "wallet.withdraw", "--journal", folder .. "/wrong.journal", "--account",
      "treasury", "--yes" }
    local before = counts("wallet.withdraw").received
    local code, out, err = purser("run", unpack(given))
    assert.equal(2, code, err)
    for _, message in ipairs { 'wrong.csv:2: error: payment "a": the amount is no exact decimal: "1,5": ',
      'wrong.csv:3: error: payment "b": USDT travels on 7 networks',
      "2 of 3 payments have errors; nothing was sent" } do
      assert.is_truthy((out .. err):find(message, 1, true), message .. "\nis not in\n" .. out .. err)
    end
    code, out, err = purser("run", "--csv", unpack(given)) -- beside a result for programs the plan is for a person
    assert.same({ 2, "" }, { code, out })
    assert.matches("wrong.csv: 3 payments, 2 with errors\n", err, 1, true)
    files.write(path, "key,coin\na,USDT\na,BTC\n")
    code, out, err = purser("run", unpack(given))
    assert.equal(2, code, out)
    assert.is_truthy(err:find('wrong.csv:3: error: payment "a": line 2 has the same key', 1, true), err)
    assert.equal(before, counts("wallet.withdraw").received)
  end)

  it("pays rows that look like a mistake only after a question or with --allow-equal", function()
    local line, before = ",USDT,TRX," .. TRON .. ",20\n", counts("wallet.withdraw").received
    local path = list("odd", "key,coin,network,address,amount\no-1" .. line .. "o-2" .. line)
    local given = { "--operation", "wallet.withdraw", "--journal", folder .. "/odd.journal", "--account", "treasury" }
    local code, _, err = purser("plan", path, unpack(given))
    assert.equal(0, code, err)
    assert.matches("odd.csv:2: odd: 2 payments (lines 2-3): 2 equal rows: each pays 20 USDT to " .. TRON, err, 1, true)
    assert.matches("--allow-equal", err, 1, true)
    code, _, err = purser("run", path, "--yes", unpack(given))
    assert.equal(3, code)
    assert.matches("2 of 2 payments look like a mistake, so nothing was sent; if they are right, give --allow-equal",
      err, 1, true)
    assert.equal(before, counts("wallet.withdraw").received)
    local shown
    code, shown = command.run_on_terminal({ "payouts", path, unpack(given) }, keys, "no\n")
    assert.equal(2, code)
    assert.matches("warning +| 2 payments look like a mistake", shown)
    code, _, err = purser("run", path, "--yes", "--allow-equal", unpack(given))
    assert.equal(0, code, err)
    code, _, err = purser("run", path, "--yes", unpack(given)) -- both are known
    assert.equal(0, code, err)
    code, _, err = purser("run", path, "--yes", "--queue", "june", unpack(given))
    assert.equal(3, code)
    assert.matches("an equal payment was sent on", err, 1, true)
    files.write(path, "key,coin,network,address,amount\nO-1" .. line)
    code, _, err = purser("run", path, "--yes", "--allow-equal", unpack(given)) -- which the journal takes in no case
    assert.equal(2, code)
    assert.matches('the key "O-1" is that of payment "o-1" in other letters; the payment is not added', err, 1, true)
    assert.equal(before + 2, counts("wallet.withdraw").received)
  end)

  it("says how many lines begin with #", function()
    local path = list("comments", "# of July\nkey,coin,network,address,amount\n#1017,USDT,TRX," .. TRON .. ",20\n"
      .. "1018,USDT,TRX," .. TRON .. ",20\n")
    local code, _, err = purser("plan", path, "--operation", "wallet.withdraw")
    assert.equal(0, code, err)
    assert.matches("2 of the lines of %S+ begin with #, so they are no payments", err)
  end)

  it("takes no queue and no worker without a name: an empty variable would pay the list once more", function()
    local path = list("named", "key,fromAccountType,toAccountType,asset,amount\nn-1,SPOT,FUTURES,USDT,1\n")
    local before = counts("wallet.transfer").received
    local given = { "--operation", "wallet.transfer", "--journal", folder .. "/named.journal", "--account", "treasury" }
    for _, option in ipairs { "--queue", "--worker" } do
      local code, out, err = purser("run", path, "--yes", option, "", unpack(given))
      assert.same({ 2, "" }, { code, out })
      assert.matches("payouts: " .. option .. " is empty; give a name, or leave it out", err, 1, true)
    end
    assert.equal(before, counts("wallet.transfer").received)
    assert.is_nil(core.file_mode(folder .. "/named.journal"))
  end)

  it("names next commands that run as they are", function()
    local path = list("hints", "key,coin,network,address,amount\nh-1,USDT,TRX," .. TRON .. ",20\n")
    local function words_of(text, pattern)
      local words = {}
      for word in assert(text:match(pattern), text):gmatch "%S+" do words[#words + 1] = word end
      return words
    end
    local code, _, err = purser("plan", path, "--operation", "wallet.withdraw", "--queue", "hints", "--account",
      "treasury", "--journal", folder .. "/hints.journal")
    assert.equal(0, code, err)
    local words = words_of(err, "next: purser ([^\n]+)")
    words[#words + 1] = "--yes"
    code, _, err = command.run(words, keys)
    assert.equal(0, code, err)
    local out
    code, out, err = command.run(words_of(err, "`purser (payouts report[^`]+)`"), keys)
    assert.equal(0, code, err)
    assert.matches("h%-1%s+done", out)
    keys.PURSER_ACCOUNT = ""
    finally(function() keys.PURSER_ACCOUNT = "treasury" end)
    code, _, err = purser("plan", path, "--operation", "wallet.withdraw", "--journal", folder .. "/it's.db")
    assert.equal(0, code, err)
    assert.matches("--operation wallet.withdraw --journal '" .. folder .. [[/it'\''s.db' --account NAME]], err, 1, true)
    _, _, err = purser("plan", path, "--operation", "wallet.withdraw")
    assert.matches("hints%.csv %-%-operation wallet%.withdraw %-%-journal FILE %-%-account NAME\n", err)
  end)

  it("pays what was shown, though the file is another when the yes comes; --yes undoes no correction", function()
    local head, journal = "key,fromAccountType,toAccountType,asset,amount\n", folder .. "/later.journal"
    local path = list("later", head .. "z-1,SPOT,FUTURES,BTC,0.001\n")
    local other = list("other", head .. "z-1,SPOT,FUTURES,BTC,0.5\nz-2,SPOT,FUTURES,BTC,0.4\n")
    local before, shown = counts("wallet.transfer").applied, folder .. "/later.shown"
    files.write(shown, "")
    local code, out = command.shell(("(until grep -q 'Type yes' %s; do sleep 0.02; done; cp %s %s; echo yes) "
      .. "| script -q -e -f -c %s %s"):format(shown, other, path, command.quote(command.line({ "payouts", "run", path,
      "--operation", "wallet.transfer", "--journal", journal, "--account", "treasury" }, keys)), shown))
    assert.equal(0, code, out)
    local _, report = purser("report", "--journal", journal, "--account", "treasury", "--csv")
    assert.matches("\nz%-1,done,,0%.001,BTC,FUTURES,[^\n]*\n$", report)
    assert.equal(before + 1, counts("wallet.transfer").applied)
    -- Tuesday's correction of a row that waits, and Monday's line in cron
    list("later", head .. "w-1,SPOT,FUTURES,BTC,0.002\n")
    local opened = assert(require("purser").journal.open { sqlite = journal })
    local client = assert(require("purser").new { api_key = keys.PURSER_API_KEY, secret_key = keys.PURSER_SECRET_KEY,
      base_url = service.url, journal = opened, account = "treasury" })
    assert(assert(require("purser").payouts.new { client = client, journal = opened, queue = "cron" }):add("w-1",
      "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "BTC", amount = "0.003" }))
    client:close()
    opened:close()
    local err
    code, _, err = purser("run", path, "--operation", "wallet.transfer", "--journal", journal, "--account", "treasury",
      "--yes", "--queue", "cron")
    assert.equal(3, code, err)
    assert.matches("w-1  amount 0.003 -> 0.002 (BTC)  nothing was sent for it", err, 1, true)
    assert.matches("rows were changed, so nothing was sent; confirm them without --yes", err, 1, true)
    assert.equal(before + 1, counts("wallet.transfer").applied)
  end)

  it("with --filter plans, shows and names the smaller list alone; a result for programs is one document", function()
    local path = list("smaller", "key,fromAccountType,toAccountType,asset,amount\ns-1,SPOT,FUTURES,USDT,20\n"
      .. "s-2,SPOT,FUTURES,USDT,21\n")
    local journal = folder .. "/smaller.journal"
    local rules = list("rules", '{"max_amount":{"USDT":"21"}}')
    local given = { path, "--operation", "wallet.transfer", "--journal", journal, "--guard", rules,
      "--expect-count", "2", "--expect-sum", "USDT=41", "--filter", "key=s-1" }
    local code, out, err = purser("plan", unpack(given))
    assert.equal(0, code, err)
    assert.matches("1 payment to send (1 new)\nnot in this run: 1 that --filter leaves out\n", out, 1, true)
    assert.matches("next: purser payouts run [^\n]* %-%-filter key=s%-1 %-%-guard " .. rules:gsub("%p", "%%%0")
      .. " %-%-expect%-count 2 %-%-expect%-sum USDT=41 ", err)
    local shown
    code, shown = command.run_on_terminal({ "payouts", "run", unpack(given) }, keys, "no\n")
    assert.not_equal(0, code)
    assert.matches("Type yes for 1 payment, 20 USDT", shown, 1, true)
    given[#given + 1] = "--yes"
    -- here, where a new journal need not wait for a minute
    assert.equal(0, (purser("run", unpack(given))))
    given[#given], given[#given - 1] = nil, "key=s-2"
    local result = os.tmpname()
    code, shown = command.run_on_terminal({ "payouts", "run", "--json", "--output", result, unpack(given) }, keys,
      "yes\n")
    assert.equal(0, code, shown)
    assert.equal(2, core.decode(files.read(result)).done)
    os.remove(result)
  end)

  it("names the line of a key that is in the queue with other content, and what differs", function()
    local text = "key,fromAccountType,toAccountType,asset,amount\nk-1,SPOT,FUTURES,BTC,0.001\n"
    local journal = folder .. "/content.journal"
    local given = { "--operation", "wallet.transfer", "--journal", journal, "--account", "treasury", "--yes" }
    local before = counts("wallet.transfer").applied
    local code, _, err = purser("run", list("content", text), unpack(given))
    assert.equal(0, code, err)
    code, _, err = purser("run", list("content", (text:gsub("0%.001", "0.002"))), unpack(given))
    assert.equal(2, code)
    assert.matches("content.csv:2: k%-1 has 0.002 BTC; 0.001 was paid on 2", err)
    assert.matches("put 0.001 back in line 2; if 0.001 more is owed, add a row of 0.001 with its own key", err, 1,
      true)
    assert.equal(before + 1, counts("wallet.transfer").applied)
    code, _, err = command.run({ "payouts", "status", "--journal", journal }, { PURSER_BASE_URL = service.url,
      PURSER_API_KEY = keys.PURSER_API_KEY, PURSER_SECRET_KEY = keys.PURSER_SECRET_KEY })
    assert.equal(2, code)
    assert.matches("give %-%-account NAME", err)
    for _, words in ipairs { { "status" }, { "report" }, { "run", "--yes" }, { "retry", "k-1", "--yes" } } do
      code, _, err = purser(words[1], "--journal", folder .. "/misspelt.journal", unpack(words, 2))
      assert.equal(2, code)
      assert.matches("there is no journal " .. folder .. "/misspelt.journal; give the --journal", err, 1, true)
    end
    code, _, err = purser("status", "--journal", journal, "--queue", "june")
    assert.equal(2, code)
    assert.matches('the queue "june" of ' .. journal .. ' holds no payment of the account "treasury"', err, 1, true)
    code, _, err = purser("retry", "k-1", "--journal", journal, "--account", "treasury", "--yes")
    assert.equal(2, code)
    assert.matches('payment "k%-1" is done; only one that failed, is undecided or was dropped is put back', err)
  end)

  it("asks with the sums, and pays nothing without yes", function()
    local path = list("ask", "key,fromAccountType,toAccountType,asset,amount\nq-1,SPOT,FUTURES,BTC,0.001\n")
    local before = counts("wallet.transfer").received
    local code, shown = command.run_on_terminal({ "payouts", path, "--operation", "wallet.transfer", "--journal",
      folder .. "/ask.journal", "--account", "treasury" }, keys, "no\n")
    assert.equal(2, code, shown)
    assert.matches("account%s+| treasury\n", shown)
    assert.matches("Type yes for 1 payment, 0.001 BTC: ", shown, 1, true)
    assert.equal(before, counts("wallet.transfer").received)
  end)

  it("puts back a payment that was rejected, and makes it once", function()
    local journal = folder .. "/retry.journal"
    local given = { "--operation", "wallet.withdraw", "--journal", journal, "--account", "treasury", "--yes" }
    -- an answered call shows that this service shows ids as they are sent: records of others then prove nothing
    local code, _, err = purser("run",
      list("retry", "key,coin,network,address,amount\nr-0,USDT,TRX," .. TRON .. ",21\n"), unpack(given))
    assert.equal(0, code, err)
    assert(service.world:fault { kind = "reject", operation = "wallet.withdraw", code = "10212", times = 1 })
    local before = counts("wallet.withdraw").applied
    code, _, err = purser("run",
      list("retry", "key,coin,network,address,amount\nr-1,USDT,TRX," .. TRON .. ",20\n"), unpack(given))
    assert.equal(1, code, err)
    assert.matches('failed: payment "r%-1":', err)
    code, _, err = purser("retry", "r-1", unpack(given, 3))
    assert.equal(0, code, err)
    code, _, err = purser("run", unpack(given, 3))
    assert.equal(0, code, err)
    assert.equal(before + 1, counts("wallet.withdraw").applied)
  end)

  it("says at Ctrl-C with which command its payments go on, and that command makes them", function()
    local path, journal = list("stopped", "key,coin,network,address,amount\ns-1,USDT,TRX," .. TRON .. ",20\n"),
      folder .. "/stopped.journal"
    local before, shown = counts("wallet.withdraw"), folder .. "/shown"
    assert(service.world:fault { kind = "slow", operation = "wallet.withdraw", delay_ms = 600000, times = 1 })
    local child = command.start({ "payouts", path, "--operation", "wallet.withdraw", "--journal", journal, "--account",
      "treasury", "--queue", "q 1", "--yes" }, hasty(), shown)
    eventually(function() return counts("wallet.withdraw").received > before.received end)
    child.kill "INT"
    service.world:disarm()
    local said = files.read(shown)
    assert.matches("stopped: 0 of 1 made, 1 sent and not known yet, 0 not sent\n", said, 1, true)
    assert.is_nil(said:find("journal recover", 1, true))
    local next_one = said
      :match "nobody else works on this queue. To go on:\npurser:   purser ([^\n]+)":gsub("'q 1'", "q_1")
    local words = {}
    for word in next_one:gmatch "%S+" do words[#words + 1] = word == "q_1" and "q 1" or word end
    local code, _, err = command.run(words, keys)
    assert.equal(0, code, err)
    assert.equal(before.applied + 1, counts("wallet.withdraw").applied)
  end)

  it("pays a list of 50 that is killed in the middle and resumed: each once", function()
    local lines, journal = { "key,operation,coin,network,address,fromAccountType,toAccountType,asset,amount" },
      folder .. "/fifty.journal"
    for i = 1, 50 do
      lines[i + 1] = i % 2 == 0 and ("w-%d,wallet.withdraw,USDT,trc20,%s,,,,%d.5"):format(i, TRON, 10 + i)
        or ("t-%d,wallet.transfer,,,,SPOT,FUTURES,USDT,%d.25"):format(i, i)
    end
    local path = list("fifty", table.concat(lines, "\n") .. "\n")
    local before = counts("wallet.withdraw").applied + counts("wallet.transfer").applied
    local received = counts("wallet.withdraw").received
    local words = { "payouts", path, "--journal", journal, "--account", "treasury", "--yes" }
    -- From the 21st on no answer comes, so the command cannot have ended when it is killed.
    assert(service.world:fault { kind = "slow", operation = "wallet.withdraw", skip = 12,
      delay_ms = 600000 })
    local child = command.start(words, hasty())
    eventually(function() return counts("wallet.withdraw").received > received + 12 end)
    child.kill()
    service.world:disarm()
    local made = counts("wallet.withdraw").applied + counts("wallet.transfer").applied - before
    assert.is_true(made > 0, made) -- all of them where the machine is slow to kill, and not all were answered

    local code, out, err = command.run({ "payouts", "status", "--journal", journal, "--account", "treasury", "--format",
      "json" }, keys)
    assert.equal(4, code, err)
    assert.is_true(core.decode(out).done < 50)
    assert.matches("`purser payouts run --journal " .. journal .. " --account treasury` finds out", err, 1, true)
    code, out, err = command.run({ "journal", "recover", "--journal", journal }, keys)
    assert.same({ 4, "no single call is open\n" }, { code, out })
    assert.matches('the queue "default" has %d+ payments that are sent and 0 undecided: '
      .. "`purser payouts run", err)
    local _
    code, _, err = command.run({ "payouts", "run", "--journal", journal, "--account", "treasury", "--yes" }, keys)
    assert.equal(0, code, err)
    assert.matches("all 50 payments are made", err)
    assert.equal(before + 50, counts("wallet.withdraw").applied + counts("wallet.transfer").applied)
    code, _, err = command.run(words, keys) -- the same list once more
    assert.equal(0, code, err)
    assert.matches("all 50 payments are made", err)
    assert.equal(before + 50, counts("wallet.withdraw").applied + counts("wallet.transfer").applied)
    code, out = command.run({ "payouts", "report", "--journal", journal, "--account", "treasury", "--format", "csv" },
      keys)
    assert.equal(0, code)
    local done
    _, done = out:gsub("\n[wt]%-%d+,done,", "")
    assert.equal(50, done)
  end)
end)
