-- SPDX-License-Identifier: MIT
-- Reconcile looks so often, believes these looks, and does this with a key whose secret was lost.

local errors = require "purser.client.call.errors"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local MOVE = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

local function reconciled(service, options, fields)
  local intent = { operation = "wallet.transfer", params = MOVE, sent_at = NOW, recv_window = 5000 }
  for name, value in pairs(fields or {}) do intent[name] = value end
  return reconcile.reconcile(service, intent, options)
end

local function nothing() return { rows = {}, total = 0 } end

describe("a look during which the clock was set", function()
  -- A service whose clock is wrong by `ms` until it is asked for the first time, 10 ms after the call.
  local function service_of(ms, is_corrected)
    local now, is_wrong, service = NOW + 10, true
    service = listing_service(function()
      if is_corrected then service.corrected = -ms end
      is_wrong = false
      return nothing()
    end)
    function service.now() return now + (is_wrong and ms or 0) end
    function service.pause(_, pause) now = now + pause end
    return service
  end

  -- A clock that was set back by 50 minutes after the call was waited for until it showed the time of the call again.
  it("forward is asked for first where the call lies ahead, so that nothing waits for the wrong clock", function()
    local service = service_of(-50 * 60000, true)
    assert.equal("not_done", assert(reconciled(service)).outcome)
    assert.is_true(service.now() >= NOW + 9000 and service.now() < NOW + 60000)
  end)

  it("back does not decide, since it may have been too early", function()
    for _, is_corrected in ipairs { true, false } do
      local service = service_of(60000, is_corrected)
      assert.equal("not_done", assert(reconciled(service)).outcome)
      assert.is_true(service.now() >= NOW + 9000)
    end
  end)

  it("to any other time does not decide either", function()
    local looks, service = 0
    service = listing_service(function()
      looks = looks + 1
      if looks == 1 then service.corrected = 5 end
      return nothing()
    end)
    local first = assert(reconciled(service))
    assert.equal("not_done", first.outcome)
    local repeated = looks
    looks = 1 -- the clock is right from the beginning
    service.corrected = nil
    assert(reconciled(service))
    assert.is_true(repeated > looks - 1)
  end)

  it("at each look leaves the call undecided after ten, in place of looking for ever", function()
    local looks, service = 0
    service = listing_service(function()
      looks = looks + 1
      service.corrected = looks
      assert.is_true(looks < 1000)
      return nothing()
    end)
    local answer = assert(reconciled(service))
    assert.equal("undecided", answer.outcome)
    assert.matches("^clock: ", answer.reason)
  end)
end)

