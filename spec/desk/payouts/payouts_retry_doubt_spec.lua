-- SPDX-License-Identifier: MIT
-- A payment that failed, at a service whose history shows later that it may have been made.

local json = require "purser.json"
local own = require "own_journal"
local purser = require "purser"

local now, records, sent, has_time

local transport = { sleep = function(_, ms) now = now + ms end }

function transport.send(_, request)
  if request.target:find("/time", 1, true) then
    return { status = 200, headers = "", body = has_time and ('{"serverTime":%d}'):format(now) or "{}" }
  elseif request.method == "GET" then
    local first, last = request.target:match "startTime=(%d+)", request.target:match "endTime=(%d+)"
    local shown = json.list {}
    for _, record in ipairs(records) do
      local is_in = record.applyTime >= tonumber(first or 0) and record.applyTime <= tonumber(last or 1e15)
      shown[#shown + 1] = is_in and record or nil
    end
    return { status = 200, headers = "", body = json.encode(shown) }
  end
  sent = sent + 1
  return { status = 400, headers = "", body = '{"code":10101,"msg":"Insufficient balance"}' }
end

before_each(function() now, records, sent, has_time = 1700000000000, json.list {}, 0, true end)
after_each(own.finish)

local function queue_with_a_payment()
  local journal = own.begin()
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, transport = transport, clock = function() return now end, journal = journal,
    account = "treasury", retry = false })
  local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "one", retry_ms = 1,
    idle_ms = 1 })
  assert(payouts:add("one", "wallet.withdraw", { coin = "USDT", address = "TSample", amount = "5" }))
  return payouts
end

-- A queue with one payment that the service rejected and does not show.
local function queue_with_a_failed_payment()
  local payouts = queue_with_a_payment()
  assert.are.equal(1, assert(payouts:run()).failed)
  return payouts
end

local function record_of(amount, coin)
  return json.list { { id = "w1", coin = coin or "USDT", address = "TSample", amount = amount, status = 7,
    transactionFee = "0", applyTime = now } }
end

describe("retry of a failed payment", function()
  it("finds one done of which a record of equal content is shown, and no other call can own it", function()
    local payouts = queue_with_a_failed_payment()
    records = record_of "5"
    local ok, err = payouts:retry "one"
    assert.is_nil(ok)
    assert.are.same({ "payouts.done", "w1" }, { err.code, err.details.record.id })
    assert.are.equal("done", payouts:find "one".state)
  end)

  it("rejects one of which a record is shown that may be its", function()
    local payouts = queue_with_a_failed_payment()
    records = record_of "6"
    local ok, err = payouts:retry "one"
    assert.is_nil(ok)
    assert.are.same({ "payouts.undecided", "w1" }, { err.code, err.details.candidates[1].id })
    assert.are.equal("failed", payouts:find "one".state)
    assert.is_true(payouts:retry("one", { force = true }))
    assert.are.equal("waiting", payouts:find "one".state)
    assert(payouts:run())
    assert.are.equal(2, sent) -- what may be its record does not keep it from being sent
  end)

  it("finds one done by an attempt that the journal lacks, long after those that it knows", function()
    local payouts = queue_with_a_failed_payment()
    now = now + 5 * 86400000
    records = record_of "5"
    records[1].withdrawOrderId = payouts:find "one".client_id
    now = now + 600000
    assert.are.equal("payouts.done", select(2, payouts:retry "one").code)
  end)

  it("puts back one of which none is shown", function()
    local payouts = queue_with_a_failed_payment()
    records = json.list {}
    assert.is_true(payouts:retry "one")
    assert(payouts:run())
    assert.are.equal(2, sent)
  end)
end)

describe("a service without a time", function()
  it("ends each run with an error, and nothing is sent before the clock is learned", function()
    local payouts = queue_with_a_payment()
    has_time = false
    for _ = 1, 2 do
      local report, err = payouts:run()
      assert.is_nil(report)
      assert.are.equal("server_time", err.operation)
      assert.are.equal(0, sent)
    end
    has_time = true
    assert.are.equal(1, assert(payouts:run()).failed)
    assert.are.equal(1, sent)
  end)
end)
