-- SPDX-License-Identifier: MIT
-- Objects that users hold, apart from what these work with.

local view_of = require "purser.client.util.views".view

local Counter = { __name = "counter" }
Counter.__index = Counter
Counter.__tostring = function(self) return "counter at " .. self.count end
Counter.__call = function(self) return self:next() end
function Counter:next(step) -- a method
  self.count = self.count + (step or 1)
  return self.count, self
end

local function new() return setmetatable({ count = 0, label = "a", open = true, inner = { secret = 1 } }, Counter) end

describe("a public view", function()
  it("has the methods, texts, numbers and booleans of the object, and none of its tables", function()
    local view = view_of(new())
    assert.equal(3, (view:next(3)))
    assert.equal(4, (view()))
    assert.same({ 4, "a", true, "counter at 4" }, { view.count, view.label, view.open, tostring(view) })
    assert.is_nil(view.inner)
    assert.is_nil(view.unknown)
    assert.equal("counter", getmetatable(view))
    assert.is_nil(next(view))
  end)

  it("hands out no function that is a field and no method, and is not changed by what is written on it", function()
    local object = new()
    object.callback = function() error "called" end
    local view = view_of(object)
    assert.is_nil(view.callback)
    view.count, view.next = 100, nil
    assert.equal(1, (view:next()))
  end)

  it("has methods that need it before the colon, at the caller's line", function()
    local view = view_of(new())
    for _, wrong in ipairs { {}, "x", 5, false } do
      local ok, message = pcall(function() return (view.next(wrong)), nil end)
      assert.is_false(ok)
      assert.matches("^spec/client/util/views_spec%.lua:%d+: call it with a colon: :next%(", message)
    end
  end)

  it("shares its methods with others of its kind, each with its own object", function()
    local a, b = view_of(new()), view_of(new())
    assert.equal(a.next, b.next)
    a:next(5)
    assert.equal(1, (b:next()))
  end)
end)
