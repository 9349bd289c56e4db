-- SPDX-License-Identifier: MIT
-- Each option that a command takes is read by the command: none is accepted and ignored.
-- make test: 3 s, on lua5.4 and luajit

local at_shell = require "at_shell"
local command = require "command"
local commands = require "purser.cli.commands"
local files = require "files"
local grammar = require "purser.cli.grammar"
local plan_text = require "purser.desk.approvals.plan_text"
local rehearsed = require "rehearsed"
local ssh_keys = require "ssh_keys"

-- Words with which a command comes to read its options; NAMES in capitals are files that the spec makes.
local RUNS = {
  "payouts plan LIST --operation wallet.withdraw --journal JOURNAL",
  "payouts plan LIST --operation wallet.withdraw --journal JOURNAL --json --policy POLICY",
  "payouts run LIST --operation wallet.withdraw --journal JOURNAL --yes",
  "payouts run LIST --operation wallet.withdraw --journal JOURNAL --yes --json",
  "payouts run ODD --operation wallet.withdraw --journal JOURNAL --yes",
  "payouts status --journal JOURNAL", "payouts status --journal JOURNAL --json",
  "payouts report --journal JOURNAL", "payouts report --journal JOURNAL --csv",
  "payouts plan LIST --operation wallet.withdraw --journal JOURNAL --csv",
  "payouts retry a --journal JOURNAL", "payouts drop a --by alice --journal JOURNAL",
  "payouts settle a not_done --by alice --journal JOURNAL",
  "payouts settle --all not_done --by alice --journal JOURNAL",
  "payouts show PLAN --journal JOURNAL",
  "fleet plan FLEET --secrets SECRETS", "fleet plan FLEET --secrets SECRETS --csv",
  "fleet apply FLEET --secrets SECRETS --csv --yes",
  "fleet rotate FLEET --secrets SECRETS --yes --csv", "fleet retire FLEET --secrets SECRETS --yes --csv",
  "fleet sweep FLEET --name x",
  "fleet distribute FLEET --name x --asset USDT --to readingdesk1=1",
  "journal list --journal JOURNAL", "journal list --journal JOURNAL --csv", "journal show k --journal JOURNAL",
  "journal recover --journal JOURNAL", "journal recover --journal JOURNAL --csv", "journal log --journal JOURNAL",
  "journal log --journal JOURNAL --csv", "journal settle k not_done --by alice --journal JOURNAL",
  "journal vouch k --by alice --journal JOURNAL", "journal rename main --by alice --journal JOURNAL",
  "journal moved h --by alice --journal JOURNAL", "journal limit USDT 9 --by alice --journal JOURNAL",
  "policy check POLICY", "policy try POLICY --journal JOURNAL", "policy sign POLICY --key x", "policy install POLICY",
  "policy signers POLICY", "approvals add PLAN --journal JOURNAL", "approvals status --journal JOURNAL",
  "approvals status --journal JOURNAL --policy POLICY", "approvals add PLAN --journal JOURNAL --policy POLICY",
  "doctor", "doctor --json", "doctor --csv", "balances", "balances --all --csv",
  "doctor --drift --csv", "limits", "limits --csv",
  "operations", "operations --csv",
  "approve PLAN --key KEY --sum 20", "agent --journal JOURNAL --account treasury --read-only",
  "login fresh --no-input", "login fresh --no-input",
  "sim --port 0 --idle-timeout 1s --state STATE --demo", "test --balance USDT=5 -- true",
  "test --balance USDT=5 --csv -- PROGRAM",
  "completion bash", "address USDT TRX", "address USDT TRX --json",
  "address check TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7 TRX --coin USDT",
}

local CREATES = "assert(purser.new(keys)).wallet:create_deposit_address { coin = 'USDT', network = 'Tron(TRC20)' }"

-- Commands of a room that has a spec of its own for its options.
local ROOMS = { wallet = "operation", broker = "operation", sub_account = "operation", live = "operation_live",
  receive = "receive", watch = "watch", wait = "watch_wait", sync = "books_sync", statement = "books_statement",
  books = "books" }

