-- SPDX-License-Identifier: MIT
-- A record that an answer named and no history shows makes a queue wait for minutes; the other payments do not.

local at = require "payouts_setting"

local OWN = "wallet.transfer"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

it("a payment that waits for a missing record keeps no other one waiting", function()
  local number, times = 0, {}
  at.client = at.client_with { transport = at.transport(function(request, inner)
    if request.operation ~= OWN then return inner:send(request) end
    number = number + 1
    times[number] = at.sim:now()
    local response, err = inner:send(request)
    if number == 1 then response.body = response.body:gsub("%d%d%d%d%d%d+", "1700000000000000999") end
    if number == 2 then return nil, { message = "lost" } end
    return response, err
  end) }
  local payouts = at.payouts_with { history_check = "never", concurrency = 1 }
  for i = 1, 3 do
    assert(payouts:add("p" .. i, OWN, at.own(tostring(i))))
    at.set(("due_at = '%d' WHERE payment = 'p%d'"):format(i, i))
  end
  local report = assert(payouts:run())
  assert.equal(3, report.done + report.undecided)
  assert.equal(3, at.counted(OWN, "applied"))
  assert.is_true(times[3] - times[2] < 100000)
end)
