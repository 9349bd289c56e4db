-- SPDX-License-Identifier: MIT
-- `--reconcile`: what became of a call whose answer was lost.

local at_shell = require "at_shell"
local core = require "purser.core"
local ends = require "purser.cli.ends"
local errors = require "purser.client.call.errors"
local catalogue = require "purser.cli.catalogue"
local operation_command = require "purser.cli.operation"
local printed = require "printed"

describe("--reconcile", function()
  local at

  setup(function() at = at_shell({ "--seed", "9" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  before_each(function() at.world:disarm() end)

  it("ends with 0 and the record, when it was executed", function()
    assert(at.world:fault { kind = "lost_answer", operation = "sub_account.create_sub_account" })
    local code, out, err = at.run("sub_account", "create_sub_account", "--subAccount", "settled01", "--note",
      "n", "--yes", "--reconcile", "--format", "json")
    assert.equal(0, code, err)
    assert.equal("settled01", assert(core.decode(out)).subAccount)
    assert(err:find("it was executed, once", 1, true), err)
    assert.is_nil(err:find("client:reconcile", 1, true)) -- that is for programs
  end)

  it("is said in words of a shell, also as JSON, with the command that finds out by the journal", function()
    local journal = at.file()
    at.world:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 }
    local code, out, err = at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "1", "--yes", "--json", "--journal", journal)
    assert.equal(4, code)
    assert.equal("purser journal recover --journal " .. journal, core.decode(out).error.advice)
    assert.is_nil((out .. err):find("client:", 1, true), err)
  end)

  -- Most of these are known after seconds alone, so the client is none here.
  local function reconciled(operation, ...)
    local results, row = { ... }, catalogue.by_name[operation]
    local err = errors.new { kind = "transport", outcome = "unknown", message = "lost",
      advice = "client:reconcile(err) looks in wallet.somewhere" }
    local client = { reconcile = function() return results[1], results[2] end }
    local params = { subAccount = "settled01" }
    local word, out, said = printed(operation_command.find_out, { client = client, row = row, params = params,
      asked = params }, err, { format = "csv" })
    return ends.code { word }, out .. said
  end

  it("ends with 3, when it was not executed", function()
    local code, said = reconciled("wallet.transfer", { outcome = "not_done", reason = "the service says FAILED" })
    assert.equal(3, code)
    assert(said:find("it was not executed: the service says FAILED; it may be run again", 1, true), said)
  end)

  it("ends with 4, when it cannot be decided or looked for", function()
    local code, said = reconciled("wallet.transfer",
      { outcome = "undecided", reason = "two fit", candidates = { 1, 2 } })
    assert.equal(4, code)
    assert(said:find("it cannot be decided: two fit (2 records might be it)", 1, true), said)
    assert(said:find("UNKNOWN: lost; look in wallet.somewhere", 1, true), said)
    code, said = reconciled("wallet.transfer", nil, "no network")
    assert.equal(4, code)
    assert(said:find("it could not be looked for: no network", 1, true), said)
  end)

  it("ends with 5 and the way to delete it, when the secret of a new key is lost", function()
    local code, said = reconciled("sub_account.create_api_key",
      { outcome = "done", secret_lost = true, record = { apiKey = "mx0", note = "n" } })
    assert.equal(5, code)
    assert(said:find("delete_api_key --subAccount settled01 --apiKey mx0", 1, true), said)
  end)
end)
