-- SPDX-License-Identifier: MIT
-- Modules that are loaded at their first use.

local lazy = require "purser.client.util.lazy"

-- A module that counts how often it is loaded, until the test ends.
local function module_of(name, value)
  local module = { loads = 0 }
  package.preload[name] = function()
    module.loads = module.loads + 1
    return value
  end
  finally(function() package.preload[name], package.loaded[name] = nil, nil end)
  return module
end

describe("what stands for a module", function()
  it("loads it at the first read of a field, once, and reads as it does", function()
    local module = module_of("spec.lazy.fields", { answer = 42 })
    local stand_in = lazy "spec.lazy.fields"
    assert.equal(0, module.loads)
    assert.equal(42, stand_in.answer)
    assert.is_nil(stand_in.other)
    assert.equal(1, module.loads)
  end)

  it("calls a module that is a function", function()
    module_of("spec.lazy.call", function(a, b) return a + b end)
    assert.equal(5, (lazy "spec.lazy.call")(2, 3))
  end)

  it("raises what `require` raises where the module is missing, and loads it once it is there", function()
    local stand_in = lazy "spec.lazy.later"
    assert.error_matches(function() return stand_in.answer end, "module 'spec.lazy.later' not found")
    module_of("spec.lazy.later", { answer = 42 })
    assert.equal(42, stand_in.answer)
  end)
end)
