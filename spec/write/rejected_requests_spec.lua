-- SPDX-License-Identifier: MIT
-- A client looks for rejected calls seldom, and not for long.

local at = require "payouts_setting"

local OWN, TRANSFER = "wallet.transfer", at.TRANSFER
local reads

after_each(at.finish)

-- A client whose first `count` transfers are answered by `answer`; `history` answers for the history.
local function client_with(count, answer, history, options)
  local number, all = 0, { guard = { spending_limit = { USDT = "500" } } }
  reads = 0
  for name, value in pairs(options or {}) do all[name] = value end
  all.transport = at.transport(function(request, inner)
    reads = reads + (request.operation == OWN .. "_history" and 1 or 0)
    if request.operation == OWN .. "_history" and history then return history end
    number = number + (request.operation == OWN and 1 or 0)
    if request.operation == OWN and number <= count then return answer end
    return inner:send(request)
  end)
  at.client = at.client_with(all)
  for _ = 1, count do at.client.wallet:transfer(at.own(count > 1 and "1" or "5")) end
end

local function answer(status, code)
  return { status = status, headers = {}, body = ('{"code":%d,"msg":"no"}'):format(code) }
end

describe("a rejected call that cannot be looked for", function()
  it("is asked about once a minute, however many payments have no room", function()
    at.begin { balance = "1000" }
    client_with(1, answer(400, 10101), answer(400, 700007), { guard = { spending_limit = { USDT = "8" } } })
    local payouts, list = at.payouts_with { history_check = "never" }, {}
    for i = 1, 50 do list[i] = { key = "k" .. i, operation = TRANSFER, params = at.move "6" } end
    assert(payouts:add_all(list))
    assert.equal(50, assert(payouts:run()).blocked)
    assert.is_true(reads <= 16, reads) -- as many as the queue has tasks
  end)
end)

it("a rejected call of a clock that was ahead is not waited for", function()
  at.begin { balance = "1000" }
  local ahead_ms = 3000000
  client_with(1, answer(429, 429), nil, { guard = { spending_limit = { USDT = "8" } },
    clock = function() return at.sim:now() + ahead_ms end })
  ahead_ms = 0
  local began = at.sim:now()
  assert.equal("guard.spending_limit", select(2, at.client.wallet:transfer(at.own "6")).code)
  assert.equal(began, at.sim:now())
end)

it("three hundred rejected calls of six days are looked for by a few requests", function()
  at.begin { balance = "1000", clock = "real" }
  client_with(300, answer(400, 10101), nil, { recv_window = 500, visibility_delay_ms = 0 })
  for i, row in ipairs(assert(at.journal.db:rows "SELECT id FROM purser_calls")) do
    at.set("sent_at = $1 WHERE id = $2", at.ahead(-i * 1728000 - 2000), row.id)
  end
  assert(at.client.wallet:transfer(at.own "499"))
  assert.equal(300, #assert(at.journal:entries { state = "not_done" }))
  assert.is_true(reads < 10, reads)
end)
