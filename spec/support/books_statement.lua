-- SPDX-License-Identifier: MIT
-- A statement as data, made by hand: what the writers of statements are tried with.

local days = require "purser.desk.books.days"
local zones = require "purser.client.util.zone"

local M = {}

--- Returns a statement with an entry of each form, and with each remark.
function M.rich()
  local SPOT, OUTSIDE = "Assets:A:Main:Spot", "Equity:A:Outside"
  local made = { account = "A", from = "1699920000000", to = "1700092800000", rev = "000000000007",
    days = days.of(zones.open "UTC") }
  local withdrawal = { sid = "s1", client_id = "c1", tx = "0xab", address = "T1", memo = "7", entity = "withdrawal",
    state = "7" }
  made.entries = {
    { time = "1700000000000", rid = ("1"):rep(64), text = "withdrawal asked", is_pending = true, row = withdrawal,
      legs = { { "Assets:A:Main:Leaving", "1INCH", "21" }, { SPOT, "1INCH", "-21" } }, fact = { is_assumed = true } },
    { time = "1700000001000", rid = ("1"):rep(64), text = "withdrawal sent", row = withdrawal,
      legs = { { "Assets:A:Main:Leaving", "1INCH", "-21" }, { "Assets:A:Transit", "1INCH", "20" },
        { "Expenses:A:Fees:Withdrawal", "1INCH", "1" } }, fact = { is_assumed = true, pair = ("2"):rep(64) } },
    { time = "1700000002000", rid = ("3"):rep(64), text = "correction", corrects = "2023-10", fact = {},
      row = { sid = "", tx = "", client_id = "", address = "", memo = "", entity = "deposit", state = "5" },
      legs = { { SPOT, "USDT", "0.25" }, { OUTSIDE, "USDT", "-0.25" } } },
    { time = "1700000003000", rid = "~" .. SPOT .. " USDT", text = "not explained by any record",
      since = "1699900000000", legs = { { SPOT, "USDT", "-3" }, { "Equity:A:Unexplained:Main", "USDT", "3" } } },
  }
  made.closing = { { SPOT, "1INCH", "0" }, { SPOT, "USDT", "-2.75" } }
  made.all = { made.closing[1], made.closing[2], { "Assets:A:Transit", "1INCH", "20" },
    { "Equity:A:Opening", "1INCH", "-21" }, { "Equity:A:Outside", "USDT", "-0.25" },
    { "Equity:A:Unexplained:Main", "USDT", "3" }, { "Expenses:A:Fees:Withdrawal", "1INCH", "1" } }
  made.gaps = { { owner = "Main", list = "deposit", starts = "1699920000000", ends = "", why = "it is down" },
    { owner = "Sub-a", list = "key", starts = "1699920000000", ends = "1700006400000", why = "no key" } }
  made.unread = { "Assets:A:Main:Futures" }
  made.unexplained = { { amount = "-3", asset = "USDT", time = "1700000003000" } }
  made.open = { { rid = ("4"):rep(64), time = "1700000000000", why = "not final: deposit in state WAIT",
    row = { amount = "5", asset = "MX" } } }
  made.negative = { { account = SPOT, amount = "-2.75", asset = "USDT", entry = made.entries[4] } }
  made.assumed = 2
  made.checks = { [SPOT .. "\30USDT"] = "1700000003000" }
  return made
end

return M
