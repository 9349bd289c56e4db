-- SPDX-License-Identifier: MIT
-- Conversions whose answers were lost: neither batches nor answers have an id, so only coins and times tell one from
-- another.

local errors = require "purser.client.call.errors"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local NOW, HOUR = 1700000000000, 3600000

-- Reconciles a conversion of NOW a minute later, where the service answers reads with `answer(row, asked)`.
local function reconciled(answer, fields, params)
  return assert(reconcile.reconcile(listing_service(answer, fields), { operation = "wallet.convert",
    params = params or { asset = "BTC,ETH" }, sent_at = NOW, recv_window = 5000 }))
end

describe("a batch of converted coins", function()
  local row = operations.by_name["wallet.convert"]

  local function with(known, batches, params)
    return reconciled(function(of)
      if of.name == "convertible_balances" then return { { asset = "BTC", balance = "1" } } end
      return { data = batches, totalRecords = #batches, totalPageNum = 1, page = 1 }
    end, { journal = known }, params)
  end

  local function batch(...)
    local details = {}
    for i, coin in ipairs { ... } do details[i] = { asset = coin } end
    return { totalConvert = "1", convertTime = NOW, convertDetails = details }
  end

  it("is the call's when nothing else of this client could have made it", function()
    assert.equal("done", with(nil, { batch "BTC" }).outcome)
    assert.equal("done", with(nil, { batch "BTC" }, { asset = "btc" }).outcome)
    assert.equal("not_done", with(nil, {}).outcome)
    assert.equal("not_done", with(nil, { batch("BTC", "DOGE") }).outcome)
    assert.equal("undecided", with(nil, { batch() }).outcome)
  end)

  it("is not taken to be the call's where an earlier call for these coins has no id either", function()
    for _, coins in ipairs { "BTC,ETH", "BTC", "ETH,BTC", "btc" } do
      local known = own_calls.new()
      own_calls.note(known, row, { operation = row.full_name, params = { asset = coins }, sent_at = NOW - 2000 })
      assert.equal("undecided", with(known, { batch "BTC" }).outcome)
    end
    for coins, at in pairs { ETH = NOW - 2000, ["BTC,ETH"] = NOW - 60000 } do
      local known = own_calls.new()
      own_calls.note(known, row, { operation = row.full_name, params = { asset = coins }, sent_at = at })
      assert.equal("done", with(known, { batch "BTC" }).outcome)
    end
    local rejected = own_calls.new()
    own_calls.note(rejected, row, { operation = row.full_name, params = { asset = "BTC,ETH" }, sent_at = NOW }, nil,
      true)
    assert.equal("done", with(rejected, { batch "BTC" }).outcome)
  end)

  it("is one of two, none of which is certainly the call's", function()
    local answer = with(nil, { batch "BTC", batch "ETH" })
    assert.equal("undecided", answer.outcome)
    assert.equal(2, #answer.candidates)
    assert.matches("^similar: ", answer.reason)
  end)

  it("is another call's where it holds a coin that was not asked for, in whatever case", function()
    assert.equal("done", with(nil, { batch("btc", "eth") }).outcome)
    assert.equal("done", with(nil, { batch("BTC", "") }).outcome) -- a coin that is not shown may be any
    assert.equal("not_done", with(nil, { batch("BTC", "ETH", "DOGE") }).outcome)
  end)

  it("leaves the call undecided where it is shown some hours from it", function()
    local far = batch "BTC"
    far.convertTime = NOW + 8 * HOUR
    local answer = with(nil, { far })
    assert.equal("undecided", answer.outcome)
    assert.same({ far }, answer.candidates)
    assert.matches("^times: ", answer.reason)
    far.convertTime = NOW + 8 * HOUR + 400000
    assert.equal("not_done", with(nil, { far }).outcome)
  end)

  it("is not the call's for certain where this client has forgotten what it made then", function()
    local known = own_calls.new()
    known.forgotten = NOW
    assert.equal("undecided", with(known, { batch "BTC" }).outcome)
  end)

  it("proves nothing where the list does not turn its pages", function()
    local batches = {}
    for i = 1, 10 do batches[i] = batch("DOGE", "COIN" .. i) end
    local function stands_still() return { data = batches, totalRecords = 1000 } end
    local answer = reconciled(function(of)
      return of.name == "convertible_balances" and { { asset = "BTC" } } or stands_still()
    end)
    assert.equal("undecided", answer.outcome)
    assert.equal(0, #answer.candidates)
  end)

  it("that is not shown yet is waited for", function()
    local service
    service = listing_service(function(of)
      if of.name == "convertible_balances" then return { { asset = "BTC" } } end
      local is_visible = service.now() >= NOW + 9000
      return { data = is_visible and { batch "BTC" } or {}, totalRecords = is_visible and 1 or 0 }
    end, { now = NOW + 10 })
    local answer = assert(reconcile.reconcile(service, { operation = "wallet.convert", params = { asset = "BTC" },
      sent_at = NOW, recv_window = 5000 }))
    assert.equal("done", answer.outcome)
  end)
end)

describe("a conversion that no batch shows", function()
  local function with_coins(coins)
    return reconciled(function(of)
      return of.name == "convertible_balances" and coins or { data = {}, totalRecords = 0 }
    end)
  end

  it("was not done where one of its coins can still be converted", function()
    assert.equal("not_done", with_coins { { asset = "BTC" } }.outcome)
    assert.equal("not_done", with_coins { { asset = "DOGE" }, { asset = "eth" } }.outcome)
  end)

  it("is looked for again where one answer shows no coins, and once more, as all that is absent", function()
    local asked = 0
    local answer = reconciled(function(of)
      if of.name ~= "convertible_balances" then return { data = {}, totalRecords = 0 } end
      asked = asked + 1
      if asked == 1 then return nil, errors.new { kind = "decode", outcome = "unknown", message = "no list" } end
      return { { asset = "BTC" } }
    end)
    assert.same({ "not_done", 3 }, { answer.outcome, asked })
  end)

  it("is undecided where none can be any more: it may have been done", function()
    for _, coins in ipairs { {}, { { asset = "DOGE" } }, { { asset = "BTC", code = "30000" } } } do
      local answer = with_coins(coins)
      assert.equal("undecided", answer.outcome)
      assert.matches("^state: ", answer.reason)
    end
  end)

  it("is an error where the journal cannot be read", function()
    for _, unread in ipairs { "open_calls", "made_calls" } do
      local journal = { owners = function() return {} end, open_calls = function() return {} end,
        made_calls = function() return {} end, delay = function() return 0 end,
        call_of = function() end, begin = function() return true end }
      journal[unread] = function() return nil, "disk I/O error" end
      local service = listing_service(function(of)
        local batch = { convertTime = NOW, convertDetails = { { asset = "BTC" } } }
        return of.name == "convertible_balances" and {} or { data = { batch }, totalRecords = 1 }
      end, { journal = journal })
      local answer, err = reconcile.reconcile(service, { operation = "wallet.convert", params = { asset = "BTC" },
        sent_at = NOW, id = "i" })
      assert.is_nil(answer)
      assert.same({ "journal", "unknown" }, { err.phase, err.outcome })
    end
  end)

  it("is an error where the coins or the batches cannot be read", function()
    for _, unread in ipairs { "convertible_balances", "conversion_history" } do
      local failure = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
      local service = listing_service(function(of)
        if of.name == unread then return nil, failure end
        return of.name == "convertible_balances" and {} or { data = {}, totalRecords = 0 }
      end)
      local answer, err = reconcile.reconcile(service, { operation = "wallet.convert", params = { asset = "BTC" },
        sent_at = NOW })
      assert.same({ nil, failure }, { answer, err })
    end
  end)
end)
