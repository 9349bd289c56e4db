-- SPDX-License-Identifier: MIT
-- A line becomes values once: numbers keep their spelling, and no name stands twice in an object.

local json = require "purser.json"
local message = require "purser.desk.agent.message"

describe("a message", function()
  it("is read with the schema's kinds and the digits of its numbers", function()
    local read = message.read '{"a":1.0,"b":[1e3,"x"],"c":{},"d":null,"e":true,"f":12345678901234567890,"g":[]}'
    local kinds = {}
    for name, value in pairs(read) do kinds[name] = message.kind(value) end
    assert.same({ a = "number", b = "array", c = "object", d = "null", e = "boolean", f = "number", g = "array" },
      kinds)
    assert.same({ "1.0", "1e3", "12345678901234567890" }, { message.digits(read.a), message.digits(read.b[1]),
      message.digits(read.f) })
    assert.is_nil(message.digits "5")
    assert.is_nil(message.member(read, "d"))
    assert.equal(true, message.member(read, "e"))
    assert.equal('{"n":1e3,"t":"1e3"}', json.encode { n = message.echo(read.b[1]), t = message.echo "1e3" })
    for _, value in ipairs { read.b, read.c, read.d, read.e } do assert.is_nil((message.echo(value))) end
  end)

  it("that is no JSON, or has a name twice, is not read", function()
    for text, code in pairs { ["{"] = -32700, [""] = -32700, ['{"a":1,"a":1}'] = -32600, ["[1,]"] = -32700,
      ['[{"b":{"a":null,"a":null}}]'] = -32600, ['"\255"'] = -32700 } do
      assert.same({ nil, code }, { nil, (select(2, message.read(text))) }, text)
    end
    assert.matches("the member a is given twice", (select(3, message.read '{"a":1,"a":2}')))
  end)

  it("tells two ids apart as they are spelled", function()
    local function id(text) return message.id_text(message.read(text)) end
    assert.equal(id "1", id " 1 ")
    assert.equal(id '"\\u0061"', id '"a"')
    for _, two in ipairs { { "1", "1.0" }, { "1", '"1"' }, { '"1"', '"1 "' } } do
      assert.not_equal(id(two[1]), id(two[2]))
    end
  end)

  it("takes an object also as JSON text, and says the kind of any other value", function()
    assert.equal("5", message.digits(message.object '{"a":5}'.a))
    for text, kind in pairs { ['"x"'] = "string", ["5"] = "number", ["[]"] = "array", ["true"] = "boolean",
      ['"[]"'] = "string", ['"{"'] = "string" } do
      assert.same({ nil, kind }, { nil, (select(2, message.object(message.read(text)))) }, text)
    end
    assert.equal("is an array and no string", message.misfit("array", "string"))
    assert.equal("is a number and no string", message.misfit("number", "string"))
  end)
end)
