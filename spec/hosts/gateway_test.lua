-- SPDX-License-Identifier: MIT
-- The payout gateway of examples/openresty, run for real: four workers of nginx in front of a simulated service. (It
-- takes no withdrawal below 10 USDT.)
-- make test-all: 190 s, waits

local core = require "purser.core"
local gateways = require "gateway"
local libcurl = require "purser.client.util.libcurl"
local service = require "service"

local ADDRESS = "TPb6j7oQmKdKnG5mGkVc3nJdPqYpdzqyUJ"
local WITHDRAW, HISTORY = "wallet.withdraw", "wallet.withdrawal_history"

local sim, gateway

local function order(reference, amount, address) return gateways.order(reference, amount, address or ADDRESS) end

-- Asks until the journal is not locked: how long another worker has it depends on the machine.
local function pay(reference, amount, address)
  local status, answer
  repeat status, answer = gateway:ask("POST", "/payouts", order(reference, amount, address))
  until answer.error ~= "journal"
  return status, answer
end

local function count(operation, what)
  local counted = assert(sim.world:counts())[operation]
  return counted and counted[what] or 0
end

-- Returns how many withdrawals were executed during `act`.
local function executed(act)
  local before = count(WITHDRAW, "applied")
  act()
  return count(WITHDRAW, "applied") - before
end

local function wait_for_more(operation, number)
  local before = count(operation, "received")
  gateways.wait_until(operation .. " is asked for", function()
    return count(operation, "received") >= before + number
  end)
end

setup(function()
  sim = service.start()
  local account = assert(sim.world:account { role = "main", balances = { USDT = "900" } })
  assert(sim.world:save_address { account = account.uid, coin = "USDT", network = "TRX", address = ADDRESS })
  gateway = gateways.start(sim, account, 4)
end)

teardown(function()
  if gateway then gateway:stop() end
  if sim then sim.stop() end
end)

