-- SPDX-License-Identifier: MIT
-- The customers' file is taken whole, or not at all.

local customers = require "purser.desk.receive.customers"

describe("Customers of purser.receive", function()
  local HEAD = "customer,address,memo,coins,least,from,until\n"
  for text, message in pairs {
    ["alice,0xA,1,,,,\nbob,0xa,1,,,,\n"] = "line 3: the address and memo belong to alice at the same time",
    ["alice,rA,,,,,\nbob,rA,7,,,,\n"] = "line 3: the address stands both with and without a memo",
    ["alice,0x0000000000000000000000000000000000000001,7,,,,\n"] = "line 2: an address like",
    ["alice,rA,7,,x,,\n"] = 'line 2: least "x" is no amount',
    ["alice,rA,7,,,2026-02-01,2026-01-01\n"] = "line 2: until is not later than from",
    [",rA,7,,,,\n"] = "line 2: customer and address must not be empty",
  } do
    it("are refused as a whole: " .. message, function()
      local rows, problem = customers.parse(HEAD .. text)
      assert.is_nil(rows)
      assert.equal(message, problem:sub(1, #message))
    end)
  end

  it("may have one address after another, and memos that look alike", function()
    local rows = assert(customers.parse(HEAD
      .. "a,rA,007,,,,2026-01-01\nb,rA,007,,,2026-01-01,\nc,rA,7,usdt;usdc,1,,\n"))
    assert.equal(3, #rows)
    assert.equal("USDT USDC", rows[3].coins)
  end)
end)
