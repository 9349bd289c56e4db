-- SPDX-License-Identifier: MIT
-- A call that was made may own any record that agrees with it, while its own is not shown.

local copy_of = require "copy_of"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000

local moved = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

-- A service whose answer at each read shows what `shown(reads)` returns.
local function showing(shown)
  local service
  service = listing_service(function(row, asked)
    if row.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk0001" } } or {} end
    if row.name == "convertible_balances" then return { { asset = "BTC" } } end
    if row.name == "conversion_history" then
      return { data = shown(service.reads), totalRecords = 1, totalPageNum = 1, page = 1 }
    end
    return page_of(row, shown(service.reads), row.paging.time_member, asked)
  end)
  return service
end

local function lost(operation, params, id, at)
  return { operation = operation, params = params, sent_at = at, recv_window = 5000, id = id }
end

describe("a record that was found to be another call's", function()
  local row = operations.by_name["wallet.transfer"]
  local record = copy_of(moved, { tranId = "r1", timestamp = NOW + 100, status = "SUCCESS" })
  local bare = copy_of(record, {})
  bare.tranId = nil

  -- Asks for a call that was not made, after an equal one that was, and was found by that record's content. So many
  -- answers show the record without its id.
  local function outcome(bare_answers)
    local service = showing(function(reads) return { reads <= bare_answers and bare or record } end)
    own_calls.note(service.journal, row, lost(row.full_name, moved, "made", NOW), "r1", nil, "found")
    return assert(reconcile.reconcile(service, lost(row.full_name, moved, "lost", NOW + 2000))).outcome
  end

  it("is not this call's where an answer does not show its id", function()
    for bare_answers = 0, 6 do assert.equal("not_done", outcome(bare_answers), bare_answers .. " answers") end
  end)

  it("is not this call's where none shows its id", function()
    assert.not_equal("done", outcome(math.huge))
  end)

  it("is not this call's where it was never shown with an id", function()
    local service = showing(function() return { bare } end)
    local intents = { lost(row.full_name, moved, "one", NOW), lost(row.full_name, moved, "two", NOW + 2000) }
    own_calls.note(service.journal, row, intents[1])
    assert.equal("done", assert(reconcile.reconcile(service, intents[1])).outcome)
    assert.not_equal("done", assert(reconcile.reconcile(service, intents[2])).outcome)
  end)
end)

it("a batch is not this conversion's where an answered one of its coins may have made it", function()
  local row = operations.by_name["wallet.convert"]
  local service = showing(function() return { { convertTime = NOW + 100, convertDetails = { { asset = "BTC" } } } } end)
  local answered = own_calls.note(service.journal, row, lost(row.full_name, { asset = "BTC" }, "one", NOW))
  service.journal:finish(answered.intent, { successList = { "BTC" } })
  assert.equal("undecided", assert(reconcile.reconcile(service,
    lost(row.full_name, { asset = "BTC" }, "two", NOW + 1000))).outcome)
end)

it("records without ids of equal calls that were answered later are theirs, each its first", function()
  local row = operations.by_name["wallet.transfer"]
  local service = showing(function()
    local records = {}
    for i, at in ipairs { 7400, 14400 } do
      records[i] = copy_of(moved, { timestamp = NOW + at, status = "SUCCESS" })
    end
    return records
  end)
  for i, at in ipairs { 7000, 14000 } do
    own_calls.note(service.journal, row, lost(row.full_name, moved, "later" .. i, NOW + at), "r" .. i)
  end
  assert.equal("not_done", assert(reconcile.reconcile(service, lost(row.full_name, moved, "lost", NOW))).outcome)
end)

it("a call is undecided where each record that agrees with it is taken before it is kept, without end", function()
  local service = showing(function() return { copy_of(moved, { tranId = "r1", timestamp = NOW + 100 }) } end)
  local keep = service.journal.reconciled
  function service.journal:reconciled(intent, answer)
    if answer.outcome == "done" then return { is_taken = true } end
    return keep(self, intent, answer)
  end
  local answer = assert(reconcile.reconcile(service, lost("wallet.transfer", moved, "lost", NOW)))
  assert.equal("undecided", answer.outcome)
  assert.matches("was taken meanwhile", answer.reason)
end)
