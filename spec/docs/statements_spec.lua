-- SPDX-License-Identifier: MIT
-- Each statement of a page that names a command and its result (support/statements.lua) is run here, or names the test
-- that runs the same. A statement without a proof fails, and so does a proof without a statement.
-- make test: 8 s, waits, on lua5.4

package.path = "tools/?.lua;" .. package.path

local command = require "command"
local files = require "files"
local run = require "docs.run"
local statements = require "statements"

local CLI, DESK = "spec/cli/", "spec/desk/"

-- Of each page: words of the statement, then its proof. A list is run: { a line, its exit code, a text of its output }
-- each; a text is FILE: the name of a test.
local proofs = {
  ["docs/cli/command-line.md"] = {
    { "deposit_addresses --coin USDT", { { "wallet deposit_addresses --coin USDT", 0, "OWN" } } },
    { "prints the plan and ends with 0, or with 2", {
      { "wallet withdraw --coin USDT --network trc20 --address ADDRESS --amount 25 --plan", 0, "25 USDT" },
      { "wallet withdraw --coin USDT --network trc20 --address ADDRESS --amount 0.000001 --plan", 2, "10" } } },
    { "the command ends with 5", CLI .. "operation_reconcile_spec.lua: ends with 5 and the way to delete it" },
    { "| 4 | a payment is undecided", CLI .. "ends_spec.lua: end with 4 while a payment is undecided" },
    { "| else 1 |", CLI .. "ends_spec.lua: end with the documented code, with the file and without, and again" },
    { "| else 3 |", CLI .. "payouts_spec.lua: exits with 3 while payments are blocked, and names them" },
    { "| else 0 |", CLI .. "ends_spec.lua: end with the documented code, with the file and without, and again" },
    { "A misspelt name pays nothing", CLI .. "payouts_accounts_spec.lua: is not paid, and nothing is shown of the" },
    { "A run with nothing to do", CLI .. "fleet_spec.lua: sweeps nothing, and the run of that list ends with 0" },
    { "`journal recover` looks for", CLI .. "journal_spec.lua: ends with 4 while a call is open" },
    { "`purser balances` shows", { { "balances", 0, "USDT   24" }, { "balances --all", 0, "tradingdesk1" } } },
    { "| 0 | done", { { "balances", 0, "USDT" } } },
    { "| 1 | rejected", CLI .. "operation_plan_spec.lua: ends with 1 when the service rejects it" },
    { "| 2 | bad input", { { "wallet withdraw --coin USDT", 2, "missing options" },
      { "wallet convert --asset DOGE", 2, "give --yes" } } },
    { "| 3 | not sent", CLI .. "operation_reconcile_spec.lua: ends with 3, when it was not executed" },
    { "| 4 | **outcome unknown**", CLI .. "operation_reconcile_spec.lua: ends with 4, when it cannot be decided" },
    { "| 6 | `receive`", CLI .. "receive_spec.lua: credits, asks, and adds up" },
    { "| 5 | done", CLI .. "cli_spec.lua: ends with 5 when standard output is closed" },
    { "| 70 |", CLI .. "cli_spec.lua: ends with 130 when it is interrupted and with 70 when it fails itself" },
    { "| 130 |", CLI .. "cli_spec.lua: ends with 130 when it is interrupted and with 70 when it fails itself" },
    { "| 141 |", CLI .. "commands_spec.lua: says what the exit codes mean" },
    { "`purser doctor` reads", { { "doctor", 0, "ok    keys" } } },
  },
  ["docs/client/limits.md"] = { { "`purser doctor --facts` names", { { "doctor --facts", 0, "contested" } } } },
  ["docs/desk/agents.md"] = { { "journal log", { { "journal log --journal FOLDER/payments.db", 0, "(none)" } } } },
  ["docs/desk/approvals.md"] = {
    { "approvals status", CLI .. "approvals_spec.lua: pays a list that two persons have signed, once" },
    { "payouts show PLAN", CLI .. "approvals_spec.lua: pays a list that two persons have signed, once" },
  },
  ["docs/desk/books.md"] = {
    { "reads that copy", { { "statement --books sqlite:FOLDER/books.db --from 2023-11-01 --to 2023-12-01", 0,
      "statement of Treasury" } } },
    { "sync --again", { { "sync --again --books sqlite:FOLDER/books.db", 0, "records that are new or changed" } } },
    { "`--check` ends with 1", CLI .. "books_statement_spec.lua: ends with 1 under --check where something is open" },
    { "`purser books gaps` shows", CLI .. "books_spec.lua: shows an account that nobody read as a gap of every list" },
    { "`purser books deliveries` shows", {
      { "books deliveries --books sqlite:FOLDER/books.db", 0, "there is no receiver" } } },
  },
  ["docs/desk/each-night.md"] = {
    { "`purser sync`", CLI .. "books_sync_spec.lua: ends with 1 where the service rejects a list, and with 3 where" },
    { "`purser fleet sweep`", CLI .. "fleet_spec.lua: sweeps nothing, and the run of that list ends with 0" },
    { "`purser payouts run`", CLI .. "ends_spec.lua: end with the documented code, with the file and without" },
    { "`purser doctor`", CLI .. "doctor_spec.lua: names the missing permissions" },
    { "`purser statement --check`", CLI .. "books_statement_spec.lua: ends with 1 under --check" },
  },
  ["docs/desk/fleets.md"] = { { "Afterwards a declaration", CLI .. "fleet_spec.lua: makes what a file declares" } },
  ["docs/desk/in-production.md"] = {
    { "`purser watch account` looks", { { "watch account --network USDT/TRX", 0, "" } } },
    { "exit code 0 means arrived", DESK .. "monitor/alerts_spec.lua: is each change, in order" },
    { "`purser doctor` shows no", { { "doctor", 0, "ok    clock" } } },
  },
  ["docs/desk/operators-month.md"] = {
    { "`purser doctor` looks", { { "doctor", 0, "permissions" } } },
    { "exit code 4", CLI .. "operation_reconcile_spec.lua: ends with 4, when it cannot be decided" },
  },
  ["docs/desk/payouts.md"] = {
    { "settle --all not_done", CLI .. "payouts_settle_spec.lua: ends all that is undecided by one look" },
    { "says so before", DESK .. "payouts/history_check_wait_spec.lua: says that an earlier run did not end" },
    { "payouts show KEY", CLI .. "payouts_candidates_spec.lua: can be given on what the payment may be" },
  },
  ["docs/desk/receive.md"] = {
    { "receive address alice", { { "receive begin --to sqlite:FOLDER/deposits.db", 0, "1 pending" },
      { "receive address alice USDT TRX --to sqlite:FOLDER/deposits.db", 0, "OWN" } } },
    { "receive test shop --run", CLI .. "receive_spec.lua: sends a receiver a test, and says whether it was taken" },
    { "`purser receive list` shows", CLI .. "receive_spec.lua: credits, asks, and adds up" },
    { "`dp_test/credit`", CLI .. "receive_spec.lua: sends a receiver a test, and says whether it was taken" },
    { "receive replay shop", CLI .. "receive_spec.lua: credits, asks, and adds up" },
    { "receive deliveries", { { "receive deliveries --to sqlite:FOLDER/deposits.db", 0, "" } } },
  },
  ["docs/i-want-to.md"] = {
    { "typed without being shown", CLI .. "credentials_login_spec.lua: keeps keys, and a flag beats" },
    { "replace the key of an account", CLI .. "credentials_login_spec.lua: replaces a key with --replace alone" },
    { "pay a list, and continue", { { "payouts run june.csv --queue june --operation wallet.withdraw", 2,
      "give --yes" } } },
    { "progress of a list",
      CLI .. "payouts_spec.lua: exits with 3 for the state of a list whose payments are not made" },
    { "each payment of a list", CLI .. "payouts_settle_spec.lua: ends all that is undecided by one look" },
    { "take a payment out", { { "payouts drop invoice-8 --queue june --by me", 2, "no payment has the key" } } },
    { "say how a payment ended",
      { { "payouts settle invoice-8 done ID --queue june --by me", 2, "no payment has the key" } } },
    { "cancel a withdrawal", { { "wallet cancel_withdrawal --id ID", 2, "no withdrawal of the last" } } },
    { "wait until a withdrawal", CLI .. "watch_wait_spec.lua: ends with 3 when the time is over" },
    { "convert dust", { { "wallet convert --asset DOGE,TRX", 2, "give --yes" } } },
    { "move a balance", { { "sub_account transfer --toAccount desk000001 --fromAccountType SPOT --toAccountType SPOT "
      .. "--asset USDT --amount 5", 2, "give --yes" } } },
    { "sweep all", { { "fleet sweep fleet.json --name sweep-june --asset USDT --output sweep.csv", 0, "sweep.csv" } } },
    { "replace the keys of sub", { { "fleet rotate fleet.json --secrets keys.txt", 2, "give --yes" } } },
    { "credit each deposit once", CLI .. "receive_spec.lua: credits, asks, and adds up" },
    { "under every fault", CLI .. "sim_test_spec.lua: tells a program that pays twice from one that does not" },
  },
  ["docs/testing/simulator.md"] = {
    { "on SIGINT", CLI .. "sim_spec.lua: ends cleanly on SIG" },
    { "A killed program", CLI .. "sim_test_spec.lua: tells a program that pays twice from one that does not" },
  },
  ["docs/troubleshooting.md"] = {
    { "`purser doctor` checks", { { "doctor", 0, "ok    keys" } } },
    { "address check TEXT", { { "address check ADDRESS TRX", 0, "good for TRX" } } },
    { "exit code 4", CLI .. "operation_reconcile_spec.lua: ends with 4, when it cannot be decided" },
    { "shows the days left", CLI .. "doctor_spec.lua: shows the days, the IP list and the permissions of the key" },
    { "balances --profile mexc", CLI .. "balances_spec.lua: shows the whole account where the profile has" },
    { "withdraw --plan", { { "wallet withdraw --coin USDT --network trc20 --address ADDRESS --amount 25 --plan", 0,
      "fee      1 USDT" } } },
    { "operations NAME", { { "operations wallet.coins", 0, "networkList" } } },
  },
  ["docs/upgrading.md"] = { { "the first command that opens",
    "spec/support/golden_journals.lua: has its states, words, attempts, limit and list" } },
  ["docs/write/journal.md"] = {
    { "journal show", CLI .. "journal_spec.lua: keeps what a person says of a call" },
    { "journal moved HOST", "spec/write/call_host_spec.lua: is found at another once a person said" },
  },
  ["docs/write/one-payment.md"] = { { "ends with 4, also when",
    CLI .. "operation_key_spec.lua: finds out first what became of a lost one, and says that a call is open" } },
}

