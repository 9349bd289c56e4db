-- SPDX-License-Identifier: MIT
-- A list of payments as CSV: what its lines mean, and every mistake with its line. A key that looks like another one
-- would be paid twice.

local files = require "files"
local payments_plan = require "purser.desk.payouts.list"

local HEADER = "key,coin,network,address,amount\n"
local GOOD = ",USDT,TRX,T,20\n"

-- The payments of a file with that text, and its problems with their lines; or nil and a message without the path.
local function read(text, operation)
  local path, messages = files.temporary(text), {}
  local payments, message = payments_plan.read(path, operation or "wallet.withdraw")
  os.remove(path)
  if not payments then return nil, { (message:gsub("^" .. path:gsub("%p", "%%%0"), "")) } end
  for _, payment in ipairs(payments) do
    for _, problem in ipairs(payment.problems) do
      messages[#messages + 1] = (":%d: %s"):format(payment.line, problem)
    end
  end
  return payments, messages
end

describe("a list of payments", function()
  it("has a payment a line, with the parameters of its operation by any spelling, without empty cells", function()
    local list = assert(read("\239\187\191key,operation,Coin,net-work,address,amount,from_account_type,"
      .. "toAccountType,asset\r\n#x,,,,,,,,\r\n"
      .. "w-1,,USDT,trc20,\"T, or so\",20.50,,,\r\nt-1,wallet transfer,,,,1,SPOT,FUTURES,BTC\r\n"))
    assert.equal(1, list.comments)
    assert.same({ coin = "USDT", netWork = "trc20", address = "T, or so", amount = "20.50" }, list[1].params)
    assert.same({ amount = "1", fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "BTC" }, list[2].params)
    assert.same({ "w-1", "wallet.withdraw", 3 }, { list[1].key, list[1].operation, list[1].line })
    assert.same({ "t-1", "wallet.transfer", 4 }, { list[2].key, list[2].operation, list[2].line })
    assert.equal("wallet.transfer", list[2].row.full_name)
  end)

  for text, expected in pairs {
    [HEADER .. "a" .. GOOD .. "a" .. GOOD .. ",USDT,TRX,T,1\nb,USDT,TRX,T,1,extra\n,USDT,TRX,T,1,extra\n"] = {
      ":3: line 2 has the same key; a key is of one payment",
      ":4: has no key; give each payment one of its own", ":5: has 6 cells, and the header 5",
      ":6: has 6 cells, and the header 5", ":6: has no key" },
    ["coin,amount\nUSDT,1\n"] = { ":1: the first line must name the columns, with `key` among them, such as "
      .. 'key,coin,network,address,amount; it is "coin,amount"' },
    ["PK\3\4binary"] = { ": the file is a workbook of a spreadsheet program; save it as CSV (UTF-8)" },
    ["\255\254k\0e\0y\0"] = { ": the file is UTF-16 or no text at all; save it as CSV (UTF-8)" },
    ["key,coin,coin\n"] = { ':1: the header names "coin" twice' },
    ["key,coin,adress,amount\na,USDT,T,1\n"] = { ':2: wallet.withdraw has no parameter "adress" '
      .. '(did you mean "address"?)' },
    ["key,operation\na,wallet.withdrw\nb,wallet.coins\n"] = { ':2: "wallet.withdrw" is no operation that '
      .. 'moves funds (did you mean "wallet.withdraw"?)', ':3: "wallet.coins" is no operation that' },
    ["key,coin,network,address,Address,netWork,amount\na,USDT,TRX,T1,T2,,1\nb,USDT,TRX,T1,,ETH,1\n"] = {
      ':2: the columns "address" and "Address" are both address; leave one out',
      ':3: the columns "network" and "netWork" are both netWork' },
    [HEADER .. 'a,"USDT,TRX,T,1\n'] = { ": line 2: a quoted cell does not end" },
    [""] = { ": the file is empty" },
  } do
    it("names every mistake with its line, such as " .. expected[1], function()
      local _, messages = read(text)
      for i, message in ipairs(expected) do assert.equal(message, messages[i]:sub(1, #message)) end
      assert.equal(#expected, #messages)
    end)
  end

  it("names no operation without a column for it, unless the command does", function()
    local path = files.temporary(HEADER .. "a" .. GOOD)
    finally(function() os.remove(path) end)
    assert.same({ "no operation; give a column `operation`, or --operation" },
      assert(payments_plan.read(path))[1].problems)
  end)

  it("has commas, semicolons or tabs between its cells, names in capitals, and columns that are left out", function()
    for _, separator in ipairs { ";", "\t" } do
      local text = "Key,Coin,NETWORK,Net Work,#comment,Address,Amount\na,USDT,TRX,,for you,T,20\n"
      local list = assert(read("\239\187\191" .. text:gsub(",", separator)))
      assert.same({ "a", {} }, { list[1].key, list[1].problems })
      assert.same({ coin = "USDT", netWork = "TRX", address = "T", amount = "20" }, list[1].params)
    end
    local list = assert(read('key;coin;network;address;amount\na;USDT;TRX;T;"12,50"\n'))
    assert.equal("12,50", list[1].params.amount)
  end)

  it("has no key that may differ from another one by what cannot be seen", function()
    -- zero-width, bidirectional, and the blanks that are no usual one: U+A0, 1680, 2003, 202F, 205F, 2800, 3000
    for _, hidden in ipairs { " ", "\t", "\226\128\139", "\226\128\174", "\194\160", "\225\154\128", "\226\128\131",
      "\226\128\175", "\226\129\159", "\226\160\128", "\227\128\128" } do
      for _, key in ipairs { "k" .. hidden, hidden .. "k" } do
        local _, messages = read(HEADER .. '"' .. key .. '"' .. GOOD)
        assert.matches("with and without them it would be paid twice, so remove them", messages[1], 1, true)
      end
    end
    for _, key in ipairs { "a b", "Rechnung 7/ü", "\230\151\165\230\156\172", "a\226\128\153s" } do
      assert.equal(key, assert(read(HEADER .. key .. GOOD))[1].key)
    end
  end)

  it("takes no password", function()
    for _, name in ipairs { "funds_password", "password" } do
      local _, messages = read("key,coin,network,address,amount," .. name .. "\na,USDT,TRX,T,1,x\n", "broker.withdraw")
      assert.matches(('has no parameter "%s"'):format(name), messages[1], 1, true)
    end
  end)

  it("has no amount with two readings: a file of semicolons says which mark is that of decimals", function()
    local head = "key;coin;network;address;amount\n"
    local function amounts(mark, ...)
      local lines = { head }
      for i, text in ipairs { ... } do lines[i + 1] = ("k%d;USDT;TRX;T;%s\n"):format(i, text) end
      local path, found = files.temporary(table.concat(lines)), {}
      for i, payment in ipairs(assert(payments_plan.read(path, "wallet.withdraw", mark))) do
        found[i] = payment.problems[1] and "error" or payment.params.amount
      end
      os.remove(path)
      return found
    end
    assert.same({ "error", "error", "12.5", "1234.500" }, amounts(nil, "12.500", "1,000", "12.5", "1234.500"))
    assert.same({ "12500", "1234.50", "12.5", "error" }, amounts("comma", "12.500", "1.234,50", "12,5", "12.5"))
    assert.same({ "12.500", "1234.50", "1000", "error" }, amounts("point", "12.500", "1,234.50", "1,000", "12,5"))
    -- no thousands begin with 0, so the mark is not that of the file: 0.123 would be 123
    assert.same({ "error", "error", "0.123", "error" }, amounts("comma", "0.123", "00.123", "0,123", "0.000.001"))
    assert.same({ "error", "0.123" }, amounts("point", "0,123", "0.123"))
    assert.same({ nil, 'the mark of decimals is "point" or "comma"' }, { payments_plan.read("x", nil, "dot") })
    assert.matches("the operation of the list is a table", select(2, payments_plan.read("x", {})))
    assert.matches("the path of the list is a table", select(2, payments_plan.read {}))
    local list = assert(read("key;coin;network;address;amount\na;USDT;TRX;T;1,5\nb;USDT;TRX;T;1.5\n", nil))
    assert.same({ true, false }, { list[1].problems.is_unread, list[2].problems.is_unread or false })
  end)
end)
