-- SPDX-License-Identifier: MIT
-- Whose books they are, and what a coin's name stands for.

local books_world = require "books_world"
local files = require "files"
local owners = require "purser.desk.books.owners"
local purser = require "purser"
local simulated = require "simulated"

local SAVED = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

describe("The owners of the books", function()
  after_each(files.remove_kept)

  it("are the parent and its sub-accounts, by whichever operation the key may use", function()
    for role, group in pairs { main = "sub_account", broker = "broker" } do
      local books = books_world.open(books_world.new { role = role, subs = 2 })
      local names = {}
      for i, owner in ipairs(owners.list(books)) do names[i] = owner.name end
      assert.same({ "Main", "Sub-desk1", "Sub-desk2" }, names)
      assert.equal(group, books.group)
      books:close()
    end
  end)

  it("call a coin with its network by its asset, unless the service lists it so", function()
    local asked, books = 0, {}
    books.main = { client = { call = function()
      asked = asked + 1
      return { { coin = "USDT" }, { coin = "BTC-2" } }
    end } }
    assert.same({ "USDT", "USDT", "BTC-2", "A-B" }, { owners.asset_of(books, "USDT"), owners.asset_of(books,
      "USDT-TRX"), owners.asset_of(books, "BTC-2"), owners.asset_of(books, "A-B-C") })
    assert.equal(1, asked)
  end)

  it("have keys, addresses and a state in the books, and when these are gone", function()
    local world = books_world.new { role = "broker" }
    local address = assert(world.clients.desk1.wallet:create_deposit_address { coin = "USDT",
      network = "Tron(TRC20)" }).address
    assert(world.sim:save_address { account = world.main.uid, coin = "USDT", network = "TRX", address = SAVED })
    local books = books_world.open(world, { address_coins = { "USDT" } })
    assert.same({}, assert(books:sync()).problems)
    local function column(sql) return table.concat(books_world.column(books, sql), ", ") end
    local keys = "SELECT to_owner || ' ' || sid || ' ' || missing_since AS value FROM purser_books_api_key"
    assert.equal("Sub-desk1 " .. world.subs.desk1.api_key .. " ", column(keys))
    local addresses = "SELECT from_owner || '>' || to_owner || ' ' || address AS value FROM purser_books_address "
    assert.equal("Main> " .. SAVED .. ", >Sub-desk1 " .. address, column(addresses .. "ORDER BY to_owner"))
    assert.equal("Sub-desk1 1", column "SELECT to_owner || ' ' || state AS value FROM purser_books_status")
    local raw = column "SELECT raw AS value FROM purser_books_api_key"
    assert.falsy(raw:find(world.subs.desk1.secret_key, 1, true))
    assert(world.client.broker:delete_api_key { subAccount = "desk1", apiKey = world.subs.desk1.api_key })
    books.keys.desk1 = nil
    assert(books:sync())
    assert.truthy(column(keys):find " $") -- it is asked once a day
    world.sim:advance(86400000)
    assert(books:sync())
    assert.truthy(column(keys):find " %d+$")
    books:close()
  end)

  it("are read soon after a call of the journal, which names the pairs of sub-accounts, too", function()
    local world = books_world.new { subs = 2 }
    local journal = assert(purser.journal.open { sqlite = files.new_path() })
    local books = books_world.open(world, { journal = journal })
    assert(books:sync())
    world.sim:advance(3 * 86400000)
    assert(books:sync())
    world.sim:advance(60000) -- nobody but the journal says that something happened
    local client = simulated.client(world.sim, world.main, { rate_limit = false, profile = "mexc", journal = journal,
      account = "main" })
    assert(client.sub_account:transfer { fromAccount = "desk1", toAccount = "desk2", fromAccountType = "SPOT",
      toAccountType = "SPOT", asset = "USDT", amount = "7" })
    local sent = assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
    assert.truthy(sent.id)
    assert.equal(3, assert(books:sync { due = true }).owners)
    assert.same({ "Sub-desk1 Sub-desk2 7" }, books_world.column(books,
      "SELECT from_owner || ' ' || to_owner || ' ' || amount AS value FROM purser_books_transfer"))
    local ids = {}
    for entry in journal:each_entry() do ids[entry.intent.operation] = entry.intent.params.withdrawOrderId end
    local text = assert(books:statement { from = "2023-11-01", to = "2023-12-01" })
    assert.truthy(text:find("  ; client-id: " .. ids["wallet.withdraw"], 1, true))
    journal:close()
    books:close()
  end)

  it("give each journal what became of its accepted withdrawals, also one that is named later", function()
    local world = books_world.new { subs = 2 }
    local journals, clients, ids = {}, {}, {}
    for _, name in ipairs { "main", "desk1", "desk2" } do
      journals[name] = assert(purser.journal.open { sqlite = files.new_path() })
      clients[name] = simulated.client(world.sim, world.subs[name] or world.main, { rate_limit = false,
        profile = "mexc", journal = journals[name], account = name })
    end
    local function pay(name, amount, state)
      local id = assert(clients[name].wallet:withdraw { coin = "USDT", netWork = "TRX", amount = amount,
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }).id
      ids[name .. " " .. amount] = id
      return state and assert(world.sim:set_withdrawal(id, state))
    end
    pay("main", "20", 9)
    pay("main", "21")
    pay("desk1", "22", 8)
    pay("desk1", "23", 7)
    pay("desk2", "24", 8)
    local function arrivals(name)
      local list = {}
      for entry in journals[name]:each_entry() do
        list[#list + 1] = entry.intent.params.amount .. " " .. tostring(entry.arrival)
      end
      table.sort(list)
      return table.concat(list, ", ")
    end
    local books = books_world.open(world, { journal = journals.main, journals = { desk1 = journals.desk1 } })
    assert(books:sync())
    assert.same({ "20 cancelled, 21 nil", "22 failed, 23 sent", "24 nil" }, { arrivals "main", arrivals "desk1",
      arrivals "desk2" })
    assert(world.sim:set_withdrawal(ids["main 21"], 7))
    books.journals["Sub-desk2"] = journals.desk2
    world.sim:advance(60000)
    assert(books:sync())
    assert.same({ "20 cancelled, 21 sent", "24 failed" }, { arrivals "main", arrivals "desk2" })
    for _, journal in pairs(journals) do journal:close() end
    books:close()
  end)

  it("say in a statement that a withdrawal failed or was cancelled", function()
    local world = books_world.new { subs = 0 }
    local books, ids = books_world.open(world), {}
    for i, state in ipairs { 8, 9 } do
      ids[i] = assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "2" .. state,
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }).id
    end
    assert(books:sync())
    assert(world.sim:set_withdrawal(ids[1], 8) and world.sim:set_withdrawal(ids[2], 9))
    world.sim:advance(60000)
    assert(books:sync())
    for format, form in pairs { hledger = " %* (withdrawal [^\n]*back)\n",
      html = "<td>(withdrawal [^<]*back)<" } do
      local text, found = assert(books:statement { from = "2023-11-01", to = "2023-12-01", format = format }), {}
      for words in text:gmatch(form) do found[words] = true end
      assert.same({ ["withdrawal failed, given back"] = true, ["withdrawal cancelled, given back"] = true }, found)
    end
    books:close()
  end)

  it("show what the journal has under way, until a record shows it or the journal knows its end", function()
    local world = books_world.new { role = "broker" }
    assert(world.sim:rebate { account = world.main.uid, asset = "USDT", amount = "1", uid = "invoice1" })
    local journal = assert(purser.journal.open { sqlite = files.new_path() })
    local books = books_world.open(world, { journal = journal })
    local params = { coin = "USDT", netWork = "TRX", amount = "20", withdrawOrderId = "invoice1", address = SAVED }
    local intents = {}
    local function send(operation, values)
      intents[operation] = { operation = operation, params = values, sent_at = world.sim:now(), recv_window = 5000,
        account = world.client:account(), id = operation }
      assert(journal:begin(intents[operation], purser.operations[operation]))
    end
    local function open()
      local lines = {}
      for _, one in ipairs(select(2, assert(books:statement { from = "2023-11-01", to = "2023-12-01" })).open) do
        lines[#lines + 1] = ("%s %s %s"):format(one.row.amount, one.row.from_owner, one.why)
      end
      return table.concat(lines, "\n")
    end
    send("wallet.withdraw", params)
    world.sim:advance(1)
    send("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" })
    assert.same({}, assert(books:sync()).problems)
    local text = assert(books:statement { from = "2023-11-01", to = "2023-12-01" })
    local withdrawn = "20 Main the journal has its call of wallet.withdraw (open), and no record shows it yet"
    local moved = "5 Main the journal has its call of wallet.transfer (open), and no record shows it yet"
    assert.equal(withdrawn .. "\n" .. moved, open())
    -- another machine with a journal of its own says nothing of these
    books.journals.Main = assert(purser.journal.open { sqlite = files.new_path() })
    assert(books:sync())
    assert.equal(withdrawn .. "\n" .. moved, open())
    books.journals.Main:close()
    books.journals.Main, books.last_calls = journal, {}
    assert.truthy(text:find("of 2023-11-14, 20 USDT: the journal has its call", 1, true))
    assert(world.client.wallet:withdraw(params)) -- it arrives, though nobody learns that
    assert(journal:finish(intents["wallet.transfer"], nil, { outcome = "rejected", message = "no" }))
    world.sim:advance(3600000)
    assert(books:sync())
    assert.equal("", open())
    journal:close()
    books:close()
  end)

  it("guess no name: where the coins cannot be listed, the list is a gap, and the rest is read", function()
    local world = books_world.new { sim = { seed = 5, key_days = 0, variant = "live" } }
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    world.sim:fault { kind = "reject", code = "700007", operation = "wallet.coins", times = 1 }
    local books = books_world.open(world)
    local report = assert(books:sync())
    assert.equal("deposit", report.problems[1].list)
    assert.equal(3, report.owners + #report.problems)
    report = assert(books:sync())
    assert.same({}, report.problems)
    assert.equal(0, #books:gaps())
    books:close()
  end)

  it("are known by name, by user id, and by what was named before; a key's own name is an owner, too", function()
    local world = books_world.new { role = "broker", subs = 2 }
    local books = books_world.open(world, { keys = { desk1 = world.clients.desk1, other = world.clients.desk2 },
      identities = { desk2 = "Main" } })
    local names, clients = {}, {}
    for i, owner in ipairs(owners.list(books)) do
      names[i], clients[owner.name] = owner.name .. (owner.sub and " " .. owner.sub or ""), owner.client
    end
    assert.same({ "Main", "Sub-desk1 desk1", "Sub-desk2 desk2", "Sub-other other" }, names)
    assert.same({ Main = world.client, ["Sub-desk1"] = world.clients.desk1, ["Sub-other"] = world.clients.desk2 },
      clients)
    assert.same({ "Sub-desk1", "Main" }, { books.is_own "desk1", books.is_own "desk2" })
    assert.equal("Main", books.is_own(world.main.uid))
    books:close()
    books = books_world.open(books_world.new { subs = 1 }) -- a main account's list shows the user id
    owners.list(books)
    local row = books.store:rows "SELECT client_id FROM purser_books_sub_account"[1]
    assert.equal("Sub-desk1", books.is_own(row.client_id))
    assert.equal("", books.is_own "nobody")
    books:close()
  end)

  it("fail as the list of the coins fails, and are due once", function()
    local err = { message = "down" }
    local books = { main = { client = { call = function() return nil, err end } } }
    assert.same({ false, err }, { pcall(owners.asset_of, books, "USDT-TRX") })
    local world = books_world.new { subs = 0 }
    books = books_world.open(world)
    assert(books:sync())
    local now = world.sim:now()
    assert.is_false(owners.take_due(books, { name = "Main" }, now) and true or false)
    now = now + 86400000
    assert.is_true(owners.take_due(books, { name = "Main" }, now) and true or false)
    assert.is_false(owners.take_due(books, { name = "Main" }, now) and true or false)
    books:close()
  end)

  it("are due after a call of the last day that names them, and pairs need both sides", function()
    local world = books_world.new { subs = 2 }
    local journal = assert(purser.journal.open { sqlite = files.new_path() })
    local books = books_world.open(world, { journal = journal })
    assert(books:sync())
    local hot = "SELECT owner || ' ' || (hot_until > '%013d') AS value FROM purser_books_owner ORDER BY owner"
    local function put(operation, params, ago)
      assert(journal:begin({ operation = operation, params = params, sent_at = world.sim:now() - (ago or 0),
        recv_window = 5000, account = world.client:account(), id = operation .. world.sim:now() },
        purser.operations[operation]))
    end
    world.sim:advance(3 * 86400000)
    local function noted()
      books.store:rows("UPDATE purser_books_owner SET hot_until = '0000000000000'")
      owners.note_calls(books, world.sim:now())
      return table.concat(books_world.column(books, hot:format(world.sim:now())), ", ")
    end
    put("sub_account.transfer", { toAccount = "desk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "1" })
    assert.equal("Main 1, Sub-desk1 1, Sub-desk2 0", noted())
    world.sim:advance(1)
    put("sub_account.create_api_key", { subAccount = "desk2", note = "n", permissions = "SPOT_DEAL_READ" })
    assert.equal("Main 1, Sub-desk1 0, Sub-desk2 1", noted())
    world.sim:advance(1)
    put("sub_account.transfer", { fromAccount = "desk2", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "1" }, 86400000)
    assert.equal("Main 0, Sub-desk1 0, Sub-desk2 0", noted())
    assert.same({}, books.pairs)
    assert.equal("Main 0, Sub-desk1 0, Sub-desk2 0", noted()) -- none is noted twice
    journal:close()
    books:close()
  end)
end)
