-- SPDX-License-Identifier: MIT
-- A gate answers yes or no. Whatever else happens, nothing is sent, and the account needs the gate for ever.

local registered = require "purser.write.registered"
local own_journal = require "own_journal"
local recorder = require "recorder"

local said, brings, counted, sent, journal

local TABLE = "CREATE TABLE IF NOT EXISTS test_gate (name TEXT PRIMARY KEY)"
local gate = { tables = { TABLE } }

function gate.open(options)
  if not brings then return nil, "the gate does not open" end
  return { install = function() return options.user_agent == "no" and "it is not in force" or nil end,
    before = function() end, admit = function(_, tx) return said(tx) end }
end

function gate.refuse() return { kind = "argument" } end -- no error object: no answer either

function gate.count(_, row, sign) counted[#counted + 1] = row.state .. " " .. sign end

function gate.prune(tx) tx:rows "DELETE FROM test_gate" end

setup(function() registered.test = { option = "user_agent", gate = gate } end)

teardown(function() registered.test = nil end)

before_each(function()
  brings, counted, sent, said = true, {}, 0, function() return {} end
  journal = own_journal.begin()
end)
after_each(own_journal.finish)

local function client(options)
  local all = { journal = journal, account = "a", rate_limit = false, retry = false, guard = {}, user_agent = "x" }
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

describe("a gate", function()
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

  it("counts what an account sent that is joined with its own, and is needed by none that ends", function()
    assert(transfer(client { account = "b", api_key = "mx0other", user_agent = false }))
    assert(transfer(client()))
    local err = select(2, journal:join("a", "b", "alice"))
    assert.matches('"a" needs the gate "test"', err.message)
    assert.is_true(journal:join("b", "a", "alice"))
    assert.same({ "planned 1" }, counted) -- as one that is new to the gate
    assert.same({ 2 }, { #assert(journal:entries { account = "a" }) })
  end)

  it("that raises keeps the call from being sent", function()
    said = function() error "odd" end
    assert.is_false((pcall(transfer, client())))
    assert.same({ 0, {} }, { sent, (journal.db:rows "SELECT * FROM purser_calls") })
  end)

  it("is needed for ever, also where the first call was rejected, and by whoever does not bring it", function()
    local bare = assert(client { user_agent = false, guard = false })
    assert(transfer(bare))
    said = function() return nil end
    assert.is_nil((transfer(client())))
    assert.is_nil((transfer(bare)))
    assert.equal(1, sent)
  end)

  it("keeps no client where it does not open, or is not in force", function()
    local made, err = client { user_agent = "no" }
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
    local rejecting = recorder.new({ journal = journal, account = "a", rate_limit = false, retry = false, guard = {},
      user_agent = "x" }, function() return { status = 400, body = '{"code":700004,"msg":"no"}', headers = "" } end)
    assert.is_nil((transfer(rejecting)))
    assert.same({ "open -1" }, counted)
    local intent = assert(journal:entries())[1].intent
    assert(journal:end_call(intent, { state = "done", record = { tranId = "late" }, answered = "yes" }))
    assert.same({ "open -1", "rejected 1" }, counted) -- executed after all
  end)

  it("says no of a name that was joined, and nothing where the journal cannot be read", function()
    assert.is_true(journal:identify("b", "digest of b"))
    assert.is_true(journal:join("b", "a", "alice"))
    journal.identified = nil
    local ok, err = journal:identify("b", "digest of b")
    assert.is_nil(ok)
    assert.matches('account "a"', err.message)
    assert.same({ true, false }, { journal:is_joined("b", "a"), (journal:is_joined("a", "b")) })
    local failing = { rows = function() return nil, "disk I/O error" end }
    assert.same({ nil, "disk I/O error" }, { require("purser.write.gates").is_joined(failing, "b", "a") })
  end)
end)
