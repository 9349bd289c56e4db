-- SPDX-License-Identifier: MIT
-- The databases of books and of received deposits in spec/golden, as releases left them: the simulated worlds that the
-- databases are of, with rows of every kind in every table, and their dumps. A release of a new format adds its own
-- dump, and never changes an older one:
--
--     make all && LUA_PATH="lua/?.lua;lua/?/init.lua;spec/support/?.lua;;" LUA_CPATH="build/lua5.4/?.so;;" \
--       lua5.4 spec/support/golden_databases.lua books >spec/golden/books-4.sql
--
-- Another making differs from the dump in random marks, in ids of journals, and in the times of persons' words.

local books_world = require "books_world"
local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"
local purser = require "purser"
local receive_world = require "receive_world"
local simulated = require "simulated"

local MINUTE, HOUR, DAY = 60000, 3600000, 86400000
local PAYEE = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"

local M = { worlds = {} }

local function refuse() return nil, "refused" end

local function deposit(world, amount, account, more)
  local fields = { account = account or world.main.uid, coin = "USDT", network = "TRX", amount = amount }
  for name, value in pairs(more or {}) do fields[name] = value end
  return assert(world.sim:deposit(fields)).id
end

local function withdraw(world, amount, state)
  local id = assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = amount,
    address = PAYEE }).id
  if state then assert(world.sim:set_withdrawal(id, state)) end
  return id
end

