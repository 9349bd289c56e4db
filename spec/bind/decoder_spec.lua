-- SPDX-License-Identifier: MIT
-- The decoder as Lua sees it: what each type makes of each variant, and what a rejection says.
local core = require "purser.core"
local records = require "bench.records"

local function record(fields)
  return core.decoder { record = { name = "sample", fields = fields } }
end

-- The value of a field `x` of this type when this JSON arrives for it.
local function field(type, json)
  local value, message, offset = record({ { name = "x", type = type } }):decode('{"x":' .. json .. "}")
  if not value then return nil, message, offset end
  return value.x
end

local integer = math.type or function() return "integer" end
local HAS_INTEGERS = math.type ~= nil

describe("a field", function()
  it("of type string keeps the exact text of any scalar", function()
    assert.are.equal("0.10", field("string", '"0.10"'))
    assert.are.equal("0.10", field("string", "0.10"))
    assert.are.equal("-1e+400", field("string", "-1e+400"))
    assert.are.equal("123456789012345678901234567890", field("string", "123456789012345678901234567890"))
    assert.are.equal("true", field("string", "true"))
    assert.are.equal("false", field("string", "false"))
    assert.are.equal("", field("string", '""'))
    assert.are.equal('a"\n\0é', field("string", '"a\\"\\n\\u0000\\u00e9"'))
    assert.is_nil((field("string", "null")))
  end)

  it("of type integer reads numbers and digit strings, and leaves everything else as text", function()
    for _, json in ipairs { "1700000000000", '"1700000000000"' } do
      local value = field("integer", json)
      assert.are.equal(1700000000000, value)
      assert.are.equal("integer", integer(value))
    end
    assert.are.equal(0, field("integer", "0"))
    assert.are.equal(-7, field("integer", '"-7"'))
    assert.are.equal(12, field("integer", '"\\u0031\\u0032"'))
    for _, text in ipairs { "-0", "1.0", "1e3", "-0.5", "1234567890123456789012345678901234567890" } do
      assert.are.equal(text, field("integer", text))
      assert.are.equal(text, field("integer", '"' .. text .. '"'))
    end
    for _, text in ipairs { "", "-", "+1", " 1", "1 ", "0x10", "abc", "1,5" } do
      assert.are.equal(text, field("integer", '"' .. text .. '"'))
    end
    assert.are.equal("true", field("integer", "true"))
    assert.is_nil((field("integer", "null")))
  end)

  it("reads integers of every length, whatever stands after them", function()
    local ends = { "", " ", ",", ".", ".5", "e1", "E+1", "x", ":", "/", "-" }
    for length = 1, 22 do
      for _, digits in ipairs {
        ("9"):rep(length), ("0"):rep(length), "1" .. ("0"):rep(length - 1),
        ("1234567890123456789012"):sub(1, length), ("8765432109876543210987"):sub(1, length),
      } do
        local canonical = digits == "0" or digits:sub(1, 1) ~= "0"
        for _, after in ipairs(ends) do
          local list, message = core.decoder({ list = "integer" }):decode("[" .. digits .. after .. "]")
          if not canonical or (after ~= "" and after ~= " " and after ~= ".5" and not after:find "^[eE]") then
            assert.is_string(message)
          else
            local read = list[1]
            local exact = after == "" or after == " "
            if type(read) == "number" then read = ("%d"):format(read) end
            assert.are.equal(digits .. (exact and "" or after), read)
            if exact and length <= 15 then assert.is_number(list[1]) end
          end
        end
        for i = 1, length do -- one digit that is none
          local spoilt = digits:sub(1, i - 1) .. ":" .. digits:sub(i + 1)
          assert.is_nil((core.decode('{"a":' .. spoilt .. "}")))
        end
      end
    end
  end)

  it("holds integers up to the host's exact range and not one further", function()
    for _, type in ipairs { "integer", "any" } do
      if HAS_INTEGERS then
        assert.are.equal(math.maxinteger, field(type, "9223372036854775807"))
        assert.are.equal(math.mininteger, field(type, "-9223372036854775808"))
        assert.are.equal("9223372036854775808", field(type, "9223372036854775808"))
        assert.are.equal("-9223372036854775809", field(type, "-9223372036854775809"))
        assert.are.equal(9007199254740993, field(type, "9007199254740993"))
      else
        assert.are.equal("9007199254740993", field(type, "9007199254740993"))
        assert.are.equal("-9007199254740993", field(type, "-9007199254740993"))
        assert.are.equal("9223372036854775807", field(type, "9223372036854775807"))
      end
      assert.are.equal(9007199254740992, field(type, "9007199254740992"))
      assert.are.equal(-9007199254740992, field(type, "-9007199254740992"))
    end
  end)

  it("of type boolean reads true and false, 1 and 0, bare or as strings, and rejects the rest", function()
    for _, json in ipairs { "true", '"true"', "1", '"1"' } do assert.is_true(field("boolean", json)) end
    for _, json in ipairs { "false", '"false"', "0", '"0"' } do assert.is_false(field("boolean", json)) end
    assert.is_nil((field("boolean", "null")))
    for _, json in ipairs { "2", "-1", "1.0", "10", '"yes"', '"True"', '""', '"2"' } do
      local value, message, offset = field("boolean", json)
      assert.is_nil(value)
      assert.matches('^field "x" is a %a+, a boolean was expected$', message)
      assert.are.equal(5, offset)
    end
  end)

  it("of type any takes everything, with integers that fit as integers and other numbers as text", function()
    assert.are.same({ 1, "1.5", "x", true, { y = "1e9" } }, field("any", '[1,1.5,"x",true,{"y":1e9}]'))
    assert.are.same({}, field("any", "{}"))
    assert.are.same({}, field("any", "[]"))
  end)

  it("of a scalar type is no container, and the rejection names the field and the place", function()
    for _, type in ipairs { "string", "integer", "boolean", "address" } do
      for json, found in pairs { ["{}"] = "an object", ["[1]"] = "a list" } do
        local value, message, offset = field(type, json)
        assert.is_nil(value)
        assert.matches('^field "x" is ' .. found .. ", an? %a+ was expected$", message)
        assert.are.equal(5, offset)
      end
    end
    assert.are.equal('field "amount" is an object, a string was expected',
      select(2, record({ { name = "amount", type = "string" } }):decode '{"amount":{}}'))
  end)

  it("of a container type is no scalar", function()
    local inner = { name = "inner", fields = {} }
    for _, json in ipairs { "1", '"x"', "true" } do
      assert.matches("a list was expected", (select(2, field({ list = "string" }, json))))
      assert.matches("an object was expected", (select(2, field({ record = inner }, json))))
      assert.matches("an object or a list of objects was expected", (select(2, field({ one_or_many = inner }, json))))
    end
    assert.matches("is an object, a list was expected", (select(2, field({ list = "string" }, "{}"))))
    assert.matches("is a list, an object was expected", (select(2, field({ record = inner }, "[]"))))
    assert.is_nil((field({ list = "string" }, "null")))
  end)
end)

