-- SPDX-License-Identifier: MIT
-- A clock that is hours ahead is set right while a payment waits to be looked for: the run ends all the same.

local at = require "payouts_setting"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

it("a run waits for no look longer than for a pause that the service asks for", function()
  local number = 0
  at.client = at.client_with { clock = function() return at.sim:now() + 36000000 end,
    transport = at.transport(function(request, inner)
      if request.operation ~= at.TRANSFER then return inner:send(request) end
      number = number + 1
      if number > 1 then return inner:send(request) end
      return { status = 429, headers = { ["Retry-After"] = "0" }, body = '{"code":429,"msg":"too many"}' }
    end) }
  local payouts = at.payouts_with { history_check = "never", concurrency = 1 }
  at.add(payouts, 1, 3)
  local began, report = at.sim:now(), assert(payouts:run())
  assert.same({ 2, 1, 2 }, { report.done, report.undecided, at.counted(at.TRANSFER, "applied") })
  assert.is_true(at.sim:now() - began < 600000)
end)
