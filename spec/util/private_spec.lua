-- SPDX-License-Identifier: MIT
-- Objects that users hold, apart from what these work with. (spec/client/client_private_spec.lua has clients.)

local private = require "purser.util.private"

local Counter = { __name = "counter" }
Counter.__index = Counter
Counter.__tostring = function(self) return "counter at " .. self.count end
Counter.__call = function(self) return self:next() end
function Counter:next(step) -- a method
  self.count = self.count + (step or 1)
  return self.count, self
end

local function new() return setmetatable({ count = 0, label = "a", open = true, inner = { secret = 1 } }, Counter) end

describe("the inner state", function()
  it("is that of the table that stands for it, and nil for anything else", function()
    local held, state = {}, {}
    private.states[held] = state
    assert.equal(state, private.state_of(held))
    for _, other in ipairs { {}, "x", 5, true, print } do assert.is_nil(private.state_of(other)) end
    assert.is_nil(private.state_of(nil))
    assert.is_nil(private.state_of(false))
  end)

  it("is let go with the table that stands for it", function()
    local seen = setmetatable({}, { __mode = "v" })
    for i = 1, 50 do
      seen[i] = {}
      private.states[{}] = seen[i]
    end
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(next(seen, next(seen))) -- a conservative look at the stack may still see the last
  end)
end)

describe("a public view", function()
  it("has the methods, texts, numbers and booleans of the object, and none of its tables", function()
    local face = private.public_view(new())
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
    local face = private.public_view(object)
    assert.is_nil(face.callback)
    face.count, face.next = 100, nil
    assert.equal(1, (face:next()))
  end)

  it("has methods that need it before the colon, at the caller's line", function()
    local face = private.public_view(new())
    for _, wrong in ipairs { {}, "x", 5, false } do
      local ok, message = pcall(function() return (face.next(wrong)), nil end)
      assert.is_false(ok)
      assert.matches("^spec/util/private_spec%.lua:%d+: call it with a colon: :next%(", message)
    end
  end)

  it("shares its methods with others of its kind, each with its own object", function()
    local a, b = private.public_view(new()), private.public_view(new())
    assert.equal(a.next, b.next)
    a:next(5)
    assert.equal(1, (b:next()))
  end)
end)
