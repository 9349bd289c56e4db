-- SPDX-License-Identifier: MIT
-- The texts of rejections: each code that a part of the simulator names without a text of its own has one here.

local codes = require "purser.sim.codes"
local operations = require "purser.api.operations"
local product = require "purser.codes"
local render = require "purser.sim.render"

local parts = {
  "accounts", "addresses", "auth", "conversions", "deposits", "faults", "internal", "keys", "live", "paging",
  "request_parser", "rules", "transfers", "withdrawals",
}

-- How a line names a code alone.
local forms = { 'return nil, "(%d+)"%f[^%w,"]', 'return "(%d+)"$', 'required = "(%d+)"', 'must%(.*"(%d+)"%)' }

describe("the code of a rejection", function()
  it("that is named without a text has one", function()
    local named = 0
    for _, part in ipairs(parts) do
      local file = assert(io.open("lua/purser/sim/" .. part .. ".lua"))
      for line in file:lines() do
        for _, form in ipairs(forms) do
          for code in line:gmatch(form) do
            named = named + 1
            assert.is_string(codes[code], part .. ": " .. line)
          end
        end
      end
      file:close()
    end
    assert.is_true(named > 20, named)
  end)

  it("is one that the client explains, and its text goes with it", function()
    local row = operations.by_id.C2
    for code, text in pairs(codes) do
      assert.is_table(product.get(code), code)
      local _, body = render.rejection(code, nil, nil, row)
      assert.equal(('{"code":%s,"msg":"%s"}'):format(code, text), body)
    end
  end)

  it("that is not known has a text that says no more than that it failed", function()
    assert.equal('{"code":99999,"msg":"Request failed"}', (select(2, render.rejection("99999"))))
  end)
end)
