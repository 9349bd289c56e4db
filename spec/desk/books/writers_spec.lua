-- SPDX-License-Identifier: MIT
-- Statements as files: exact amounts, names that other programs take, no stranger's text where it would do harm.

local books_statement = require "books_statement"
local core = require "purser.core"
local csv = require "purser.client.util.csv"
local days = require "purser.desk.books.days"
local writers = require "purser.desk.books.writers"
local zones = require "purser.client.util.zone"

local function statement(asset, text)
  local amount = "0.100000000000000001"
  local legs = { { "Assets:A:Main:Spot", asset, amount }, { "Equity:A:Outside", asset, "-" .. amount } }
  local entry = { time = "1700000000000", rid = ("ab"):rep(32), text = "deposit", legs = legs, fact = {},
    row = { rid = ("ab"):rep(32), sid = text, tx = text, entity = "deposit", state = "5", address = text, memo = "" } }
  return { account = "A", from = "1699920000000", to = "1700092800000", rev = "000000000007", entries = { entry },
    closing = { legs[1] }, all = legs, open = {}, unexplained = {}, gaps = { { owner = "Main", list = "deposit",
      starts = "1699920000000", ends = "", why = text } }, unread = {}, negative = {}, assumed = 0, checks = {},
    days = days.of(zones.open "UTC") }
end

