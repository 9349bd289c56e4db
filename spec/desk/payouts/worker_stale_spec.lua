-- SPDX-License-Identifier: MIT
-- A record that an answer named and no history shows makes a queue wait for minutes; the other payments do not, also
-- where the run ends meanwhile.

local at = require "payouts_setting"
local core = require "purser.core"
local json = require "purser.json"

local OWN, HISTORY = "wallet.transfer", "wallet.transfer_history"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

local asked, service, payouts

-- A queue at a service that hides the first payment while `service.hides`, and whose answer to the second is lost, or
-- `service.second`. Notes each request and its time in `asked`, and calls `service.at_third` at the third
-- payment.
local function begin(options)
  local number, hidden = 0, nil
  asked, service = {}, options
  service.hides = true
  at.client = at.client_with { transport = at.transport(function(request, inner)
    asked[#asked + 1] = { request.operation, at.sim:now() }
    number = number + (request.operation == OWN and 1 or 0)
    if request.operation == OWN and number == 2 and service.second then return service.second end
    local response, err = inner:send(request)
    local answer = core.decode(response.body)[1]
    if request.operation == HISTORY and service.hides then
      local rows = json.list {}
      for _, row in ipairs(answer.rows) do
        if row.tranId ~= hidden then rows[#rows + 1] = row end
      end
      response.body = json.encode(json.list { { rows = rows, total = #rows } })
    elseif request.operation == OWN then
      hidden = hidden or answer.tranId
      if number == 2 then return nil, { message = "lost" } end
      if number == 3 and service.at_third then service.at_third() end
    end
    return response, err
  end) }
  payouts = at.payouts_with { history_check = "never", concurrency = 1 }
end

local function stop() payouts:stop() end

local function add(first, last)
  for i = first, last do
    assert(payouts:add("p" .. i, OWN, at.own(tostring(i))))
    at.set(("due_at = '%d' WHERE payment = 'p%d'"):format(i, i))
  end
end

-- Runs two more payments. Returns the second payment, and the operations that were asked for.
local function run_again()
  add(4, 5)
  asked = {}
  assert(payouts:run())
  local names = {}
  for i, one in ipairs(asked) do names[i] = one[1] end
  return assert(payouts:find "p2"), names
end

it("a payment that waits for a missing record keeps no other one waiting", function()
  begin {}
  add(1, 3)
  local report = assert(payouts:run())
  assert.equal(3, report.done + report.undecided)
  assert.equal("stale", assert(payouts:find "p2").why)
  assert.equal(3, at.counted(OWN, "applied"))
  local times = {}
  for _, one in ipairs(asked) do
    if one[1] == OWN then times[#times + 1] = one[2] end
  end
  assert.is_true(times[3] - times[2] < 100000)
end)

it("a payment that waits for a missing record is asked about last by the next run, too", function()
  begin { at_third = stop }
  add(1, 3)
  assert(payouts:run())
  local left = assert(payouts:find "p2")
  assert.same({ "sent", "stale" }, { left.state, left.why })
  local payment, names = run_again()
  assert.same({ OWN, OWN, HISTORY }, { names[1], names[2], names[3] })
  assert.equal("undecided", payment.state)
  assert.equal(5, at.counted(OWN, "applied"))
end)

it("a rejected payment that waits for a missing record is asked about last by the next run, too", function()
  begin { at_third = stop, second = { status = 400, body = '{"code":700004,"msg":"rejected"}', headers = {} } }
  add(1, 3)
  assert(payouts:run())
  at.set "why = 'stale' WHERE payment = 'p2'" -- by a look that ended before the last question
  service.hides = false
  local payment, names = run_again()
  assert.same({ OWN, OWN, HISTORY }, { names[1], names[2], names[3] })
  assert.equal("failed", payment.state)
  assert.truthy(payment.message:find "rejected")
  assert.equal(4, at.counted(OWN, "applied"))
end)

it("a payment that is sent again waits for no record any more", function()
  local payment
  begin { at_third = function() payment = assert(payouts:find "p3") end }
  add(1, 3)
  at.set "why = 'stale' WHERE payment = 'p3'" -- as what was put off, and put back
  assert(payouts:run())
  assert.same({ "sent" }, { payment.state, payment.why })
end)
