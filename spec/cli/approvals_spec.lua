-- SPDX-License-Identifier: MIT
-- Two people, one list, from the shell: policy, plan, review, signatures, payment.
-- make test: 10 s

local command = require "command"
local files = require "files"
local policies = require "policies"
local ssh_keys = require "ssh_keys"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("approvals in a shell", function()
  local service, keys, folder

  setup(function()
    service = require("service").start { "--seed", "12" }
    local account = assert(service.world:account { role = "main", balances = { USDT = "5000" } })
    folder = files.folder()
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url,
      PURSER_ACCOUNT = "treasury", HOME = folder, USER = "carol", PURSER_JOURNAL = folder .. "/payer.db",
      PURSER_POLICY = folder .. "/policy" }
    assert(os.execute("mkdir -m 700 " .. folder .. "/policy"))
  end)
  teardown(function()
    files.remove(folder)
    ssh_keys.remove()
    service.stop()
  end)

  local function purser(...) return command.run({ ... }, keys) end
  local function ok(...)
    local code, out, err = purser(...)
    assert.equal(0, code, err)
    return out, err
  end
  local function sent() return (service.world:counts()["wallet.withdraw"] or { applied = 0 }).applied end
  local function path(name) return folder .. "/" .. name end

  it("takes a policy that all have signed", function()
    files.write(path "first.json", policies.text(policies.given({ rules = { { name = "never",
      effect = "forbid", when = { coin = "USDT", amount_over = "5", amount_up_to = "5" } },
      { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } } } }, true)))
    local out = ok("policy", "check", path "first.json")
    assert.matches("never matches: never\n", out)
    for _, name in ipairs { "alice", "bob" } do
      ok("policy", "sign", path "first.json", "--key", ssh_keys.path(name), "--by", name)
    end
    local code, _, err = purser("policy", "install", path "first.json", path "first.json.alice.sig")
    assert.equal(2, code)
    assert.matches("not all have signed", err)
    ok("policy", "install", path "first.json", path "first.json.alice.sig", path "first.json.bob.sig")
    assert.equal(2, (purser("policy", "install", path "first.json", path "first.json.alice.sig",
      path "first.json.bob.sig")))
    assert.equal(4, select(2, ok("policy", "signers", path "first.json"):gsub("ssh%-ed25519", "")))
  end)

  it("pays a list that two persons have signed, once", function()
    files.write(path "june.csv", "key,payee,coin,network,address,amount\ninv-1,ACME,USDT,trc20," .. TRON
      .. ",20.50\ninv-2,Globex,USDT,trc20," .. TRON .. ",30\n")
    local journal = assert(require("purser").journal.open { sqlite = path "payer.db" })
    local id = assert(journal:id())
    journal:close()
    local planning = { "payouts", "plan", path "june.csv", "--operation", "wallet.withdraw", "--queue", "june",
      "--output", path "june.plan", "--journal-id", id .. "x" }
    local code, out, err = command.run(planning, keys)
    assert.same({ 2, "" }, { code, out })
    assert.matches("24 letters and digits", err)
    assert.is_nil(io.open(path "june.plan"))
    planning[#planning] = id
    code, out, err = command.run(planning, keys)
    assert.equal(0, code, err)
    assert.equal("", out)
    assert.matches("2 payments, 50.5 USDT (", err, 1, true)
    out = ok("payouts", "show", path "june.plan")
    assert.matches("USDT TRX +50.5 in 2 rows", out)
    assert.matches("2 rows go to addresses that you never paid", out)
    ok("payouts", "show", path "june.plan", "--html", path "june.html")
    code = purser("approve", path "june.plan", "--key", ssh_keys.path "alice", "--sum", "50.4", "--by", "alice")
    assert.equal(2, code)
    assert.equal(2, (purser("approve", path "june.plan", "--key", ssh_keys.path "alice", "--no-input")))
    files.write(path "june.plan.alice.sig", "of another person")
    assert.equal(2, (purser("approve", path "june.plan", "--key", ssh_keys.path "alice", "--sum", "50.50", "--by",
      "alice")))
    assert.equal("of another person", files.read(path "june.plan.alice.sig")) -- never replaced
    os.remove(path "june.plan.alice.sig")
    for _, name in ipairs { "alice", "bob" } do
      ok("approve", path "june.plan", "--key", ssh_keys.path(name), "--sum", "50.50", "--by", name, "--records",
        path(name .. ".records"))
    end
    assert.matches("you signed the same amount there", ok("payouts", "show", path "june.plan", "--records",
      path "alice.records"))
    code, out = purser("approvals", "add", path "june.plan", path "june.plan.alice.sig")
    assert.equal(3, code)
    assert.matches('^{"plan":"%x+","queue":"june","rows":2,"until":"%d+%-%d+%-%d+","signed":%["alice"%],"state":'
      .. '"it waits for approval: policy 1, all %(treasury 2%); signed by alice %(2 rows%)"}\n$', out)
    code, out, err = purser("payouts", "run", "--queue", "june", "--yes")
    assert.equal(3, code, out)
    assert.matches("signed by alice", err)
    assert.equal(0, sent())
    assert.matches('"state":"approved"', ok("approvals", "add", path "june.plan", path "june.plan.alice.sig",
      path "june.plan.bob.sig"))
    out = ok("payouts", "plan", path "june.plan")
    assert.matches("june.plan: alice, bob signed %x+; ends %d+%-%d+%-%d+\n", out)
    assert.matches("june.plan: 2 payments to send %(0 new%); ", out)
    code, out, err = purser("payouts", "run", path "june.plan", "--queue", "default", "--yes")
    assert.same({ 2, "" }, { code, out })
    assert.matches('is of the queue "june"', err)
    for _, words in ipairs { { path "june.plan" }, { path "june.plan" }, { "--queue", "june" } } do
      code, out, err = purser("payouts", "run", "--yes", (table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(0, code, out .. err)
      assert.equal(2, sent())
    end
    assert.matches("june.plan: 0 payments to send %(0 new%)\nmade already: 2\n",
      ok("payouts", "plan", path "june.plan"))
    files.write(path "broken.plan", (files.read(path "june.plan"):gsub("20.5", "21.5")))
    assert.equal(2, (purser("payouts", "run", path "broken.plan", "--yes")))
    assert.matches("you paid the same amount there",
      ok("payouts", "show", path "june.plan", "--journal", path "payer.db"))
    assert.equal(2, (purser("payouts", "show", path "june.plan", "--journal", path "none.db")))
    assert.matches("asked: treasury 4\n", ok("policy", "try", path "first.json", "--since", "30d"))
  end)

  -- The plan of a list was written without a word about equal payments of last week.
  it("shows what was paid before as odd, from the plan to the payment", function()
    local id = select(2, ok("approvals", "status")):match "%-%-journal%-id of plans: (%S+)"
    files.write(path "again.csv", "key,coin,network,address,amount\nmay-1,USDT,trc20," .. TRON .. ",20.5\nmay-2,USDT,"
      .. "trc20," .. TRON .. ",11\n")
    local EQUAL = 'odd: payment "may%-1": an equal payment was sent on %S+ %(done%): 20.5 USDT to ' .. TRON
    local _, err = ok("payouts", "plan", path "again.csv", "--operation", "wallet.withdraw", "--output",
      path "again.plan", "--journal-id", id, "--queue", "may")
    assert.matches("again.csv:2: " .. EQUAL, err)
    for _, name in ipairs { "alice", "bob" } do
      assert.matches("may%-1 +you paid the same amount there less than", ok("approve", path "again.plan", "--key",
        ssh_keys.path(name), "--sum", "31.5", "--by", name, "--records", path(name .. ".new"), "--journal",
        path "payer.db"))
    end
    ok("approvals", "add", path "again.plan", path "again.plan.alice.sig", path "again.plan.bob.sig")
    _, err = ok("payouts", "plan", path "again.plan")
    assert.matches("again.plan:2: " .. EQUAL, err)
    local code
    code, _, err = purser("payouts", "run", path "again.plan", "--yes")
    assert.equal(3, code, err)
    assert.matches(EQUAL, err)
    assert.equal(2, sent())
    assert.equal(0, (purser("payouts", "drop", "may-1", "--queue", "may", "--yes")))
    assert.equal(0, (purser("payouts", "drop", "may-2", "--queue", "may", "--yes")))
  end)

  it("does not pay what one person withdrew", function()
    local id = select(2, ok("approvals", "status")):match "%-%-journal%-id of plans: (%S+)"
    files.write(path "july.csv", "key,coin,network,address,amount\ninv-9,USDT,trc20," .. TRON .. ",20\n")
    ok("payouts", "plan", path "july.csv", "--operation", "wallet.withdraw", "--journal-id", id, "--output",
      path "july.plan")
    for _, name in ipairs { "alice", "bob" } do
      ok("approve", path "july.plan", "--key", ssh_keys.path(name), "--sum", "20", "--by", name)
    end
    ok("approve", path "july.plan", "--key", ssh_keys.path "dave", "--sum", "20", "--by", "dave", "--withdraw")
    local out = ok("approvals", "add", path "july.plan", path "july.plan.alice.sig", path "july.plan.bob.sig",
      path "july.plan.dave.withdraw.sig")
    assert.matches('"state":"withdrawn by dave"', out)
    local code, _, err = purser("payouts", "run", path "july.plan", "--yes")
    assert.equal(3, code, err)
    assert.matches("was withdrawn: by dave", err)
    assert.equal(2, sent())
  end)

  it("lets no other command around it", function()
    local before = sent()
    local arguments = { "wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--address", TRON, "--amount", "20",
      "--withdrawOrderId", "inv-3", "--yes" }
    local code, out, err = command.run(arguments, keys)
    assert.equal(3, code)
    assert.matches("waits for approval", err)
    files.write(path "one.plan", out) -- the plan of this call
    for _, name in ipairs { "alice", "dave" } do
      ok("approve", path "one.plan", "--key", ssh_keys.path(name), "--sum", "20", "--by", name)
    end
    ok("approvals", "add", path "one.plan", path "one.plan.alice.sig", path "one.plan.dave.sig")
    assert.equal(0, (command.run(arguments, keys)))
    before = before + 1
    assert.equal(before, sent())
    arguments[12] = "inv-4"
    local without = {}
    for name, value in pairs(keys) do without[name] = value end
    without.PURSER_POLICY = nil
    code, out, err = command.run(arguments, without)
    assert.equal("", out)
    assert.are_not.equal(0, code)
    assert.matches("under policy 1", err)
    assert.equal(before, sent())
  end)
end)
