-- SPDX-License-Identifier: MIT
-- Modules that are loaded at their first use.

local lazy = require "purser.util.lazy"

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

local known = #lazy.names

-- purser.preload would look for the modules of this file.
local function forget()
  for i = #lazy.names, known + 1, -1 do lazy.names[i] = nil end
end

describe("what stands for a module", function()
  after_each(forget)

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

  it("is listed by its name, for those who load everything before", function()
    lazy "spec.lazy.named"
    assert.equal("spec.lazy.named", lazy.names[#lazy.names])
  end)
end)

describe("lazy.try", function()
  after_each(forget)

  it("gives the member, or nil and why the module cannot be loaded", function()
    module_of("spec.lazy.tried", { answer = 42 })
    assert.equal(42, lazy.try(lazy "spec.lazy.tried", "answer"))
    local value, problem = lazy.try(lazy "spec.lazy.missing", "answer")
    assert.is_nil(value)
    assert.matches("module 'spec.lazy.missing' not found", problem)
  end)

  it("loads the module where that failed before", function()
    local stand_in = lazy "spec.lazy.later"
    assert.is_nil((lazy.try(stand_in, "answer")))
    module_of("spec.lazy.later", { answer = 42 })
    assert.equal(42, lazy.try(stand_in, "answer"))
  end)
end)
