-- SPDX-License-Identifier: MIT
-- Every command that prints a table or a screen, on terminals of 40 to 200 columns, without colours and without one.
-- make test: 9 s

local at_shell = require "at_shell"
local command = require "command"
local in_process = require "in_process"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local WITHDRAW = "wallet withdraw --coin USDT --network TRX --address " .. TRON .. " --amount 20"

-- LIST, JOURNAL, BOOKS, DEPOSITS, FLEET and ID stand for files and a withdrawal of the test.
local commands = {
  "wallet withdrawal_history", "wallet withdrawal_history --columns applyTime,id,address", "wallet deposit_history",
  "wallet coins --filter coin=USDT", "wallet convertible_balances", "wallet deposit_addresses --coin USDT",
  "wallet transfer_history --fromAccountType SPOT --toAccountType FUTURES", WITHDRAW .. " --plan", WITHDRAW,
  "sub_account list_sub_accounts", "sub_account list_api_keys --subAccount tradingdesk01", "balances --all",
  "live account --profile mexc --base-url URL", "address USDT TRX", "address check " .. TRON .. " TRX",
  "payouts plan LIST --operation wallet.withdraw --journal JOURNAL", "payouts status --journal JOURNAL",
  "payouts run LIST --operation wallet.withdraw --journal JOURNAL", "payouts report --journal JOURNAL",
  "journal list --journal JOURNAL", "journal recover --journal JOURNAL", "journal log --journal JOURNAL",
  "fleet plan FLEET --secrets none.tsv", "fleet sweep FLEET --name june", "books gaps --books sqlite:BOOKS",
  "receive list --to sqlite:DEPOSITS", "receive check --to sqlite:DEPOSITS", "doctor", "doctor --facts", "limits",
  "operations", "watch --below USDT=100000", "wait withdrawal ID", "help", "help payouts run", "help credentials",
  "payouts run nowhere.csv --operation wallet.withdrw --journal JOURNAL", "wallet withdraw --note rent", "whoami",
  "payouts drop KEY --journal JOURNAL --by bob --yes", "test nope",
}

describe("on a terminal", function()
  local at, words

  setup(function()
    at = at_shell({ "--seed", "5" }, { role = "main", balances = { USDT = "1000", BTC = "0.5" } })
    words = { LIST = at.file(("key,payee,coin,network,address,amount\ninv-1,A payee,USDT,TRX,%s,20.5\ninv-2,B,USDT,TRX,"
      .. "%s,700\n"):format(TRON, TRON)), JOURNAL = at.folder() .. "/pay.db", BOOKS = at.folder() .. "/books.db",
      DEPOSITS = at.folder() .. "/deposits.db", URL = at.url, FLEET = at.file(
        '{"group": "sub_account", "accounts": [{"name": "tradingdesk01", "note": "a desk"}]}') }
    assert.equal(0, (at.run("sub_account", "create_sub_account", "--subAccount", "tradingdesk01", "--note", "n",
      "--yes")))
    for amount = 21, 22 do
      local code, out = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON,
        "--amount", tostring(amount), "--yes", "--json", "--journal", words.JOURNAL)
      assert.equal(0, code, out)
      words.ID = out:match '"id": "(%w+)"'
      assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "7" })
    end
    assert.equal(0, (at.run("sync", "--books", "sqlite:" .. words.BOOKS)))
    assert.equal(0, (at.run("receive", "begin", "--to", "sqlite:" .. words.DEPOSITS)))
  end)
  teardown(function() at.stop() end)
  after_each(function() in_process.columns = nil end)

  -- Returns the exit code and all that a command prints, its files and the withdrawal's id put in.
  local function printed(line, columns, variables)
    local list = {}
    for word in line:gmatch "%S+" do
      list[#list + 1] = word:gsub("%f[%w]%u+%f[%W]", function(name) return words[name] end)
    end
    in_process.columns = columns
    local code, out, err = command.run(list, at.with(variables or {}), "no\n")
    return code, out .. "\n" .. err:gsub("(Type yes.-: )(purser: )", "%1\n%2") -- a person ends the line
  end

  local function without_colours(text) return (text:gsub("\27%[%d*[mK]", "")) end

  -- Returns the lines that the terminal would break, though they are more than one word.
  local function broken(text, columns)
    local lines = {}
    for line in without_colours(text):gmatch "[^\n\r]+" do
      local _, behind = line:gsub("[\128-\191]", "")
      if #line - behind > columns and line:find "%S +%S" then lines[#lines + 1] = line end
    end
    return table.concat(lines, "\n")
  end

  for _, columns in ipairs { 40, 60, 80, 120, 200 } do
    it(("of %d columns every line fits, or is one word"):format(columns), function()
      for _, line in ipairs(commands) do
        local code, text = printed(line, columns)
        assert.is_true(code < 5, line .. "\n" .. text)
        assert.equal("", broken(text, columns), line)
      end
    end)
  end

  it("with NO_COLOR or none at all nothing is coloured, and the exit codes are the same", function()
    for _, line in ipairs(commands) do
      local code, text = printed(line, 80)
      local code_2, text_2 = printed(line, 80, { NO_COLOR = "1" })
      assert.same({ code, nil }, { code_2, text_2:find "\27%[%d" }, line)
      if not line:find "withdraw .*20$" and not line:find "^payouts run LIST" then -- these ask
        local code_3, text_3 = printed(line)
        assert.same({ code, nil }, { code_3, text_3:find "\27" }, line .. text)
      end
    end
  end)
end)
