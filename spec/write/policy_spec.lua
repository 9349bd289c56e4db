-- SPDX-License-Identifier: MIT
-- The policy answers yes or no. All else that happens sends nothing, and the journal is under its policy for ever.

local approved = require "purser.desk.approvals.approved"
local policy = require "purser.write.policy"
local own_journal = require "own_journal"
local recorder = require "recorder"

local said, brings, counted, sent, journal

local TABLE = "CREATE TABLE IF NOT EXISTS test_gate (name TEXT PRIMARY KEY)"
local gate = { tables = { TABLE } }

function gate.open(options)
  if not brings then return nil, "the gate does not open" end
  return { install = function() return options.policy == "no" and "it is not in force" or nil end,
    before = function() end, admit = function(_, tx) return said(tx) end }
end

function gate.refuse() return { kind = "argument" } end -- no error object: no answer either

function gate.count(_, row, sign) counted[#counted + 1] = row.state .. " " .. sign end

function gate.prune(tx) tx:rows "DELETE FROM test_gate" end

setup(function() policy.use(gate) end)

teardown(function() policy.use(approved) end)

before_each(function()
  brings, counted, sent, said = true, {}, 0, function() return {} end
  journal = own_journal.begin()
end)
after_each(own_journal.finish)

local function client(options)
  local all = { journal = journal, account = "a", rate_limit = false, retry = false, guard = {}, policy = "x" }
  for name, value in pairs(options or {}) do all[name] = value or nil end
  return recorder.new(all, function()
    sent = sent + 1
    return { status = 200, body = ('{"tranId":"%d"}'):format(sent), headers = "" }
  end)
end

local function transfer(by)
  return by.sub_account:transfer { toAccount = "d", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "1" }
end

describe("a policy", function()
  it("lets a call through by its columns alone", function()
    said = function() return { plan = "p" } end
    assert(transfer(client()))
    assert.same({ { plan = "p" } }, (journal.db:rows "SELECT plan FROM purser_calls"))
  end)

  for what, answer in pairs {
    ["says nothing"] = function() return nil end, ["says no without an error"] = function() return nil, "no" end,
    ["reads a table that is not there"] = function(tx) return tx:rows "SELECT * FROM nowhere" end,
    ["cannot judge"] = function(tx) return tx:reject "the signature cannot be checked" end,
  } do
    it("that " .. what .. " keeps the call from being sent", function()
      said = answer
      local ok, err = transfer(client())
      assert.is_nil(ok)
      assert.equal("not_sent", err.outcome)
      assert.same({ 0, {} }, { sent, (journal.db:rows "SELECT * FROM purser_calls") })
    end)
  end

  it("that raises keeps the call from being sent", function()
    said = function() error "odd" end
    assert.is_false((pcall(transfer, client())))
    assert.same({ 0, {} }, { sent, (journal.db:rows "SELECT * FROM purser_calls") })
  end)

  it("is needed for ever, also where the first call was rejected, and by whoever does not bring it", function()
    local bare = assert(client { policy = false, guard = false })
    assert(transfer(bare))
    said = function() return nil end
    assert.is_nil((transfer(client())))
    assert.is_nil((transfer(bare)))
    assert.equal(1, sent)
  end)

  it("keeps no client where it does not open, or is not in force", function()
    local made, err = client { policy = "no" }
    assert.is_nil(made)
    assert.matches("it is not in force", err.message)
    brings = false
    assert.is_nil((client()))
  end)

  -- A reconciled call was not recorded where the gate said no, so its key was free, and the payment was made again.
  it("is not asked about a call that another program sent, and counts that", function()
    said = function() return nil, { kind = "argument" } end
    local id = ("k"):rep(32)
    client():reconcile({ operation = "sub_account.transfer", sent_at = 1700000000000, params = { toAccount = "d",
      fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "1", clientTranId = id } },
      { wait = false })
    assert.same({ { key = id } }, (journal.db:rows "SELECT key FROM purser_calls"))
    assert.same({ "planned 1" }, counted)
  end)

  it("counts no longer what was not executed", function()
    local code
    local rejecting = recorder.new({ journal = journal, account = "a", rate_limit = false, retry = false, guard = {},
      policy = "x" }, function()
      return { status = 400, body = ('{"code":%s,"msg":"no"}'):format(code), headers = "" }
    end)
    code = "700004" -- of one copy
    assert.is_nil((transfer(rejecting)))
    assert.same({}, counted)
    assert(journal.db:rows "DELETE FROM purser_calls")
    code = "10007" -- of each
    assert.is_nil((transfer(rejecting)))
    assert.same({ "open -1" }, counted)
    local intent = assert(journal:entries())[1].intent
    assert(journal:end_call(intent, { state = "done", record = { tranId = "late" }, answered = "yes" }))
    assert.same({ "open -1", "rejected 1" }, counted) -- executed after all
  end)
end)
