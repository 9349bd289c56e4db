-- SPDX-License-Identifier: MIT
-- The texts of rejections: a code that the simulator names without a text of its own is one that purser.codes explains.

local codes = require "purser.codes"
local render = require "purser.testing.sim.render"

-- Patterns of a line that names a code alone.
local forms = { 'return nil, "(%d+)"%f[^%w,"]', 'raise "(%d+)"', '_codes = .*"(%d+)"', 'code = "(%d+)"' }

describe("the code of a rejection", function()
  it("that is named without a text has one, which goes with it", function()
    local named, found = 0, io.popen "cat lua/purser/testing/sim/*.lua"
    for line in found:lines() do
      for _, form in ipairs(forms) do
        for code in line:gmatch(form) do
          named = named + 1
          assert.is_table(codes.get(code), line)
          local _, body = render.rejection(code)
          assert.is_truthy(body:find(codes.get(code).meaning, 1, true), body)
        end
      end
    end
    found:close()
    assert.is_true(named > 20, named)
  end)

  it("that is not known has a text that says no more than that it failed", function()
    assert.equal('{"code":99999,"msg":"Request failed"}', (select(2, render.rejection("99999"))))
  end)
end)
