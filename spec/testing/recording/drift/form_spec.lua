-- SPDX-License-Identifier: MIT
-- The form of answers: classes of values in their places, and no value.

local form = require "purser.testing.recording.drift.form"

local function same(name) return name end

-- path -> its classes in order, of all bodies together; and the form itself.
local function form_of(...)
  local made, shown = {}, {}
  for _, body in ipairs { ... } do form.learn(made, form.of(body, same)) end
  for path, entry in pairs(made) do
    local classes = {}
    for class in pairs(entry.classes) do classes[#classes + 1] = class end
    table.sort(classes)
    shown[path] = table.concat(classes, ", ")
  end
  return shown, made
end

describe("a place in an answer", function()
  it("has the name of its member, and the place around it", function()
    local made = form.of('{"a":{"b":[{"c":1}]}}', same)
    local around = {}
    for path, entry in pairs(made) do around[path] = ("%s %s"):format(tostring(entry.name), tostring(entry.parent)) end
    assert.same({ answer = "nil nil", ["answer.a"] = "a answer", ["answer.a.b"] = "b answer.a",
      ["answer.a.b[]"] = "b answer.a.b", ["answer.a.b[].c"] = "c answer.a.b[]" }, around)
  end)
end)

describe("a member of an answer", function()
  it("stands under the name that it may have, or else its own; equal names are one place", function()
    local function places(rename)
      local list = {}
      for path in pairs(form.of('{"secretKey":"x","a":1,"b":2}', rename)) do list[#list + 1] = path end
      table.sort(list)
      return table.concat(list, " ")
    end
    assert.equal("answer answer.a answer.b answer.secretKey", places())
    assert.equal("answer answer.? answer.a answer.b", places(function(name) return #name > 1 and "?" or name end))
    assert.equal("answer answer.?", places(function() return "?" end))
  end)
end)

describe("the class of a value", function()
  for json, class in pairs {
    ['""'] = "empty text", ['"12.5"'] = "text of a decimal", ['"-0.1"'] = "text of a decimal",
    ['"1E-7"'] = "text of a number with an exponent", ['"12"'] = "text of digits", ['"-3"'] = "text of digits",
    ['"1700000000000"'] = "text of 13 digits", ['"2026-01-31T10:00"'] = "text of a date",
    ['"2026-01-31 10:00"'] = "text of a date", ['"true"'] = "text of a boolean", ['"USDT"'] = "text",
    ['"0123456789abcdef"'] = "hexadecimal text", ['"0123456789abcde"'] = "text",
    ['"T123456789012345678901:memo"'] = "text with a colon", ['"a:b"'] = "text",
    ['"T2345678901234567890:m"'] = "text with a colon", ['"T234567890123456789:m"'] = "text",
    ["12"] = "number of digits", ["1700000000000"] = "number of 13 digits", ["1.5"] = "number with places",
    ["1e5"] = "number with an exponent", ["true"] = "boolean", ["null"] = "null", ["[]"] = "array", ["{}"] = "object",
  } do
    it(("%s is %q"):format(json, class), function() assert.equal(class, form_of(json).answer) end)
  end

  it("is of another JSON type than those of a set, or is not", function()
    for _, case in ipairs {
      { { "text" }, "text of digits", false }, { { "hexadecimal text" }, "empty text", false },
      { { "text" }, "number of digits", true }, { { "number with places" }, "number of digits", false },
      { { "text", "null" }, "null", false }, { { "object" }, "array", true }, { {}, "text", true },
    } do
      local set = {}
      for _, class in ipairs(case[1]) do set[class] = true end
      assert.equal(case[3], form.is_other_type(set, case[2]), case[2])
    end
  end)
end)

describe("a form", function()
  it("has a path for each member, and one for the items of a list", function()
    assert.same({ answer = "array", ["answer[]"] = "object", ["answer[].coin"] = "text",
      ["answer[].list"] = "array", ["answer[].list[]"] = "object", ["answer[].list[].fee"] = "null, text of digits" },
      (form_of '[{"coin":"USDT","list":[{"fee":"1"},{"fee":null}]},{"coin":"BTC","list":[]}]'))
  end)

  it("counts in how many records a member stands, over all answers", function()
    local _, made = form_of('[{"a":1},{}]', '[{"a":2}]')
    assert.same({ 3, 2 }, { made["answer[]"].count, made["answer[].a"].count })
  end)

  it("shows names as they may be shown, and one alone where two become the same", function()
    local made = form.of('{"secret1":1,"secret2":"x"}', function() return "<name>" end)
    assert.equal(1, made["answer.<name>"].count)
    assert.same({ ["number of digits"] = true }, made["answer.<name>"].classes)
  end)

  it("is none of what is no JSON", function()
    for _, body in ipairs { "", "<html>", '{"a":' } do assert.is_nil(form.of(body, same)) end
  end)

  it("requires a member that every record of every answer has, in whatever order the answers come", function()
    for _, case in ipairs {
      { true, '{"a":1}', '{"a":2}' }, { false, '{"a":1}', "{}" }, { false, "{}", '{"a":1}' },
      { false, '[{"a":1},{}]', "[]" }, { true, '[{"a":1}]', "[]", '[{"a":"x"},{"a":null}]' },
      { false, '{"list":[]}', '{"list":[{"a":1}]}', '{"list":[{}]}' },
    } do
      local _, made = form_of((table.unpack or unpack)(case, 2)) -- luacheck: ignore
      for path, entry in pairs(made) do
        if path:sub(-2) == ".a" then assert.equal(case[1], entry.is_required, path) end
      end
    end
  end)

  it("of all answers keeps the name and the parent of each member", function()
    local known, one = {}, form.of '{"a":{"b":1}}'
    form.learn(known, one)
    for path, entry in pairs(one) do
      assert.same({ entry.name, entry.parent }, { known[path].name, known[path].parent })
    end
  end)
end)
