-- SPDX-License-Identifier: MIT
-- A withdrawal, or a stricter policy, against sending in another process: what committed first holds.
-- make test-all: 60 s, waits, on lua5.4

local eventually = require "eventually"
local core = require "purser.core"
local files = require "files"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local policy_chain = require "purser.desk.approvals.policy_chain"
local purser = require "purser"
local ssh_keys = require "ssh_keys"
local utc = require "purser.client.util.utc"
local whole = dofile "tools/whole_files.lua"

local ROUNDS = tonumber(os.getenv "ROUNDS") or 300

-- Sends the calls k1 to kN, one after the other, and writes each that was sent to a file, with the number of the call.
local SENDER = [[
local purser = require "purser"
local folder, rounds = arg[1], tonumber(arg[2])
local journal = assert(purser.journal.open { sqlite = folder .. "/journal.db", lock_timeout_ms = 600000 })
local sent = assert(io.open(folder .. "/sent", "w"))
sent:setvbuf "line"
local count, transport = 0, {}
function transport.send()
  count = count + 1
  return { status = 200, body = ('{"tranId":"%d"}'):format(count), headers = "" }
end
local client = assert(purser.new { base_url = "https://s.example", api_key = "k", secret_key = "s",
  account = "treasury", transport = transport,
  rate_limit = false, retry = false, journal = journal, policy = folder .. "/policy" })
for i = 1, rounds do
  -- The last fifth waits for the other process, however slow it is: what is between meets it as it comes.
  while i > rounds * 4 / 5 and not io.open(folder .. "/go_on") do require("purser.core").sleep_ms(10) end
  local key = ("k%04d"):format(i)
  local paid, err = client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
    amount = "1" }, { key = key })
  sent:write(key, " ", paid and "paid" or err.details and err.details.code or tostring(err), "\n")
end
]]

describe("what happens while another process sends", function()
  local folder, journal, plan

  before_each(function()
    folder = files.folder()
    assert(os.execute(("mkdir -m 700 %s/policy"):format(folder)))
    local text = policies.text(policies.given(nil, true))
    whole.write(folder .. "/policy/1.json", text)
    whole.write(folder .. "/policy/1.sigs", ssh_keys.sign("alice", "purser-policy-1", text)
      .. ssh_keys.sign("bob", "purser-policy-1", text))
    -- On a slow disk the sender's commits leave no lock for seconds.
    journal = assert(purser.journal.open { sqlite = folder .. "/journal.db", lock_timeout_ms = 600000 })
    whole.write(folder .. "/sender.lua", SENDER)
    local rows = {}
    for i = 1, ROUNDS do
      rows[i] = { key = ("k%04d"):format(i), operation = "wallet.transfer",
        params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" } }
    end
    plan = { policy = text, rows = rows }
  end)
  after_each(function()
    journal:close()
    files.remove(folder)
  end)
  teardown(ssh_keys.remove)

  local function client()
    return assert(purser.new { base_url = "https://s.example", api_key = "k", secret_key = "s", account = "treasury",
      transport = { send = function() return { status = 500, body = "", headers = "" } end }, rate_limit = false,
      journal = journal, policy = folder .. "/policy" })
  end

  -- A plan of each call, signed by two; returns the text of one.
  local function add_all()
    local approval_rows = require "purser.desk.approvals.approval_rows"
    local policy = require("purser.desk.approvals.policy").read(plan.policy)
    client():close()
    local texts, not_after = {}, utc.text(core.now_ms() + 2 * 86400000):sub(1, 10)
    assert(journal.db:transaction(function(tx)
      for i, row in ipairs(plan.rows) do
        local text = assert(plan_text.write({ account = "treasury", queue = "", journal = assert(tx:rows(
          "SELECT value FROM purser_meta WHERE name = 'journal_id'")[1].value), base_url = "https://s.example",
          policy = "1 " .. policy.digest, maker = "carol", not_after = not_after }, { row }))
        approval_rows.add(tx, assert(plan_text.read(text)), policies.approve(text))
        texts[i] = text
      end
      return true
    end))
    return texts
  end

  local function start()
    local lua = os.getenv "LUA" or "lua5.4"
    assert(os.execute(("%s %s/sender.lua %s %d >%s/errors 2>&1 &"):format(lua, folder, folder, ROUNDS, folder)))
  end

  local function lines()
    local found = {}
    local file = io.open(folder .. "/sent")
    if not file then return found end
    for line in file:lines() do
      local key, what = line:match "^(%S+) (.+)$"
      if key then found[#found + 1] = { key = key, what = what } end
    end
    file:close()
    return found
  end

  local function await(count)
    local found
    local ok = pcall(eventually, function()
      found = lines()
      return #found >= count
    end)
    assert(ok, "the sender stopped: " .. io.open(folder .. "/errors"):read "*a")
    return found
  end

  it("withdrawals hold from their commit on", function()
    local texts, withdrawn = add_all(), {}
    local signatures = {}
    for i = 1, ROUNDS, 2 do signatures[i] = ssh_keys.sign("dave", "purser-plan-withdraw-1", texts[i]) end
    start()
    local payer = client()
    await(1)
    for i = ROUNDS - 1, 1, -2 do -- from the end on, so that they meet
      local before = #lines()
      assert(purser.approvals.add { client = payer, plan = texts[i], signatures = { signatures[i] } })
      withdrawn[i] = { before = before, after = #lines() }
      if i <= ROUNDS * 4 / 5 then whole.write(folder .. "/go_on", "") end
    end
    local paid, refused = 0, 0
    for i, line in ipairs(await(ROUNDS)) do
      local at = withdrawn[i]
      if line.what == "paid" then
        paid = paid + 1
        assert.is_true(at == nil or at.after >= i - 1, line.key) -- it was sent before the withdrawal was there
      else
        assert.equal("approval.withdrawn", line.what)
        refused = refused + 1
        assert.truthy(at)
        assert.is_true(at.before <= i)
      end
    end
    print(("# %d paid, %d withdrawn"):format(paid, refused))
    assert.is_true(refused > 0)
  end)

  it("a stricter policy holds from its installation on", function()
    add_all()
    local given = policies.given({ version = 2, rules = { { name = "no", effect = "forbid" },
      { name = "all", effect = "allow", approvals = {} } } }, true)
    given.replaces = plan_text.digest(plan.policy)
    local text = policies.text(given)
    start()
    await(ROUNDS / 5)
    assert(policy_chain.install(folder .. "/policy", "treasury", text,
      ssh_keys.sign("alice", "purser-policy-1", text) .. ssh_keys.sign("dave", "purser-policy-1", text)))
    client():close()
    whole.write(folder .. "/go_on", "")
    local after, first = #lines(), nil
    for i, line in ipairs(await(ROUNDS)) do
      if line.what ~= "paid" then first = first or i end
      assert.is_true(not first or line.what == "approval.rule", line.what)
    end
    assert.truthy(first)
    assert.is_true(first <= after + 2, ("%d %d"):format(first, after))
  end)
end)
