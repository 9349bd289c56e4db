-- SPDX-License-Identifier: MIT
-- The check at sending: what is not in a plan that today's policy accepts is not sent.
-- make test: 9 s, on lua5.4 and luajit, a third

local approval_rows = require "purser.desk.approvals.approval_rows"
local core = require "purser.core"
local draws = require "draws"
local own_journal = require "own_journal"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local recorder = require "recorder"
local setting = require "approvals_setting"
local sshsig = require "purser.desk.approvals.sshsig"
local ssh_keys = require "ssh_keys"

local DAY, HOUR = 86400000, 3600000
local ALL = { name = "all", effect = "allow", approvals = {} }
local KNOWN = { name = "known", effect = "allow", when = { known_days = 7 }, approvals = {} }

before_each(function() setting.begin() end)
after_each(setting.finish)
teardown(ssh_keys.remove)

local row, sign = setting.row, setting.sign

local function refused(code, value, err)
  assert.is_nil(value, code)
  assert.equal("not_sent", err.outcome)
  assert.equal("guard.approval", err.code)
  assert.equal("approval." .. code, err.details.code, err.message)
  return err
end

local function signed(rows, names, head)
  local text = setting.plan(rows, head)
  local signatures = {}
  for name in (names or "alice bob"):gmatch "%w+" do signatures[#signatures + 1] = sign(text, name) end
  return text, signatures
end

local function add(...) setting.add(signed(...)) end

-- Begins again under these rules. Returns a client.
local function under(rules)
  setting.finish()
  setting.begin { rules = rules }
  return assert(setting.client())
end

-- Expects that the service rejects a row's call.
local function rejected(one, client)
  setting.answer = '{"code":10007,"msg":"no such coin %d"}'
  local value, err = setting.send(one, client)
  setting.answer = nil
  assert.is_nil(value)
  assert.equal("rejected", err.outcome)
end

-- Lets one plan of no queue hold several payments, as no program writes it.
local function unsingle()
  own_journal.within(function(tx) return tx:rows "UPDATE purser_plans SET single = ''" end)
end

-- Writes that the payment of a key was seen to be sent.
local function arrived(key)
  assert(setting.journal.db:rows("INSERT OR REPLACE INTO purser_arrivals SELECT id, record_id, 'sent', '1', '1' "
    .. "FROM purser_calls WHERE key = $1 OR payment = $1", key))
end

describe("a call under a policy", function()
  it("is sent once two persons have signed its plan, and as it stands there", function()
    local client, one = assert(setting.client()), row("inv-1", "15")
    local err = refused("missing", setting.send(one, client))
    assert.matches("policy 1, all %(treasury 2%); signed by nobody", err.message)
    local plan = assert(plan_text.read(err.details.plan))
    assert.equal("inv-1", plan.rows[1].key)
    setting.add(err.details.plan, { sign(err.details.plan, "alice") })
    assert.matches("signed by alice", refused("missing", setting.send(one, client)).message)
    setting.add(err.details.plan, { sign(err.details.plan, "dave") })
    assert.equal(0, #setting.sent)
    assert.same({ id = "1" }, setting.send(one, client))
    assert.equal(1, #setting.sent)
    local kept = own_journal.within(function(tx) return tx:rows "SELECT * FROM purser_calls" end)
    assert.same({ "alice dave", plan.digest, "1" }, { kept[1].approved_by, kept[1].plan, kept[1].policy })
    assert.same({ id = "1" }, setting.send(one, client)) -- the same call again: its result
    assert.equal(1, #setting.sent)
  end)

  it("is enqueued once, by the plan that brings it, and a plan without its payments is not kept", function()
    local plans, count = assert(setting.client()):plans(), 0
    local function enqueue(plan)
      count = count + 1
      return plan.rows[1].key == "inv-1", "no queue"
    end
    local text, signatures = signed({ row("inv-1", "15") }, "alice bob", { queue = "june" })
    assert.same({ "alice", "bob" }, assert(plans:add(text, signatures, setting.now, enqueue)).signed)
    assert.same({ "alice", "bob" }, assert(plans:add(text, {}, setting.now, enqueue)).signed)
    assert.equal(1, count)
    local other = signed({ row("inv-2", "15") }, "alice", { queue = "june" })
    assert.same({ nil, "no queue" }, { plans:add(other, {}, setting.now, enqueue) })
    assert.equal(1, #assert(plans:stored(setting.now)))
  end)

  it("is judged by a look as a sending at that time would be", function()
    local client = assert(setting.client())
    add({ row("inv-1", "15"), row("inv-2", "1") }, "alice bob", { queue = "june" })
    add({ row("inv-3", "15") }, "alice", { queue = "june", maker = "dave" })
    local plans, unmet = client:plans(), {}
    for _, plan in ipairs(assert(plans:stored(setting.now))) do unmet[plan.rows] = plan.unmet end
    assert.same({}, unmet[2])
    local why, count = next(unmet[1])
    assert.matches("signed by alice", why)
    assert.equal(1, count)
    assert.is_true(assert(plans:stored(setting.now + 8 * DAY))[1].expired)
    assert.equal(0, #setting.sent)
  end)

  it("is judged by the service's lists that its policy asks for, read before", function()
    local client = under { { name = "saved", effect = "allow", when = { saved = true }, approvals = {} } }
    setting.answer = '{"code":500,"msg":"no"}'
    refused("rule", setting.send(row("inv-1", "15"), client))
    local asked = {}
    for i, request in ipairs(setting.sent) do asked[i] = request.target:match "^/api/v3/([^?]*)" end
    assert.same({ "capital/config/getall", "capital/withdraw/address" }, asked)
  end)

  it("is not sent with anything changed", function()
    add { row("inv-1", "15") }
    local client = assert(setting.client())
    for _, changes in ipairs { { amount = "15.1" }, { address = "TPayeE" }, { netWork = "ETH" }, { memo = "1" },
      { remark = "x" }, { contractAddress = "0x1" }, { coin = "USDC" } } do
      refused("changed", setting.send(row("inv-1", "15", changes), client))
    end
    refused("missing", setting.send(row("inv-2", "15"), client))
    refused("changed", setting.send({ operation = "sub_account.create_api_key", params = { subAccount = "a", note = "n",
      permissions = "SPOT_DEAL_READ" } }, client, "inv-1"))
    local err = refused("missing", client:call("wallet.cancel_withdrawal", { id = "1" }))
    assert.matches("give the call a key", err.hint)
    assert.is_nil(err.details.plan)
  end)

  it("counts persons, none of whom is the maker or a stranger", function()
    local client = assert(setting.client())
    for i, case in ipairs { { "alice alice" }, { "alice eve" }, { "alice carol" }, { "" },
      { "carol dave", maker = "alice" }, { "alice dave", maker = "alice" },
      { "alice dave", maker = "bob", is_sent = true }, { "alice bob dave", maker = "alice", is_sent = true } } do
      local one = row("k" .. i, "5")
      add({ one }, case[1], { maker = case.maker })
      if case.is_sent then assert(setting.send(one, client)) else refused("missing", setting.send(one, client)) end
    end
    assert.equal(2, #setting.sent)
  end)

  it("needs signatures for this purpose, over these bytes", function()
    local client, text = assert(setting.client()), setting.plan { row("inv-1", "15") }
    local other = setting.plan { row("inv-1", "15.5") }
    setting.add(text, { sign(text, "alice", "purser-policy-1"), sign(text, "bob", "file"), sign(other, "alice"),
      sign(other, "bob"), "no signature", sign(text, "alice", "purser-plan-made-1") })
    refused("missing", setting.send(row("inv-1", "15"), client))
    setting.add(text, { sign(text, "alice"), sign(text, "bob") })
    assert(setting.send(row("inv-1", "15"), client))
  end)

  it("belongs to one account, journal and service", function()
    local client = assert(setting.client())
    for code, head in pairs { journal = { journal = "other" }, service = { base_url = "https://service.example:8443" },
      policy = { policy = "1 " .. ("ab"):rep(32) } } do
      add({ row(code, "5") }, nil, head)
      refused(code, setting.send(row(code, "5"), client))
    end
    add({ row("a", "5") }, nil, { account = "other" })
    add({ row("q", "5") }, nil, { queue = "june" })
    refused("account", setting.send(row("a", "5"), client))
    refused("missing", setting.send(row("q", "5"), client))
    own_journal.within(function(tx)
      tx:rows "UPDATE purser_plans SET queue = '', single = ''" -- by a writer of the database
      return true
    end)
    client = assert(setting.client())
    refused("account", setting.send(row("a", "5"), client))
    refused("queue", setting.send(row("q", "5"), client))
    assert.equal(0, #setting.sent)
  end)

  it("ends with its plan's last day", function()
    add({ row("a", "5"), row("b", "5") }, nil, { not_after = "2026-11-24" })
    unsingle()
    setting.now = setting.NOW + DAY + 15 * HOUR - 1
    assert(setting.send(row("a", "5")))
    setting.now = setting.now + 1
    refused("expired", setting.send(row("b", "5")))
    add({ row("b", "5") }, nil, { not_after = "2026-11-26" }) -- made and signed again
    assert(setting.send(row("b", "5")))
  end)

  it("reads no plan but the newest that lets it through", function()
    local head = { queue = "" }
    local older = signed({ row("a", "5"), row("b", "6") }, nil, head)
    local newer, signatures = signed({ row("c", "5"), row("d", "6") }, nil, head)
    setting.add(older, { sign(older, "alice"), sign(older, "bob") })
    setting.now = setting.NOW + 1
    setting.add(newer, signatures)
    unsingle()
    local client, read, plan_text_of = assert(setting.client()), {}, approval_rows.plan_text
    function approval_rows.plan_text(tx, digest) -- luacheck: ignore 122
      read[#read + 1] = digest
      return plan_text_of(tx, digest)
    end
    finally(function() approval_rows.plan_text = plan_text_of end) -- luacheck: ignore 122
    assert(setting.send(row("c", "5"), client))
    assert(setting.send(row("d", "6"), client))
    assert.same({ plan_text.digest(newer) }, read)
    assert(setting.send(row("a", "5"), client))
    assert.same({ plan_text.digest(newer), plan_text.digest(older) }, read)
  end)

  it("is withdrawn by one person, for good", function()
    local text, signatures = signed { row("a", "5") }
    setting.add(text, signatures)
    for i, name in ipairs { "alice", "carol" } do
      local one = row("k" .. i, "5")
      local other, others = signed { one }
      setting.add(other, others)
      setting.add(other, { sign(other, name, "purser-plan-withdraw-1") })
      assert.matches("by " .. name, refused("withdrawn", setting.send(one)).message)
      setting.add(other, { sign(other, "dave") })
      refused("withdrawn", setting.send(one))
    end
    setting.add(text, { sign(text, "eve", "purser-plan-withdraw-1") }) -- nobody the policy ever named
    assert(setting.send(row("a", "5")))
  end)

  it("stays withdrawn where OpenSSL fails at the withdrawal's signature, and after", function()
    local text, signatures = signed({ row("a", "5"), row("b", "6") }, nil, { queue = "" })
    setting.add(text, signatures)
    unsingle()
    local withdrawal = sign(text, "alice", "purser-plan-withdraw-1")
    setting.add(text, { withdrawal })
    local bytes, verify, failures = sshsig.read(withdrawal).bytes, core.verify_ed25519, 0
    function core.verify_ed25519(key, signed_text, signature) -- luacheck: ignore 122
      if signature ~= bytes or failures > 0 then return verify(key, signed_text, signature) end
      failures = 1
      return nil, "OpenSSL could not check the signature"
    end
    finally(function() core.verify_ed25519 = verify end) -- luacheck: ignore 122
    local client = assert(setting.client())
    assert.matches("OpenSSL", refused("unchecked", setting.send(row("a", "5"), client)).message)
    assert.equal(1, failures)
    refused("withdrawn", setting.send(row("a", "5"), client))
    assert.equal(0, #setting.sent)
  end)

  it("stays withdrawn where the withdrawal's text is damaged", function()
    local text, signatures = signed { row("a", "5") }
    setting.add(text, signatures)
    local withdrawal = sign(text, "alice", "purser-plan-withdraw-1")
    setting.add(text, { withdrawal })
    own_journal.within(function(tx)
      return tx:rows("UPDATE purser_statements SET text = 'x' WHERE text = $1", withdrawal)
    end)
    refused("unchecked", setting.send(row("a", "5")))
    local other, others = signed({ row("a", "5") }, nil, { maker = "erin" })
    setting.add(other, others)
    assert(setting.send(row("a", "5"))) -- a plan that was judged whole lets it through
  end)

  it("cannot be withdrawn any less by who was removed since", function()
    local text, signatures = signed { row("a", "5") }
    setting.add(text, signatures)
    setting.add(text, { sign(text, "carol", "purser-plan-withdraw-1") })
    setting.next_version({ people = { alice = { ssh_keys.public "alice" }, bob = { ssh_keys.public "bob" } },
      groups = { treasury = { "alice", "bob" } } }, "alice", "bob")
    refused("withdrawn", setting.send(row("a", "5")))
  end)

  it("follows today's policy over yesterday's signatures", function()
    local client = assert(setting.client())
    for i = 1, 4 do add({ row("k" .. i, ("%d"):format(i * 10)) }, "alice bob") end
    assert(setting.send(row("k1", "10"), client))
    local two = { { group = "treasury", count = 2 } }
    setting.next_version({ rules = { { name = "all", effect = "allow", approvals = two },
      { name = "no", effect = "forbid", when = { coin = "USDT", amount_over = "20" } } } }, "alice", "bob")
    assert(setting.send(row("k2", "20"), client)) -- the running process knows nothing of it yet
    assert(setting.client()) -- another process installs it
    assert.same({ "no" }, refused("rule", setting.send(row("k3", "30"), client)).details.rules)
    setting.next_version({ people = { alice = { ssh_keys.public "alice" }, bob = { ssh_keys.public "bob2" },
      dave = { ssh_keys.public "dave" }, carol = { ssh_keys.public "carol" } } }, "alice", "bob", "bob2")
    assert(setting.client())
    assert.matches("signed by alice", refused("missing", setting.send(row("k4", "40"), client)).message)
  end)

  it("stands still for time that moves back", function()
    for _, key in ipairs { "a", "b", "c" } do add { row(key, "5") } end
    local client = assert(setting.client())
    assert(setting.send(row("a", "5"), client))
    setting.now = setting.NOW - 60000
    assert(setting.send(row("b", "5"), client))
    setting.now = setting.NOW - 60001
    refused("clock", setting.send(row("c", "5"), client))
    setting.now = setting.NOW - DAY - 1 -- the journal's newest call is of another world, and not believed
    refused("missing", setting.send(row("d", "5"), client))
  end)

  it("asks for more than a plan where the rules do", function()
    local client = under {
      { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "10" }, approvals = {} },
      { name = "robot", effect = "allow", when = { made_by = "finance" }, approvals = {} },
      { name = "daily", effect = "forbid", when = { coin = "USDT",
        sum_over = { amount = "35", hours = 24, per = "account" } } },
      { name = "rest", effect = "require", when = { coin = "USDT", amount_over = "10" }, wait_hours = 2 } }
    for i = 1, 3 do assert(setting.send(row("small" .. i, "5"), client)) end
    refused("missing", setting.send(row("big", "20"), client))
    local text = setting.plan { row("big", "20") }
    setting.add(text, { sign(text, "carol", "purser-plan-made-1") })
    assert.equal(2 * HOUR, refused("missing", setting.send(row("big", "20"), client)).details.due_in)
    setting.now = setting.now + 2 * HOUR
    assert(setting.send(row("big", "20"), client)) -- 35 with it
    assert.same({ "daily" }, refused("rule", setting.send(row("more", "0.01"), client)).details.rules)
    assert.is_number(refused("rule", setting.send(row("more", "0.01"), client)).details.due_in)
    setting.now = setting.NOW + 26 * HOUR
    assert(setting.send(row("more", "0.01"), client))
  end)

  it("counts what was rejected for nothing", function()
    local client = under { ALL, { name = "daily", effect = "forbid",
      when = { coin = "USDT", sum_over = { amount = "10", hours = 24, per = "destination" } } } }
    for _ = 1, 3 do rejected(row("a", "10"), client) end
    assert(setting.send(row("a", "10"), client))
    refused("rule", setting.send(row("b", "0.1"), client))
    assert(setting.send(row("c", "10", { address = "TOther" }), client))
  end)

  it("counts to one destination what may be paid there under other names", function()
    local client = under { ALL, { name = "no-split", effect = "forbid",
      when = { coin = "USDT", sum_over = { amount = "10", hours = 24, per = "destination" } } } }
    assert(setting.send(row("a", "6"), client))
    for i, more in ipairs { { memo = "7" }, { netWork = "Tron(TRC20)" }, { address = "TPAYEE" }, { address = "tpayee" },
      { contractAddress = "0x1" } } do
      assert.same({ "no-split" }, refused("rule", setting.send(row("b" .. i, "6", more), client)).details.rules)
    end
    assert(setting.send(row("c", "6", { address = "TOther" }), client))
  end)

  it("counts in a sum what was sent before a policy asked for it", function()
    local client = under { ALL }
    assert(setting.send(row("a", "8"), client))
    rejected(row("b", "8"), client)
    local limit = { amount = "10", hours = 24, per = "account" }
    setting.next_version({ rules = { ALL, { name = "daily", effect = "forbid", when = { coin = "USDT",
      sum_over = limit } } } }, "alice", "bob")
    assert(setting.client()):close()
    refused("rule", setting.send(row("c", "2.1"), client))
    assert(setting.send(row("d", "2"), client))
    refused("rule", setting.send(row("e", "0.1"), client))
  end)

  it("knows an address by payments that were made", function()
    local client = under { KNOWN,
      { name = "try", effect = "allow", when = { coin = "USDT", amount_up_to = "1" }, approvals = {} } }
    refused("rule", setting.send(row("a", "5"), client))
    rejected(row("b", "1"), client)
    setting.now = setting.NOW + 7 * DAY
    refused("rule", setting.send(row("a", "5"), client)) -- that one was not made
    assert(setting.send(row("b", "1"), client))
    setting.now = setting.NOW + 14 * DAY
    refused("rule", setting.send(row("a", "5"), client)) -- accepted is not sent
    arrived "b"
    assert(setting.send(row("a", "5"), client))
    refused("rule", setting.send(row("c", "5", { memo = "7" }), client))
  end)
end)

describe("an account that was once under a policy", function()
  it("is not served without one, nor by an older or another one", function()
    local with = assert(setting.client())
    local without = assert(setting.client { policy = false })
    refused("policy", setting.send(row("a", "5"), without))
    local _, other = setting.client { policy = false, account = "other" }
    assert.matches('journal of account "treasury"', other.message)
    _, other = setting.client { policy = false, account = false }
    assert.matches("no account is named", other.message)
    local kept = setting.policy
    setting.next_version({ zone = "+01:00" }, "alice", "bob")
    assert(setting.client())
    os.remove(setting.folder .. "/2.json")
    refused("rollback", setting.send(row("b", "5"), with))
    local client, err = setting.client()
    assert.is_nil(client)
    assert.matches("newer policy than the folder holds", err.message)
    setting.policy = kept
    setting.next_version({ zone = "+02:00" }, "alice", "bob")
    refused("policy", setting.send(row("b", "5"), with))
    assert.is_nil((setting.client()))
    assert.equal(0, #setting.sent)
  end)

  it("has calls that were sent before count as known", function()
    local without = assert(setting.client { policy = false })
    assert(setting.send(row("a", "5"), without))
    arrived "a"
    setting.install(policies.given({ rules = { KNOWN } }, true), "alice", "bob")
    setting.now = setting.NOW + 8 * DAY
    assert(setting.send(row("b", "5")))
    refused("rule", setting.send(row("c", "5", { address = "TOther" })))
  end)

  it("needs a journal and a name, and whole files", function()
    local journal, policy = setting.journal, setting.folder
    for expected, options in pairs { ["needs a journal"] = { account = "treasury", policy = policy },
      ["no account is named"] = { journal = journal, policy = policy },
      ["cannot be read"] = { account = "treasury", journal = journal, policy = "/nowhere" },
      ['of the account "other"'] = { account = "treasury", journal = journal, policy = policy } } do
      if expected:find "other" then setting.install(policies.given({ account = "other" }, true), "alice", "bob") end
      local client, err = recorder.new(options)
      assert.is_nil(client)
      assert.truthy(tostring(err):find(expected, 1, true), tostring(err))
    end
  end)

  it("has no requests prepared for others to send", function()
    local client = assert(setting.client())
    local request, err = client:prepare("wallet.withdraw", row("a", "5").params)
    assert.is_nil(request)
    assert.equal("guard.approval", err.code)
    local _, extra = client:call("wallet.withdraw", row("a", "5").params, { extra_params = { x = "1" } })
    assert.equal("guard.allow_extra", extra.code)
  end)
end)

describe("a plan in the journal", function()
  it("with any bit changed or cut off pays nothing", function()
    local text, signatures = signed({ row("a", "5"), row("b", "6"), row("c", "7") }, nil, { queue = "" })
    local plan_digest = plan_text.digest(text)
    local client = assert(setting.client())
    local function with(changed)
      own_journal.within(function(tx)
        tx:rows "DELETE FROM purser_plans"
        tx:rows([[INSERT INTO purser_plans (digest, queue, single, text, added_at)
          VALUES ($1, '', '', $2, '0')]], plan_text.digest(changed), changed)
        tx:rows("UPDATE purser_statements SET plan = $1", plan_text.digest(changed))
        return true
      end)
      for _, key in ipairs { "a", "b", "c" } do
        local changed_row = (plan_text.read(changed) or { by_key = {} }).by_key[key] or row(key, "5")
        local value, err = setting.send(changed_row, client)
        assert.is_nil(value)
        assert.truthy(err.code == "guard.approval" or err.kind == "argument", err.code)
      end
    end
    setting.add(text, signatures)
    local tried = 0
    for at = 1, #text do
      for bit = at % draws.STEP, 7, draws.STEP do
        local byte = text:byte(at)
        local flipped = math.floor(byte / 2 ^ bit) % 2 == 1 and byte - 2 ^ bit or byte + 2 ^ bit
        if flipped > 0 then with(text:sub(1, at - 1) .. string.char(flipped) .. text:sub(at + 1)) end
        tried = tried + 1
      end
      if at < #text and draws.takes(at) then with(text:sub(1, at)) end
    end
    assert.is_true(tried > 5000 / draws.STEP)
    assert.equal(0, #setting.sent)
    own_journal.within(function(tx) tx:rows "DELETE FROM purser_plans" return true end)
    setting.add(text, {})
    own_journal.within(function(tx) return tx:rows("UPDATE purser_statements SET plan = $1", plan_digest) end)
    unsingle()
    for key, amount in pairs { a = "5", b = "6", c = "7" } do assert(setting.send(row(key, amount), client)) end
  end)
end)
