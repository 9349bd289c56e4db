-- SPDX-License-Identifier: MIT
-- A history proves this of a cancelled withdrawal whose answer was lost.

local purser = require "purser"

local NOW = 1700000000000

-- Returns what reconcile says of a cancelling whose answer was lost, where the history shows these records.
local function reconciled(records)
  local now = NOW
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    retry = false, rate_limit = false, clock = function() return now end, transport = {
      sleep = function(_, ms) now = now + ms end,
      send = function(_, request)
        if request.method ~= "GET" then return nil, { message = "the answer was lost" } end
        return { status = 200, headers = "", body = records }
      end,
    } })
  local _, err = client.wallet:cancel_withdrawal { id = "w1" }
  assert.are.equal("unknown", err.outcome)
  return assert(client:reconcile(err))
end

local function record_with(status)
  return ('[{"id":"w1","coin":"USDT","address":"T","amount":"5","applyTime":%d%s}]'):format(NOW - 3600000, status)
end

describe("a cancelling is", function()
  local cases = {
    { "undecided where the withdrawal is not shown", "[]", "undecided" },
    { "undecided where it shows no state", record_with "", "undecided" },
    { "undecided where its state is null", record_with ',"status":null', "undecided" },
    { "undecided where its state is a word", record_with ',"status":"CANCEL"', "undecided" },
    { "undecided where its state is in no document", record_with ',"status":11', "undecided" },
    { "done where the withdrawal is cancelled", record_with ',"status":9', "done" },
    { "not executed where it waits", record_with ',"status":2', "not_done" },
    { "not executed where it waits for a person", record_with ',"status":10', "not_done" },
    { "not executed where it was packaged", record_with ',"status":5', "not_done" },
    { "not executed where it succeeded", record_with ',"status":7', "not_done" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function() assert.are.equal(case[3], reconciled(case[2]).outcome) end)
  end
end)