-- Options that a run above cannot come to, with the spec that shows what each does.
local ELSEWHERE = {
  ["policy sign --by"] = "approvals_policy_spec", ["policy sign --key"] = "approvals_policy_spec",
  ["payouts show --html"] = "approvals_approve_spec",
  ["payouts show --policy"] = "approvals_approve_spec",
  ["payouts show --records"] = "approvals_approve_spec", ["payouts show --guard"] = "approvals_approve_spec",
  ["payouts plan --maker"] = "approvals_spec", ["payouts plan --until"] = "approvals_spec",
  ["payouts plan --journal-id"] = "approvals_spec",
}

describe("a command", function()
  local at, made, journal

  setup(function()
    at = at_shell({ "--seed", "17" }, { role = "broker", email = "a@example.org", balances = { USDT = "5000" } })
    journal = at.file()
    local head, to = "key,coin,network,address,amount\n", ",USDT,TRX,TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7,"
    made = { JOURNAL = journal, SECRETS = at.file(), POLICY = at.file "{}",
      PLAN = at.file(assert(plan_text.write({ account = "treasury", queue = "june", journal = "hY3", maker = "carol",
        base_url = "https://s.example", policy = "7 " .. ("9f"):rep(32), not_after = "2026-11-30" },
        { { key = "a", operation = "wallet.withdraw", payee = "ACME", params = { coin = "USDT", netWork = "TRX",
          address = "TPayee1", amount = "20" } } }))),
      LIST = at.file(head .. "a" .. to .. "20\n"), ODD = at.file(head .. "b" .. to .. "20\nB" .. to .. "20\n"),
      KEY = ssh_keys.path "alice", STATE = at.file(),
      FLEET = at.file '{"accounts": [{"name": "readingdesk1", "note": "n"}]}' }
    assert.equal(0, (at.run("fleet", "apply", made.FLEET, "--secrets", made.SECRETS, "--yes")))
    assert.equal(0, (at.run("payouts", "run", made.LIST, "--operation", "wallet.withdraw", "--journal", journal,
      "--yes")))
  end)
  teardown(function()
    at.stop()
    ssh_keys.remove()
    rehearsed.clean()
  end)

  -- Adds the options that a run reads, by command.
  local function run(line, read)
    local words, log = {}, at.file ""
    for word in line:gmatch "%S+" do words[#words + 1] = made[word] or word end
    if words[#words] == "PROGRAM" then
      words[#words] = nil
      for _, word in ipairs(rehearsed.program(CREATES)) do words[#words + 1] = word end
    end
    local _, _, err = command.process(words, at.with { OPTION_READS = log, HOME = at.folder(),
      XDG_CONFIG_HOME = at.folder(), LUA_INIT = "@spec/support/option_reads.lua" }, "mx0typed\ntypedsecret\n")
    assert.is_nil(err:find("error of its own", 1, true), err)
    local _, at_word, names = grammar.leaf(commands.root(), words)
    assert.is_truthy(at_word)
    local name = table.concat(names, " ", 2)
    read[name] = read[name] or {}
    for option in files.read(log):gmatch "[^\n]+" do read[name][option] = true end
  end

  it("reads each option that the command takes", function()
    local read, ignored = {}, {}
    for _, line in ipairs(RUNS) do run(line, read) end
    for name, seen in pairs(read) do
      local words = {}
      for word in name:gmatch "%S+" do words[#words + 1] = word end
      grammar.each_option(assert((grammar.leaf(commands.root(), words))), function(option)
        local long = grammar.name_of(option)
        local target = option.into or option.target or long:gsub("^%-+", ""):gsub("%-", "_")
        if target == "columns" then target = "shown" end
        if not seen[target] and not ELSEWHERE[name .. " " .. long] then
          ignored[#ignored + 1] = name .. " " .. long
        end
      end)
    end
    table.sort(ignored)
    assert.same({}, ignored)
    local unknown = {}
    local function each_leaf(of, name)
      for _, child in ipairs(of.commands) do
        local path, inner = name .. child[1], child.load()
        if inner.commands then each_leaf(inner, path .. " ")
        elseif not read[path] and not ROOMS[path:match "^%S+"] then unknown[#unknown + 1] = path end
      end
    end
    each_leaf(commands.root(), "")
    assert.same({}, unknown)
  end)
end)
