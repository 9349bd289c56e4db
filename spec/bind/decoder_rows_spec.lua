-- SPDX-License-Identifier: MIT
-- A document that is decoded in parts: `rows` gives what `decode` gives, whatever the size of a part.

local core = require "purser.core"

local function new()
  return core.decoder({ list = { record = { name = "row", fields = { { name = "coin", type = "string" },
    { name = "n", type = "integer" } } } } }, true)
end

-- Returns what the parts of so many bytes give at the end, and how many parts there were.
local function in_parts(decoder, text, bytes)
  local state, parts = {}, 0
  repeat
    local value, more, offset, is_repeated = decoder:rows(text, bytes, state)
    parts = parts + 1
    if more ~= true then return { value, more or nil, offset, is_repeated }, parts end
    assert.is_table(value)
  until false
end

local rows = {}
for i = 1, 300 do rows[i] = ('{"coin":"C%d","n":%d,"nets":[{"a":1},{"b":[1,2,null]}],"x%d":1}'):format(i, i, i % 50) end
local LIST = "[ " .. table.concat(rows, " , ") .. " ] "

describe("rows", function()
  it("are those of the whole document, in as many parts as their bytes take", function()
    local decoder = new()
    local whole = decoder:decode(LIST)
    for _, bytes in ipairs { 1, 1000, 5000, #LIST, 2147483647 } do
      local got, parts = in_parts(decoder, LIST, bytes)
      assert.same({ whole }, got)
      assert.is_true(parts > math.min(300, #LIST / (bytes + 100)) - 1, bytes)
      assert.is_true(bytes == 1 or parts <= #LIST / bytes + 1, bytes)
    end
  end)

  it("are read in parts within the members around them, if their list begins in the first 4 KB", function()
    local decoder = core.decoder "any"
    for before, wanted in pairs { [""] = 5, [("x"):rep(4000)] = 5, [("x"):rep(4096)] = 1 } do
      local text = ('[{"a":[1,{}],"b":"%s","c":[{"d":%s}],"e":[[1],[2]]}]'):format(before, LIST)
      local whole = { (decoder:decode(text)) }
      local got, parts = in_parts(decoder, text, 5000)
      assert.same(whole, got)
      assert.equal(wanted, parts)
      assert.same(whole, (in_parts(decoder, text, 1)))
      for _, behind in ipairs { "", "}", '],"e":1,"e":2}]', '],"e":{]' } do
        local broken = text:sub(1, -20) .. behind
        assert.same({ decoder:decode(broken) }, (in_parts(decoder, broken, 5000)))
      end
    end
  end)

  it("fail as the whole document does, with the place of the fault", function()
    for _, text in ipairs { "[]", "", "[", "[1]", '{"data":[]}', '[{"coin":"a"},{"coin":[]}]',
      '[{"coin":"a"},{"n":1}] x', '[{"coin":"a"},{"n":1}', '[{"coin":"a"},]', '[{"coin":"a"},null]', '"text"' } do
      for _, bytes in ipairs { 1, 1000 } do
        assert.same({ new():decode(text) }, (in_parts(new(), text, bytes)))
      end
    end
    assert.same({ core.decoder "any":decode "[1,null,[2]]" }, (in_parts(core.decoder "any", "[1,null,[2]]", 1)))
  end)

  it("that contradict themselves say so", function()
    local decoder = core.decoder { list = { record = { name = "row", fields = { { name = "n", type = "integer" } } } } }
    assert.is_true(in_parts(decoder, '[{"n":1},{"n":1,"n":2}]', 1)[4])
  end)

  it("are not gone on with in another text, nor without their list", function()
    local decoder, state = new(), {}
    assert.is_true(select(2, decoder:rows(LIST, 1, state)))
    assert.has_error(function() decoder:rows("[]", 1, state) end)
    state[1] = false
    assert.has_error(function() decoder:rows(LIST, 1, state) end)
    assert.has_error(function() decoder:rows(LIST, 1, { [2] = "x" }) end)
    assert.has_error(function() decoder:rows(LIST, 0, {}) end)
    assert.has_error(function() decoder:rows(LIST, 1) end)
  end)
end)
