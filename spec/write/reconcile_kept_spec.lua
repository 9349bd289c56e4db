-- SPDX-License-Identifier: MIT
-- A journal that knows more than what was read meanwhile: another process wrote into it between the reading and the
-- writing of what was found.

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local ROW = operations.by_name["wallet.transfer"]

local function intent_of(id, sent_at)
  return { id = id, operation = ROW.full_name, sent_at = sent_at, recv_window = 5000, params = { asset = "USDT",
    amount = "2", fromAccountType = "SPOT", toAccountType = "FUTURES" } }
end

-- Reconciles a lost transfer whose record the service shows. `meanwhile(journal, keep)` is what others write before
-- what was found is written, the first time. Returns the answer, how often that was tried, and the journal's call.
local function reconciled(meanwhile)
  local records = { { tranId = "1", asset = "USDT", amount = "2", fromAccountType = "SPOT", status = "SUCCESS",
    toAccountType = "FUTURES", timestamp = NOW + 100 } }
  local service = listing_service(function(row, asked) return page_of(row, records, "timestamp", asked) end)
  local journal, intent, tries = service.journal, intent_of("lost", NOW), 0
  local inner = journal.reconciled
  assert(journal:begin(intent, ROW))
  function journal.reconciled(...)
    tries = tries + 1
    if tries == 1 then meanwhile(journal, inner) end
    return inner(...)
  end
  return assert(reconcile.reconcile(service, intent)), tries, journal:call_of(intent)
end

describe("What was found of a lost call", function()
  it("is kept, and is the answer", function()
    local answer, tries, call = reconciled(function() end)
    assert.same({ "done", 1, "done" }, { answer.outcome, tries, call.state })
  end)

  it("is no answer where the record has another owner by then: the service is asked again", function()
    local answer, tries, call = reconciled(function(journal)
      local rival = intent_of("rival", NOW + 50)
      assert(journal:begin(rival, ROW))
      assert(journal:finish(rival, { tranId = "1" }))
    end)
    assert.are_not.equal("done", answer.outcome)
    assert.are_not.equal("done", call.state)
    assert.is_true(tries > 1)
  end)

  it("is not done where that was found before, and an equal call was sent since", function()
    local answer, tries, call = reconciled(function(journal, keep)
      local first = intent_of("lost", NOW)
      assert(keep(journal, first, { outcome = "not_done" }))
      assert(journal:begin(intent_of("again", NOW + 60000), ROW))
    end)
    local reason = "it was found before that it was not executed, and an equal call was sent"
    assert.same({ "not_done", reason, 1, "not_done" }, { answer.outcome, answer.reason, tries, call.state })
  end)

  it("by hand is kept as the call whose key the intent carries", function()
    local row = operations.by_name["wallet.withdraw"]
    local params = { coin = "USDT", netWork = "TRX", address = "T", amount = "2", withdrawOrderId = "invoice1" }
    local service = listing_service(function()
      return { { id = "w1", coin = "USDT", address = "T", amount = "2", withdrawOrderId = "invoice1", status = 7,
        applyTime = NOW + 100 } }
    end)
    local call = { id = "one", operation = row.full_name, sent_at = NOW, recv_window = 5000, params = params }
    assert(service.journal:begin(call, row, nil, require("purser.write.intent").own_key(row, params)))
    local by_hand = { operation = row.full_name, sent_at = NOW + 5, params = params }
    local answer = assert(reconcile.reconcile(service, by_hand))
    assert.same({ "done", "done", "w1" }, { answer.outcome, service.journal:call_of(call).state,
      service.journal:call_of(call).record_id })
  end)
end)
