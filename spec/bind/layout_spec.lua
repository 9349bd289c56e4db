-- SPDX-License-Identifier: MIT
local core = require "purser.core"

local function error_of(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

describe("core.layout", function()
  it("leaves out names without a value, and ignores values without a name", function()
    local layout = core.layout({ "a", "b", "c" }, {})
    assert.equal("", layout:query {})
    assert.equal("b=2", layout:query { b = "2", z = "9" })
    assert.equal("a=1&c=3", layout:query { a = "1", c = "3" })
  end)

  it("sends the names in the order given", function()
    local values = { b = "1", a = "2", B = "3" }
    assert.equal("b=1&a=2&B=3", core.layout({ "b", "a", "B" }, {}):query(values))
  end)

  it("takes strings, integers and booleans", function()
    local layout = core.layout({ "s", "i", "t", "f" }, { "s", "i", "t", "f" }, "object")
    local values = { s = "1.50", i = 1700000000123, t = true, f = false }
    assert.equal("s=1.50&i=1700000000123&t=true&f=false", layout:query(values))
    assert.equal('{"s":"1.50","i":1700000000123,"t":true,"f":false}', layout:body(values))
  end)

  it("writes integers to the last digit", function()
    local layout = core.layout({ "i" }, {})
    assert.equal("i=9007199254740991", layout:query { i = 9007199254740991 })
    assert.equal("i=-9007199254740991", layout:query { i = -9007199254740991 })
    if math.mininteger then -- luacheck: ignore 143
      assert.equal("i=-9223372036854775808", layout:query { i = math.mininteger }) -- luacheck: ignore 143
      assert.equal("i=9223372036854775807", layout:query { i = math.maxinteger }) -- luacheck: ignore 143
    end
  end)

  it("raises on a float and on any other type, and names the parameter but not its value", function()
    local layout = core.layout({ "amount" }, { "amount" }, "object")
    for _, value in ipairs { 1.5, 0 / 0, 1 / 0, 1e300, {}, print, io.stdout, coroutine.create(function() end) } do
      for _, method in ipairs { "query", "body" } do
        local message = error_of(layout[method], layout, { amount = value })
        assert.truthy(message:find("parameter 'amount'", 1, true))
      end
    end
    assert.truthy(error_of(layout.query, layout, { amount = 1.5 }):find("pass a string", 1, true))
    assert.equal("amount=1", layout:query { amount = "1" })
  end)

  it("encodes every byte, NUL included", function()
    local layout = core.layout({ "a" }, { "a" }, "object")
    for byte = 0, 255 do
      local char = string.char(byte)
      local stays = char:find("^[%w%-._~]$") and byte < 128
      assert.equal("a=" .. (stays and char or ("%%%02X"):format(byte)), layout:query { a = char })
    end
    assert.equal("a=x%00y", layout:query { a = "x\0y" })
    assert.equal('{"a":"x\\u0000y"}', layout:body { a = "x\0y" })
  end)

  it("builds an object, an array of one object, or nothing", function()
    local values = { n = 'a"b/c' }
    assert.equal('{"n":"a\\"b/c"}', core.layout({}, { "n" }, "object"):body(values))
    assert.equal('[{"n":"a\\"b/c"}]', core.layout({}, { "n" }, "array"):body(values))
    assert.equal("", core.layout({}, {}):body(values))
    assert.equal("{}", core.layout({}, { "n" }, "object"):body {})
  end)

  it("returns nil and a reason for text that is no UTF-8 in a body", function()
    local layout = core.layout({}, { "note" }, "object")
    local body, message = layout:body { note = "caf\233" }
    assert.is_nil(body)
    assert.truthy(message:find("UTF%-8"))
    assert.equal('{"note":"caf\195\169"}', layout:body { note = "caf\195\169" })
  end)

  it("returns nil and a reason for a text over the ceiling, and works on", function()
    local layout = core.layout({ "a" }, { "a" }, "object")
    local huge = ("x"):rep(2 ^ 20)
    for _, method in ipairs { "query", "body" } do
      local text, message = layout[method](layout, { a = huge })
      assert.is_nil(text)
      assert.equal("the text is too long", message)
    end
    assert.equal("a=" .. huge:sub(3), layout:query { a = huge:sub(3) })
    assert.equal("a=1", layout:query { a = "1" })
  end)

  it("raises on names it cannot use", function()
    assert.truthy(error_of(core.layout, { "a", "a" }, {}):find("twice", 1, true))
    assert.truthy(error_of(core.layout, { "" }, {}):find("empty", 1, true))
    assert.truthy(error_of(core.layout, {}, { "a" }):find("body form", 1, true))
    assert.truthy(error_of(core.layout, { 1 }, {}):find("list of strings", 1, true))
    assert.truthy(error_of(core.layout, {}, { "a" }, "xml"):find("xml", 1, true))
    error_of(core.layout)
    error_of(core.layout, {}, nil)
    local many = {}
    for i = 1, 64 do many[i] = "n" .. i end
    assert.equal("n64=x", core.layout(many, {}):query { n64 = "x" })
    many[65] = "n65"
    assert.truthy(error_of(core.layout, many, {}):find("64", 1, true))
  end)

  it("raises on misuse of its methods", function()
    local layout = core.layout({ "a" }, {})
    error_of(layout.query, layout)
    error_of(layout.query, layout, "a=1")
    error_of(layout.query, {}, {})
    error_of(layout.query, core.signer("hmac-sha256", "test"), {})
    error_of(layout.query, io.stdout, {})
  end)

  it("reads the values as they are, past metamethods", function()
    local layout = core.layout({ "a" }, {})
    assert.equal("", layout:query(setmetatable({}, { __index = function() error("not to be called") end })))
  end)

  it("keeps its own copy of the names", function()
    local list = { "a", "b" }
    local layout = core.layout(list, {})
    list[1], list[2] = "c", nil
    collectgarbage()
    collectgarbage()
    assert.equal("a=1&b=2", layout:query { a = "1", b = "2", c = "3" })
  end)

  it("reports what it is, and hides its metatable", function()
    assert.equal("purser.layout (2, 1)", tostring(core.layout({ "a", "b" }, { "c" }, "object")))
    assert.equal("string", type(getmetatable(core.layout({}, {}))))
  end)

  it("is collected without growth", function()
    local function round()
      for _ = 1, 2000 do core.layout({ "a", "b" }, { "c" }, "object"):query { a = ("x"):rep(500) } end
      collectgarbage()
      collectgarbage()
      return collectgarbage("count")
    end
    local first = round()
    for _ = 1, 5 do round() end
    assert.is_true(round() < first + 64)
  end)
end)
