-- SPDX-License-Identifier: MIT
-- What is known of other calls, in memory.

local known_calls = require "purser.write.evidence.known_calls"
local operations = require "purser.api.operations"
local recent_calls = require "purser.write.recent_calls"

local NOW = 1700000000000
local row = operations.by_name["wallet.transfer"]
local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local names = { ["wallet.transfer"] = true }

it("Other calls of a client are known by their records, and by whether they have an end", function()
  local known = recent_calls.new()
  local function note(call_id, sent_at, ...)
    return recent_calls.note(known, row, { operation = row.full_name, params = params, sent_at = sent_at,
      recv_window = 5000, call_id = call_id }, ...)
  end
  local own = note("own", NOW)
  note("done", NOW, "t1")
  note("lost", NOW).ended = true
  note("under way", NOW)
  note("not sent", NOW, nil, true)
  note("old", NOW - 100000)
  local journal = known_calls.of({ recent_calls = known }, row, own.intent)
  assert.equal("done", journal:owners("", { "t1", "t2" }, names).t1.state)
  assert.is_nil(journal:owners("", { "t1" }, { ["wallet.withdraw"] = true }).t1)
  local states = {}
  for _, call in ipairs(journal:open_calls("", names, NOW - 1000, NOW + 1000)) do states[call.state] = true end
  assert.same({ open = true, unknown = true }, states)
  assert.equal(1, #journal:answered_calls("", names, NOW - 1000, NOW))
  assert.equal(0, journal:delay "wallet.transfer")
  journal:note_delay("wallet.transfer", 500)
  journal:note_delay("wallet.transfer", 400)
  assert.equal(500, journal:delay "wallet.transfer")
end)
