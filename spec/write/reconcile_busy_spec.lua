-- SPDX-License-Identifier: MIT
-- Reconciling on an account that is so busy that its histories grow with each request.
-- make test: 2 s, on lua5.4 and luajit

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local HOUR = 3600000
local ID = ("Ab3"):rep(10) .. "Zz"

local calls = {
  { "sub_account.transfer", { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "2" } },
  { "broker.transfer", { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "2" } },
  { "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" } },
  { "wallet.internal_transfer", { toAccountType = "UID", toAccount = "12345678", asset = "USDT", amount = "2" } },
  { "wallet.withdraw", { coin = "USDT", address = "TSample", amount = "2", withdrawOrderId = ID } },
}

-- A service whose histories, newest first, hold `count` records of other amounts and `made`, and get `growth` more at
-- each request.
local function busy_service(time, count, growth, made)
  local number, records = 0, {}
  local function add(at)
    number = number + 1
    local id = ("%032d"):format(number)
    table.insert(records, 1, { id = id, tranId = id, clientTranId = "other" .. id, withdrawOrderId = "other" .. id,
      amount = "7." .. number, asset = "USDT", coin = "USDT", address = "TSample", [time] = at })
  end
  local first = NOW - 3 * HOUR
  for i = 1, count do
    local at = first + math.floor(i * (3 * HOUR + 50000) / count)
    if made and at > made[time] then
      table.insert(records, 1, made)
      made = nil
    end
    add(at)
  end
  if made then table.insert(records, 1, made) end
  local service
  service = listing_service(function(row, asked)
    service:pause(50)
    for _ = 1, growth do add(service.now()) end
    return page_of(row, records, time, asked)
  end)
  return service, records
end

for _, call in ipairs(calls) do
  local operation, params = call[1], call[2]
  describe(operation .. " on a busy account", function()
    local time = operation == "wallet.withdraw" and "applyTime" or "timestamp"

    local function reconciled(count, growth, made, has_later)
      local service, records = busy_service(time, count, growth, made)
      -- one of the records is that of an answered call: it proves how this service shows what is sent; another was made
      -- later
      local last = has_later and math.huge or NOW - 70000
      for i, witness in ipairs(records) do
        local is_witness = witness[time] < NOW - 70000 or witness[time] > NOW + 20000
        if is_witness and witness[time] < last and witness ~= made then
          local sent = { [operations.by_name[operation].reconcile.client_id or "x"] = witness.clientTranId,
            fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", coin = "USDT", amount = witness.amount,
            address = params.address, toAccount = params.toAccount }
          own_calls.note(service.journal, operations.by_name[operation], { operation = operation, params = sent,
            sent_at = witness[time] - 100, recv_window = 5000, id = "w" .. i }, witness.tranId)
          if last < NOW then break end
          last = NOW - 70000
        end
      end
      local answer = assert(reconcile.reconcile(service, { operation = operation, params = params, sent_at = NOW,
        recv_window = 5000 }))
      return answer, service
    end

    it("is not done, when no record of the window is its own", function()
      for _, count in ipairs { 30, 499, 700, 1500 } do
        for _, growth in ipairs { 1, 4 } do
          for _, has_later in ipairs { true, false } do
            local answer, service = reconciled(count, growth, nil, has_later)
            -- one known amount of another does not do, before a later call to a user was answered
            local waits = operation == "wallet.internal_transfer" and not has_later and count > 30 and "next" or nil
            assert.equal(waits and "undecided" or "not_done", answer.outcome, tostring(answer.reason))
            assert.equal(waits, answer.why)
            assert.is_true(service.reads < 100)
          end
        end
      end
    end)

    it("is done, when one is", function()
      for _, count in ipairs { 30, 1500 } do
        local made = { id = "a1", tranId = "a1", [time] = NOW + 400 }
        for name, value in pairs(params) do made[name] = value end
        local answer = reconciled(count, 4, made)
        assert.equal("done", answer.outcome)
        assert.equal("a1", answer.record.id)
      end
    end)
  end)
end

describe("a look before a record must be visible", function()
  -- When the service was asked, in ms after the call was sent.
  local function asked_at(call)
    local service, times = nil, {}
    service = listing_service(function(row, asked)
      times[#times + 1] = service.now() - NOW
      return page_of(row, {}, "timestamp", asked)
    end, { now = NOW })
    local answer = assert(reconcile.reconcile(service, { operation = call[1], params = call[2], sent_at = NOW,
      recv_window = 5000 }))
    assert.equal("not_done", answer.outcome)
    return times
  end

  it("is not made where only the content identifies the call, since an equal record may still come", function()
    assert.same({ 9000 }, { asked_at(calls[3])[1] })
  end)

  it("waits twice as long as the one before it", function()
    local seen, times = {}, {}
    for _, at in ipairs(asked_at(calls[1])) do
      if not seen[at] then times[#times + 1], seen[at] = at, true end
    end
    assert.same({ 0, 1000, 3000, 7000, 9000 }, times)
  end)
end)
