-- SPDX-License-Identifier: MIT
-- A payment whose copy was executed, and another rejected, while the histories are rejected for the same reason.

local at = require "payouts_setting"

local TRANSFER, HISTORY = at.TRANSFER, "sub_account.transfer_history"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

-- Runs a queue of one payment, of which `first` is called, at a service that answers all by the code until `is_up`.
local function run(code, first)
  local service = { is_up = false }
  local answer = { status = 400, headers = {}, body = ('{"code":%s,"msg":"closed for maintenance"}'):format(code) }
  at.client = at.client_with { transport = at.transport(function(request, inner)
    local is_closed = not service.is_up and (request.operation == TRANSFER or request.operation == HISTORY)
    if not is_closed then return inner:send(request) end
    if request.operation == TRANSFER then first(request, inner) end
    return answer
  end) }
  local payouts = at.payouts_with { history_check = "never" }
  assert(payouts:add("a", TRANSFER, at.move "5"))
  return assert(payouts:run()), payouts, service
end

local function send(request, inner) inner:send(request) end

describe("a rejected payment, for whose reason the history is rejected as well,", function()
  for _, code in ipairs { "10101", "33333", "700006" } do
    it("is undecided, and nobody's word but force sends it again (" .. code .. ")", function()
      local report, payouts, service = run(code, send)
      assert.same({ 0, 1 }, { report.failed, report.undecided })
      assert.equal("payouts.not_checked", select(2, payouts:retry "a").code)
      service.is_up = true
      assert.equal("payouts.done", select(2, payouts:retry "a").code)
      assert.same({ 1, 1 }, { assert(payouts:report()).done, at.counted(TRANSFER, "applied") })
    end)
  end

  it("is failed where each copy gets that answer", function()
    assert.equal(1, run("140001", function() end).failed)
  end)
end)
