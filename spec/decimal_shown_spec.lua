-- SPDX-License-Identifier: MIT
-- An amount that an answer shows is one figure in each room, and what is none is quoted.

local conditions = require "purser.desk.monitor.conditions"
local payments_plan = require "purser.desk.payouts.plan"
local decimal = require "purser.decimal"
local purser = require "purser"
local record = require "purser.desk.books.record"
local transfers = require "purser.desk.fleet.transfers"

-- A client whose live account and sub-account show so much USDT.
local function client_that_shows(free)
  local transport = { send = function(_, request)
    local is_balances = request.target:find "account" or request.target:find "asset"
    return { status = 200, headers = "", body = is_balances and ('{"accountType":"SPOT","canTrade":true,'
      .. '"canWithdraw":true,"canDeposit":true,"permissions":["SPOT"],"balances":[{"asset":"USDT","free":%s,'
      .. '"locked":"0"}]}'):format(free)
      or '[{"coin":"USDT","networkList":[{"network":"Tron(TRC20)","netWork":"TRX","withdrawEnable":true,'
      .. '"withdrawMin":"1","withdrawMax":"1E+4","withdrawFee":"1e0","withdrawIntegerMultiple":"1e-6"}]}]' }
  end }
  return assert(purser.new { base_url = "http://localhost", transport = transport, api_key = "k", secret_key = "s",
    profile = "mexc", clock = function() return 1700000000000 end, retry = false, rate_limit = false })
end

-- Each room's reading of a shown balance: whether 99 are there and 101 are not; or its message.
local rooms = {}

function rooms.alerts(free)
  local below = assert(conditions.balances(client_that_shows(free), { USDT = "99" }))[1]
  local above = assert(conditions.balances(client_that_shows(free), { USDT = "101" }))[1]
  return not below.is_bad and above.is_bad, below.state == "unreadable" and below.text
end

function rooms.plans(free)
  local function plan_of(amount)
    return assert(client_that_shows(free).wallet:plan_withdraw { coin = "USDT", network = "TRX", amount = amount,
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" })
  end
  local few, many = plan_of "98", plan_of "100"
  return few.ok and not many.ok, table.concat(few.warnings)
end

function rooms.payouts(free)
  local client = client_that_shows(free)
  local totals = {}
  for i, amount in ipairs { "99", "101" } do
    totals[i] = { source = "", payer = "this account", account_type = "SPOT", asset = "USDT",
      amount = decimal(amount), fees = decimal "0" }
  end
  payments_plan.add_balances(client, totals)
  return totals[1].balance and not totals[1].is_short and totals[2].is_short, totals[1].unread
end

function rooms.fleets(free)
  local client = client_that_shows(free)
  local list, err = transfers.sweep({ client = { sub_account = { balances = function()
    return client:call("live.account").balances
  end } }, group = "sub_account", accounts = { { name = "desk1" } } }, { to = "parent", name = "june", leave = "99" })
  return list and list[1].params.amount == "1", err and err.message
end

function rooms.books(free)
  local rows, shown = {}, { coin = "USDT", status = 5, insertTime = 1700000000000, address = "T1" }
  shown.amount = free:gsub('"', "")
  record.add(rows, "deposit", shown, { account = "Account", owner = "Main", source = "s", asset = tostring })
  return rows[1].class == "done" and rows[1].amount == "100", record.why_unreadable(rows[1], shown)
end

describe("a shown amount", function()
  for name, reads in pairs(rooms) do
    it("is one figure with an exponent and without, in " .. name, function()
      for _, free in ipairs { '"100"', "100", '"1E+2"', "1E+2", '"10000e-2"', '"100.000"' } do
        assert.is_true(reads(free), free)
      end
    end)

    it("that is none is quoted, in " .. name, function()
      for _, free in ipairs { '"1,000"', '"much"', '"1e999"' } do
        local went, message = reads(free)
        assert.falsy(went)
        assert.matches(free .. " is no amount", message, 1, true)
      end
    end)
  end
end)

describe("a withdrawal's fee", function()
  it("that cannot be read makes the record unreadable, and no fee does not", function()
    local function class_of(fee)
      local rows = {}
      record.add(rows, "withdrawal", { id = "1", coin = "USDT", amount = "5", transactionFee = fee, status = 7,
        applyTime = 1700000000000, address = "T1" }, { account = "Account", owner = "Main", source = "s",
        asset = tostring })
      return rows[1].class
    end
    assert.same({ "unreadable", "done", "done", "done" },
      { class_of "1,5", class_of "", class_of(nil), class_of "1e0" })
  end)
end)
