-- SPDX-License-Identifier: MIT
-- A queue that was tried at a simulator: at the live service all its payments were said to be made, and none was paid.

local at = require "payouts_setting"

before_each(at.begin)
after_each(at.finish)

describe("a queue whose payments were sent to one host", function()
  local function run_at(base_url)
    at.client = at.client_with { base_url = base_url }
    return at.payouts_with():run()
  end

  it("is not run at another, made or not, and goes on at the first", function()
    assert(at.payouts_with():add("p1", at.TRANSFER, at.move "5"))
    assert.equal(1, assert(run_at "http://localhost:8080").done)
    assert(at.payouts_with():add("p2", at.TRANSFER, at.move "6"))
    local report, err = run_at "https://api.example"
    assert.is_nil(report)
    assert.same({ "config", "not_sent", "journal.other_host" }, { err.kind, err.outcome, err.code })
    assert.matches('payments of the queue "default" were sent to localhost, and this client is of api.example',
      err.message, 1, true)
    assert.equal(2, assert(run_at "http://127.0.0.1:9000").done) -- this machine is one host
  end)

  it("is run at another where none was executed", function()
    at.sim:fault { kind = "reject", code = "10101", message = "no", operation = at.TRANSFER, times = 9 }
    assert(at.payouts_with():add("p1", at.TRANSFER, at.move "5"))
    assert.equal(1, assert(run_at "http://localhost:8080").failed)
    assert(at.payouts_with():add("p2", at.TRANSFER, at.move "6"))
    assert.is_table(run_at "https://api.example")
  end)
end)