describe("the payout gateway", function()
  it("lets nobody in without the token", function()
    for _, token in ipairs { "wrong", "", "gateway-test-toke", "gateway-test-token2" } do
      assert.equal(401, (gateway:ask("GET", "/deposits", nil, token)))
      assert.equal(401, (gateway:ask("POST", "/payouts", order("P0", "1"), token)))
    end
    assert.equal(404, (gateway:ask("GET", "/payouts/P0")))
  end)

  it("pays, and says what became of it", function()
    local status, answer
    assert.equal(1, executed(function()
      status, answer = pay("P1", "12.5")
      assert.matches("^%w+$", gateway:wait_for_state("P1", "done").id)
    end))
    assert.equal(202, status)
    assert.equal("P1", answer.reference)
  end)

  it("pays a reference once, however often it is asked for", function()
    assert.equal(0, executed(function()
      local status, answer = pay("P1", "12.5")
      assert.equal(200, status)
      assert.equal("done", answer.state)
    end))
  end)

  it("rejects another order under a reference that is known", function()
    assert.equal(0, executed(function()
      for _, other in ipairs { { "12.6", ADDRESS }, { "12.5", "TAnotherAddressOfNobody12345678901" } } do
        local status, answer = pay("P1", other[1], other[2])
        assert.equal(409, status)
        assert.equal("other_order_of_this_reference", answer.error)
      end
    end))
  end)

  it("pays one of 200 equal references that come at once to four workers", function()
    assert.equal(1, executed(function()
      local multi = assert(libcurl.multi { max_in_flight = 200, http_version = "1.1" })
      local function submit() multi:submit(gateway:request("POST", "/payouts", order("P2", "10"))) end
      for _ = 1, 200 do submit() end
      local answered, new = 0, 0
      while answered < 200 do
        multi:wait(1000)
        multi:step()
        for _, response, failure in function() return multi:next() end do
          assert(response, failure and failure.message)
          if core.decode(response.body).error == "journal" then
            submit()
          else
            assert.is_true(response.status == 202 or response.status == 200, response.body)
            new = new + (response.status == 202 and 1 or 0)
            answered = answered + 1
          end
        end
      end
      multi:close()
      assert.equal(1, new)
      gateway:wait_for_state("P2", "done")
    end))
  end)

  it("answers a rejection of the service by a state, without the service's words", function()
    assert(sim.world:fault { kind = "reject", code = "10101", message = "internal uid 12345678", operation = WITHDRAW,
      times = 1 })
    assert.equal(0, executed(function()
      pay("P3", "20")
      gateway:wait_for_state("P3", "failed")
      assert.is_nil(select(3, gateway:ask("GET", "/payouts/P3")).body:find "uid")
    end))
  end)

  it("does not pay what its guard rails reject", function()
    local before = count(WITHDRAW, "received")
    pay("P4", "1000.01")
    gateway:wait_for_state("P4", "failed")
    assert.equal(before, count(WITHDRAW, "received"))
  end)

  it("names the member of an order that is wrong", function()
    local wrong = { reference = order("P 5", "1"), amount = order("P5", "1e3"), address = order("P5", "1", "T\n"),
      body = "{" }
    for name, body in pairs(wrong) do
      local status, answer = gateway:ask("POST", "/payouts", body)
      assert.equal(400, status)
      assert.equal(name, answer.error)
    end
    for _, member in ipairs { '"amount": "10"', '"amount": "1"', '"note": 1, "note": 1', '"\\u0061mount": "10"' } do
      local status, answer = gateway:ask("POST", "/payouts", (order("P5", "10"):gsub("}%s*$", ", " .. member .. "}")))
      assert.same({ 400, "body" }, { status, answer.error }, member)
    end
    assert.equal(404, (gateway:ask("GET", "/payouts/P5")))
  end)

  it("accepts no order that a plan finds a problem in, and a network by any name", function()
    local mistyped = ADDRESS:sub(1, -2) .. "K"
    for _, case in ipairs { { mistyped, "12", "checksum" }, { "0x" .. ("ab"):rep(20), "12", "Ethereum" },
      { ADDRESS, "9", "below the minimum" } } do
      local status, answer = gateway:ask("POST", "/payouts", order("P9", case[2], case[1]))
      assert.same({ 400, "order" }, { status, answer.error })
      assert.matches(case[3], answer.problems[1])
    end
    assert.equal(404, (gateway:ask("GET", "/payouts/P9")))
    assert.equal(1, executed(function()
      local named = order("P9", "12"):gsub('"TRX"', '"trc20"')
      assert.equal(202, (gateway:ask("POST", "/payouts", named)))
      gateway:wait_for_state("P9", "done")
      assert.equal(200, (gateway:ask("POST", "/payouts", named)))
    end))
  end)

  it("answers 405 to a method that it does not know, so that a DELETE is not taken for a cancellation", function()
    for _, wrong in ipairs { "GET /payouts", "DELETE /payouts/P1", "POST /payouts/P1", "POST /deposits" } do
      local method, target = wrong:match("^(%u+) (.+)$")
      local status, answer = gateway:ask(method, target)
      assert.equal(405, status, wrong)
      assert.equal("method", answer.error)
    end
  end)

  it("pays after a pause that the service asked for", function()
    assert(sim.world:fault { kind = "throttle", retry_after = 1, operation = WITHDRAW, times = 1 })
    assert.equal(1, executed(function()
      pay("P6", "13")
      gateway:wait_for_state("P6", "done")
    end))
  end)

  it("says unknown as long as no history was read, and done when it is there", function()
    assert.equal(1, executed(function()
      assert(sim.world:fault { kind = "lost_answer", operation = WITHDRAW, times = 1 })
      assert(sim.world:fault { kind = "server_error", status = 503, operation = HISTORY, times = 1000 })
      pay("P7", "14")
      gateway:wait_for_state("P7", "unknown")
      for _ = 1, 4 do
        wait_for_more(HISTORY, 1)
        assert.equal("unknown", (gateway:state "P7"))
        assert.equal("unknown", select(2, pay("P7", "14")).state)
      end
      sim.world:disarm()
      gateway:wait_for_state("P7", "done")
    end))
  end)

  it("makes no paid reference payable by a flood of rejected ones", function()
    assert.equal(0, executed(function()
      for i = 1, 300 do assert.equal(202, (pay("flood" .. i, "100000"))) end
      gateway:wait_for_state("flood300", "failed")
      local status, answer = pay("P1", "12.5")
      assert.equal(200, status)
      assert.equal("done", answer.state)
    end))
  end)

  it("finds after the death of all workers what they had sent, and sends it once", function()
    assert.equal(1, executed(function()
      assert(sim.world:fault { kind = "slow", delay_ms = 600000, operation = WITHDRAW, times = 1 })
      pay("P8", "15")
      gateways.wait_until("the withdrawal is sent", function() return gateway:state "P8" == "unknown" end)
      local workers = gateway:workers()
      assert.equal(4, #workers)
      os.execute("kill -9 " .. table.concat(workers, " "))
      gateway:wait_for_state("P8", "done")
    end))
  end)

  it("loses and repeats nothing by reloads", function()
    assert(sim.world:fault { kind = "lost_answer", operation = WITHDRAW, probability = 0.3 })
    assert.equal(30, executed(function()
      for i = 1, 30 do
        if i % 10 == 0 then gateway.server:reload() end
        assert.equal(202, (pay("R" .. i, "10")))
      end
      for i = 1, 30 do gateway:wait_for_state("R" .. i, "done") end
    end))
    sim.world:disarm()
    assert(sim.world:verify())
  end)

  it("rejects every request while the journal cannot be opened, and is ready when it can", function()
    local journal = gateway.server.folder .. "/gateway.sqlite"
    assert.equal(0, executed(function()
      os.execute("chmod 644 " .. journal)
      gateway.server:reload()
      gateways.wait_until("the new workers answer", function() return (gateway:ask("GET", "/payouts/P1")) == 503 end)
      gateways.wait_until("none of the old ones is left", function() return #gateway:workers() == 4 end)
      local status, answer = pay("N1", "10")
      assert.equal(503, status)
      assert.equal("not_ready", answer.error)
      os.execute("chmod 600 " .. journal .. "*")
      gateways.wait_until("one is ready", function() return (gateway:ask("GET", "/payouts/N1")) == 404 end)
      gateways.wait_until("one is ready", function() return gateway:state "P1" == "done" end)
    end))
  end)
end)

describe("the payout gateway whose nginx runs one timer at a time", function()
  it("pays what it answered with 202, though another timer ran for a while", function()
    local account = assert(sim.world:account { role = "main", balances = { USDT = "900" } })
    assert(sim.world:save_address { account = account.uid, coin = "USDT", network = "TRX", address = ADDRESS })
    local other = gateways.start(sim, account, 1, [[
      lua_max_running_timers 1;
      init_by_lua_block {
        local at, is_first = ngx.timer.every, true
        ngx.timer.every = function(...)
          if is_first then ngx.timer.at(0, function() ngx.sleep(2) end) end
          is_first = false
          return at(...)
        end
      }
    ]])
    finally(function() other:stop() end)
    gateways.wait_until("the gateway is ready", function() return (other:ask("GET", "/payouts/T1")) == 404 end)
    assert.equal(202, (other:ask("POST", "/payouts", order("T1", "10"))))
    other:wait_for_state("T1", "done")
    assert.matches("lua_max_running_timers are not enough", other.server:errors())
  end)
end)
