-- SPDX-License-Identifier: MIT
-- make test-all: 60 s
-- What hledger, ledger and beancount say of a statement: they accept it, their balances are ours, and a digit that is
-- off or a posting that is missing is an error in all three. `tools/setup books` installs them.

local books_world = require "books_world"
local days_of = require "purser.desk.books.days"
local decimal = require "purser.decimal"
local files = require "files"
local zones = require "purser.client.util.zone"

local DAY, MINUTE = 86400000, 60000

local programs = {
  { name = "hledger", format = "hledger", check = "hledger -f '%s' check -s ordereddates" },
  { name = "ledger", format = "hledger", check = "ledger -f '%s' --strict --pedantic balance" },
  { name = "beancount", format = "beancount", check = "bean-check '%s'" },
}

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo \"exit $?\""))
  local text = pipe:read "*a"
  pipe:close()
  return text:find "exit 0%s*$" ~= nil, text
end

-- Returns a world with everything that a statement may hold: names that no program takes as they are, amounts with many
-- places.
local function world_of()
  local world = books_world.new { subs = 2, balances = { USDT = "1000.00000001", DOGE = "10", TRX = "12",
    BTC = "1.123456789012345678" } }
  local sim, client = world.sim, world.client
  local books = books_world.open(world, { identities = { [world.main.uid] = "Main" } })
  assert(books:sync())
  local address = assert(world.clients.desk1.wallet:create_deposit_address { coin = "USDT",
    network = "Tron(TRC20)" }).address
  sim:advance(DAY)
  assert(sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "100.10" })
  assert(client.sub_account:transfer { toAccount = "desk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "40" })
  assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "9" })
  assert(client.wallet:convert { asset = "DOGE" })
  assert(world.clients.desk1.wallet:internal_transfer { toAccountType = "UID", toAccount = world.main.uid,
    asset = "USDT", amount = "2" })
  assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
    address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
  assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "30", address = address })
  sim:advance(1000)
  assert(books:sync())
  sim:advance(30 * MINUTE)
  assert(sim:trade { account = world.main.uid, changes = { USDT = "-7.5", ["BTC"] = "0.000000000000000001" } })
  sim:advance(MINUTE)
  assert(books:sync())
  sim:advance(2 * DAY)
  assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "11",
    address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
  sim:advance(1000)
  assert(books:sync())
  return world, books
end

local function span(world, format)
  return { from = "2023-11-14", to = world.sim:now() + 3 * DAY - world.sim:now() % DAY, format = format }
end

-- Returns the text with its first match of a pattern replaced.
local function with(text, pattern, replacement)
  local changed, count = text:gsub(pattern, replacement, 1)
  assert(count == 1, pattern)
  return changed
end

describe("A statement for other programs", function()
  after_each(files.remove_kept)

  it("is accepted by each, and a digit off or a posting out is not", function()
    local world, books = world_of()
    for _, program in ipairs(programs) do
      local text = assert(books:statement(span(world, program.format)))
      local path = files.new_path(text)
      local ok, said = run(program.check:format(path))
      assert.is_true(ok, program.name .. ": " .. said)
      local wrong = {
        with(text, "(Sub%-desk1:Spot  %d*)%d(%.?%d* \"?USDT)", "%17%2"),
        with(text, "\n  Assets:Account:Main:Futures  9[^\n]*", ""),
        -- a whole entry that is missing is met by the balances at the end
        with(text, "\n[^\n]* \"?transfer\"?\n  [^\n]*\n  [^\n]*\n  Assets[^\n]*\n  Assets[^\n]*\n", "\n"),
      }
      for i, other in ipairs(wrong) do
        ok = run(program.check:format(files.new_path(other)))
        assert.is_false(ok, ("%s takes error %d"):format(program.name, i))
      end
    end
    books:close()
  end)

  it("has the balances that hledger and ledger find", function()
    local world, books = world_of()
    local text, made = books:statement(span(world, "hledger"))
    local path = files.new_path(text)
    local checked = 0
    for _, leg in ipairs(made.all) do
      for _, command in ipairs { "hledger -f '%s' balance -N -E --flat --format '%%(total)' '^%s$' cur:'%s'",
        "ledger -f '%s' balance --flat --no-total --format '%%(scrub(display_total))\\n' '^%s$' --limit "
          .. "'commodity == \"%s\"'" } do
        local _, said = run(command:format(path, leg[1], leg[2]))
        local shown = said:match "(%-?[%d.,]+)"
        local found = shown and decimal((shown:gsub(",", ""))) or decimal(0)
        assert.is_true(found:eq(leg[3]), ("%s %s: %s, and %s"):format(leg[1], leg[2], tostring(leg[3]), said))
        checked = checked + 1
      end
    end
    assert.is_true(checked > 20)
    books:close()
  end)

  it("keeps names apart that no program takes as they are", function()
    local writers = require "purser.desk.books.writers"
    local entries = {}
    for i, asset in ipairs { "1INCH", "W", "stETH", "STETH", "TRUE", "A-B", "é" } do
      entries[i] = { time = "1700000000000", rid = ("%064x"):format(i), text = "trade",
        legs = { { "Assets:A:Main:Spot", asset, "0.100000000000000001" },
          { "Equity:A:Outside", asset, "-0.100000000000000001" } } }
    end
    local closing = {}
    for i, entry in ipairs(entries) do closing[i] = entry.legs[1] end
    local statement = { account = "A", from = "1699999999999", to = "1700100000000", rev = "000000000001",
      days = days_of.of(zones.open "UTC"),
      entries = entries, closing = closing, all = closing, open = {}, unexplained = {}, gaps = {}, unread = {},
      negative = {}, assumed = 0 }
    for _, program in ipairs(programs) do
      local parts = {}
      writers[program.format](statement, function(text) parts[#parts + 1] = text end)
      local path = files.new_path(table.concat(parts))
      local ok, said = run(program.check:format(path))
      assert.is_true(ok, program.name .. ": " .. said)
    end
    statement.all = { { "Assets:A:Main:Spot", "W", "1234567890.123456789012345678901" } }
    entries[2].legs[1][3] = "1234567890.1234567890123456789"
    local went, message = pcall(writers.beancount, statement, error)
    assert.is_false(went)
    assert.truthy(tostring(message):find("W need more than the 28 digits", 1, true))
  end)
end)
