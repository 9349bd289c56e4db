-- SPDX-License-Identifier: MIT
-- Transfers between a parent and its sub-accounts, and between spot and futures. After every test the books are checked
-- in full.

local signed = require "signed"

local get, rejection, free = signed.get, signed.rejection, signed.free

local SECOND, HOUR = 1000, 3600000

describe("transfers in the simulator:", function()
  local sim, house, desk

  local function world(options) sim, house, desk = signed.family(options) end
  before_each(function() world() end)
  after_each(function() assert(sim:verify()) end)

  describe("transfers of a family", function()
    local params
    before_each(function()
      params = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = "12.50" }
    end)

    it("move exactly the amount, and are found in the history under both operations", function()
      local made = get(sim, house, "A13", params)
      assert.equal("987.5", free(sim, house, "USDT"))
      assert.equal("62.5", free(sim, desk, "USDT"))
      local filter = { toAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT" }
      for _, id in ipairs { "A1", "B7" } do
        local record = get(sim, house, id, filter)[1]
        assert.equal(made.tranId, record.tranId)
        assert.same({ "12.5", "SUCCESS", "house@mail.example", "desk0001" },
          { record.amount, record.status, record.fromAccount, record.toAccount })
      end
      -- an account that is not named is the parent
      assert.same({}, get(sim, house, "A1", { fromAccountType = "SPOT", toAccountType = "SPOT" }))
    end)

    it("go back to the parent", function()
      get(sim, house, "B6", { fromAccount = "desk0001", fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "50" })
      assert.equal("0", free(sim, desk, "USDT"))
      assert.equal("1050", free(sim, house, "USDT"))
    end)

    it("execute a client id once more that was used before, as nothing documented forbids it", function()
      params.clientTranId = ("a1"):rep(16)
      get(sim, house, "A13", params)
      get(sim, house, "B6", params)
      assert.equal(2, #get(sim, house, "A1", { clientTranId = params.clientTranId, toAccount = "desk0001",
        fromAccountType = "SPOT", toAccountType = "SPOT" }))
    end)

    it("carry a client id once where repeated ids are rejected, whichever operation is used", function()
      sim.options.repeated_ids = "reject"
      params.clientTranId = ("a1"):rep(16)
      get(sim, house, "A13", params)
      assert.equal("730002", rejection(sim, house, "A13", params))
      assert.equal("730002", rejection(sim, house, "B6", params))
      assert.equal("62.5", free(sim, desk, "USDT"))
      local found = get(sim, house, "A1", { clientTranId = params.clientTranId, toAccount = "desk0001",
        fromAccountType = "SPOT", toAccountType = "SPOT" })
      assert.equal(1, #found)
    end)

    it("know a client id as the parent's own where repeated ids are rejected", function()
      sim.options.repeated_ids = "reject"
      params.clientTranId = ("a1"):rep(16)
      get(sim, house, "A13", params)
      local other = assert(sim:account { role = "main", balances = { USDT = "20" } })
      assert(sim:account { role = "sub", parent = other.uid, name = "desk0001" })
      assert(get(sim, other, "B6", params))
    end)

    it("leave a client id unused when the transfer was rejected", function()
      params.clientTranId, params.amount = ("b2"):rep(16), "5000"
      assert.equal("10101", rejection(sim, house, "A13", params))
      params.amount = "5"
      assert(get(sim, house, "A13", params))
    end)

    it("need the futures business of a broker's sub-account (A14)", function()
      params.toAccountType = "FUTURES"
      assert.equal("730002", rejection(sim, house, "A13", params))
      assert.equal("33333", rejection(sim, desk, "C9",
        { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }))
      local enabled = get(sim, house, "A14", { subAccount = "desk0001" })
      assert.is_true(enabled[1].isFuturesEnabled)
      params.toAccountType = "FUTURE" -- as samples print it
      assert(get(sim, house, "A13", params))
      assert.equal("12.5", free(sim, desk, "USDT", "FUTURES"))
    end)

    it("are rejected while the sub-account is frozen (140002)", function()
      sim:freeze("desk0001")
      assert.equal("140002", rejection(sim, house, "A13", params))
      sim:freeze("desk0001", false)
      assert(get(sim, house, "A13", params))
    end)

    it("do not reach another parent's sub-account (140001)", function()
      local other = sim:account { role = "main", balances = { USDT = "5" } }
      params.amount = "1"
      assert.equal("140001", rejection(sim, other, "B6", params))
    end)

    it("that name neither account are rejected (700004)", function()
      params.toAccount, params.toAccountType = nil, "FUTURES"
      for _, id in ipairs { "A13", "B6" } do assert.equal("700004", rejection(sim, house, id, params)) end
    end)
  end)

  describe("spot and futures transfers", function()
    local out = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "100" }

    it("succeed at once, and are found by id and in the history of their direction", function()
      local made = get(sim, house, "C9", out)[1]
      assert.equal("100", free(sim, house, "USDT", "FUTURES"))
      assert.equal("SUCCESS", get(sim, house, "C11", { tranId = made.tranId }).status)
      local page = get(sim, house, "C10", { fromAccountType = "SPOT", toAccountType = "FUTURES" })[1]
      assert.equal(1, page.total)
      assert.equal(made.tranId, page.rows[1].tranId)
      assert.equal(0, get(sim, house, "C10", { fromAccountType = "FUTURES", toAccountType = "SPOT" })[1].total)
      assert.equal("22222", rejection(sim, desk, "C11", { tranId = made.tranId }))
    end)

    it("wait where the option says so: the funds are locked until then", function()
      world { transfer_wait_ms = 5 * SECOND }
      local made = get(sim, house, "C9", out)[1]
      assert.equal("WAIT", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.same({ "900", "100", "0" }, { free(sim, house, "USDT"), free(sim, house, "USDT", "SPOT", "locked"),
        free(sim, house, "USDT", "FUTURES") })
      assert(sim:verify())
      sim:advance(5 * SECOND)
      assert.equal("SUCCESS", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.equal("100", free(sim, house, "USDT", "FUTURES"))
    end)

    it("wait as briefly as the option says", function()
      world { transfer_wait_ms = 1 }
      local made = get(sim, house, "C9", out)[1]
      assert.equal("WAIT", get(sim, house, "C11", { tranId = made.tranId }).status)
      sim:advance(1)
      assert.equal("SUCCESS", get(sim, house, "C11", { tranId = made.tranId }).status)
    end)

    it("end once: one that is paid does not fail, one that failed is not paid", function()
      world { transfer_wait_ms = 5 * SECOND }
      local paid = get(sim, house, "C9", out)[1].tranId
      sim:advance(5 * SECOND)
      assert.same({ nil, "there is no such waiting transfer" }, { sim:fail_transfer(paid) })
      local failed = get(sim, house, "C9", out)[1].tranId
      assert(sim:fail_transfer(failed))
      assert.is_nil((sim:fail_transfer(failed)))
      sim:advance(5 * SECOND)
      assert.same({ "900", "100", "0" }, { free(sim, house, "USDT"), free(sim, house, "USDT", "FUTURES"),
        free(sim, house, "USDT", "SPOT", "locked") })
    end)

    it("give the funds back when they fail", function()
      world { transfer_wait_ms = 5 * SECOND }
      local made = get(sim, house, "C9", out)[1]
      assert(sim:fail_transfer(made.tranId))
      sim:advance(HOUR)
      assert.equal("FAILED", get(sim, house, "C11", { tranId = made.tranId }).status)
      assert.equal("1000", free(sim, house, "USDT"))
    end)
  end)
end)
