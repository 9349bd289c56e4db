-- SPDX-License-Identifier: MIT
-- The rules for valid and invalid JSON documents, case by case: see spec/support/json_cases.lua.
local core = require "purser.core"
local cases = require "spec.support.json_cases"
local same = require "spec.support.same"

describe("the JSON test-suite", function()
  for _, case in ipairs(cases.valid) do
    it("accepts " .. case[1], function()
      local value, message, offset = core.decode(case[2])
      assert.is_nil(message)
      assert.is_nil(offset)
      assert.is_true(same(case[3], value), "another value")
    end)
  end

  for _, case in ipairs(cases.invalid) do
    it("rejects " .. case[1], function()
      local value, message, offset = core.decode(case[2])
      assert.is_nil(value)
      assert.is_string(message)
      assert.are.equal(case[3], offset)
    end)
  end

  it("gives the same verdicts again, when every name has been seen before", function()
    local decoder = core.decoder "any"
    for _ = 1, 2 do
      for _, case in ipairs(cases.valid) do assert.is_true(same(case[3], (decoder:decode(case[2]))), case[1]) end
      for _, case in ipairs(cases.invalid) do
        assert.are.equal(case[3], (select(3, decoder:decode(case[2]))), case[1])
      end
    end
  end)
end)
