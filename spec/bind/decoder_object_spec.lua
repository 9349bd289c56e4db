-- SPDX-License-Identifier: MIT
-- The decoder as an object: what it is made of and from, its name, and what becomes of it while it works.
local core = require "purser.core"
local records = require "bench.records"

local HAS_INTEGERS = math.type ~= nil

describe("the C code of the decoder", function()
  it("calls nothing that depends on the locale or reads a floating-point number", function()
    local build = os.getenv("BUILD") or "build/lua5.4"
    local allowed = {}
    local names = "memcmp bcmp memchr memcpy memset memmove strchr strlen strcmp malloc calloc realloc free"
    for name in names:gmatch "%a+" do
      allowed[name] = true
    end
    for _, object in ipairs { "core/json.o", "core/shape.o", "core/decode.o", "core/walk.o", "bind/l_decoder.o",
      "bind/decoder_type.o" } do
      -- the builds of all Luas share the objects of core; a build of another kind has its own
      local newest = ("$(ls -t %s/%s build/shared/%s 2>/dev/null | head -1)"):format(build, object, object)
      local symbols, count = assert(io.popen("nm -u " .. newest)), 0
      for name in symbols:read("*a"):gmatch("U _?([%w_]+)") do
        count = count + 1
        local ours = name:match("^l?pu_") or name:match("^lua_") or name:match("^luaL_")
        local compilers = name:match("^_") or name == "GLOBAL_OFFSET_TABLE_" -- stack protector, sanitizers
        assert.is_truthy(allowed[name] or ours or compilers, object .. " calls " .. name)
      end
      symbols:close()
      assert.is_true(count > 0, object .. " is not there")
    end
  end)
end)

describe("a decoder", function()
  it("says what it decodes", function()
    local shape = { name = "deposit_record", fields = {} }
    assert.are.equal("purser.decoder (deposit_record[])", tostring(core.decoder { list = { record = shape } }))
    assert.are.equal("purser.decoder (deposit_record)", tostring(core.decoder { record = shape }))
    assert.are.equal("purser.decoder (deposit_record or deposit_record[])",
      tostring(core.decoder { one_or_many = shape }))
    assert.are.equal("purser.decoder (string[][])", tostring(core.decoder { list = { list = "string" } }))
    assert.are.equal("purser.decoder (any[])", tostring(core.decoder { list = "any" }))
    assert.are.equal("purser.decoder (record)", tostring(core.decoder { record = { fields = {} } }))
    assert.are.equal("purser.decoder (any)", tostring(core.decoder "any"))
  end)

  it("regression: has a name when a member that its type does not use goes deep, or round", function()
    local one = { one_or_many = { fields = {} } }
    one.list = one
    assert.are.equal("purser.decoder (record or record[])", tostring(core.decoder(one)))
    local deep = { record = { fields = {} } }
    for _ = 1, 300 do deep = { list = deep } end
    deep.one_or_many = { name = "r", fields = {} }
    assert.are.equal("purser.decoder (r or r[])", tostring(core.decoder(deep)))
  end)

  it("regression: has a name when its type says something else each time it is asked", function()
    local asked = 0
    local type = setmetatable({}, { __index = function(self, name)
      asked = asked + 1
      if name == "record" and asked < 10 then return { fields = {} } end
      if name == "list" and asked >= 3 then return self end
    end })
    local ok, made = pcall(core.decoder, type)
    assert.matches(ok and "purser%.decoder" or "deep", tostring(made))
  end)

  it("is rejected when its type makes no sense", function()
    local function rejected(pattern, type)
      local made, message = pcall(core.decoder, type)
      assert.is_false(made)
      assert.matches(pattern, message)
    end
    local function shape(fields) return { record = { name = "s", fields = fields } } end
    rejected("a type must be a name or a table", 5)
    rejected('unknown type "strin"', "strin")
    rejected("a type needs one of list, record, one_or_many", {})
    rejected("a shape must be a table", { record = 1 })
    rejected("a shape needs a list of fields", { record = {} })
    rejected("a field must be a table", shape { "x" })
    rejected("a field needs a name", shape { { type = "string" } })
    rejected("'name' of a field must be a string", shape { { name = 1, type = "string" } })
    rejected('"x" cannot be used, or is there already',
      shape { { name = "x", type = "any" }, { name = "x", type = "any" } })
    rejected('"x" cannot be used',
      shape { { name = "y", type = "any", aliases = { "y2", "x" } }, { name = "x", type = "any" } })
    rejected("cannot be used", shape { { name = "", type = "any" } })
    rejected("cannot be used", shape { { name = 'a"b', type = "any" } })
    rejected("an alias must be a string", shape { { name = "y", type = "any", aliases = { 1 } } })
    local deep = "string"
    for _ = 1, 30 do deep = { list = deep } end
    rejected("types nested too deep", deep)
    local many = {}
    for i = 1, 1100 do many[i] = { name = "f" .. i, type = "any" } end
    rejected("too many fields", shape(many))
  end)

  it("follows a shape that contains itself", function()
    local node = { name = "node", fields = { { name = "id", type = "string" } } }
    node.fields[2] = { name = "children", type = { list = { record = node } } }
    assert.are.same({ id = "1", children = { { id = "2", children = {} } } },
      core.decoder({ record = node }):decode '{"id":1,"children":[{"id":2,"children":[]}]}')
  end)

  it("outlives its own last reference while it decodes", function()
    local text = records.deposits(200)
    for _ = 1, 20 do
      local list = core.decoder({ list = { record = records.deposit } }):decode(text)
      assert.are.equal(200, #list)
      list = nil -- luacheck: ignore
      collectgarbage()
    end
  end)

  it("may be used by a finaliser that runs while it decodes", function()
    local decoder = core.decoder { list = { record = records.deposit } }
    local text, runs = records.deposits(50), 0
    local expected = decoder:decode(text)
    local function litter()
      local body = function()
        runs = runs + 1
        local list, message = decoder:decode(text)
        assert(list, message)
        assert(decoder:decode '[{"new\\u0041":"e\\u0041"}]')
      end
      if newproxy and not HAS_INTEGERS and _VERSION == "Lua 5.1" then
        getmetatable(newproxy(true)).__gc = body
      else
        setmetatable({}, { __gc = body })
      end
    end
    for _ = 1, 60 do
      for _ = 1, 5 do litter() end
      assert.are.same(expected, decoder:decode(text))
    end
    collectgarbage()
    assert.is_true(runs > 0)
  end)
end)
