-- SPDX-License-Identifier: MIT
-- The end of a command: the exit code of each failure, what is said of it, and the cure.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local operations = require "purser.client.operations"
local printed = require "printed"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local WITHDRAW, COINS = operations.by_name["wallet.withdraw"], operations.by_name["wallet.coins"]

local function failure(row, params, fields, is_json)
  return printed(function()
    terminal.settings.json = is_json
    fields.message = fields.message or "it failed"
    return terminal.finish(report.failure(row, params, errors.new(fields)))
  end)
end

describe("a wrong argument", function()
  it("is repeated once, as it was typed", function()
    for message, said in pairs {
      ['parameter "amount" is no decimal'] = '--amount "1,5" is no decimal; give 12.5; nothing was sent',
      ['parameter "amount" is "1,5", no decimal'] = '--amount is "1,5", no decimal; give 12.5; nothing was sent',
      ["no parameter is named"] = "no parameter is named; give 12.5",
    } do
      local code, _, err = failure(WITHDRAW, { amount = "1,5" }, { kind = "argument", outcome = "not_sent",
        parameter = "amount", message = message, hint = "give 12.5" })
      assert.equal(report.BAD_INPUT, code)
      assert.equal("purser: " .. said, (err:gsub(" %[outcome not_sent%]", ""):gsub("\n$", "")))
    end
    local _, _, err = failure(WITHDRAW, { amount = "" }, { kind = "argument", outcome = "not_sent",
      parameter = "amount", message = 'parameter "amount" is empty' })
    assert.equal('purser: --amount "" is empty; nothing was sent\n', err)
  end)

  it("has the exit code of its kind", function()
    for kind, outcomes in pairs { argument = { not_sent = 2 }, config = { not_sent = 2 }, api = { rejected = 1,
      not_sent = 3 }, transport = { not_sent = 3, unknown = 4 }, workflow = { rejected = 1, not_sent = 3 } } do
      for outcome, code in pairs(outcomes) do
        assert.equal(code, (failure(WITHDRAW, {}, { kind = kind, outcome = outcome })), kind .. " " .. outcome)
      end
    end
    assert.equal(3, (failure(COINS, {}, { kind = "transport", outcome = "unknown" }))) -- a read
  end)
end)

describe("the cure of a value that the service rejects", function()
  it("is the service's own support where nobody knows the code, and of the service's answer alone", function()
    local fields = { kind = "api", outcome = "rejected", code = "98765", operation = "wallet.withdraw", message = "no" }
    local err = errors.new(fields)
    assert.matches("the code 98765 is not known here", report.cure(err), 1, true)
    err.kind = "argument"
    assert.is_nil(report.cure(err))
  end)

  it("names the options that the service's words name", function()
    for words, cure in pairs { ["address and amount are odd"] = "^correct %-%-address or %-%-amount: `purser",
      ["the addresses are odd"] = "^`purser operations wallet.withdraw`" } do
      assert.matches(cure, report.cure(errors.new { kind = "api", outcome = "rejected", code = "33333",
        operation = "wallet.withdraw", message = words }))
    end
  end)
end)

describe("the exit code of a failure", function()
  local cases = {
    { "argument", "not_sent", WITHDRAW, report.BAD_INPUT }, { "config", "not_sent", COINS, report.BAD_INPUT },
    { "api", "rejected", WITHDRAW, report.REJECTED }, { "throttled", "rejected", COINS, report.REJECTED },
    { "transport", "not_sent", WITHDRAW, report.NOT_SENT }, { "transport", "unknown", COINS, report.NOT_SENT },
    { "transport", "unknown", WITHDRAW, report.UNKNOWN }, { "api", "unknown", WITHDRAW, report.UNKNOWN },
    { "decode", "unknown", COINS, report.NOT_SENT },
  }
  for _, case in ipairs(cases) do
    it(("is %d for %s, outcome %s, of a %s"):format(case[4], case[1], case[2], case[3].effect), function()
      assert.equal(case[4], (failure(case[3], {}, { kind = case[1], outcome = case[2] })))
    end)
  end

  it("is none for Ctrl-C that a transport or a journal met: it is raised on", function()
    for _, case in ipairs { { COINS, "unknown" }, { WITHDRAW, "not_sent" } } do
      local ok, problem = pcall(failure, case[1], {}, { kind = "transport", outcome = case[2],
        message = "interrupted!" })
      assert.same({ false, "interrupted!" }, { ok, problem })
    end
  end)
end)

