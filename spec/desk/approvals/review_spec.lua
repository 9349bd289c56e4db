-- SPDX-License-Identifier: MIT
-- The page that the signers of a plan read: six faults in 500 rows stand in the first 24 lines of 80 columns.
-- make test: 2 s, on lua5.4 and luajit

local files = require "files"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local review = require "purser.desk.approvals.review"
local ssh_keys = require "ssh_keys"
local steps_of = require "steps".of

teardown(ssh_keys.remove)

local NOW, DAY = 1795424400000, 86400000

local function address(i) return ("T%04dQwertyAsdfghZxcvbn%04dUio%04d"):format(i * 7 % 10000, i, i * 3 % 10000) end

-- 500 payments as they are made each month, and what the reader knows of earlier ones.
local function month()
  local rows, known = {}, {}
  for i = 1, 500 do
    local amount = ("%d.%02d"):format(50 + i * 13 % 400, i % 89 + 10)
    rows[i] = { key = ("inv-%03d"):format(i), operation = "wallet.withdraw", payee = "Supplier " .. i,
      params = { coin = "USDT", netWork = "TRX", address = address(i), amount = amount } }
    known[i] = { payee = rows[i].payee, operation = "wallet.withdraw", at = NOW - 60 * DAY,
      base_url = "https://s.example",
      params = { coin = "USDT", netWork = "TRX", address = address(i), amount = "7.77" } }
  end
  return rows, known
end

local function text_of(rows)
  return assert(plan_text.write({ account = "treasury", queue = "june", journal = "hY3", base_url = "https://s.example",
    policy = "7 " .. ("9f"):rep(32), maker = "carol", not_after = "2026-11-30" }, rows))
end

local function show(rows, options) return assert(review.show(text_of(rows), options)) end

local function first_lines(text, count)
  local lines = {}
  for line in text:gmatch "[^\n]*\n" do if #lines < count then lines[#lines + 1] = line end end
  return table.concat(lines)
end