-- The simulator with an account, a sub-account, a pending deposit and an address to pay to; and `purser` in a folder.
local function world()
  local service = require("service").start()
  local fixture, folder = run.furnish(service), files.folder()
  finally(function()
    service.stop()
    files.remove(folder)
  end)
  local address = fixture.saved_address
  files.write(folder .. "/june.csv", "key,coin,network,address,amount\ninvoice-8,USDT,trc20," .. address .. ",30\n")
  files.write(folder .. "/fleet.json",
    '{"group": "broker", "accounts": [{"name": "tradingdesk1", "note": "first desk"}]}')
  local own = assert(fixture.client.wallet:deposit_addresses { coin = "USDT" })[1].address
  local variables = { PURSER_ACCOUNT = "treasury", PURSER_BASE_URL = service.url, PURSER_API_KEY = fixture.main.api_key,
    PURSER_SECRET_KEY = fixture.main.secret_key, PURSER_JOURNAL = folder .. "/payments.db" }
  local function purser(line)
    local words = {}
    for word in line:gsub("FOLDER", folder):gsub("ADDRESS", address):gmatch "%S+" do
      local is_file = ({ csv = true, json = true, txt = true })[word:match "^%l+%.(%l+)$"]
      words[#words + 1] = is_file and folder .. "/" .. word or word
    end
    local code, out, err = command.run(words, variables)
    return code, out .. err
  end
  return purser, { OWN = own }
end

describe("a statement of a page", function()
  it("is found in a sentence, in a table of exit codes, and in a table of commands", function()
    local page = files.temporary("# A\n\nA page. `purser balances` shows\nall. Nothing.\n\n| exit code | |\n|---|---|\n"
      .. "| 4 | open |\n\n| job | command |\n|---|---|\n| see | `purser limits` |\n\n    purser doctor shows no more\n")
    local found = statements.of(page)
    os.remove(page)
    assert.same({ "`purser balances` shows all.", "| 4 | open |", "| see | `purser limits` |" }, found)
  end)

  it("is run here, or names its test", function()
    local missing = {}
    for _, path in ipairs(statements.pages()) do
      for _, statement in ipairs(statements.of(path)) do
        local is_proved = false
        for _, proof in ipairs(proofs[path] or {}) do
          if statement:find(proof[1], 1, true) then is_proved, proof.is_used = true, true end
        end
        if not is_proved then missing[#missing + 1] = path .. ": no proof of: " .. statement end
      end
    end
    for path, list in pairs(proofs) do
      for _, proof in ipairs(list) do
        if not proof.is_used then missing[#missing + 1] = path .. ": no statement with: " .. proof[1] end
      end
    end
    assert.equal("", table.concat(missing, "\n"))
  end)

  it("names tests that exist", function()
    for path, list in pairs(proofs) do
      for _, proof in ipairs(list) do
        local file, name = tostring(proof[2]):match "^(spec/%S+): (.*)$"
        local is_there = not file or files.read(file):find('it("' .. name, 1, true)
        assert(is_there, ("%s: %s has no test %s"):format(path, tostring(file), tostring(name)))
      end
    end
  end)

  it("is true", function()
    local purser, texts = world()
    assert.equal(0, (purser "sync --books sqlite:FOLDER/books.db"))
    assert.equal(0, (purser "wallet withdraw --coin USDT --network trc20 --address ADDRESS --amount 25 --key a --yes"))
    local faults = {}
    for _, path in ipairs(statements.pages()) do
      for _, proof in ipairs(proofs[path] or {}) do
        for _, case in ipairs(type(proof[2]) == "table" and proof[2] or {}) do
          local code, shown = purser(case[1])
          if code ~= case[2] or not shown:find(texts[case[3]] or case[3], 1, true) then
            faults[#faults + 1] = ("%s: purser %s ended with %d:\n%s"):format(path, case[1], code, shown)
          end
        end
      end
    end
    assert.equal("", table.concat(faults, "\n"))
  end)
end)