describe("what is said of a failure", function()
  it("is the message with its cure, in this command's words where it has any", function()
    local _, out, err = failure(WITHDRAW, {}, { kind = "api", outcome = "rejected", code = "10073", message = "no",
      hint = "set the machine's clock" })
    assert.equal("", out)
    assert.matches("no; this machine's clock is off: synchronise it", err, 1, true)
    _, _, err = failure(WITHDRAW, {}, { kind = "api", outcome = "rejected", code = "1", hint = "wait" })
    assert.matches("it failed; wait", err, 1, true)
    assert.equal("it failed", report.sentence { message = "it failed" })
  end)

  it("names the command that shows what became of a write call, with parameters that a shell takes", function()
    local _, _, err = failure(WITHDRAW, { coin = "US DT'", amount = "5" }, { kind = "transport", outcome = "unknown" })
    assert.matches("OUTCOME UNKNOWN: it failed", err, 1, true)
    local look = [[see what became of it with: purser wallet withdrawal_history --coin 'US DT'\''' --since 1h]]
    assert.matches(look, err, 1, true)
  end)

  it("says that a read may be run again", function()
    local _, _, err = failure(COINS, {}, { kind = "transport", outcome = "unknown" })
    assert.matches("no answer: it failed", err, 1, true)
    assert.matches("it only reads, so it may be run again\n$", err)
  end)

  it("is an object with --json: its message, its facts and its cure", function()
    local rejection = { kind = "api", outcome = "rejected", code = "10101", http_status = 400,
      hint = "read the balance" }
    local code, out, err = failure(WITHDRAW, {}, rejection, true)
    assert.same({ report.REJECTED, "" }, { code, err })
    local found = core.decode(out).error
    assert.same({ "it failed", "api", "rejected", "10101", 400, "read the balance" },
      { found.message, found.kind, found.outcome, found.code, found.http_status, found.hint })
    out = select(2, failure(WITHDRAW, { coin = "USDT" }, { kind = "transport", outcome = "unknown" }, true))
    assert.equal("purser wallet withdrawal_history --coin USDT --since 1h", core.decode(out).error.advice)
  end)

  it("is the command that deletes a key whose secret is lost", function()
    local code, _, err = printed(report.lost_key, operations.by_name["broker.create_api_key"], "a b")
    assert.equal("lost", code)
    assert.matches("purser broker delete_api_key --subAccount 'a b' --apiKey KEY", err, 1, true)
  end)
end)

describe("a result", function()
  it("that cannot be written is said not to be", function()
    local written, _, err = printed(function()
      terminal.settings.output = { write = function() return nil, "No space left on device" end }
      return report.write "text"
    end)
    assert.same({ 5, "purser: the result could not be written: No space left on device\n" }, { written, err })
  end)

  it("comes with notes, which -q leaves out", function()
    local function note(quiet)
      return select(3, printed(function()
        terminal.settings.quiet = quiet
        report.note("next: %s", "purser")
      end))
    end
    assert.same({ "purser: next: purser\n", "" }, { note(false), note(true) })
  end)

  it("is that of Ctrl-C where a list could not be read for it", function()
    local ok, problem = pcall(report.check_interrupted, "Main: withdrawal was not read: interrupted!")
    assert.same({ false, "interrupted!" }, { ok, problem })
    report.check_interrupted "the service has no such list"
  end)
end)