-- Makes one record of each further list.
local function move(world)
  local main, desk = world.client, world.clients.desk1
  assert(main.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "9" })
  assert(main.broker:transfer { toAccount = "desk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "40" })
  assert(desk.wallet:internal_transfer { toAccountType = "UID", toAccount = world.main.uid, asset = "USDT",
    amount = "2" })
  assert(main.wallet:convert { asset = "TRX" })
  assert(world.sim:rebate { account = "Acme", asset = "USDT", amount = "0.5", uid = "77", grows = true })
  assert(main.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
end

-- Returns a journal with a call of the world that has no known end.
local function journal_of(world)
  local journal = assert(purser.journal.open { sqlite = files.new_path() })
  local client = simulated.client(world.sim, world.main, world.client_options, { journal = journal, account = "acme",
    retry = false })
  world.sim:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 }
  assert(not client.wallet:transfer { fromAccountType = "FUTURES", toAccountType = "SPOT", asset = "USDT",
    amount = "1" })
  return journal
end

--- Opens the books of a world.
function M.open_books(world, path, journal)
  return books_world.open(world, { sqlite = path, address_coins = { "USDT" }, journal = journal,
    receivers = { log = { deliver = world.take }, down = { deliver = refuse } } })
end

-- Says what persons say of records. Returns nothing.
local function say(books, lost, own, sent)
  local function rid(sid) return books.store:rows("SELECT rid FROM purser_books_record WHERE sid = $1", sid)[1].rid end
  local got = books.store:rows "SELECT rid FROM purser_books_record WHERE entity = 'deposit' AND amount = '23'"[1].rid
  assert(books:settle(rid(lost), "success"))
  assert(books:match(rid(own), got))
  assert(books:outside(rid(sent)))
end

--- Makes the books of a world in a new file. Returns the world; `taken` counts the events that its receiver got.
function M.worlds.books(path)
  local world = books_world.new { subs = 2, role = "broker", balances = { USDT = "1000", BTC = "1", TRX = "3" } }
  world.clients.desk2, world.taken = nil, 0 -- whose key is missing: a gap
  function world.take()
    world.taken = world.taken + 1
    return true
  end
  deposit(world, "5", nil, { tx_id = ("ab"):rep(32) })
  deposit(world, "5", nil, { tx_id = ("ab"):rep(32) })
  assert(world.sim:set_deposit(deposit(world, "8"), 6))
  assert(world.sim:set_deposit(deposit(world, "9"), 9))
  assert(world.sim:respell(deposit(world, "10"), { amount = "much" }))
  deposit(world, "23", world.subs.desk1.uid)
  local refused, void, own = deposit(world, "6"), withdraw(world, "22"), withdraw(world, "24")
  local lost = withdraw(world, "20", "MANUAL")
  withdraw(world, "21", "MANUAL")
  local sent = withdraw(world, "25", 6)
  move(world)
  local journal = journal_of(world)
  local books = M.open_books(world, path, journal)
  assert(books:sync())
  books:deliver()
  world.sim:advance(10 * MINUTE)
  assert(world.sim:set_deposit(refused, 7))
  assert(world.sim:set_withdrawal(void, "CANCEL"))
  assert(world.sim:hide(lost))
  for _, later in ipairs { HOUR, HOUR, DAY } do
    assert(books:sync())
    world.sim:advance(later)
  end
  say(books, lost, own, sent)
  assert(books:sync())
  assert(books:close_before("2023-11-15", { unread = true }))
  deposit(world, "3")
  assert(books:sync())
  books:deliver()
  books:close()
  journal:close()
  return world
end

--- Opens the database of a world's deposits.
function M.open_receive(world, path)
  return world.open { sqlite = path, receivers = { shop = { deliver = world.take }, down = { deliver = refuse } } }
end

--- Makes the database of a world's deposits in a new file. Returns the world, and in `hidden` the deposit that the last
--- record may be.
function M.worlds.receive(path)
  local world = receive_world.new()
  world.receive:close()
  local receive = M.open_receive(world, path)
  local function look(later)
    world.sim:advance(later or HOUR)
    assert(receive:run { deadline_ms = 0 })
  end
  local old = world.deposit("1").id
  world.deposit "1.5"
  world.sim:advance(HOUR)
  assert(receive:begin { customers = world.customers })
  local back = world.deposit("2").id
  world.hidden = world.deposit("4").id
  for _, amount in ipairs { "5", "6", "7" } do world.deposit(amount, { coin = "BTC", network = "BTC" }) end
  look()
  local asked = assert(receive:list())
  assert(receive:settle(asked[1].deposit, "refuse", nil, "alice"))
  assert(receive:settle(asked[2].deposit, "same", asked[3].deposit, "bob"))
  assert(world.sim:set_deposit(back, 7))
  look()
  look()
  local late = world.deposit("3").id
  assert(world.sim:set_deposit(world.deposit("9").id, 6))
  look(30 * MINUTE)
  assert(world.sim:set_deposit(old, 7))
  assert(world.sim:hide(world.hidden))
  world.deposit "8"
  look(10 * MINUTE)
  assert(world.sim:set_deposit(late, 7))
  look(0)
  receive:close()
  return world
end

-- Returns the rows of a table as statements, in the order of their keys.
local function rows_of(db, name)
  local names, lines = {}, {}
  for i, column in ipairs(assert(db:rows("SELECT name FROM pragma_table_info($1) ORDER BY cid + 0", name))) do
    names[i] = ('quote("%s")'):format(column.name)
  end
  for _, row in ipairs(assert(db:rows(("SELECT %s AS line FROM %s ORDER BY 1"):format(table.concat(names,
    " || ',' || "), name)))) do
    lines[#lines + 1] = ("INSERT INTO %s VALUES(%s);\n"):format(name, row.line)
  end
  return lines
end

--- Returns a SQLite database as statements.
function M.dump(path)
  local db = assert(database.open { sqlite = path })
  local lines = {}
  for _, one in ipairs(assert(db:rows [[SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL
    ORDER BY type = 'index', type = 'view', name]])) do
    lines[#lines + 1] = one.sql .. ";\n"
    for _, line in ipairs(one.type == "table" and rows_of(db, one.name) or {}) do lines[#lines + 1] = line end
  end
  db:close()
  return table.concat(lines)
end

-- The text of a witness file: the database's mark, the highest number that left it, and which file it is.
local WITNESS = "%s %d %s\n"

--- Makes the database of a dump in a new file, with its witness beside it: { text, count of rows by table }.
---@param home string    the table of the mark, and of the number that the witness notes
---@param number string  the row of that number
function M.load(name, path, home, number)
  local made = { text = files.read("spec/golden/" .. name), rows = {} }
  local db = assert(database.open { sqlite = path })
  for statement in made.text:gmatch "(.-);\n" do
    assert(db:rows(statement))
    local created, filled = statement:match "^CREATE TABLE (%S+)", statement:match "^INSERT INTO (%S+)"
    if created then made.rows[created] = 0 end
    if filled then made.rows[filled] = made.rows[filled] + 1 end
  end
  local function meta(row) return db:rows(("SELECT value FROM %s WHERE name = '%s'"):format(home, row))[1].value end
  local witness = path .. "-witness"
  files.write(witness, "")
  os.execute("chmod 600 " .. witness)
  local identity = select(3, core.file_mode(witness)):match ":(.+)$"
  files.write(witness, WITNESS:format(meta "mark", tonumber(meta(number)), identity))
  db:close()
  return made
end

--- Returns the definitions of a database's tables, views and indexes, in order.
function M.shape(path)
  local db, list = assert(database.open { sqlite = path }), {}
  for i, row in ipairs(assert(db:rows "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql")) do
    list[i] = row.sql
  end
  db:close()
  return list
end

if arg and (arg[0] or ""):find "golden_databases%.lua$" then
  local path = files.new_path()
  M.worlds[arg[1]](path)
  io.write(M.dump(path))
  files.remove_kept()
end

return M
