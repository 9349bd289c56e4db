-- SPDX-License-Identifier: MIT
-- A rejected conversion of which the history shows no batch was not made, though its coin cannot be converted now: it
-- converts what is left, so nothing moves twice.

local at = require "payouts_setting"

local CONVERT = "wallet.convert"

before_each(function() at.begin() end)
after_each(at.finish)

local function client_with(status, code)
  local is_first = true
  at.client = at.client_with { transport = at.transport(function(request, inner)
    if request.operation ~= CONVERT or not is_first then return inner:send(request) end
    is_first = false
    return { status = status, headers = {}, body = ('{"code":%d,"msg":"no"}'):format(code) }
  end) }
end

describe("a rejected conversion", function()
  it("of a queue is failed", function()
    client_with(400, 10101)
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", CONVERT, { asset = "USDC" }))
    assert.equal(1, assert(payouts:run()).failed)
  end)

  it("leaves its key free", function()
    client_with(429, 429)
    assert.equal("throttled", select(2, at.client.wallet:convert({ asset = "USDC" }, { key = "k" })).kind)
    at.client.wallet:convert({ asset = "USDC" }, { key = "k" })
    assert.equal(1, at.counted(CONVERT, "received"))
  end)
end)
