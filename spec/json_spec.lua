-- SPDX-License-Identifier: MIT
local json = require "purser.json"
local cjson = require "cjson"

describe("json", function()
  it("writes scalars", function()
    assert.equal('"a"', json.encode "a")
    assert.equal("true", json.encode(true))
    assert.equal("false", json.encode(false))
    assert.equal("null", json.encode(json.null))
    assert.equal("0", json.encode(0))
    assert.equal("-12", json.encode(-12))
  end)

  it("writes integers exactly, where cjson keeps 14 digits", function()
    assert.equal("1623817440000123", json.encode(1623817440000123))
    assert.equal("9007199254740992", json.encode(9007199254740992))
    if rawget(math, "type") then
      assert.equal("9223372036854775807", json.encode(rawget(math, "maxinteger")))
      assert.equal("-9223372036854775808", json.encode(rawget(math, "mininteger")))
    end
  end)

  it("rejects what has no exact form", function()
    for _, value in ipairs { 0.1, 1e300, 1 / 0, -1 / 0, 0 / 0, print, coroutine.create(function() end), io.stdout } do
      assert.has_error(function() json.encode(value) end)
    end
    assert.has_error(function() json.encode(nil) end)
    assert.has_error(function() json.encode { [2] = "a hole" } end)
    assert.has_error(function() json.encode { a = 1, [true] = 2 } end)
    for _, value in ipairs { { "a", amount = "5" }, json.list { x = 1 }, { b = { "a", [true] = 1 } } } do
      assert.error_matches(function() json.encode(value) end, "a list also has members by name")
    end
    assert.error_matches(function() json.encode { a = {} } end, "mark it")
  end)

  it("distinguishes an empty list from an empty object", function()
    assert.equal("[]", json.encode(json.list {}))
    assert.equal("{}", json.encode(json.object {}))
    assert.equal('{"data":[]}', json.encode { data = json.list {} })
  end)

  it("keeps the order of an object and leaves absent members out", function()
    local record = json.object { { "z", 1 }, { "absent", nil }, { "a", "x" }, { "none", json.null } }
    assert.equal('{"z":1,"a":"x","none":null}', json.encode(record))
  end)

  it("sorts the keys of a plain table, so that one value has one text", function()
    assert.equal('{"a":1,"b":[1,2],"c":{"d":true}}', json.encode { c = { d = true }, b = { 1, 2 }, a = 1 })
  end)

  it("passes bare numbers of any length", function()
    local long = ("9"):rep(60) .. "." .. ("1"):rep(60)
    assert.equal("[" .. long .. ",-0.1,1e5,2.5E-7,0]",
      json.encode { json.raw(long), json.raw "-0.1", json.raw "1e5", json.raw "2.5E-7", json.raw "0" })
    for _, text in ipairs { "", "-", "01", "1.", ".5", "+1", "1e", "1 ", "0x1", "nan", "1,2", '"a"', "1.2.3", "{}" } do
      assert.has_error(function() json.raw(text) end)
    end
  end)

  it("writes control characters by their short names, where they have one", function()
    assert.equal('"\\b\\f\\n\\r\\t\\u0001\\u001f\\"\\\\/"', json.encode "\b\f\n\r\t\1\31\"\\/")
  end)

  it("gives every byte below 128 back through an independent reader", function()
    local bytes = {}
    for byte = 0, 127 do bytes[#bytes + 1] = string.char(byte) end
    local text = table.concat(bytes)
    assert.equal(text, cjson.decode(json.encode { text })[1])
    assert.equal(text, cjson.decode(json.encode { [text] = text })[text])
    assert.is_nil(json.encode(text):find("[%z\1-\31]"))
  end)

  it("passes UTF-8 as it is and rejects every other byte", function()
    local good = { "\194\128", "\223\191", "\224\160\128", "\237\159\191", "\238\128\128", "\239\191\191",
      "\240\144\128\128", "\244\143\191\191", "Zürich €5 😀" }
    for _, text in ipairs(good) do assert.equal('"' .. text .. '"', json.encode(text)) end
    local bad = { "\128", "\192\128", "\193\191", "\194", "\194a", "\224\159\191", "\237\160\128", "\240\143\191\191",
      "\244\144\128\128", "\245\128\128\128", "\255", "\194\128\128", "\226\130", "\226\194\130\172\130" }
    for _, text in ipairs(bad) do
      assert.error_matches(function() json.encode(text) end, "UTF%-8", nil, text)
      assert.has_error(function() json.encode { [text] = 1 } end)
    end
  end)

  it("indents", function()
    local value = json.object { { "a", { 1, { b = true } } }, { "c", json.list {} }, { "d", json.object {} } }
    assert.equal([[
{
  "a": [
    1,
    {
      "b": true
    }
  ],
  "c": [],
  "d": {}
}]], json.encode(value, { indent = "  " }))
  end)

  it("gives random values back through an independent reader", function()
    local state = 4711
    local function below(n)
      state = (state * 16807) % 2147483647
      return state % n
    end
    local function random_text()
      local parts = {}
      for i = 1, below(6) do parts[i] = ({ "a", '"', "\\", "\n", "\0", "é", "€", "/", "\127", "😀" })[below(10) + 1] end
      return table.concat(parts)
    end
    local function random_value(depth)
      local kind = below(depth > 4 and 3 or 5)
      if kind == 0 then return random_text() end
      if kind == 1 then return below(2000000) - 1000000 end
      if kind == 2 then return below(2) == 0 end
      local value, count = {}, 1 + below(4)
      for i = 1, count do value[kind == 3 and i or "k" .. random_text() .. i] = random_value(depth + 1) end
      return value
    end
    for case = 1, 500 do
      local value = { random_value(0) }
      local text = json.encode(value, case % 2 == 0 and { indent = "\t" } or nil)
      assert.same(value, cjson.decode(text))
    end
  end)

  it("ends at a cycle instead of the machine's stack", function()
    local loop = {}
    loop[1] = loop
    assert.error_matches(function() json.encode(loop) end, "deep")
  end)

  it("says at the caller's line which part of the value cannot be written, and what to do", function()
    local function message_of(value)
      local ok, message = pcall(function() return (json.encode(value)), nil end)
      assert.is_false(ok)
      assert.matches("^spec/json_spec%.lua:%d+: json%.encode: value", message)
      return message:match "json%.encode: (.*)$"
    end
    assert.matches("^value%[3%]%.x: a float is not exact; ", message_of { 1, 2, { x = 0.5 } })
    assert.matches("^value%.a%[2%]%.b: an empty table .* mark it with", message_of { a = { { b = 1 }, { b = {} } } })
    assert.matches("^value%.list%[1%]: a function ",
      message_of(json.object { { "id", 1 }, { "list", json.list { print } } }))
    assert.matches("^value: a function cannot be written; ", message_of(print))
    local loop = { 1 }
    loop[2] = { a = loop, b = { loop, loop } }
    assert.matches("^value: it is nested more than 100 deep; ", message_of(loop))
  end)
end)