describe("a reading that is not shown to be complete", function()
  it("leaves the call undecided when three looks say so, and not before", function()
    local reads = 0
    local service = listing_service(function(_, asked)
      if asked.page == 1 then reads = reads + 1 end
      local page = {}
      for i = 1, 10 do page[i] = { tranId = tostring(i), timestamp = NOW, amount = "7", asset = "USDT" } end
      return page -- it turns no pages
    end)
    local answer = assert(reconciled(service, nil, { operation = "sub_account.transfer", params = {
      fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" } }))
    assert.equal("undecided", answer.outcome)
    assert.equal(2000, service.paused) -- two pauses of a second
    assert.is_true(reads >= 3)
  end)
end)

describe("records that are later than was believed", function()
end)

describe("wait = false", function()
  it("says when to ask again, and keeps nothing of it in the journal", function()
    local kept = 0
    local service = listing_service(nothing, { now = NOW + 10, journal = own_calls.with { reconciled = function()
        kept = kept + 1
        return { counts = true }
      end } })
    local answer = assert(reconciled(service, { wait = false }, { id = "i" }))
    assert.same({ "undecided", NOW + 9000, 0, 0 }, { answer.outcome, answer.not_before, kept, service.paused })
    assert.equal("not_done", assert(reconciled(service, nil, { id = "i" })).outcome)
    assert.equal(1, kept)
    assert.is_nil(assert(reconciled(service, { wait = false }, { id = "i" })).not_before) -- it is late by now
  end)

  it("says so after the deadline, too, while another call may be found to own what is shown", function()
    local known, other, record = own_calls.new(), {}, { tranId = "t1", status = "SUCCESS", timestamp = NOW + 400 }
    for name, value in pairs(MOVE) do other[name], record[name] = value, value end
    other.amount, record.amount = "7", "7"
    own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = other,
      sent_at = NOW + 58000, recv_window = 5000, id = "other" })
    local service = listing_service(function() return { rows = { record }, total = 1 } end, { journal = known })
    local answer = assert(reconciled(service, { wait = false }, { id = "i" }))
    assert.same({ "undecided", NOW + 61000, 0 }, { answer.outcome, answer.not_before, service.paused })
  end)
end)

describe("the journal", function()
  local function service_with(reconciled_by)
    return listing_service(nothing, { journal = own_calls.with { reconciled = reconciled_by } })
  end

  it("knows more than a look that found nothing", function()
    local answer = assert(reconciled(service_with(function()
      return { done_before = true, record = { tranId = "r1" } }
    end), nil, { id = "i" }))
    assert.same({ "done", "r1", "its answer is in the journal" }, { answer.outcome, answer.record.tranId,
      answer.reason })
  end)

  it("must be able to keep what was found", function()
    local answer, err = reconciled(service_with(function() return nil, "disk I/O error" end), nil, { id = "i" })
    assert.is_nil(answer)
    assert.equal("journal", err.phase)
  end)

  it("says nothing of a call that it does not have", function()
    assert.equal("not_done", assert(reconciled(service_with(function() return {} end))).outcome)
  end)
end)

describe("what was found", function()
  it("is remembered: its record belongs to the call, and what was not done is over", function()
    local row = operations.by_name["wallet.transfer"]
    local own = { operation = "wallet.transfer", params = MOVE, sent_at = NOW, recv_window = 5000, id = "own" }
    for _, is_there in ipairs { true, false } do
      local service = listing_service(function()
        return is_there and { rows = { { tranId = "r1", timestamp = NOW, status = "SUCCESS", fromAccountType = "SPOT",
          toAccountType = "FUTURES", asset = "USDT", amount = "2" } }, total = 1 } or nothing()
      end)
      own_calls.note(service.journal, row, own)
      assert.equal(is_there and "done" or "not_done", assert(reconcile.reconcile(service, own)).outcome)
      assert.equal(is_there and "own" or nil, (service.journal:owners("record_id", nil, { "r1" }).r1 or {}).id)
      assert.same({}, service.journal:open_calls(nil, nil, NOW, NOW))
      local made = service.journal:made_calls(nil, { ["wallet.transfer"] = true }, NOW, NOW)
      assert.same(is_there and { 1, false } or { 0 }, { #made, (made[1] or {}).answered }) -- it is no witness
    end
  end)
end)

describe("a key whose secret was lost", function()
  local lost = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
  local KEY = { subAccount = "Desk", note = "bot", permissions = "SPOT_DEAL_READ" }

  -- Makes it again. `deletion` is "done", "lost" (and done), "not done" (and lost) or an error.
  local function recreate(deletion, creation)
    local keys, made = { { apiKey = "k1", note = "bot", createTime = NOW } }, 0
    local service = listing_service(function(row, asked)
      if row.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk" } } or {} end
      if row.name == "list_api_keys" then return keys end
      if row.name == "delete_api_key" then
        assert.same({ subAccount = "Desk", apiKey = "k1" }, asked)
        if errors.is(deletion) then return nil, deletion end
        if deletion ~= "not done" then keys = {} end
        if deletion == "done" then return { subAccount = "Desk" } end
        lost.intent = { operation = row.full_name, params = asked, sent_at = NOW + 60000, recv_window = 5000 }
        return nil, lost
      end
      made = made + 1
      assert.same(KEY, asked)
      if creation then return nil, creation end
      return { apiKey = "k2", secretKey = "s" }
    end)
    local answer, err = reconcile.reconcile(service, { operation = "broker.create_api_key", params = KEY,
      sent_at = NOW, recv_window = 5000 }, { recreate = true })
    return answer, err, made
  end

  it("is deleted, and made again, also when the answer to the deletion was lost", function()
    for _, deletion in ipairs { "done", "lost" } do
      local answer, err, made = recreate(deletion)
      assert.same({ "done", "k2", "k1", nil, 1 }, { answer.outcome, answer.record.apiKey, answer.replaced, err, made })
    end
  end)

  it("is not made again while it is not known to be deleted", function()
    local answer, err, made = recreate "not done"
    assert.same({ nil, lost, 0 }, { answer, err, made })
    local rejection = errors.new { kind = "api", outcome = "rejected", message = "no" }
    answer, err, made = recreate(rejection)
    assert.same({ nil, rejection, 0 }, { answer, err, made })
  end)

  it("is an error where it cannot be made again", function()
    local rejection = errors.new { kind = "api", outcome = "rejected", message = "no" }
    local answer, err, made = recreate("done", rejection)
    assert.same({ nil, rejection, 1 }, { answer, err, made })
  end)
end)

describe("a call that was stamped far ahead of the clock", function()
  local function look_at(answer)
    return reconciled(listing_service(answer, { now = NOW - 2 * 3600000 }), nil,
      { operation = "wallet.cancel_withdrawal", params = { id = "w1" } })
  end

  it("is done where that is shown all the same, an error where nothing can be read, and else undecided", function()
    assert.equal("done", assert(look_at(function() return { { id = "w1", status = 9, applyTime = NOW } } end)).outcome)
    local failure = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
    local answer, err = look_at(function() return nil, failure end)
    assert.same({ nil, failure }, { answer, err })
    assert.matches("^clock: ", assert(look_at(function() return {} end)).reason)
  end)
end)

describe("a call that cannot be looked for", function()
  it("is undecided where one moment of its history holds more than is shown", function()
    local shown = {}
    for i = 1, 1000 do shown[i] = { id = tostring(i), coin = "USDT", applyTime = NOW } end
    local answer = assert(reconciled(listing_service(function() return shown end), nil, {
      operation = "wallet.withdraw", params = { coin = "USDT", address = "T", amount = "2", withdrawOrderId = "o" } }))
    assert.equal("undecided", answer.outcome)
    assert.matches("more records at one moment", answer.reason)
  end)

  it("is that of an error without an intent", function()
    local answer, err = reconcile.reconcile(listing_service(nothing), errors.new { kind = "transport",
      outcome = "unknown", message = "lost" })
    assert.is_nil(answer)
    assert.matches("the error has no intent", err.message)
  end)
end)
