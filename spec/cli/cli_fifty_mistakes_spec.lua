-- SPDX-License-Identifier: MIT
-- Fifty mistakes at the shell. Each message has the name of the thing and the cure; none sends a write call.

local command = require "command"
local files = require "files"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

-- { words, exit code, the name of the thing, the cure }
local mistakes = {
  { "withdraw", 2, "withdraw", "`purser wallet withdraw`" },
  { "wallet.withdraw --coin USDT", 2, "wallet.withdraw", "after its group: `purser wallet withdraw`" },
  { "wallet withdrow", 2, "withdrow", "did you mean 'withdraw'?" },
  { "walet coins", 2, "walet", "did you mean 'wallet'?" },
  { "wallet", 2, "command is required", "`purser wallet --help`" },
  { "wallet withdraw", 2, "'--coin', '--address', '--amount'", "purser wallet withdraw --help" },
  { "wallet coins --colour red", 2, "--colour", "`purser wallet coins --help` shows" },
  { "wallet coins --columns coin,withdrawfee", 2, "withdrawfee", 'did you mean "withdrawFee"' },
  { "wallet coins --columns coin --json", 2, "--columns", "json holds every member" },
  { "wallet coins --filter coin", 2, "--filter", "name=value" },
  { "wallet coins --filter con=USDT", 2, '"con"', 'did you mean "coin"' },
  { "wallet coins --format xml", 2, "--format", "'table', 'json', 'csv'" },
  { "wallet coins --time utf", 2, "--time", "'utc', 'local', 'iso', 'ms'" },
  { "wallet coins --raw", 2, "--raw", "is for csv" },
  { "wallet coins --timeout 0", 2, "'0'", "is no duration; give 45s" },
  { "wallet coins --base-url 127.0.0.1:8080", 2, '--base-url "127.0.0.1:8080"', "must begin with https://" },
  { "wallet coins --credentials nofile", 2, "--credentials nofile", "No such file" },
  { "wallet coins --recv-window x", 2, "'x'", "whole number" },
  { "wallet coins --credentials /nonexistent/keys", 2, "/nonexistent/keys", "No such file" },
  { "wallet coins --credentials /dev/null", 2, "/dev/null", "not a regular file" },
  { "wallet coins --account ../x", 2, "../x", "letters, digits" },
  { "wallet coins --base-url http://192.0.2.1", 2, "--base-url", "https://" },
  { "wallet coins --base-url ftp://h", 2, "--base-url", "https://host" },
  { "wallet coins --profile live", 2, "--profile", "'default', 'mexc'" },
  { "wallet coins --base-url http://127.0.0.1:1", 3, "wallet.coins", "check --base-url" },
  { "wallet coins --extra novalue", 2, "--extra", "name=value" },
  { "wallet coins --output /nonexistent/x", 2, "--output /nonexistent/x", "nothing was sent" },
  { "wallet deposit_history --limit 1001", 2, "limit", "at most 1000" },
  { "wallet deposit_history --since yesterday", 2, "--since", "30d" },
  { "wallet deposit_history --since 91d", 2, "wallet.deposit_history", "give --since 90d or less" },
  { "wallet deposit_history --since 1d --startTime 1700000000000", 2, "--since and --startTime", "give one" },
  { "wallet deposit_addresses --coin USDT --network TRC21", 2, "TRC21", "it has TRX (Tron(TRC20))" },
  { "wallet create_deposit_address --coin USTD --network TRX --yes", 2, "USTD", 'did you mean "USDT"' },
  { "wallet withdraw --coin USDT --address " .. TRON .. " --amount 20 --yes", 2, "USDT", "name one of TRX" },
  { "wallet withdraw --coin USDT --network TRX --address " .. TRON .. " --amount 5 --yes", 2, "amount 5",
    "minimum of 10" },
  { "wallet withdraw --coin USDT --network TRX --address " .. TRON .. " --amount 1,5 --yes", 2,
    '--amount "1,5"', 'such as "12.5"' },
  { "wallet withdraw --coin USDT --network TRX --address 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --amount 5 --yes",
    2, "one of Ethereum", "check the network" },
  { "wallet withdraw --coin USDT --network TRX --address " .. TRON .. " --amount 20", 2, "wallet.withdraw",
    "give --yes" },
  { "wallet transfer --fromAccountType spot --toAccountType FUTURES --asset USDT --amount 1 --yes", 2,
    "--fromAccountType", "'SPOT', 'FUTURES'" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount -5 --yes", 2, '--amount "-5"',
    "amounts are positive" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1 --yes --guard /nowhere", 2,
    "--guard /nowhere", "No such file" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1 --yes "
    .. "--journal LIST", 2,
    "--journal", "LIST" },
  { "wallet withdraw --coin Tether --network TRX --address " .. TRON .. " --amount 20 --yes", 2, "coin Tether",
    "see wallet.coins" },
  { "wallet withdraw --coin USDT --network TRX --address " .. TRON .. " --amount 20 --dry-run", 0, "address",
    "--plan checks them" },
  { "wallet withdraw --coin USDT --address x --amount 20 --plan --yes", 2, "--yes has no meaning beside --plan",
    "leave one of them out" },
  { "wallet withdraw -y", 2, "'-y'", "did you mean '--yes'?" },
  { "wallet withdraw --force", 2, "'--force'", "did you mean '--yes'?" },
  { "wallet withdraw --note rent", 2, "'--note'", "did you mean '--remark'?" },
  { "whoami", 2, "'whoami'", "`purser doctor`" }, { "webhook", 2, "'webhook'", "`purser receive run --webhook" },
  { "export", 2, "'export'", "`purser statement`" }, { "config", 2, "'config'", "`purser login`" },
  { "payouts plan LIST --operation wallet.withdraw --maker carol", 2, "--maker needs --policy FOLDER",
    "a plan that persons sign" },
  { "wallet convert --asset DOGE --key k --yes", 2, "--key needs --journal FILE",
    "nothing is known of an earlier call" },
  { "record x", 2, "'record'", "--record is an option: it comes after a command" },
  { "login nobody", 2, "the secret is missing", "standard input" },
  { "sub_account create_api_key --subAccount a --note n --permissions SPOT_ACCOUNT_READ --yes", 2, "secret",
    "--secret-file FILE" },
  { "broker withdraw --coin USDT --network TRX --address T --amount 1 --funds_password x", 2, "--funds_password",
    "env:NAME or file:PATH" },
  { "wait withdrawals x", 2, "'kind'", "'withdrawal', 'transfer'" },
  { "wait withdrawal x --deadline soon", 2, "--deadline: 'soon'", "45s, 30m, 2h or 7d" },
  { "receive deliver", 2, "deliver", "deliveries" },
  { "receive run --every 5", 2, "--every: '5'", "45s" },
  { "payouts run LIST", 2, "journal", "give --journal FILE" },
  { "payouts run LIST --journal JOURNAL", 2, "account", "give --account NAME (of `purser login NAME`)" },
  { "payouts plan LIST", 2, 'LIST:2: error: payment "a"', "give a column `operation`, or --operation" },
  { "payouts plan LIST --operation wallet.withdrw", 2, "wallet.withdrw", 'did you mean "wallet.withdraw"' },
  { "payouts rnu LIST --journal JOURNAL", 2, "unknown command 'rnu'", "did you mean 'run'?" },
  { "journal list --journal /nowhere", 2, "/nowhere", "--journal" },
  { "journal show x --journal JOURNAL", 2, "x", "`purser journal list --journal JOURNAL`" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1 --yes-", 2, "'--yes-'",
    "did you mean '--yes'?" },
  { "wallet coins --time--out 5", 2, "'--time--out'", "did you mean '--timeout'?" },
  { "fleet distribute FLEET --name x", 2, "missing option '--asset'", "What is moved" },
  { "wallet coins --timeout 5", 2, "--timeout: '5'", "45s" },
  { "sim --port 99999", 2, "--port: ", "from 0 to 65535" },
  { "journal list --limit x --journal JOURNAL", 2, "--limit: 'x'", "whole number" },
  { "wallet withdraw coin=USDT", 2, "'coin=USDT'", "write --NAME before a value" },
  { "wallet withdraw --coin USDT address", 2, "'address'", "write --NAME before a value" },
  { "wallet withdraw -coin USDT", 2, "'-coin'", "did you mean '--coin'?" },
  { "wallet deposit_history --coin A --coin B", 2, "'--coin'", "give it once" },
  { "wallet coins --output /", 2, "--output /", "name a file in it; nothing was sent" },
  { "operations withdrw", 2, "withdrw", "`purser operations` lists them" },
  { "payouts plan PIPE --operation wallet.withdraw", 2, "PIPE cannot be read", "name one that is" },
  { "payouts plan /dev/zero --operation wallet.withdraw", 2, "/dev/zero cannot be read", "name one that is" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1 --yes --guard PIPE", 2,
    "--guard PIPE", "name one that is" },
  { "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1 --yes "
    .. "--journal PIPE", 2,
    "--journal PIPE", "not a regular file" },
  { "journal list --journal PIPE", 2, "PIPE", "not a regular file" },
  { "receive begin --to sqlite:DEPOSITS --customers PIPE", 2, "--customers PIPE", "name one that is" },
  { "wallet deposit_history --cursor PIPE", 2, "--cursor PIPE", "name one that is" },
  { "fleet plan PIPE --secrets SECRETS", 2, "PIPE", "name one that is" },
  { "fleet plan FLEET --secrets PIPE", 2, "PIPE", "not a regular file" },
  { "completion tcsh", 2, "shell", "'bash', 'zsh', 'fish'" },
  { "pay LIST", 2, "'pay'", "did you mean 'payouts'?" },
  { "payouts june", 2, "'june'", "`purser payouts run june` takes a file of that name" },
  { "payouts list --journal JOURNAL", 2, "'list'", "`purser journal list`, `purser receive list`; here are plan" },
  { "payouts plan LIST --yes", 2, "'--yes'", "--yes is an option of `purser payouts run`" },
  { "payouts run LIST --maker carol", 2, "'--maker'", "--maker is an option of `purser payouts plan`" },
  { "fleet sweep FLEET --name x --to a=5", 2, "'--to'", "--to is an option of `purser fleet distribute`" },
  { "payouts run LIST LIST --journal JOURNAL", 2, "is one word too many", "<file> was given" },
  { "payouts status", 2, "journal", "give --journal FILE, as the run was given it" },
  { "payouts status --journal LIST", 2, "--journal: LIST is a list of payments (CSV)", "give a journal" },
  { "payouts plan LIST --columns foo", 2, '"foo"; there are line', "key, name, operation" },
  { "payouts plan LIST --operation wallet.transfer", 2, 'no parameter "coin"', "LIST:2: error: payment" },
  { "fleet apply FLEET --secrets SECRETS", 2, "This makes it so", "give --yes" },
  { "test --balance USDT -- true", 2, '"USDT"\n', "it takes name=value" },
  { "wallet withdraw --net TRX", 2, "'--net'", "did you mean '--netWork'?" },
  { "wallet withdraw --coin usd --network TRX --address " .. TRON .. " --amount 20 --yes", 2,
    "coin usd does not exist;", "see wallet.coins" },
  { "live account", 2, "live.account", "--profile mexc is the LIVE service, with real funds" },
  { "wallet withdrawal_history --filter status=done", 2, '"DONE"', "allowed are APPLY" },
  { "wallet deposit_history --filter status=succes", 2, '"SUCCES"', 'did you mean "SUCCESS"' },
  { "witdraw", 2, "'witdraw'", "`purser wallet withdraw`" },
  { "receive settle dp_1 --to sqlite:DEPOSITS", 2, "missing argument 'verb'", "give, same, refuse or seen" },
  { "send USDT", 2, "unknown command 'send'\n", "`purser --help`" },
  { "payouts run JOURNAL --journal LIST --operation wallet.withdraw --yes", 2, "JOURNAL is a database, such as",
    "give a list of payments (CSV)" },
  { "payouts plan FLEET --operation wallet.withdraw", 2, "FLEET is the declaration of a fleet",
    "give a list of payments (CSV), or a plan" },
  { "payouts plan SEMICOLONS --operation wallet.withdraw", 2, "20,50 has a comma for its decimals", "--decimal comma" },
  { "wallet withdraw --coin USDT --chain TRX --address T --amount 20 --yes", 2, "'--chain'",
    "did you mean '--network'?" },
  { "wallet deposit_history --filter amount=12,5", 2, "amount is an amount such as 12.5", '"12,5"' },
  { "journal list JOURNAL", 2, "belongs to no option", "is it --journal JOURNAL?" },
  { "sync sqlite:DEPOSITS", 2, "belongs to no option", "is it --books sqlite:DEPOSITS?" },
  { "receive begin ./customers.csv", 2, "belongs to no option", "is it --customers ./customers.csv?" },
  { "books gaps --to sqlite:DEPOSITS", 2, "unknown option '--to'", "did you mean '--books'?" },
  { "sync --database sqlite:DEPOSITS", 2, "unknown option '--database'", "did you mean '--books'?" },
  { "statement --db sqlite:DEPOSITS", 2, "unknown option '--db'", "did you mean '--books'?" },
  { "receive list --to sqlite:/nowhere.db", 2, "there is no /nowhere.db", "`purser receive begin`" },
  { "sync --books sqlite:/nowhere.db --journal /none.db", 2, "there is no journal /none.db", "give the --journal" },
  { "fleet sweep FLEET --name x --asset USDT,BTC", 2, "'USDT,BTC' is no asset", "each by an option of its own" },
  { "approve LIST --key x", 2, "LIST is a list of payments (CSV)", "a plan, as `purser payouts plan` writes it" },
  { "sync --books sqlite:DEPOSITS --since yesterday", 2, "--since", "30d" },
  { "payouts run LIST --operation wallet.withdraw --journal JOURNAL --output LIST", 2,
    "<file> and --output name one file", "LIST" },
  { "fleet apply FLEET --secrets FLEET --yes", 2, "<declaration> and --secrets name one file", "FLEET" },
  { "fleet plan FLEET --secrets OTHER", 2, "holds no key", "name the file of secrets, or an empty one" },
  { "wallet transfer_history --from SPOT --to FUTURES", 2, "'--from'", "did you mean '--fromAccountType'?" },
  { "wait transfer 5 --goal sent", 2, "--goal is of a withdrawal", "leave it out" },
  { "policy check FLEET", 2, "<file>: FLEET is the declaration of a fleet", "give a policy" },
  { "fleet distribute FLEET --name x --amount 5", 2, "'--amount'", "did you mean '--to'?" },
  { "fleet retry FLEET", 2, "'retry'", "there is `purser payouts retry`; here are plan, apply" },
}

