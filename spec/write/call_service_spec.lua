-- SPDX-License-Identifier: MIT
-- Reconciling needs this of a client: its reads, its clock, and its knowledge of its own calls.

local new = require("recorder").new
local operations = require "purser.client.operations"
local private = require "purser.client.util.private"
local purser = require "purser"
local call = require "purser.write.call"

local NOW = 1700000000000

local function of(answer, options)
  local all = { rate_limit = false, retry = false, clock = function() return NOW end }
  for name, value in pairs(options or {}) do all[name] = value end
  local client, transport = new(all, answer)
  local state = private.state_of(client)
  return call.service_of(state), transport, state
end

local function answering(body) return function() return { status = 200, headers = "", body = body } end end

describe("the service of a client", function()
  it("has its delays, and what it knows of its own calls", function()
    local made, _, state = of(answering "[]", { recv_window = 7000, visibility_delay_ms = 9000 })
    assert.same({ 7000, 9000, NOW }, { made.recv_window, made.visibility_delay_ms, made:now() })
    assert.equal(call.journal_of(state), made.journal)
    assert.equal(5000, of(answering "[]").recv_window)
  end)

  it("records a write call like any other", function()
    local made, transport = of(answering "{}")
    local _, err = made:read(operations.by_name["wallet.transfer"], { fromAccountType = "SPOT",
      toAccountType = "FUTURES", asset = "USDT", amount = "2" })
    assert.equal("unknown", err.outcome)
    assert.equal(1, #transport.requests)
    assert.is_table(err.intent)
  end)

  it("reads as a write call goes, where calls have to wait for room", function()
    local ranks = {}
    local limit = purser.rate_limit {}
    local acquire = limit.acquire
    limit.acquire = function(self, row, key, pause, state, info, settles)
      ranks[#ranks + 1] = settles
      return acquire(self, row, key, pause, state, info, settles)
    end
    local made, _, state = of(answering "[]", { rate_limit = limit })
    assert(made:read(operations.by_name["wallet.withdrawal_history"], {}))
    assert(state:call("wallet.withdrawal_history", {}))
    assert.same({ true, false }, ranks)
  end)

  it("signs as its account, and as the one whose key signed a call before", function()
    local made, _, state = of(answering '{"tranId":"1"}', { account = "treasury" })
    assert.is_true(made:signs_as "treasury")
    assert.is_false(made:signs_as "other")
    state._accounts = { other = true }
    assert.is_true(made:signs_as "other")
  end)

  it("waits by the client's transport", function()
    local made, transport = of(answering "[]")
    local slept = 0
    function transport.sleep(_, ms) slept = slept + ms end
    made:pause(700)
    assert.equal(700, slept)
  end)

  it("says by how much the clock was set right, and nothing before it was", function()
    local made, _, state = of(answering "[]")
    assert.is_nil(made:correction())
    state._clock.offset = 250
    assert.equal(250, made:correction())
  end)
end)
