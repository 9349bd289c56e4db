-- SPDX-License-Identifier: MIT
-- A payer that dies (kill -9) right before or after any of its commits, from adding a signed plan to the last payment,
-- pays each row once when it is started again.
-- make test-all: 120 s, waits, on lua5.4

local files = require "files"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local purser = require "purser"
local service = require "service"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local ROWS = 2

-- Adds a plan, if that has not been done, and runs its queue; dies at a commit.
local PAYER = [[
local purser = require "purser"
local at = dofile(arg[1])
local journal = assert(purser.journal.open { sqlite = at.journal })
local commits, rows = 0, journal.db.rows
local function die_at(point)
  if commits == at.commit and point == at.point then os.execute "kill -9 $PPID" end
end
function journal.db.rows(self, sql, ...)
  if sql ~= "COMMIT" then return rows(self, sql, ...) end
  commits = commits + 1
  die_at "before"
  local result, affected = rows(self, sql, ...)
  die_at "after"
  return result, affected
end
local client = assert(purser.new { base_url = at.url, api_key = at.api_key, secret_key = at.secret_key,
  account = "treasury", journal = journal, policy = at.policy, rate_limit = false, visibility_delay_ms = 50 })
local text = assert(io.open(at.plan)):read "*a"
local signatures = {}
for i, path in ipairs(at.signatures) do signatures[i] = assert(io.open(path)):read "*a" end
assert(purser.approvals.add { client = client, plan = text, signatures = signatures })
local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "one", lease_ms = 1000,
  retry_ms = 5, idle_ms = 10, history_check = "never" })
assert(payouts:run())
print("done " .. commits)
]]

describe("a payer that dies at a commit", function()
  local folder, simulator, at

  setup(function()
    folder = files.folder()
    simulator = service.start { "--seed", "4", "--clock", "real" }
    at = { url = simulator.url }
    at.policy = policies.folder({ rules = { { name = "all", effect = "allow", approvals = { { group = "treasury",
      count = 2 } } }, { name = "daily", effect = "forbid", when = { coin = "USDT", sum_over = { amount = "1000000",
      hours = 24, per = "account" } } } } }, "alice", "bob")
    whole.write(folder .. "/payer.lua", PAYER)
  end)
  teardown(function()
    files.remove(folder)
    files.remove(at.policy)
    ssh_keys.remove()
    simulator.stop()
  end)

  local function applied()
    return (simulator.world:counts()["wallet.withdraw"] or { applied = 0 }).applied
  end

  -- Runs a payer; returns how many commits it made, nil where it was killed.
  local function run(commit, point)
    local lines = { 'return { signatures = { "' .. folder .. '/alice.sig", "' .. folder .. '/bob.sig" },' }
    for name, value in pairs(at) do lines[#lines + 1] = ("%s = %q,"):format(name, value) end
    lines[#lines + 1] = ("commit = %d, point = %q }"):format(commit, point)
    whole.write(folder .. "/at.lua", table.concat(lines, "\n"))
    local lua = os.getenv "LUA" or "lua5.4"
    local pipe = assert(io.popen(("%s %s/payer.lua %s/at.lua 2>&1"):format(lua, folder, folder)))
    local out = pipe:read "*a"
    pipe:close()
    local commits = out:match "done (%d+)"
    assert.is_true(commits ~= nil or out:find "^%s*$" ~= nil or out:find "Killed" ~= nil, out)
    return tonumber(commits)
  end

  local function begin(number)
    -- each with an account of its own: the records of other journals would be nobody's
    local account = assert(simulator.world:account { name = "Payer " .. number, role = "main",
      balances = { USDT = "5000" } })
    at.api_key, at.secret_key = account.api_key, account.secret_key
    at.journal, at.plan = ("%s/journal-%d"):format(folder, number), folder .. "/plan"
    local journal = assert(purser.journal.open { sqlite = at.journal })
    local client = assert(purser.new { base_url = at.url, api_key = at.api_key, secret_key = at.secret_key,
      account = "treasury", rate_limit = false })
    local payments = {}
    for i = 1, ROWS do
      payments[i] = { key = "p" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX",
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = ("%d.5"):format(20 + i) } }
    end
    local text = assert(purser.approvals.plan { client = client, policy = at.policy, maker = "carol",
      journal_id = assert(journal:id()), payments = payments })
    client:close()
    journal:close()
    whole.write(at.plan, text)
    for _, name in ipairs { "alice", "bob" } do
      whole.write(("%s/%s.sig"):format(folder, name), ssh_keys.sign(name, "purser-plan-1", text))
    end
    return assert(plan_text.read(text))
  end

  it("pays each row once, when it is started again", function()
    local number, kills = 0, 0
    for _, point in ipairs { "before", "after" } do
      local commit = 0
      repeat
        number, commit = number + 1, commit + 1
        local plan, before = begin(number), applied()
        local commits = run(commit, point)
        if not commits then
          kills = kills + 1
          assert.is_number(run(0, ""))
        end
        local journal = assert(purser.journal.open { sqlite = at.journal })
        local rows = assert(journal.db:rows "SELECT stage, message, plan, approved_by FROM purser_calls")
        local sum, total = purser.decimal "0", purser.decimal "0"
        for _, each in ipairs(assert(journal.db:rows "SELECT amount FROM purser_sums WHERE place = ''")) do
          sum = sum + each.amount
        end
        journal:close()
        for _, row in ipairs(rows) do
          assert.same({ stage = "done", message = "", plan = plan.digest, approved_by = "alice bob" }, row)
        end
        for _, row in ipairs(plan.rows) do total = total + row.params.amount end
        assert.same({ ROWS, tostring(total) }, { #rows, tostring(sum) })
        assert.equal(ROWS, applied() - before, ("commit %d, %s"):format(commit, point))
      until commits
    end
    print(("# %d kills"):format(kills))
    assert.is_true(kills >= 20)
  end)
end)
