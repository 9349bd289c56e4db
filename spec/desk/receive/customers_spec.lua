-- SPDX-License-Identifier: MIT
-- The customers' file is taken whole, or not at all.

local customers = require "purser.desk.receive.customers"
local files = require "files"
local stores = require "purser.desk.receive.store"

local RIPPLE, STELLAR = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"

describe("Customers of purser.receive", function()
  local HEAD = "customer,address,memo,coins,least,from,until\n"
  local store
  setup(function() store = assert(stores.open { sqlite = files.new_path(), relaxed = true }) end)
  teardown(function()
    store:close()
    files.remove_kept()
  end)

  -- Puts a file in the place of the one before. Returns true; or nil and why not.
  local function replace(text)
    local message
    local ok = store:write(function(book)
      local went
      went, message = customers.replace(book, text)
      if not went then book.tx:reject "refused" end
      return true
    end)
    return ok, message
  end

  local function rows() return assert(store:rows "SELECT * FROM purser_receive_customer ORDER BY customer, source") end

  for text, message in pairs {
    ["alice,0x" .. ("AB"):rep(20) .. ",,,,,\nbob,0x" .. ("ab"):rep(20) .. ",,,,,\n"] = "line 3: 0x" .. ("ab"):rep(20)
      .. ": the address and memo belong to alice at the same time",
    ["alice,rA,1,,,,\nalice,rA,1,,,,\n"] = "line 3: rA: the address and memo belong to alice at the same time",
    ["alice,rA,,,,,\nbob,rA,7,,,,\n"] = "line 3: rA: the address stands both with and without a memo; give each",
    ["alice,0x0000000000000000000000000000000000000001,7,,,,\n"] = "line 2: an address like",
    ["alice,TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t,7,,,,\n"] = "line 2: an address like",
    ["alice,rA,1.23457E+11,,,,\n"] = "line 2: the memo 1.23457E+11 may be a program's word",
    ["alice,rA,nan,,,,\n"] = "line 2: the memo nan may be a program's word",
    ["alice,rA,2-Jan,,,,\n"] = "line 2: the memo 2-Jan may be a program's word",
    ["alice,rA,104448.0,,,,\n"] = "line 2: the memo 104448.0 may be a program's word",
    ["alice,rA,12\226\128\1393,,,,\n"] = "line 2: the memo",
    ["alice," .. RIPPLE .. ",4294967296,,,,\n"] = 'line 2: the memo "4294967296" is no number from 0 to 4294967295',
    ["alice," .. RIPPLE .. ",tag 7,,,,\n"] = 'line 2: the memo "tag 7" is no number',
    ["alice,rrrrrrrrrrrrrrrrrrrrBZbvji,7,,,,\n"] = "line 2: nobody has the key of this address",
    ["alice,0x000000000000000000000000000000000000dEaD,,,,,\n"] = "line 2: nobody has the key of this address",
    ["alice," .. STELLAR .. "," .. ("m"):rep(29) .. ",,,,\n"] = "line 2: the memo",
    ["alice,sn259rEFXrQrWyx3Q7XneWcwV6dfL,,,,,\n"] = "line 2: this is a SECRET KEY",
    ["alice,rA,7,,x,,\n"] = 'line 2: least "x" is no amount',
    ["alice,rA,7,,-1,,\n"] = 'line 2: least "-1" is no amount',
    ["alice,rA,7,,,soon,\n"] = 'line 2: "soon" is no time',
    ["alice,rA,7,,,2026-02-01,2026-01-01\n"] = "line 2: until is not later than from",
    ["alice,rA,7,,,2026-02-01,2026-02-01\n"] = "line 2: until is not later than from",
    [",rA,7,,,,\n"] = "line 2: customer and address must not be empty",
    ["alice,,7,,,,\n"] = "line 2: customer and address must not be empty",
  } do
    it(("are refused as a whole: %s, for %s"):format(message, text:match "^[^\n]*"), function()
      assert(replace(HEAD .. "old,rOld,,,,,\n"))
      local ok, problem = replace(HEAD .. text)
      assert.is_nil(ok)
      assert.equal(message, problem:sub(1, #message))
      assert.equal("old", rows()[1].customer)
    end)
  end

  it("have columns of these names, customer and address among them", function()
    for text, message in pairs { ["customer,adress\n"] = 'line 1: there is no column "adress"; give customer,',
      ["customer,memo\n"] = "line 1: there is no column address", ["address\n"] = "line 1: there is no column customer",
      [""] = "there is no line",
      ["customer,address,memo,address\na,rOne,7,rTwo\n"] = 'line 1: the column "address" stands there twice',
      ["customer,address,memo\na,rOne,12,34\n"] = "line 2: it has 4 cells, and the first line 3" } do
      local _, problem = replace(text)
      assert.equal(message, problem:sub(1, #message))
    end
  end)

  it("are read as a list of payments is: semicolons or tabs, a byte order mark, comments, any line end", function()
    local text = "# of June\ncustomer,address,memo,coins\na,rOne,7,\"usdt,usdc\"\nb,rTwo,,btc\n"
    for _, form in ipairs { { ",", "\n" }, { ";", "\r\n" }, { "\t", "\r" } } do
      local of = text:gsub('"usdt,usdc"', form[1] == "," and "%0" or "usdt\1usdc"):gsub(",", form[1])
      assert(replace("\239\187\191" .. of:gsub("\1", ","):gsub("\n", form[2])))
      local found = rows()
      assert.same({ "a", "rOne", "7", "USDT USDC", "b", "BTC" }, { found[1].customer, found[1].address, found[1].memo,
        found[1].coins, found[2].customer, found[2].coins })
    end
    local _, problem = replace "customer;address;memo\na;rOne;12;34\n"
    assert.equal("line 2: it has 4 cells, and the first line 3", problem)
  end)

  it("have no `least` with two readings, and are of no other kind of file", function()
    assert(replace "customer,address,least\na,rOne,12.500\n")
    assert(replace "customer;address;least\na;rOne;0.500\n")
    for text, message in pairs { ["customer;address;least\na;rOne;12.500\n"] = 'line 2: least "12.500" may be '
      .. "thousands, or have three decimals; write it without a mark of thousands, and without zeros behind it",
      ["customer;address;least\na;rOne;1,5\n"] = 'line 2: least "1,5" is no amount; write 1.5',
      ["PK\3\4binary"] = "the file is a workbook of a spreadsheet program; save it as CSV (UTF-8)",
      ['[{"customer":"a"}]'] = "the file is JSON; give the file as CSV" } do
      assert.same({ nil, message }, { replace(text) })
    end
  end)

  it("are looked at by the coins of their row and by that of all", function()
    local contract = "0xdac17f958d2ee523a2206206994597c13d831ec7"
    local coins = { { coin = "Usdt", networkList = { { netWork = "ETH", contract = contract } } }, { coin = "BTC" } }
    local asked = 0
    local function look(text, coin)
      local found = assert(customers.warnings(store, "customer,address,coins\n" .. text, coin, function()
        asked = asked + 1
        return coins
      end))
      for i, one in ipairs(found) do found[i] = { one.customer, one.line, #one.warnings } end
      return found
    end
    assert.same({}, look("a," .. contract .. ",\n"))
    assert.equal(0, asked)
    local rows_of_three = ("a,%s,usdt;btc\nb,%s,BTC XYZ\nc,%s,USDT\n"):format(contract, contract, contract)
    assert.same({ { "a", 2, 1 }, { "c", 4, 1 } }, look(rows_of_three))
    assert.equal(1, asked)
    assert.same({ { "a", 2, 1 }, { "", 3, 1 } }, look(("a,%s,\n,No-Network,usdt\n"):format(contract), "USDT"))
    assert.equal(2, asked)
    local found = assert(customers.warnings(store, "customer,address,coins\na," .. contract .. ",USDT\nb," .. contract
      .. ",\n", nil, function() return nil, { message = "refused" } end))
    assert.same({ 1, { "the address was not compared with the coin's contracts: refused" } }, { #found,
      found[1].warnings })
  end)

  it("stay where there is no new file", function()
    assert(replace(HEAD .. "old,rOld,,,,,\n"))
    assert.is_true(replace(nil))
    assert.equal("old", rows()[1].customer)
  end)

  it("name what is wrong with an address, as it stands in the file", function()
    for text, message in pairs { ["a,TR7NHq***Lj6t\n"] = "line 2: the address TR7NHq***Lj6t is cut or masked",
      ["a,nan\n"] = "line 2: the address nan is a program's word for another text" } do
      assert.same({ nil, message }, { replace("customer,address\n" .. text) })
    end
  end)

  it("may have one address after another, and memos that look alike", function()
    assert(replace(HEAD .. "a,rA,007,,,,2026-01-01\nb,rA,007,,,2026-01-01,\nc,rA,7,usdt;usdc,1,,\n"))
    assert.equal(3, #rows())
    assert.equal("USDT USDC", rows()[3].coins)
  end)

  it("that were made stay when a file comes, and may stand in it as well", function()
    local function add(customer, memo)
      return store:write(function(book)
        return customers.add(book, assert(customers.row { customer = customer, address = "rM", memo = memo }), "made")
      end)
    end
    assert(replace(HEAD))
    assert(add("made", "1"))
    assert(add("made", "1"))
    assert(replace(HEAD .. "made,rM,1,,,,\nother,rM,2,,,,\n"))
    assert.equal(2, #rows())
    assert(replace(HEAD .. "made,rM,1,usdt,5,,2026-01-01\nbob,rM,1,,,2026-01-01,\n")) -- the file limits the made one
    local limited = store:rows "SELECT * FROM purser_receive_customer WHERE customer = 'made'"[1]
    assert.same({ "USDT", "5", "1767225600000" }, { limited.coins, limited.least, limited.ends })
    assert(replace(HEAD))
    limited = store:rows "SELECT * FROM purser_receive_customer"
    assert.same({ 1, "", "", "", "" }, { #limited, limited[1].coins, limited[1].least, limited[1].starts,
      limited[1].ends })
    local _, problem = replace(HEAD .. "bob,rM,1,,,,\n")
    assert.equal("line 2: rM: the address and memo belong to made at the same time; make another address, or name the "
      .. "time of the hand-over in a customers' file: the `until` of made, and the `from` of bob", problem)
  end)
end)
