-- SPDX-License-Identifier: MIT
-- `purser payouts`: a list of payments from the shell, each made once, also when the command is killed.
-- make test: 25 s, waits, on lua5.4 and luajit

local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local purser = require "purser"

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

  -- Runs the command, which ends with an exit code. Returns its result and what it says beside.
  local function ends(expected, ...)
    local code, out, err = command.run({ "payouts", ... }, keys)
    assert.equal(expected, code, out .. err)
    return out, err
  end

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

  -- Writes a list of rows "KEY AMOUNT", with what stands between the two. Returns its path.
  local function list_of(name, head, between, ...)
    local lines = { head }
    for i, row in ipairs { ... } do lines[i + 1] = row:gsub(" ", between) end
    return list(name, table.concat(lines, "\n") .. "\n")
  end

  local function withdrawals(name, ...)
    return list_of(name, "key,coin,network,address,amount", ",USDT,TRX," .. TRON .. ",", ...)
  end

  local function transfers(name, asset, ...)
    return list_of(name, "key,fromAccountType,toAccountType,asset,amount", ",SPOT,FUTURES," .. asset .. ",", ...)
  end

  local function journal_of(name) return folder .. "/" .. name .. ".journal" end

  -- The words for payments of an operation in a journal of that name.
  local function given(operation, name, ...)
    return { "--operation", operation, "--journal", journal_of(name), "--account", "treasury", ... }
  end

  -- Calls fn(journal) with an open journal.
  local function within(path, fn)
    local journal = assert(purser.journal.open { sqlite = path })
    fn(journal)
    journal:close()
  end

  -- Leaves a transfer that waits in a journal, as another program does.
  local function add(path, queue, key, asset, amount)
    within(path, function(journal)
      local client = assert(purser.new { api_key = keys.PURSER_API_KEY, secret_key = keys.PURSER_SECRET_KEY,
        base_url = service.url, journal = journal, account = "treasury" })
      local payouts = assert(purser.payouts.new { client = client, journal = journal, queue = queue })
      assert(payouts:add(key, "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = asset,
        amount = amount }))
      client:close()
    end)
  end

  it("shows what would be paid, with fees, sums and the balance, and sends and keeps nothing", function()
    local path = list("plan", "\239\187\191key,coin,network,address,amount\r\ninv-1,USDT,trc20," .. TRON .. ",20\r\n"
      .. 'inv-2,usdt,"Tron(TRC20)",' .. TRON .. ",30.5\r\n")
    keys.PURSER_JOURNAL = folder .. "/only-named.journal"
    local out = ends(0, "plan", path, "--operation", "wallet.withdraw")
    assert.is_nil(core.file_mode(keys.PURSER_JOURNAL))
    assert.matches("plan.csv: 2 payments to send (2 new)\n", out, 1, true)
    assert.matches("2  inv%-1%s+20  USDT%s+TRX%s+" .. TRON .. "\n", out)
    assert.matches("USDT%s+2%s+50%.5%s+2%s+52%.5%s+5000%s+covered\n", out)
    assert.matches("the fees are assumed to come on top of the amounts\n", out, 1, true)
    assert.equal(0, counts("wallet.withdraw").received)
  end)

  it("makes no journal for a list that is not there, or has no payment", function()
    local journal = journal_of "none"
    for path, said in pairs { [folder .. "/none.csv"] = "none.csv cannot be read",
      [list("head", "key,coin,network,address,amount\n")] = "head.csv has no payment" } do
      local out, err = ends(2, path, "--operation", "wallet.withdraw", "--journal", journal, "--yes")
      assert.equal("", out)
      assert.matches(said, err, 1, true)
      assert.is_nil(core.file_mode(journal))
    end
  end)

  it("has an error for a queue that is to go on and holds no payment", function()
    local journal = journal_of "empty"
    within(journal, function() end)
    local _, err = ends(2, "run", "--queue", "june", "--journal", journal, "--yes")
    assert.matches('the queue "june" of .* holds no payment', err)
  end)

  it("exits with 3 while payments are blocked, and names them", function()
    local guard, before = folder .. "/guard.json", counts("wallet.transfer").applied
    files.write(guard, '{"no_duplicates": true}')
    local words = { "--journal", journal_of "blocked", "--account", "treasury" }
    local code, _, err = command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "3", "--yes", unpack(words) }, keys)
    assert.equal(0, code, err)
    within(journal_of "blocked", function(journal)
      assert(journal.db:rows "UPDATE purser_calls SET state = 'undecided'")
    end)
    _, err = ends(3, transfers("blocked", "USDT", "b-1 3"), "--operation", "wallet.transfer", "--guard", guard,
      "--allow-odd", "--yes", unpack(words))
    assert.matches('blocked: payment "b-1": an equal call is undecided', err, 1, true)
    ends(3, "status", unpack(words))
    assert.equal(before + 1, counts("wallet.transfer").applied)
  end)

  -- Makes a journal with a payment that waits, due in so many ms where that is given.
  local function leave(name, due_in)
    add(journal_of(name), "default", "l-1", "USDT", "4")
    if due_in then
      within(journal_of(name), function(journal)
        assert(journal.db:rows("UPDATE purser_calls SET due_at = $1", ("%013d"):format(core.now_ms() + due_in)))
      end)
    end
    return journal_of(name)
  end

  it("exits with 3 for the state of a list whose payments are not made yet", function()
    local state = core.decode((ends(3, "status", "--journal", leave "left", "--account", "treasury", "--json")))
    assert.same({ 1, 0, 1 }, { state.total, state.done, state.waiting })
    assert.matches("3 while one waits", ends(0, "status", "--help"), 1, true)
  end)

  it("exits with 3 where a run leaves a payment to a later one, and says when that is due", function()
    local _, err = ends(3, "run", "--journal", leave("later", 3600000), "--account", "treasury", "--yes")
    assert.matches("1 wait, and the next is due at %d+%-%d%d%-%d%dT", err)
  end)

  it("leaves rows above a limit a day to a later run, and exits with 3; the same line goes on", function()
    local guard = folder .. "/day.json"
    files.write(guard, '{"spending_limit": {"USDT": {"amount": "30", "period_ms": 86400000}}}')
    local words = { withdrawals("day", "d-1 20", "d-2 25"), "--guard", guard,
      unpack(given("wallet.withdraw", "day", "--yes")) }
    local before = counts("wallet.withdraw").applied
    for _ = 1, 2 do
      local out, err = ends(3, "run", "--json", unpack(words))
      local state = core.decode(out)
      assert.same({ 1, 1, 0 }, { state.done, state.waiting, state.failed }, err)
    end
    assert.equal(before + 1, counts("wallet.withdraw").applied)
    files.write(guard, '{"spending_limit": {"USDT": {"amount": "500", "period_ms": 86400000}}}')
    local out, err = ends(3, unpack(words)) -- a limit is raised by a person's word
    assert.matches("purser journal limit USDT AMOUNT", ((out .. err):gsub("%s+", " ")), 1, true)
    within(journal_of "day", function(journal)
      assert(journal:limit({ asset = "USDT", amount = "500", by = "alice" }))
    end)
    ends(0, unpack(words))
    assert.equal(before + 2, counts("wallet.withdraw").applied)
  end)

  it("pays no list that has a row above the network's maximum: a part is a row of its own", function()
    local before = counts("wallet.withdraw").received
    local _, err = ends(2, withdrawals("huge", "h-1 20", "h-2 10000001"),
      unpack(given("wallet.withdraw", "huge", "--yes")))
    assert.matches('huge.csv:3: error: payment "h-2": the amount 10000001 is above the maximum of 10000000: pay it in '
      .. "parts, each a payment of its own\n", err, 1, true)
    assert.equal(before, counts("wallet.withdraw").received)
  end)

  it("shows the state of a queue while another process writes: it only reads", function()
    local journal = leave "locked"
    within(journal, function(other)
      assert(other.db:rows "BEGIN IMMEDIATE")
      ends(3, "status", "--journal", journal, "--account", "treasury")
      ends(0, "report", "--journal", journal, "--account", "treasury")
      assert(other.db:rows "ROLLBACK")
    end)
  end)

  it("names file, line and key of every mistake at once, and sends nothing", function()
    local path = list("wrong", "key,coin,network,address,amount\na,USDT,TRX," .. TRON .. ',"1,5"\nb,USDT,,' .. TRON
      .. ",20\nc,USDT,TRX," .. TRON .. ",20\n")
    local words = { path, unpack(given("wallet.withdraw", "wrong", "--yes")) }
    local before = counts("wallet.withdraw").received
    local out, err = ends(2, "run", unpack(words))
    for _, message in ipairs { 'wrong.csv:2: error: payment "a": the amount is no exact decimal: "1,5": ',
      'wrong.csv:3: error: payment "b": USDT travels on 7 networks',
      "2 of 3 payments have errors; nothing was sent" } do
      assert.is_truthy((out .. err):find(message, 1, true), message .. "\nis not in\n" .. out .. err)
    end
    out, err = ends(2, "run", "--csv", unpack(words)) -- beside a result for programs the plan is for a person
    assert.equal("", out)
    assert.matches("wrong.csv: 3 payments, 2 with errors\n", err, 1, true)
    files.write(path, "key,coin\na,USDT\na,BTC\n")
    err = select(2, ends(2, "run", unpack(words)))
    assert.is_truthy(err:find('wrong.csv:3: error: payment "a": line 2 has the same key', 1, true), err)
    assert.equal(before, counts("wallet.withdraw").received)
  end)

  it("pays rows that look like a mistake only after a question or with --allow-odd", function()
    local before = counts("wallet.withdraw").received
    local path, words = withdrawals("odd", "o-1 20", "o-2 20"), given("wallet.withdraw", "odd")
    local _, err = ends(0, "plan", path, unpack(words))
    assert.matches("odd.csv:2: odd: 2 payments (lines 2-3): 2 equal rows: each pays 20 USDT to " .. TRON, err, 1, true)
    assert.matches("--allow-odd", err, 1, true)
    _, err = ends(3, "run", path, "--yes", unpack(words))
    assert.matches("2 of 2 payments look like a mistake, so nothing was sent; if all is right, give --allow-odd",
      err, 1, true)
    assert.equal(before, counts("wallet.withdraw").received)
    local code, shown = command.run_on_terminal({ "payouts", path, unpack(words) }, keys, "no\n")
    assert.equal(2, code)
    assert.matches("warning +| 2 payments look like a mistake", shown)
    ends(0, "run", path, "--yes", "--allow-odd", unpack(words))
    ends(0, "run", path, "--yes", unpack(words)) -- both are known
    _, err = ends(3, "run", path, "--yes", "--queue", "june", unpack(words))
    assert.matches("an equal payment was sent on", err, 1, true)
    -- which the journal takes in no case
    _, err = ends(2, "run", withdrawals("odd", "O-1 20"), "--yes", "--allow-odd", unpack(words))
    assert.matches('the key "O-1" is that of payment "o-1" in other letters; the payment is not added', err, 1, true)
    assert.equal(before + 2, counts("wallet.withdraw").received)
  end)

  it("says how many lines begin with #", function()
    local path = list("comments", "# of July\n" .. files.read(withdrawals("comments", "#1017 20", "1018 20")))
    local _, err = ends(0, "plan", path, "--operation", "wallet.withdraw")
    assert.matches("%S+: 2 lines begin with #, so no payment is there", err)
  end)

  it("takes no queue and no worker without a name: an empty variable would pay the list once more", function()
    local path, before = transfers("named", "USDT", "n-1 1"), counts("wallet.transfer").received
    for _, option in ipairs { "--queue", "--worker" } do
      local out, err = ends(2, "run", path, "--yes", option, "", unpack(given("wallet.transfer", "named")))
      assert.equal("", out)
      assert.matches("payouts: " .. option .. " is empty; give a name, or leave it out", err, 1, true)
    end
    assert.equal(before, counts("wallet.transfer").received)
    assert.is_nil(core.file_mode(journal_of "named"))
  end)

  it("names next commands that run as they are", function()
    local path = withdrawals("hints", "h-1 20")
    local function words_of(text, pattern)
      local words = {}
      for word in assert(text:match(pattern), text):gmatch "%S+" do words[#words + 1] = word end
      return words
    end
    local _, err = ends(0, "plan", path, "--queue", "hints", unpack(given("wallet.withdraw", "hints")))
    local words = words_of(err, "next: purser payouts ([^\n]+)")
    words[#words + 1] = "--yes"
    _, err = ends(0, unpack(words))
    local out = ends(0, unpack(words_of(err, "`purser payouts (report[^`]+)`")))
    assert.matches("h%-1%s+done", out)
    keys.PURSER_ACCOUNT = ""
    finally(function() keys.PURSER_ACCOUNT = "treasury" end)
    _, err = ends(0, "plan", path, "--operation", "wallet.withdraw", "--journal", folder .. "/it's.db")
    assert.matches("--operation wallet.withdraw --journal '" .. folder .. [[/it'\''s.db' --account NAME]], err, 1, true)
    _, err = ends(0, "plan", path, "--operation", "wallet.withdraw")
    assert.matches("hints%.csv %-%-operation wallet%.withdraw %-%-journal FILE %-%-account NAME\n", err)
  end)

  it("pays what was shown, though the file is another when the yes comes; --yes undoes no correction", function()
    local path, words = transfers("later", "BTC", "z-1 0.001"), given("wallet.transfer", "shown")
    local other = transfers("other", "BTC", "z-1 0.5", "z-2 0.4")
    local before, shown = counts("wallet.transfer").applied, folder .. "/later.shown"
    files.write(shown, "")
    local code, out = command.shell(("(until grep -q 'Type yes' %s; do sleep 0.02; done; cp %s %s; echo yes) "
      .. "| script -q -e -f -c %s %s"):format(shown, other, path, command.quote(command.line({ "payouts", "run", path,
      unpack(words) }, keys)), shown))
    assert.equal(0, code, out)
    assert.matches("\nz%-1,done,,0%.001,BTC,FUTURES,[^\n]*\n$", (ends(0, "report", "--csv", unpack(words, 3))))
    assert.equal(before + 1, counts("wallet.transfer").applied)
    -- Tuesday's correction of a row that waits, and Monday's line in cron
    add(journal_of "shown", "cron", "w-1", "BTC", "0.003")
    local _, err = ends(3, "run", transfers("later", "BTC", "w-1 0.002"), "--yes", "--queue", "cron", unpack(words))
    assert.matches("w-1  amount 0.003 -> 0.002 (BTC)  nothing was sent for it", err, 1, true)
    assert.matches("rows were changed, so nothing was sent; confirm them without --yes", err, 1, true)
    assert.equal(before + 1, counts("wallet.transfer").applied)
  end)

  it("with --filter plans, shows and names the smaller list alone; a result for programs is one document", function()
    local rules = list("rules", '{"max_amount":{"USDT":"21"}}')
    local words = { transfers("smaller", "USDT", "s-1 20", "s-2 21"), "--operation", "wallet.transfer", "--journal",
      journal_of "smaller", "--guard", rules,
      "--expect-count", "2", "--expect-sum", "USDT=41", "--filter", "key=s-1" }
    local out, err = ends(0, "plan", unpack(words))
    assert.matches("1 payment to send (1 new)\nnot in this run: 1 that --filter leaves out\n", out, 1, true)
    assert.matches("next: purser payouts run [^\n]* %-%-filter key=s%-1 %-%-guard " .. rules:gsub("%p", "%%%0")
      .. " %-%-expect%-count 2 %-%-expect%-sum USDT=41 ", err)
    local code, shown = command.run_on_terminal({ "payouts", "run", unpack(words) }, keys, "no\n")
    assert.not_equal(0, code)
    assert.matches("Type yes for 1 payment, 20 USDT", shown, 1, true)
    ends(0, "run", "--yes", unpack(words)) -- here, where a new journal need not wait for a minute
    words[#words] = "key=s-2"
    local result = os.tmpname()
    code, shown = command.run_on_terminal({ "payouts", "run", "--json", "--output", result, unpack(words) }, keys,
      "yes\n")
    assert.equal(0, code, shown)
    assert.equal(2, core.decode(files.read(result)).done)
    os.remove(result)
  end)

  it("names the line of a key that is in the queue with other content, and what differs", function()
    local words = given("wallet.transfer", "content", "--yes")
    local before = counts("wallet.transfer").applied
    ends(0, "run", transfers("content", "BTC", "k-1 0.001"), unpack(words))
    local _, err = ends(2, "run", transfers("content", "BTC", "k-1 0.002"), unpack(words))
    assert.matches("content.csv:2: k%-1 has 0.002 BTC; 0.001 was paid on 2", err)
    assert.matches("put 0.001 back in line 2; if 0.001 more is owed, add a row of 0.001 with its own key", err, 1,
      true)
    assert.equal(before + 1, counts("wallet.transfer").applied)
    for _, misspelt in ipairs { { "status" }, { "report" }, { "run", "--yes" }, { "retry", "k-1", "--yes" } } do
      _, err = ends(2, misspelt[1], "--journal", journal_of "misspelt", unpack(misspelt, 2))
      assert.matches("there is no journal " .. journal_of "misspelt" .. "; give the --journal", err, 1, true)
    end
    local journal = journal_of "content"
    _, err = ends(2, "status", "--journal", journal, "--queue", "june")
    assert.matches('the queue "june" of ' .. journal .. ' holds no payment of the account "treasury"', err, 1, true)
    _, err = ends(2, "retry", "k-1", unpack(words, 3))
    assert.matches('payment "k%-1" is done; only one that failed, is undecided or was dropped is put back', err)
    keys.PURSER_ACCOUNT = nil
    _, err = ends(2, "status", "--journal", journal)
    assert.matches("give %-%-account NAME", err)
  end)

  it("asks with the sums, and pays nothing without yes", function()
    local before = counts("wallet.transfer").received
    local code, shown = command.run_on_terminal({ "payouts", transfers("ask", "BTC", "q-1 0.001"),
      unpack(given("wallet.transfer", "ask")) }, keys, "no\n")
    assert.equal(2, code, shown)
    assert.matches("account%s+| treasury\n", shown)
    assert.matches("Type yes for 1 payment, 0.001 BTC: ", shown, 1, true)
    assert.equal(before, counts("wallet.transfer").received)
  end)

  it("puts back a payment that was rejected, and makes it once", function()
    local words = given("wallet.withdraw", "retry", "--yes")
    -- an answered call shows that this service shows ids as they are sent: records of others then prove nothing
    ends(0, "run", withdrawals("retry", "r-0 21"), unpack(words))
    assert(service.world:fault { kind = "reject", operation = "wallet.withdraw", code = "10212", times = 1 })
    local before = counts("wallet.withdraw").applied
    local _, err = ends(1, "run", withdrawals("retry", "r-1 20"), unpack(words))
    assert.matches('failed: payment "r%-1":', err)
    ends(0, "retry", "r-1", unpack(words, 3))
    ends(0, "run", unpack(words, 3))
    assert.equal(before + 1, counts("wallet.withdraw").applied)
  end)

  it("says at Ctrl-C with which command its payments go on, and that command makes them", function()
    local path = withdrawals("stopped", "s-1 20")
    local before, shown = counts("wallet.withdraw"), folder .. "/shown"
    assert(service.world:fault { kind = "slow", operation = "wallet.withdraw", delay_ms = 600000, times = 1 })
    local child = command.start({ "payouts", path, "--queue", "q 1", "--yes",
      unpack(given("wallet.withdraw", "stopped")) }, hasty(), shown)
    eventually(function() return counts("wallet.withdraw").received > before.received end)
    child.kill "INT"
    service.world:disarm()
    local said = files.read(shown)
    assert.matches("stopped: 0 of 1 made, 1 sent and not known yet, 0 not sent\n", said, 1, true)
    assert.is_nil(said:find("journal recover", 1, true))
    local next_one = said
      :match "nobody else works on this queue. To go on:\npurser:   purser payouts ([^\n]+)":gsub("'q 1'", "q_1")
    local words = {}
    for word in next_one:gmatch "%S+" do words[#words + 1] = word == "q_1" and "q 1" or word end
    ends(0, unpack(words))
    assert.equal(before.applied + 1, counts("wallet.withdraw").applied)
  end)

  it("pays a list of 50 that is killed in the middle and resumed: each once", function()
    local lines, journal = { "key,operation,coin,network,address,fromAccountType,toAccountType,asset,amount" },
      journal_of "fifty"
    for i = 1, 50 do
      lines[i + 1] = i % 2 == 0 and ("w-%d,wallet.withdraw,USDT,trc20,%s,,,,%d.5"):format(i, TRON, 10 + i)
        or ("t-%d,wallet.transfer,,,,SPOT,FUTURES,USDT,%d.25"):format(i, i)
    end
    local path = list("fifty", table.concat(lines, "\n") .. "\n")
    local before = counts("wallet.withdraw").applied + counts("wallet.transfer").applied
    local received = counts("wallet.withdraw").received
    local words = { path, "--journal", journal, "--account", "treasury", "--yes" }
    -- From the 21st on no answer comes, so the command cannot have ended when it is killed.
    assert(service.world:fault { kind = "slow", operation = "wallet.withdraw", skip = 12,
      delay_ms = 600000 })
    local child = command.start({ "payouts", unpack(words) }, hasty())
    eventually(function() return counts("wallet.withdraw").received > received + 12 end)
    child.kill()
    service.world:disarm()
    local made = counts("wallet.withdraw").applied + counts("wallet.transfer").applied - before
    assert.is_true(made > 0, made) -- all of them where the machine is slow to kill, and not all were answered

    local out, err = ends(4, "status", "--journal", journal, "--account", "treasury", "--format", "json")
    assert.is_true(core.decode(out).done < 50)
    assert.matches("`purser payouts run --journal " .. journal .. " --account treasury` finds out", err, 1, true)
    local code
    code, out, err = command.run({ "journal", "recover", "--journal", journal }, keys)
    assert.same({ 4, "no single call is open\n" }, { code, out })
    assert.matches('the queue "default" has %d+ open payments: sent %d+, undecided 0; '
      .. "`purser payouts run", err)
    err = select(2, ends(0, "run", unpack(words, 2)))
    assert.matches("all 50 payments are made", err)
    assert.equal(before + 50, counts("wallet.withdraw").applied + counts("wallet.transfer").applied)
    err = select(2, ends(0, unpack(words))) -- the same list once more
    assert.matches("all 50 payments are made", err)
    assert.equal(before + 50, counts("wallet.withdraw").applied + counts("wallet.transfer").applied)
    out = ends(0, "report", "--journal", journal, "--account", "treasury", "--format", "csv")
    assert.equal(50, select(2, out:gsub("\n[wt]%-%d+,done,", "")))
  end)
end)
