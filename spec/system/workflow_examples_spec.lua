-- SPDX-License-Identifier: MIT
-- The examples of whole workflows, run as programs against a service of their own.
-- make test: 11 s, waits

local files = require "files"
local purser = require "purser"
local plain, start = require("service").plain, require("service").start

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("the example", function()
  local service, account, client, directory

  setup(function()
    service = start {}
    account = assert(service.world:account { role = "broker", email = "a@example.org", balances = { USDT = "1000" } })
    assert(service.world:save_address { account = account.uid, coin = "USDT", network = "TRX", address = ADDRESS })
    client = assert(purser.new { base_url = service.url, api_key = account.api_key, secret_key = account.secret_key })
    directory = files.folder()
  end)

  teardown(function()
    client:close()
    service.stop()
    files.remove(directory)
  end)

  local function open(arguments)
    local lua = os.getenv "LUA" or "lua5.4"
    return assert(io.popen(("PURSER_BASE_URL=%s PURSER_API_KEY=%s PURSER_SECRET_KEY=%s %s examples/%s 2>&1; "
      .. "echo exit $?"):format(service.url, account.api_key, account.secret_key, lua, arguments)))
  end

  local function run(arguments)
    local pipe = open(arguments)
    local text, code = pipe:read("*a"):match "^(.-)exit (%d+)\n$"
    pipe:close()
    return text, tonumber(code)
  end

  it("planned_withdrawal.lua shows a plan, and executes it when asked", function()
    local text, code = run("planned_withdrawal.lua USDT trc20 " .. ADDRESS .. " 20.5")
    assert.equal(0, code, text)
    assert.matches("ok       no problem found", text)
    text, code = run("planned_withdrawal.lua USDT trc20 " .. ADDRESS .. " 5.0000005")
    assert.equal(1, code)
    assert.matches("below the minimum of 10", text)
    assert.matches("no multiple of 0.000001", text)
    assert.is_nil(service.world:counts()["wallet.withdraw"])
    local pipe = open("planned_withdrawal.lua USDT trc20 " .. ADDRESS .. " 20.5 --execute")
    repeat text = assert(pipe:read "*l") until text:find "^withdrawal %x+$"
    service.world:advance(30 * 60000)
    assert.matches("sent in transaction %x+", pipe:read "*l")
    assert.equal("exit 0", pipe:read "*l")
    pipe:close()
  end)

  it("planned_withdrawal.lua looks for a withdrawal whose answer was lost, instead of making another", function()
    local before = service.world:counts()["wallet.withdraw"].applied
    assert(service.world:fault { kind = "lost_answer", operation = "wallet.withdraw" })
    local pipe = open("planned_withdrawal.lua USDT trc20 " .. ADDRESS .. " 20.5 --execute")
    local text, found = pipe:read "*l", false
    while text and not text:find "^withdrawal %x+$" do
      found = found or text == "looking for it"
      text = pipe:read "*l"
    end
    assert.is_true(found)
    service.world:advance(30 * 60000)
    assert.matches("sent in transaction %x+", pipe:read "*l")
    assert.equal("exit 0", pipe:read "*l")
    pipe:close()
    assert.equal(before + 1, service.world:counts()["wallet.withdraw"].applied)
  end)

  it("watch_credit.lua credits a deposit once, across restarts", function()
    local state, credits = directory .. "/cursor", directory .. "/credits"
    assert(client:sync_clock()) -- the service's clock was moved on
    local own = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
    local function deposit(amount)
      assert(service.world:deposit { address = own.address, coin = "USDT", network = own.network, amount = amount })
    end
    local command = ("watch_credit.lua %s %s 1"):format(state, credits)
    deposit "12.5"
    service.show_records()
    assert.equal("new 12.5 USDT: state 4\n", plain(run(command)))
    service.world:advance(10 * 60000)
    deposit "7"
    service.show_records()
    local text = plain(run(command))
    assert.matches("changed 12.5 USDT: state 5", text)
    assert.matches("new 7 USDT: state 4", text)
    service.world:advance(10 * 60000)
    assert.equal("changed 7 USDT: state 5\n", plain(run(command)))
    assert.equal("", (run(command)))
    local amounts = {}
    for amount in files.read(credits):gmatch " (%S+)\n" do amounts[#amounts + 1] = plain(amount .. "\n"):sub(1, -2) end
    assert.same({ "12.5", "7" }, amounts)
  end)

  it("fleet.lua makes what a file declares, and keeps the secrets where nobody else reads them", function()
    local declared, secrets = directory .. "/declared.json", directory .. "/secrets"
    local file = assert(io.open(declared, "w"))
    file:write [[{"accounts": [{"name": "examples01", "note": "n", "keys": [{"note": "bot",
      "permissions": ["SPOT_DEAL_READ"]}]}]}]]
    file:close()
    local command = ("fleet.lua %s %s "):format(declared, secrets)
    assert.matches('examples01: create the key "bot"', (run(command .. "plan")))
    local text, code = run(command .. "apply")
    assert.equal(0, code, text)
    local secret = files.read(secrets):match "^%S+\t(%S+)\texamples01\tbot\thttp://%S+\n$"
    assert.is_nil(text:find(secret, 1, true))
    assert.equal("everything is as declared\n", (run(command .. "plan")))
    local pipe = assert(io.popen("ls -l " .. secrets))
    assert.matches("^%-rw%-%-%-%-%-%-%-", pipe:read "*l")
    pipe:close()
    assert(os.execute("chmod 644 " .. secrets))
    text, code = run(command .. "apply")
    assert.equal(1, code)
    assert.matches("can be used by others %(mode 644%), so its secrets are not safe; run: chmod 600", text)
  end)

  it("fleet.lua runs nothing that its declaration says", function()
    local declared, mark = directory .. "/hostile.json", directory .. "/mark"
    files.write(declared, ("io.open(%q, 'w'):close() return {}"):format(mark))
    local text, code = run(("fleet.lua %s %s plan"):format(declared, directory .. "/none"))
    assert.equal(1, code)
    assert.matches("is not the JSON of an object", text)
    assert.is_nil(io.open(mark))
  end)
end)
