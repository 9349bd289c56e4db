-- SPDX-License-Identifier: MIT
-- The printing of every command: --json, --csv, --filter, --time, --output; and what a terminal gets besides.
-- make test: 6 s, waits

local command = require "command"
local core = require "purser.core"
local files = require "files"

describe("the output options", function()
  local service, account, keys, folder

  setup(function()
    service = require("service").start { "--seed", "21" }
    account = assert(service.world:account { role = "main", balances = { USDT = "1000" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url,
      PURSER_ACCOUNT = "treasury" }
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 700 " .. folder))
    for i = 1, 45 do
      assert(service.world:deposit { account = account.uid, coin = i % 3 == 0 and "BTC" or "USDT",
        network = i % 3 == 0 and "Bitcoin(BTC)" or "Tron(TRC20)", amount = tostring(i) })
    end
  end)
  teardown(function()
    os.execute("rm -rf " .. folder)
    service.stop()
  end)

  local function purser(words, more)
    local list, environment = {}, {}
    for word in words:gmatch "%S+" do list[#list + 1] = word end
    for name, value in pairs(keys) do environment[name] = value end
    for name, value in pairs(more or {}) do environment[name] = value end
    return command.run(list, environment)
  end

  it("of a cursor: JSON lines, a filter, the times, and a file that is there whole or not at all", function()
    local code, out, err = purser("wallet deposit_history --since 1d --filter coin=BTC --json --cursor " .. folder
      .. "/c1")
    assert.equal(0, code, err)
    local _, lines = out:gsub("\n", "")
    assert.equal(15, lines)
    assert.equal("BTC", core.decode(out:match "^[^\n]+").coin)
    code, out = purser("wallet deposit_history --since 1d --filter coin=BTC --csv --columns insertTime,coin "
      .. "--time iso --cursor " .. folder .. "/c2")
    assert.equal(0, code)
    assert.matches("^insertTime,coin\n%d+%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ,BTC\n", out)
    code, _, err = purser "wallet deposit_history --filter con=BTC"
    assert.equal(2, code)
    assert.is_truthy(err:find('there is no "con" (did you mean "coin"', 1, true), err)
  end)

  it("of a cursor: the cursor moves only when the file is there", function()
    local cursor, first, second = folder .. "/cursor", folder .. "/first.csv", folder .. "/second.csv"
    assert(service.world:fault { kind = "reject", operation = "wallet.deposit_history", skip = 1, times = 1 })
    local words = "wallet deposit_history --since 20d --cursor " .. cursor .. " --output "
    assert.equal(1, (purser(words .. first)))
    assert.same({ nil, nil }, { core.file_mode(first), (core.file_mode(cursor)) })
    service.world:disarm()
    assert.equal(0, (purser(words .. first)))
    local _, lines = files.read(first):gsub("\n", "")
    assert.equal(46, lines)
    local place = files.read(cursor)
    local code, _, err = purser(words .. first)
    assert.equal(2, code)
    assert.is_truthy(err:find("is there already, with what an earlier run wrote", 1, true), err)
    assert.same({ place, lines }, { files.read(cursor), select(2, files.read(first):gsub("\n", "")) })
    assert(service.world:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "99" })
    assert.equal(0, (purser(words .. second)))
    assert.matches("99", files.read(second))
  end)

  it("of operations and doctor", function()
    local code, out, err = purser "operations --filter effect=transfer --csv"
    assert.equal(0, code, err)
    assert.matches("^id,command,effect,permission,weight,summary\n", out)
    for line in out:gmatch "\n([^\n]+)" do assert.matches(",transfer,", line) end
    code, out = purser "operations --filter id=C2 --json"
    assert.equal(0, code)
    assert.equal("wallet withdraw", core.decode(out)[1].command)
    code, out, err = purser "doctor --csv --filter state=ok"
    assert.equal(0, code, err)
    assert.matches("^state,topic,text,cure\nok,keys,", out)
    code, out = purser "doctor --filter topic=clock"
    assert.equal(0, code)
    assert.matches("^ok    clock", out)
  end)

  it("of fleet, payouts and journal", function()
    local fleet, list = folder .. "/fleet.json", folder .. "/list.csv"
    files.write(fleet, '{"group": "sub_account", "accounts": [{"name": "desk0001", "note": "one"}, '
      .. '{"name": "desk0002", "note": "two"}]}')
    local given = " " .. fleet .. " --secrets " .. folder .. "/secrets.tsv "
    local code, out, err = purser("fleet plan" .. given .. "--csv --filter account=desk0002")
    assert.equal(0, code, err)
    assert.matches("^account,what,note,why\ndesk0002,create_account,[^\n]*\n$", out)
    code, out, err = purser("fleet apply" .. given .. "--json --yes")
    assert.equal(0, code, err)
    assert.equal("desk0001", core.decode(out)[1].account)
    code, out, err = purser("fleet plan" .. given .. "--filter name=desk0002")
    assert.same({ 2, "" }, { code, out })
    assert.is_truthy(err:find("there are account, what, note, why", 1, true), err)

    files.write(list, "key,fromAccountType,toAccountType,asset,amount\nk-1,SPOT,FUTURES,USDT,1\n"
      .. "k-2,SPOT,FUTURES,USDT,2\n")
    local journal = " --journal " .. folder .. "/journal "
    local _
    code, _, err = purser("payouts " .. list .. " --operation wallet.transfer --yes --account treasury" .. journal)
    assert.equal(0, code, err)
    code, out = purser("payouts report --csv --filter key=k-2 --account treasury" .. journal)
    assert.equal(0, code)
    assert.matches("^key,state,arrival,amount,asset,to,record_id,message,name,candidates\n"
      .. "k%-2,done,,2,USDT,FUTURES,%w+,,,\n$", out)
    code, out = purser("journal list --json --filter amount=1" .. journal)
    assert.equal(0, code)
    assert.equal(1, #core.decode(out))
    code, out = purser("journal list --time iso --filter amount=1" .. journal)
    assert.equal(0, code)
    assert.matches("\n%d+%-%d%d%-%d%dT", out)
  end)

  -- Returns what a terminal of so many lines shows, escapes included.
  local function shown(lines, words, environment)
    local pairs_of = {}
    for name, value in pairs(keys) do pairs_of[#pairs_of + 1] = name .. "=" .. value end
    for name, value in pairs(environment or {}) do pairs_of[#pairs_of + 1] = name .. "=" .. command.quote(value) end
    local _, text = command.shell(("script -q -e -c %s /dev/null </dev/null"):format(command.quote(
      ("stty cols 120 rows %d; exec env -u NO_COLOR -u PAGER TERM=xterm %s %s bin/purser %s"):format(lines,
        table.concat(pairs_of, " "), os.getenv "LUA" or "lua5.4", words))))
    return (text:gsub("\r\n", "\n"))
  end

  it("a terminal gets colours, but not with NO_COLOR, for CSV and for JSON", function()
    assert.matches("^\27%[32mok\27%[0m    keys", shown(50, "doctor"))
    assert.matches("^\27%[32mok", shown(50, "doctor", { NO_COLOR = "" }))
    assert.is_nil(shown(50, "doctor", { NO_COLOR = "1" }):find("\27[", 1, true))
    for _, words in ipairs { " --csv", " --json" } do
      assert.is_nil(shown(50, "doctor" .. words):find("\27[", 1, true), words)
    end
    local _, out = purser "doctor"
    assert.is_nil(out:find("\27", 1, true))
  end)

  it("--color decides before the environment and the kind of stream, and colours no CSV and no JSON", function()
    assert.is_nil(shown(50, "doctor --color never"):find("\27[", 1, true))
    assert.matches("^\27%[32mok", shown(50, "doctor --color always", { NO_COLOR = "1" }))
    assert.matches("^\27%[32mok", shown(50, "doctor --color auto"))
    for words, is_coloured in pairs { always = true, auto = false, never = false, ["always --csv"] = false,
      ["always --json"] = false } do
      local _, out = purser("doctor --color " .. words)
      assert.equal(is_coloured, out:find("\27", 1, true) ~= nil, words)
    end
    local code, _, err = purser "doctor --color sometimes"
    assert.equal(2, code)
    assert.matches("'sometimes' is none of 'auto', 'always', 'never'", err, 1, true)
  end)

  it("a walk and a wait show how far they are on a terminal, and not with -q", function()
    local words = "wallet deposit_history --since 1d --all --output " .. folder .. "/progress"
    assert.matches("wallet%.deposit_history: 20 records, up to %d+%-", shown(50, words .. "1"))
    assert.equal("", shown(50, words .. "2 -q"))
    local waiting = "wait withdrawal none --deadline 2s"
    assert.matches("withdrawal none is not found yet, %d s left", shown(50, waiting))
    assert.is_nil(shown(50, waiting .. " -q"):find("left", 1, true))
  end)
end)

describe("a text of a command's own", function()
  it("is printed where no other format, no columns and no filter are asked for", function()
    local is_text = require("purser.cli.output").is_text
    assert.is_true(is_text { format = "table" })
    assert.is_true(is_text { format = "table", filter = {} })
    for _, options in ipairs { { format = "json" }, { format = "csv" }, { format = "table", shown = { "a" } },
      { format = "table", filter = { { "a", "1" } } } } do assert.is_false(is_text(options)) end
  end)
end)
