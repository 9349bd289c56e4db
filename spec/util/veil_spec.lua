-- SPDX-License-Identifier: MIT
-- Objects that users hold, apart from what these work with.

local veil = require "purser.util.veil"

local Counter = { __name = "counter" }
Counter.__index = Counter
Counter.__tostring = function(self) return "counter at " .. self.count end
Counter.__call = function(self) return self:next() end
function Counter:next(step) -- a method
  self.count = self.count + (step or 1)
  return self.count, self
end

local function new() return setmetatable({ count = 0, label = "a", open = true, inner = { secret = 1 } }, Counter) end

describe("a veiled object", function()
  it("has the methods, texts, numbers and booleans of the object, and none of its tables", function()
    local face = veil(new())
    assert.equal(3, (face:next(3)))
    assert.equal(4, (face()))
    assert.same({ 4, "a", true, "counter at 4" }, { face.count, face.label, face.open, tostring(face) })
    assert.is_nil(face.inner)
    assert.is_nil(face.unknown)
    assert.equal("counter", getmetatable(face))
    assert.is_nil(next(face))
  end)

  it("hands out no function that is a field and no method, and is not changed by what is written on it", function()
    local object = new()
    object.callback = function() error "called" end
    local face = veil(object)
    assert.is_nil(face.callback)
    face.count, face.next = 100, nil
    assert.equal(1, (face:next()))
  end)

  it("has methods that need it before the colon, at the caller's line", function()
    local face = veil(new())
    for _, wrong in ipairs { {}, "x", 5, false } do
      local ok, message = pcall(function() return (face.next(wrong)), nil end)
      assert.is_false(ok)
      assert.matches("^spec/util/veil_spec%.lua:%d+: call it with a colon: :next%(", message)
    end
  end)

  it("shares its methods with others of its kind, each with its own object", function()
    local a, b = veil(new()), veil(new())
    assert.equal(a.next, b.next)
    a:next(5)
    assert.equal(1, (b:next()))
  end)
end)
