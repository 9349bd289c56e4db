-- SPDX-License-Identifier: MIT
-- tools/convert-7: a journal from before the first release keeps what it knows.

local database = require "purser.client.util.database"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local function run(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = "'" .. word .. "'" end
  local pipe = assert(io.popen(("%s tools/convert-7 %s 2>&1; echo exit $?"):format(os.getenv "LUA" or "lua5.4",
    table.concat(words, " "))))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

describe("a journal of version 7", function()
  local old, new = files.path_in_memory(), files.path_in_memory()

  setup(function()
    files.remove_database(new)
    local db = assert(database.open { sqlite = old })
    for statement in files.read "spec/golden/journal-7.sql":gmatch "(.-);\n" do
      if statement:find "^CREATE" or statement:find "^INSERT" then assert(db:rows(statement)) end
    end
    db:close()
  end)
  teardown(function()
    files.remove_database(old)
    files.remove_database(new)
  end)

  it("is not opened, and its error names the tool", function()
    local none, err = purser.journal.open { sqlite = old }
    assert.is_nil(none)
    assert.matches("tools/convert%-7", err.hint)
  end)

  it("becomes one that knows its used keys, its open call, its list and its limit", function()
    assert.matches(": the account treasury, 12 calls and payments, 2 limits\nexit 0\n$", run(old, new))
    assert.matches("is there already", run(old, new))
    local journal = assert(purser.journal.open { sqlite = new })
    finally(function() journal:close() end)
    local sim = purser.sim.new { seed = 8, profile = "mexc" }
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    local client = simulated.client(sim, account, { profile = "mexc", journal = journal, account = "treasury",
      rate_limit = false, retry = false })
    local function move(amount, key) return client.sub_account:transfer(simulated.transfer(amount), { key = key }) end
    for key, amount in pairs { ["Inv-1"] = "5", again = "7.0" } do
      assert.truthy(assert(move(amount, key)).tranId)
      assert.equal("journal.other_content", select(2, move("99", key)).code)
    end
    assert.equal("open", assert(journal:entries { state = "unknown" })[1].key)
    local queue, list = assert(purser.payouts.new { client = client, journal = journal, worker = "w" }), {}
    for i = 1, 7 do
      list[i] = { key = "p" .. i, operation = "sub_account.transfer", params = simulated.transfer(tostring(i)) }
    end
    assert.same({ added = 0, repeated = 7 }, assert(queue:add_all(list)))
    assert.equal("guard.spending_limit", select(2, move("399", "more")).code)
    assert.equal(0, simulated.counted(sim, "sub_account.transfer", "received"))
  end)
end)