describe("the review of a plan", function()
  it("says of a payment that it is made again", function()
    local rows = month()
    rows[3].word = "w1"
    local text = show(rows)
    assert.matches(rows[3].key .. "  is sent AGAIN, by the word w1\n", text, 1, true)
    assert.equal(1, select(2, text:gsub("AGAIN", "")))
  end)

  it("has every fault in the first 24 lines of 80 columns", function()
    local rows, known = month()
    local clean = show(rows, { known = known, now = NOW })
    assert.is_nil(clean:find("ONLY THE ENDS", 1, true))
    rows[77].params.address = address(77):sub(1, 10) .. "XyZxYzXyZ" .. address(77):sub(20) -- only the ends
    rows[123].params.address = "TVeryOtherAddressOfSupplier1230000"
    rows[200].params.memo = "998877"
    rows[250].params.amount = "777" -- a hundred times 7.77 is 777
    rows[301].key = "INV_302"
    rows[400].params.address, rows[400].params.amount = address(401), rows[401].params.amount
    rows[400].payee = "Supplier 401"
    rows[450].params.amount = "999.5"
    local folder = policies.folder({ rules = { { name = "large", effect = "allow", when = { coin = "USDT",
      amount_up_to = "1000" }, approvals = {} } } }, "alice", "bob")
    local text = show(rows, { known = known, now = NOW, policy = folder })
    files.remove(folder)
    local top = first_lines(text, 24)
    for _, fault in ipairs { "inv%-077  ONLY THE ENDS", 'inv%-123  "Supplier 123" was paid at another',
      "inv%-200  another memo",
      "inv%-250  exactly 100 times", "INV_302  its key is almost", "inv%-400  the same amount to the same",
      "inv%-450  just below the limit of 1000" } do
      assert.matches(fault, top)
    end
    for line in text:gmatch "[^\n]*" do assert.is_true(#line <= 80, line) end
  end)

  it("shows every row with its whole address, in groups of four", function()
    local rows, known = month()
    local text = show(rows, { known = known, now = NOW })
    for i = 1, 500 do
      assert.truthy(text:find((address(i):gsub("....", "%0 "):gsub(" $", "")), 1, true))
      assert.truthy(text:find(rows[i].key, 1, true))
    end
    assert.matches("USDT TRX +%d+%.%d+ in 500 rows; the largest is 4", text)
    local page = show(rows, { html = true })
    for i = 1, 500 do assert.truthy(page:find(rows[i].key, 1, true)) end
    assert.is_nil(page:find("<script", 1, true))
    assert.is_nil(page:find("http%-equiv"))
    assert.is_nil(page:find("src="))
  end)

  it("marks what differs between two addresses", function()
    local _, known = month()
    local lines = show({ { key = "a", operation = "wallet.withdraw", payee = "", params = { coin = "USDT",
      netWork = "TRX", amount = "5", address = (address(1):gsub("zxcvbn", "x"):gsub("Zxcvbn", "ZxcVbn")) } } },
      { known = known, now = NOW })
    assert.truthy(lines:find(address(1):gsub("....", "%0 "), 1, true))
    assert.matches("\n +%^", lines)
  end)

  it("knows a payee in whatever spelling, with a memo that is a number, and on a network of whatever name", function()
    local function row(key, params, amount)
      params.coin, params.amount = params.coin or "TON", amount or "5"
      return { key = key, operation = "wallet.withdraw", payee = "", params = params }
    end
    local ton = { bounced = "EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHF",
      plain = "UQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPuwA" }
    local function known(params)
      return { { operation = "wallet.withdraw", at = 0, base_url = "https://s.example", params = params } }
    end
    local text = show({ row("a", { netWork = "TONCOIN", address = ton.plain }),
      row("b", { netWork = "TONCOIN", address = ton.bounced }) }, { known = known { coin = "TON", amount = "1",
        netWork = "TONCOIN", address = ton.bounced }, now = NOW })
    assert.is_nil(text:find("NEW", 1, true))
    assert.is_nil(text:find("never paid", 1, true))
    assert.is_nil(text:find("another memo", 1, true))
    assert.matches("b  the same amount to the same address as a", text, 1, true)
    assert.matches("10 TON in 2 rows to", text, 1, true)
    local xrp = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
    text = show({ row("a", { coin = "XRP", netWork = "XRP", address = xrp, memo = "7" }) }, { known = known {
      coin = "XRP", amount = "1", netWork = "XRP", address = xrp, memo = "007" }, now = NOW })
    assert.is_nil(text:find("another memo", 1, true))
    text = show({ row("a", { netWork = "X", address = "No-Network-Has-This" }) }, { known = known { coin = "TON",
      amount = "1", netWork = "X", address = "no-network-has-this" }, now = NOW })
    assert.matches("NEW", text, 1, true)
    assert.matches("ONLY THE ENDS", text, 1, true)
  end)

  it("shows all that travels, whatever the operation", function()
    local text = show({
      { key = "a", operation = "sub_account.create_api_key", payee = "", params = { subAccount = "desk0001", note = "n",
        permissions = "SPOT_DEAL_WRITE,SPOT_WITHDRAW_WRITE", ip = "203.0.113.7" } },
      { key = "b", operation = "wallet.internal_transfer", payee = "", params = { asset = "USDT", amount = "5",
        toAccountType = "MOBILE", toAccount = "5550100", areaCode = "86" } },
      { key = "c", operation = "wallet.withdraw", payee = "", params = { coin = "USDT", netWork = "TRX", amount = "5",
        address = "Tother", remark = "rent" } } }):gsub("\n +%.%.%.", ""):gsub("%s+", " ")
    for _, part in ipairs { "desk 0001 by sub_account.create_api_key: ip 203.0.113.7, note n, permissions "
      .. "SPOT_DEAL_WRITE,SPOT_WITHDRAW_WRITE ", "5550 100 by wallet.internal_transfer: areaCode 86, toAccountType "
      .. "MOBILE ", "by wallet.withdraw: remark rent " } do
      assert.truthy(text:find(part, 1, true), text)
    end
  end)

  it("believes no word of the maker's, and says what is new to the reader", function()
    local rows = month()
    assert.matches("all are new to you", show(rows))
    assert.matches("nothing proves it", show(rows))
    assert.matches("3 rows go to addresses that you never paid", (function()
      local three, known = { rows[1], rows[2], rows[3] }, {}
      known[1] = { operation = "wallet.withdraw", at = 0, base_url = "https://S.example:443",
        params = { coin = "USDT", netWork = "TRX", address = "Tother", amount = "1" } }
      return show(three, { known = known })
    end)())
    local many = {}
    for i = 1, 20 do
      many[i] = { key = ("k%d%s"):format(math.floor((i + 1) / 2), i % 2 == 0 and "-" or ""), payee = "",
        operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX", address = address(i), amount = "5" } }
    end
    assert.matches("and 12 more like the last", show(many))
  end)

  it("shows no letter that would move others, and no markup", function()
    local evil = "<b>\226\128\174evil\27[2J"
    local rows = {}
    for i = 1, 2 do -- of one destination
      rows[i] = { key = "a" .. i, operation = "wallet.withdraw", payee = evil, params = { coin = "USDT" .. evil,
        netWork = "TRX" .. evil, address = "T<script>alert(1)</script>" .. evil, amount = "5", memo = evil,
        contractAddress = evil, remark = evil } }
    end
    local text = show(rows)
    assert.is_nil(text:find("\27", 1, true))
    assert.is_nil(text:find("\226\128\174", 1, true))
    assert.is_nil(show(rows, { html = true }):find("<script>", 1, true))
    assert.is_nil(show(rows, { html = true }):find("<b>", 1, true))
  end)

  it("counts the rows to new addresses alone, and names a row of half the sum among three", function()
    local function row(i, amount)
      return { key = "k" .. i, payee = "", operation = "wallet.withdraw", params = { coin = "USDT", netWork = "TRX",
        address = address(i), amount = amount } }
    end
    local known = {}
    for i = 1, 2 do
      known[i] = { operation = "wallet.withdraw", at = 0, base_url = "https://s.example", params = row(i, "3").params }
    end
    assert.matches("\n1 row goes to addresses that you never paid\n", show({ row(1, "5"), row(2, "5"), row(3, "5") },
      { known = known, now = NOW }))
    assert.is_nil(show({ row(1, "5"), row(2, "5") }, { known = known, now = NOW }):find("you never paid", 1, true))
    for _, case in ipairs { { "10", "6", "4", true }, { "9.9", "6", "4", false }, { "11", "6", nil, false } } do
      local rows = {}
      for i = 1, 3 do rows[i] = case[i] and row(i, case[i]) end
      assert.equal(case[4], show(rows):find("k1  half the sum or more in one row", 1, true) ~= nil, case[1])
    end
  end)

  it("adds up the rows to one destination, memo and coin, the largest sum first", function()
    local rows = {}
    for i, row in ipairs { { "A", "1" }, { "B", "5", "m" }, { "A", "2.5" }, { "B", "5", "m" }, { "B", "9" },
      { "A", "7", nil, "BTC" } } do
      rows[i] = { key = "k" .. i, operation = "wallet.withdraw", params = { coin = row[4] or "USDT", netWork = "TRX",
        address = "TDestination" .. row[1], memo = row[3], amount = row[2] } }
    end
    assert.matches("DESTINATIONS of several rows\n10 USDT in 2 rows to TDes tina tion B\n3.5 USDT in 2 rows to "
      .. "TDes tina tion A\n", show(rows), 1, true)
  end)

  it("takes no text of the maker's for its own", function()
    local fake = "ACME" .. (" "):rep(70) .. 'to TGoo dAdd ress"'
    local text = show({ { key = "k  1 BTC", operation = "wallet.withdraw", payee = fake, params = { coin = "USDT",
      netWork = "TRX  x", address = "Tother", amount = "5", memo = "7  NEW" } } })
    assert.truthy(text:find([["k 1 BTC"  5 USDT "TRX x"  "ACME to TGoo dAdd ress'"]]
      .. '\n    to Toth er  memo "7 NEW"\n', 1, true), text)
  end)

  it("lets no text of the maker's begin a line as the page's own lines begin", function()
    local shown = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD"
    local line = "    to " .. shown:gsub("....", "%0 ")
    for _, member in ipairs { "payee", "memo", "remark", "contractAddress" } do
      for _, fill in ipairs { " ", "\194\160", "\227\128\128", "." } do
        for pad = 1, 90 do
          local text = "Acme" .. fill:rep(pad) .. " to " .. shown:gsub("....", "%0 ") .. " " .. ("-"):rep(76) .. " ok"
          local row = { key = "inv-1", operation = "wallet.withdraw", payee = member == "payee" and text or "",
            params = { coin = "USDT", netWork = "TRX", amount = "5", address = "Tother" } }
          if member ~= "payee" then row.params[member] = text end
          for _, html in ipairs { false, true } do
            assert.is_nil(("\n" .. show({ row }, { html = html })):find("\n" .. line, 1, true), member .. fill .. pad)
          end
        end
      end
    end
  end)

  it("calls new what was paid at another host alone", function()
    local rows, known = month()
    assert.is_nil(show(rows, { known = known, now = NOW }):find("NEW", 1, true))
    for _, url in ipairs { "http://127.0.0.1:8000", "https://other.example", false } do
      for _, payment in ipairs(known) do payment.base_url = url or nil end
      assert.matches("500 rows go to addresses that you never paid", show(rows, { known = known, now = NOW }))
    end
  end)

  it("looks at each known payment once, and not once for each row to its payee", function()
    local function cost(count)
      local rows, known = {}, {}
      for i = 1, count do
        local params = { coin = "USDT", netWork = "TRX", address = "TPayeeOfAllTheseRows", amount = "1" .. i }
        rows[i] = { key = ("k%04d"):format(i), operation = "wallet.withdraw", params = params }
        known[i] = { operation = "wallet.withdraw", at = NOW, base_url = "https://s.example", params = { coin = "USDT",
          netWork = "TRX", address = "TPayeeOfAllTheseRows", amount = "2" .. i } }
      end
      local text = text_of(rows)
      return (steps_of(function() review.show(text, { known = known, now = NOW }) end))
    end
    assert.is_true(cost(400) < 2.5 * cost(200))
  end)

  it("is of a plan, and of nothing else", function()
    local value, err = review.show "nothing"
    assert.is_nil(value)
    assert.equal("approval.changed", err.code)
    assert.is_nil((review.show(text_of((month())), { colour = true })))
  end)
end)