-- Returns a statement as a text of a format.
local function text_of(format, made)
  local parts = {}
  writers[format](made, function(text) parts[#parts + 1] = text end)
  return table.concat(parts)
end

-- The texts of that statement by format, without the remarks of a head; a line that begins with four blanks goes on. An
-- id of 64 equal digits is ID and the digit.
local REMARKS = [[
statement of A from 2023-11-14 to 2023-11-16 (not included), revision 7
not read: Main, deposit, from 2023-11-14 to now: it is down
not read: Sub-a, key, from 2023-11-14 to 2023-11-15: no key
not reconciled: no balance shows Assets:A:Main:Futures
not explained: -3 of USDT by 2023-11-14
open: 4444444444444444 of 2023-11-14, 5 MX: not final: deposit in state WAIT
negative: Assets:A:Main:Spot holds -2.75 USDT after ~Assets:A:Main:S
assumed: where the fee of 2 withdrawals stands]]

local WRITTEN = {
  hledger = [[
tag id
tag service-id
tag client-id
tag tx
tag pair
tag fee
tag corrects
tag since
account Assets:A:Main:Leaving
account Assets:A:Main:Spot
account Assets:A:Transit
account Equity:A:Outside
account Equity:A:Unexplained:Main
account Expenses:A:Fees:Withdrawal
commodity "1INCH"
  format 1.0 "1INCH"
commodity "USDT"
  format 1.00 "USDT"

2023-11-14 ! withdrawal asked
  ; id: 1111111111111111
  ; service-id: s1
  ; client-id: c1
  ; tx: 0xab
  Assets:A:Main:Leaving  21 "1INCH"
  Assets:A:Main:Spot  -21 "1INCH"

2023-11-14 * withdrawal sent
  ; id: 1111111111111111
  ; service-id: s1
  ; client-id: c1
  ; tx: 0xab
  ; pair: 2222222222222222
  ; fee: assumed
  Assets:A:Main:Leaving  -21 "1INCH"
  Assets:A:Transit  20 "1INCH"
  Expenses:A:Fees:Withdrawal  1 "1INCH"

2023-11-14 * correction
  ; id: 3333333333333333
  ; corrects: 2023-10
  Assets:A:Main:Spot  0.25 "USDT"
  Equity:A:Outside  -0.25 "USDT"

2023-11-14 * not explained by any record
  ; since: 2023-11-13
  Assets:A:Main:Spot  -3 "USDT"
  Equity:A:Unexplained:Main  3 "USDT"

2023-11-15 * closing balances
  Assets:A:Main:Spot  0 "1INCH" = 0 "1INCH"
  Assets:A:Main:Spot  0 "USDT" = -2.75 "USDT"
]],
  beancount = [[
option "inferred_tolerance_multiplier" "0"
2023-11-14 open Assets:A:Main:Leaving
2023-11-14 open Assets:A:Main:Spot
2023-11-14 open Assets:A:Transit
2023-11-14 open Equity:A:Outside
2023-11-14 open Equity:A:Unexplained:Main
2023-11-14 open Expenses:A:Fees:Withdrawal
2023-11-14 commodity X-1INCH-12BF
  name: "1INCH"
2023-11-14 commodity USDT
  name: "USDT"

2023-11-14 ! "withdrawal asked"
  id: "1111111111111111"
  service-id: "s1"
  client-id: "c1"
  tx: "0xab"
  Assets:A:Main:Leaving  21 X-1INCH-12BF
  Assets:A:Main:Spot  -21 X-1INCH-12BF

2023-11-14 * "withdrawal sent"
  id: "1111111111111111"
  service-id: "s1"
  client-id: "c1"
  tx: "0xab"
  pair: "2222222222222222"
  fee: "assumed"
  Assets:A:Main:Leaving  -21 X-1INCH-12BF
  Assets:A:Transit  20 X-1INCH-12BF
  Expenses:A:Fees:Withdrawal  1 X-1INCH-12BF

2023-11-14 * "correction"
  id: "3333333333333333"
  corrects: "2023-10"
  Assets:A:Main:Spot  0.25 USDT
  Equity:A:Outside  -0.25 USDT

2023-11-14 * "not explained by any record"
  since: "2023-11-13"
  Assets:A:Main:Spot  -3 USDT
  Equity:A:Unexplained:Main  3 USDT

2023-11-16 balance Assets:A:Main:Spot  0 ~ 0 X-1INCH-12BF
2023-11-16 balance Assets:A:Main:Spot  -2.75 ~ 0 USDT
]],
  csv = [[
date,time,id,kind,text,state,account,asset,amount,service_id,tx,address,memo,fee
2023-11-14,1700000000000,ID1,withdrawal,withdrawal asked,7,Assets:A:Main:Leaving,1INCH,21,s1,0xab,T1,7,assumed
2023-11-14,1700000000000,ID1,withdrawal,withdrawal asked,7,Assets:A:Main:Spot,1INCH,-21,s1,0xab,T1,7,assumed
2023-11-14,1700000001000,ID1,withdrawal,withdrawal sent,7,Assets:A:Main:Leaving,1INCH,-21,s1,0xab,T1,7,assumed
2023-11-14,1700000001000,ID1,withdrawal,withdrawal sent,7,Assets:A:Transit,1INCH,20,s1,0xab,T1,7,assumed
2023-11-14,1700000001000,ID1,withdrawal,withdrawal sent,7,Expenses:A:Fees:Withdrawal,1INCH,1,s1,0xab,T1,7,
    assumed
2023-11-14,1700000002000,ID3,deposit,correction,5,Assets:A:Main:Spot,USDT,0.25,,,,,
2023-11-14,1700000002000,ID3,deposit,correction,5,Equity:A:Outside,USDT,-0.25,,,,,
2023-11-14,1700000003000,~Assets:A:Main:Spot USDT,line,not explained by any record,,Assets:A:Main:Spot,USDT,-3,,
    ,,,
2023-11-14,1700000003000,~Assets:A:Main:Spot USDT,line,not explained by any record,,Equity:A:Unexplained:Main,
    USDT,3,,,,,
]],
  jsonl = [[
{"account":"A","from":"2023-11-14","to":"2023-11-16","rev":"000000000007","remarks":[REMARKS]}
{"date":"2023-11-14","time":"1700000000000","rid":"ID1","text":"withdrawal asked","pending":true,
    "id":"1111111111111111","service-id":"s1","client-id":"c1","tx":"0xab",
    "postings":[{"account":"Assets:A:Main:Leaving","asset":"1INCH","amount":"21"},{"account":"Assets:A:Main:Spot",
    "asset":"1INCH","amount":"-21"}]}
{"date":"2023-11-14","time":"1700000001000","rid":"ID1","text":"withdrawal sent","pending":false,
    "id":"1111111111111111","service-id":"s1","client-id":"c1","tx":"0xab","pair":"2222222222222222",
    "fee":"assumed","postings":[{"account":"Assets:A:Main:Leaving","asset":"1INCH","amount":"-21"},
    {"account":"Assets:A:Transit","asset":"1INCH","amount":"20"},{"account":"Expenses:A:Fees:Withdrawal",
    "asset":"1INCH","amount":"1"}]}
{"date":"2023-11-14","time":"1700000002000","rid":"ID3","text":"correction","pending":false,
    "id":"3333333333333333","corrects":"2023-10","postings":[{"account":"Assets:A:Main:Spot","asset":"USDT",
    "amount":"0.25"},{"account":"Equity:A:Outside","asset":"USDT","amount":"-0.25"}]}
{"date":"2023-11-14","time":"1700000003000","rid":"~Assets:A:Main:Spot USDT",
    "text":"not explained by any record","pending":false,"since":"2023-11-13",
    "postings":[{"account":"Assets:A:Main:Spot","asset":"USDT","amount":"-3"},
    {"account":"Equity:A:Unexplained:Main","asset":"USDT","amount":"3"}]}
{"closing":[{"account":"Assets:A:Main:Spot","asset":"1INCH","amount":"0"},{"account":"Assets:A:Main:Spot",
    "asset":"USDT","amount":"-2.75"}]}
]],
  rotki = [[
Type,Location,Currency,Amount,Fee,Fee Currency,Description,Timestamp
Withdrawal,external,1INCH,20,1,1INCH,"withdrawal sent; id 1111111111111111; service-id s1; client-id c1;
     tx 0xab; pair 2222222222222222; fee assumed",1700000001000
Deposit,external,USDT,0.25,,,"correction; id 3333333333333333; corrects 2023-10",1700000002000
Withdrawal,external,USDT,3,,,"not explained by any record; since 2023-11-13",1700000003000
]],
}

describe("The writers of statements", function()
  it("write of a statement with an entry of each form just this", function()
    for format, expected in pairs(WRITTEN) do
      local head = REMARKS
      if format == "jsonl" then
        head = ""
        expected = expected:gsub("REMARKS", (('"' .. REMARKS .. '"'):gsub("\n", '","')))
      elseif format == "csv" or format == "rotki" then head = "" else
        head = ("; " .. head .. "\n"):gsub("\n(.)", "\n; %1")
      end
      local text = text_of(format, books_statement.rich())
      for digit = 1, 4 do text = text:gsub((tostring(digit)):rep(64), "ID" .. digit) end
      assert.equal(head .. expected:gsub("\n    ", ""), text)
    end
  end)

  it("quote every commodity of a journal, with the most places that it has", function()
    local text = text_of("hledger", statement("1INCH", "x"))
    assert.truthy(text:find('commodity "1INCH"\n  format 1.000000000000000000 "1INCH"', 1, true))
    assert.truthy(text:find('  Assets:A:Main:Spot  0.100000000000000001 "1INCH"', 1, true))
    assert.truthy(text:find('\n2023-11-15 * closing balances\n  Assets:A:Main:Spot  0 "1INCH" = 0.1', 1, true))
  end)

  it("give beancount a name that it takes, another for each", function()
    local seen = {}
    for _, asset in ipairs { "1INCH", "stETH", "STETH", "TRUE", "W", "a", "MX" } do
      local name = text_of("beancount", statement(asset, "x")):match "commodity (%S+)"
      assert.truthy(name:find "^[A-Z][A-Z0-9'._-]*[A-Z0-9]$", name)
      assert.is_nil(seen[name])
      seen[name] = true
    end
    assert.is_true(seen.MX and seen.STETH)
    local names = {}
    for _, asset in ipairs { "A;B", "A:B", "A B", "A\nB" } do
      local name = text_of("hledger", statement(asset, "x")):match "commodity (%b\"\")"
      assert.is_nil(names[name], name)
      names[name] = true
    end
  end)

  it("let no text of a stranger begin a line, a tag or a formula", function()
    local evil = 'x"\n2023-11-14 * gift\n  Assets:A:Main:Spot  1000 "USDT"\n;<script>'
    for _, format in ipairs { "hledger", "beancount" } do
      for line in text_of(format, statement("USDT", evil)):gmatch "[^\n]+" do
        assert.falsy(line:find "^%d+%-%d+%-%d+ %* gift", line)
        assert.falsy(line:find("^  Assets:A:Main:Spot  1000"), line)
      end
    end
    local page = text_of("html", statement("<b>", evil))
    assert.falsy(page:find("<script", 1, true))
    assert.falsy(page:find("<b>", 1, true))
    assert.truthy(page:find("&lt;b&gt;", 1, true))
    local cells = assert(csv.parse(text_of("csv", statement("USDT", "=1+1"))))
    assert.equal("'=1+1", cells[2][10])
  end)

  it("write lines of JSON that say the same", function()
    local lines = {}
    for line in text_of("jsonl", statement("USDT", "x")):gmatch "[^\n]+" do lines[#lines + 1] = core.decode(line) end
    assert.equal(3, #lines)
    assert.equal("0.100000000000000001", lines[2].postings[1].amount)
    assert.equal("-0.100000000000000001", lines[2].postings[2].amount)
    assert.equal("0.100000000000000001", lines[3].closing[1].amount)
    assert.truthy(lines[1].remarks[2]:find("not read: Main, deposit", 1, true))
  end)

  -- The columns and the types of events that rotki documents for its generic import, transcribed.
  local EVENT = "Type,Location,Currency,Amount,Fee,Fee Currency,Description,Timestamp"
  local TYPES = { Deposit = true, Withdrawal = true, Income = true, Loss = true, Spend = true, Staking = true }

  local function events_of(...)
    local made = statement("USDT", "x")
    made.entries = {}
    for i, entry in ipairs { ... } do
      made.entries[i] = { time = "1700000000000", rid = entry.rid or "r1", text = entry.text or "event", fact = {},
        legs = entry }
    end
    local text = text_of("rotki", made)
    assert.equal(EVENT, text:match "^[^\n]+")
    local rows, list = assert(csv.parse(text)), {}
    for i = 2, #rows do
      local row = rows[i]
      assert.equal(8, #row)
      assert.is_true(TYPES[row[1]])
      assert.same({ "external", "1700000000000" }, { row[2], row[8] })
      assert.equal(row[5] == "" and "" or row[3], row[6])
      list[i - 1] = ("%s %s %s fee %s: %s"):format(row[1], row[4], row[3], row[5], row[7])
    end
    return list
  end

  it("write for rotki what comes and goes, as its documented columns want it", function()
    local SPOT, LEAVING, FEES = "Assets:A:Main:Spot", "Assets:A:Main:Leaving", "Expenses:A:Fees:Withdrawal"
    local OUTSIDE, CONVERSION = "Equity:A:Outside", "Equity:A:Conversion"
    assert.same({ "Deposit 5 USDT fee : deposit", "Withdrawal 20 USDT fee 1: withdrawal sent",
      "Withdrawal 0.0000001 USDT fee : event", "Deposit 7 USDT fee : event", "Income 7 USDT fee : event" }, events_of(
      { { SPOT, "USDT", "5" }, { OUTSIDE, "USDT", "-5" }, text = "deposit" },
      { { LEAVING, "USDT", "-21" }, { OUTSIDE, "USDT", "20" }, { FEES, "USDT", "1" }, text = "withdrawal sent" },
      { { SPOT, "USDT", "-0.0000001" }, { "Assets:A:Transit", "USDT", "0.0000001" } },
      { { SPOT, "USDT", "7" }, { "Equity:A:Unexplained:Main", "USDT", "-7" } },
      { { "Assets:A:Rebates", "USDT", "7" }, { "Income:A:Rebates", "USDT", "-7" } }))
    assert.same({ "Spend 0.3 1INCH fee : conversion", "Income 0.5 MX fee 0.01: conversion" }, events_of(
      { { SPOT, "1INCH", "-0.3" }, { CONVERSION, "1INCH", "0.3" }, { CONVERSION, "MX", "-0.5" },
        { "Expenses:A:Fees:Conversion", "MX", "0.01" }, { SPOT, "MX", "0.49" }, text = "conversion" }))
  end)

  it("write no event for what moves between owners or is brought forward, and none of a zero", function()
    local SPOT, FEES = "Assets:A:Main:Spot", "Expenses:A:Fees:Withdrawal"
    assert.same({ "Withdrawal 1 USDT fee : event", "Deposit 21 USDT fee : event" }, events_of(
      { { SPOT, "USDT", "-9" }, { "Assets:A:Sub-desk1:Futures", "USDT", "9" } },
      { { SPOT, "USDT", "9" }, { "Equity:A:Opening", "USDT", "-9" }, rid = "" },
      { { SPOT, "USDT", "-1" }, { FEES, "USDT", "1" } },
      { { SPOT, "USDT", "21" }, { "Equity:A:Outside", "USDT", "-20" }, { FEES, "USDT", "-1" } }))
    local made = statement("USDT", "=1+1")
    assert.equal("deposit; id abababababababab; service-id =1+1; tx =1+1",
      assert(csv.parse(text_of("rotki", made)))[2][7])
  end)
end)
