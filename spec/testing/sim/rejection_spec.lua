-- SPDX-License-Identifier: MIT
-- Rejections: raised where a request is checked, caught where it is answered, and never mixed up with a mistake.

local rejection = require "purser.testing.sim.rejection"

describe("a rejection", function()
  it("is caught with its code, its message and the texts of a wrong signature", function()
    local signed = { expected = "a" }
    local result, rejected = rejection.catch(function(code) rejection.raise(code, "no", signed) end, "700002")
    assert.is_nil(result)
    assert.same({ "700002", "no", signed }, { rejected.code, rejected.message, rejected.signed })
    rejected = select(2, rejection.catch(rejection.lacks, "coin"))
    assert.same({ "700004", "Mandatory parameter 'coin' was not sent" }, { rejected.code, rejected.message })
  end)

  it("is none where a function returns, or fails by a mistake", function()
    assert.equal(7, rejection.catch(function(number) return number + 1 end, 6))
    for _, mistake in ipairs { "a mistake", { code = "700002" } } do
      local ok, raised = pcall(rejection.catch, error, mistake, 0)
      assert.same({ false, mistake }, { ok, raised })
    end
  end)
end)
