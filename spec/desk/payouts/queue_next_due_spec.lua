-- SPDX-License-Identifier: MIT
-- A payment that is told "not now" for an hour: the report says when the next run makes it.

local at = require "payouts_setting"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

it("next_due_at is the time of a payment that a run left", function()
  at.client = at.client_with { transport = at.transport(function(request, inner)
    if request.operation ~= at.TRANSFER then return inner:send(request) end
    return { status = 429, headers = { ["Retry-After"] = "3600" }, body = '{"code":429,"msg":"too many"}' }
  end) }
  local payouts = at.payouts_with { history_check = "never" }
  assert(payouts:add("a", at.TRANSFER, at.move "5"))
  local report = assert(payouts:run())
  assert.equal(1, report.sent)
  assert.equal(assert(payouts:find "a").due_at, report.next_due_at)
end)