describe("a list", function()
  it("is empty, or holds what its type says", function()
    local decoder = core.decoder { list = "integer" }
    assert.are.same({}, decoder:decode "[]")
    assert.are.same({ 1, 2, "x" }, decoder:decode '[1,"2","x"]')
    local many = {}
    for i = 1, 5000 do many[i] = i end
    assert.are.same(many, decoder:decode("[" .. table.concat(many, ",") .. "]"))
  end)

  it("with a type holds no null", function()
    local value, message, offset = core.decoder({ list = "string" }):decode '["a",null]'
    assert.is_nil(value)
    assert.are.equal("null was found, a string was expected", message)
    assert.are.equal(5, offset)
  end)

  it("inside a field names that field when an element is wrong", function()
    local value, message, offset = field({ list = "string" }, '["a",["b"]]')
    assert.is_nil(value)
    assert.are.equal('field "x" is a list, a string was expected', message)
    assert.are.equal(10, offset)
  end)

  it("without a type leaves the place of a null empty", function()
    local value = core.decode "[1,null,3]"
    assert.are.equal(1, value[1])
    assert.is_nil(value[2])
    assert.are.equal(3, value[3])
  end)

  it("of one or many is given as it came", function()
    local shape = { name = "transfer", fields = { { name = "tranId", type = "string" } } }
    local decoder = core.decoder { one_or_many = shape }
    assert.are.same({ tranId = "12" }, decoder:decode '{"tranId":12}')
    assert.are.same({ { tranId = "12" } }, decoder:decode '[{"tranId":"12"}]')
    assert.are.same({}, decoder:decode "[]")
    assert.matches("an object was expected", (select(2, decoder:decode "[1]")))
    assert.are.equal("null was found, an object or a list of objects was expected", (select(2, decoder:decode "null")))
  end)
end)