describe("fifty mistakes at the shell", function()
  local service, keys, paths

  setup(function()
    service = require("service").start { "--seed", "5" }
    local account = assert(service.world:account { role = "broker", balances = { USDT = "1000" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
    paths = { LIST = os.tmpname(), JOURNAL = os.tmpname(), FLEET = os.tmpname(), SECRETS = os.tmpname() }
    files.write(paths.LIST, "key,coin,address,amount\na,USDT,T,1\n")
    paths.SEMICOLONS = os.tmpname()
    files.write(paths.SEMICOLONS, "key;coin;network;address;amount\na;USDT;TRX;" .. TRON .. ";20,50\n")
    files.write(paths.FLEET, '{"group": "sub_account", "accounts": []}')
    os.remove(paths.JOURNAL)
    paths.OTHER = os.tmpname()
    files.write(paths.OTHER, "key,amount\na,20\n")
    os.execute("chmod 600 " .. paths.SECRETS .. " " .. paths.OTHER)
    paths.PIPE = paths.FLEET .. ".pipe" -- nothing writes to it
    assert(os.execute("mkfifo -m 600 " .. paths.PIPE))
    assert(require("purser").journal.open { sqlite = paths.JOURNAL }):close()
  end)
  teardown(function()
    for _, path in pairs(paths) do
      for _, suffix in ipairs { "", "-wal", "-shm", ".witness", ".witness-witness" } do os.remove(path .. suffix) end
    end
    service.stop()
  end)

  local function real(text)
    return (text:gsub("%u%u%u%u+", function(word) return paths[word] end))
  end

  for _, mistake in ipairs(mistakes) do
    it("`purser " .. mistake[1] .. "` names the thing and the cure", function()
      local words = {}
      for word in real(mistake[1]):gmatch "%S+" do words[#words + 1] = word end
      local code, out, err = command.run(words, keys)
      assert.equal(mistake[2], code, err)
      for i = 3, 4 do -- the errors of rows are part of a plan
        local part = real(mistake[i])
        assert.is_truthy((out .. err):find(part, 1, true), part .. "\nis not in\n" .. out .. err)
      end
      local beginning = mistake[1]:find("--json", 1, true) and "^{" or "^purser: "
      for line in err:gmatch "[^\n]+" do assert.matches(beginning, line) end
      assert.is_nil(err:find("stack traceback", 1, true))
      assert.is_nil((io.open "DEPOSITS")) -- bad input makes no file
    end)
  end

  it("are fifty at least, and none of them sent a write call", function()
    assert.is_true(#mistakes >= 50)
    for name, count in pairs(service.world:counts()) do
      local row = require("purser.client.operations").by_name[name]
      assert.is_true(not row or row.effect == "read" or count.received == 0, name)
    end
  end)
end)