describe("a member's name", function()
  local decoder = record {
    { name = "createTime", type = "integer", aliases = { "creatTime", "ctime" } },
    { name = "convertTime", type = "integer" },
    { name = "convertPlatformToken", type = "string", prefix = "convert" },
  }

  it("is replaced by the canonical one when it is an alias", function()
    assert.are.same({ createTime = 5 }, decoder:decode '{"creatTime":"5"}')
    assert.are.same({ createTime = 5 }, decoder:decode '{"ctime":5}')
    assert.are.same({ createTime = 6 }, decoder:decode '{"creatTime":5,"createTime":6}')
    assert.are.same({ createTime = 5 }, decoder:decode '{"createTime":6,"creatTime":5}')
  end)

  it("may carry the rest of a prefix, if an upper-case letter follows and no field has that name", function()
    assert.are.same({ convertPlatformToken = "1.50" }, decoder:decode '{"convertMx":1.50}')
    assert.are.same({ convertPlatformToken = "2" }, decoder:decode '{"convertPlatformToken":"2"}')
    assert.are.same({ convertTime = 3 }, decoder:decode '{"convertTime":"3"}')
    assert.are.same({ convert = 1, converted = 2, ["convert1"] = 3 },
      decoder:decode '{"convert":1,"converted":2,"convert1":3}')
  end)

  it("passes through, with its value, when it is unknown", function()
    for _ = 1, 3 do
      assert.are.same({ createTime = 1, netWork = "TRX", currencyId = 12, deep = { { a = "1.0" } } },
        decoder:decode '{"netWork":"TRX","createTime":1,"currencyId":12,"deep":[{"a":1.0}]}')
    end
  end)

  it("comes once in a declared shape", function()
    for body, offset in pairs {
      ['{"createTime":1,"createTime":2}'] = 29, ['{"createTime":1,"createTime":1}'] = 29,
      ['{"createTime":1,"createTime":null}'] = 29, ['{"createTime":null,"createTime":1}'] = 32,
      ['{"new":1,"new":null}'] = 15, ['{"new":1,"new":{}}'] = 15, ['{"new":[],"new":[]}'] = 16,
      ['{"creat\\u0065Time":1,"createTime":2}'] = 34, ['{"createTime":"1", "createTime" : "2"}'] = 34,
      ['{"deep":{"a":1,"a":2},"createTime":3,"b":true,"b":false}'] = 50,
    } do
      for _ = 1, 3 do
        local value, message, at, is_repeated = decoder:decode(body)
        assert.is_nil(value, body)
        assert.equal("a member comes twice", message)
        assert.equal(offset, at, body)
        assert.is_true(is_repeated)
      end
    end
    assert.equal(3, select("#", decoder:decode "{")) -- no other mistake is called that
  end)

  it("comes once in a declared shape of many members, in whatever batch they are handed over", function()
    local parts = {}
    for i = 1, 60 do parts[i] = ('"name%d":%d'):format(i, i) end
    for _, members in ipairs { 10, 47, 48, 49, 60 } do
      local fields = {}
      for i = 1, 60 do fields[i] = { name = "name" .. i, type = "integer" } end
      local many = record(fields)
      local body = table.concat(parts, ",", 1, members)
      assert.equal(members, many:decode("{" .. body .. "}")["name" .. members])
      assert.is_true((select(4, many:decode("{" .. body .. ',"name1":1}'))))
      assert.is_true((select(4, many:decode("{" .. body .. ',"deep":{},"name' .. members .. '":1}'))))
    end
  end)

  it("wins in a declared shape over an equal one before it where the decoder was made so", function()
    local last = core.decoder({ record = { name = "x", fields = { { name = "a", type = "integer" },
      { name = "b", type = "boolean" }, { name = "deep", type = "any" },
      { name = "list", type = { list = "string" } } } } }, true)
    for body, want in pairs {
      ['{"a":1,"a":2}'] = { a = 2 }, ['{"a":1,"a":null}'] = {}, ['{"a":null,"a":1}'] = { a = 1 },
      ['{"b":true,"a":1,"b":false}'] = { a = 1, b = false }, ['{"deep":1,"deep":{"x":1}}'] = { deep = { x = 1 } },
      ['{"deep":{"x":1},"deep":null,"a":3}'] = { a = 3 }, ['{"list":["1"],"list":["2","3"]}'] = { list = { "2", "3" } },
      ['{"new":1,"new":2,"n\\u0065w":3}'] = { new = 3 },
    } do
      for _ = 1, 3 do assert.same(want, last:decode(body), body) end
    end
  end)

  it("wins in an object of any type over an equal one before it, null included", function()
    local any = core.decoder "any"
    assert.are.same({ a = 2 }, any:decode '{"a":1,"a":2}')
    assert.are.same({}, any:decode '{"a":1,"a":null}')
    assert.are.same({ a = 1 }, any:decode '{"a":null,"a":1}')
    assert.are.same({ a = {} }, any:decode '{"a":1,"a":{}}')
    assert.are.same({ deep = { a = 2 } }, decoder:decode '{"deep":{"a":1,"a":2}}')
  end)

  it("may be any of more than a decoder can remember", function()
    local any = core.decoder "any"
    for round = 1, 3 do
      local parts, want = {}, {}
      for i = 1, 300 do
        parts[i] = ('"name%d":%d'):format(i * round, i)
        want["name" .. i * round] = i
      end
      local long = ("n"):rep(200)
      parts[301], want[long] = '"' .. long .. '":"l"', "l"
      assert.are.same(want, any:decode("{" .. table.concat(parts, ",") .. "}"))
    end
  end)

  it("comes in any order, present or not, from record to record", function()
    local names = { "a", "b", "c", "d", "e" }
    local list = core.decoder { list = { record = { name = "r", fields = {
      { name = "a", type = "integer" }, { name = "c", type = "integer" }, { name = "e", type = "integer" } } } } }
    local seed, parts, want = 1, {}, {}
    for i = 1, 400 do
      local members, entry = {}, {}
      for _ = 1, 5 do
        seed = seed * 48271 % 2147483647
        local name = names[seed % 5 + 1]
        if not entry[name] then members[#members + 1] = ('"%s":%d'):format(name, seed) end
        entry[name] = entry[name] or seed
      end
      parts[i], want[i] = "{" .. table.concat(members, ",") .. "}", entry
    end
    assert.are.same(want, list:decode("[" .. table.concat(parts, ",") .. "]"))
  end)
end)

describe("an address", function()
  local decoder = record { { name = "address", type = "address" }, { name = "memo", type = "string" } }
  local URI = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"

  local function decode(json)
    local value = assert(decoder:decode(json))
    return value.address, value.memo
  end

  it("gives its suffix to an absent, empty or equal memo, wherever that stands", function()
    for _, json in ipairs { '{"address":"rAddr:77"}', '{"address":"rAddr:77","memo":""}',
      '{"memo":"","address":"rAddr:77"}',
      '{"address":"rAddr:77","memo":null}', '{"address":"rAddr:77","memo":"77"}', '{"memo":77,"address":"rAddr:77"}',
      '{"address":"rAddr:77","other":{}}' } do
      local address, memo = decode(json)
      assert.are.equal("rAddr", address)
      assert.are.equal("77", memo)
    end
  end)

  it("is split in the same way however it is escaped", function()
    for _, json in ipairs { [[{"address":"rAddr\u003a77","memo":""}]], [[{"memo":"","address":"rAddr\u003A77"}]],
      [[{"address":"r\u0041ddr:77"}]], [[{"address":"rAddr:77","memo":"\u00377"}]],
      [[{"memo":"7\u0037","address":"rAddr\u003a\u00377"}]], [[{"address":"rAddr\u003a77","other":{},"memo":"77"}]] } do
      assert.are.same({ "rAddr", "77" }, { decode(json) }, json)
    end
    assert.are.same({ "rAddr:77", "78" }, { decode [[{"address":"rAddr\u003a77","memo":"7\u0038"}]] })
    assert.are.same({ [[r\:7]], "8" }, { decode [[{"address":"r\\:7","memo":"8"}]] })
    assert.are.same({ [[r\]], "7" }, { decode [[{"address":"r\\:7"}]] })
    assert.are.same({ URI }, { decode([[{"address":"]] .. URI:gsub(":", "\\u003a") .. [["}]]) })
    local long = ("x"):rep(600)
    assert.are.same({ "rAddr:" .. long }, { decode('{"address":"rAddr:' .. long .. '"}') })
  end)

  it("keeps it when the memo says otherwise, or nothing stands on one side", function()
    assert.are.same({ "rAddr:77", "78" }, { decode '{"address":"rAddr:77","memo":"78"}' })
    assert.are.same({ "rAddr:" }, { decode '{"address":"rAddr:"}' })
    assert.are.same({ ":77" }, { decode '{"address":":77"}' })
    assert.are.same({ "rAddr" }, { decode '{"address":"rAddr"}' })
  end)

  it("splits at its first colon only", function()
    assert.are.same({ "rAddr", "7:8" }, { decode '{"address":"rAddr:7:8"}' })
  end)

  it("stays whole when it is a URI", function()
    assert.are.same({ URI }, { decode('{"address":"' .. URI .. '"}') })
    assert.are.same({ "bitcoincash", "short" }, { decode '{"address":"bitcoincash:short"}' })
    assert.are.same({ "R", ("m"):rep(30) }, { decode('{"address":"R:' .. ("m"):rep(30) .. '"}') })
  end)

  it("stays whole in a shape without a memo, and null in it is absent", function()
    local alone = record { { name = "address", type = "address" } }
    assert.are.equal("rAddr:77", alone:decode('{"address":"rAddr:77"}').address)
    assert.are.same({}, { decode '{"address":null}' })
  end)
end)

describe("a document", function()
  it("cut short at any byte is rejected there", function()
    local text = records.withdrawals(3)
    local decoder = core.decoder { list = { record = records.withdrawal } }
    assert.are.equal(3, #decoder:decode(text))
    for length = 0, #text - 1 do
      for _, use in ipairs { decoder, core.decoder "any" } do
        local value, message, offset = use:decode(text:sub(1, length))
        assert.is_nil(value)
        assert.matches("^the text ends ", message)
        assert.are.equal(length, offset)
      end
    end
  end)

  it("is the same in a list and alone", function()
    local text = records.deposits(300)
    local list = core.decoder { list = { record = records.deposit } }
    local one = core.decoder { record = records.deposit }
    local decoded, index = list:decode(text), 0
    for json in text:gmatch "%b{}" do
      index = index + 1
      assert.are.same(one:decode(json), decoded[index])
    end
    assert.are.equal(300, index)
  end)

  it("keeps strings of every length and alignment apart", function()
    local parts, want = {}, {}
    for length = 0, 45 do
      for variant = 0, 3 do
        local bytes = {}
        for i = 1, length do bytes[i] = "a" end
        if variant > 0 and length > 0 then bytes[math.ceil(length * variant / 3)] = "b" end
        local text = table.concat(bytes)
        for _ = 1, 2 do
          parts[#parts + 1] = '{"s":"' .. text .. '"}'
          want[#want + 1] = { s = text }
        end
      end
    end
    local decoder = core.decoder { list = { record = { name = "r", fields = { { name = "s", type = "string" } } } } }
    assert.are.same(want, decoder:decode("[" .. table.concat(parts, ",") .. "]"))
  end)

  it("that is null is nothing without a shape, and an error with one", function()
    assert.are.equal(1, select("#", core.decode "null"))
    assert.is_nil(core.decode "null")
    assert.are.equal("null was found, an object was expected", (select(2, record({}):decode "null")))
  end)

  it("must be a string", function()
    assert.has_error(function() core.decode(1) end)
    assert.has_error(function() core.decode() end)
    assert.has_error(function() core.decoder("any"):decode {} end)
  end)

  it("nested 100,000 deep is rejected at its 65th level", function()
    for _, open in ipairs { "[", '{"a":' } do
      local value, message, offset = core.decode(open:rep(100000))
      assert.is_nil(value)
      assert.are.equal("nested too deep", message)
      assert.are.equal(64 * #open, offset)
    end
  end)

  -- Kilobytes that a decoding took, and that its result keeps.
  local function memory_of(decoder, text)
    collectgarbage()
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    local list = decoder:decode(text)
    local peak = collectgarbage "count" - before
    collectgarbage "restart"
    collectgarbage()
    collectgarbage()
    return peak, collectgarbage "count" - before, list
  end

  it("of over a megabyte is decoded in hardly more memory than its tables keep", function()
    local text = records.coins(1750)
    assert.is_true(#text > 1.2e6)
    local peak, kept, coins = memory_of(core.decoder { list = { record = records.coin } }, text)
    assert.are.equal(1750, #coins)
    -- LuaJIT's table of all strings grows in the meantime and shrinks again; elsewhere the two are equal.
    assert.is_true(peak < 1.5 * kept, ("%.0f kB while decoding, %.0f kB kept"):format(peak, kept))
  end)

  it("regression: of 16 MB is rejected before it makes hundreds of megabytes", function()
    for name, case in pairs {
      ["more than 262144 objects and lists in one document"] = { "[", "{},", 5300000, "{}]" },
      ["more than 2097152 values in one document"] = { "[", "1,", 8000000, "1]" },
    } do
      local text = case[1] .. case[2]:rep(case[3]) .. case[4]
      collectgarbage()
      local before = collectgarbage "count"
      local value, message, offset = core.decode(text)
      assert.is_nil(value)
      assert.are.equal(name, message)
      assert.is_true(offset < #text / 2)
      assert.is_true(collectgarbage "count" - before < 80 * 1024)
    end
    local members = {}
    for i = 1, 140000 do members[i] = ('"n%d":1'):format(i) end
    local value, message = core.decode("{" .. table.concat(members, ",") .. "}")
    assert.is_nil(value)
    assert.are.equal("more than 131072 unknown names in one document", message)
  end)

  it("of one page takes no large stack in a fresh task", function()
    local text = records.deposits(20)
    local decoder = core.decoder { list = { record = records.deposit } }
    decoder:decode(text)
    local again = memory_of(decoder, text)
    local fresh = coroutine.wrap(function() return (memory_of(decoder, text)) end)()
    assert.is_true(fresh - again < 8, ("%.1f kB in a fresh task, %.1f kB again"):format(fresh, again))
  end)
end)
