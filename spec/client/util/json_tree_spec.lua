-- SPDX-License-Identifier: MIT
-- JSON as a tree that keeps its form.

local core = require "purser.core"
local json_tree = require "purser.client.util.json_tree"

describe("a tree of JSON", function()
  it("has the type of each node, an empty one's too", function()
    for text, is in pairs { ["[]"] = "array", ["[1]"] = "array", ["{}"] = "object", ['{"a":1}'] = "object",
      ['"x"'] = "string", ["1"] = "number", ["true"] = "boolean", null = "null" } do
      assert.equal(is, json_tree.read(text).type)
      assert.equal(text, json_tree.write(json_tree.read(text)))
    end
  end)

  it("is none for what is no JSON", function()
    for _, text in ipairs { "", "{", "[1,]", '{"a"}', '{"a":1,}', "01", "1.", "tru", '"a', '"\\x"', '"\\ud800"',
      '"\\"', '"\255"', '{"\255":1}', "1 2", "nul", "-", '{"a":1 "b":2}', '["\n"]',
      ("["):rep(300) .. ("]"):rep(300) } do
      assert.is_nil(json_tree.read(text), text)
    end
  end)

  it("has a depth of 200 at most, which no text makes the stack deeper than", function()
    assert(json_tree.read(("["):rep(200) .. ("]"):rep(200)))
    assert.is_nil(json_tree.read(("["):rep(201) .. ("]"):rep(201)))
    assert.is_nil(json_tree.read(('{"a":'):rep(100000)))
  end)

  it("reads what the core decodes, and nothing else", function()
    local pieces = { "{", "}", "[", "]", ",", ":", '"a"', '"', "\\", "1", "-", "0", ".", "5", "e", "true", "null", " ",
      "u0041" }
    local count = 0
    for seed = 1, 20000 do
      local text, state = "", seed
      for i = 1, 1 + seed % 9 do
        state = (state * 1103515245 % 2147483648 + 12345 + i) % 2147483648
        text = text .. pieces[math.floor(state / 65536) % #pieces + 1]
      end
      local is_json = core.decode("[" .. text .. "]") ~= nil
      assert.equal(is_json, json_tree.read("[" .. text .. "]") ~= nil, text)
      count = count + (is_json and 1 or 0)
    end
    assert.is_true(count > 200)
  end)

  it("is written again as it was, without its blanks: order, equal names and numbers as they were written", function()
    local text = '{"b":1.50,"a":[1E+2,-0,[],{}],"b":"\\u00e9/\\/","":null,"c":true}'
    assert.equal(text, json_tree.write(json_tree.read(text)))
    assert.equal(text, json_tree.write(json_tree.read(text:gsub("[,:%[]", "%0 \n\t")  .. "\r\n")))
  end)

  it("is visited scalar by scalar, each with the name of the nearest member around it", function()
    local seen = {}
    json_tree.each_scalar(json_tree.read '["x",{"a":1,"b":[2,{"c":null}]}]', function(node, name)
      seen[#seen + 1] = ("%s %s %s"):format(node.type, node.text, tostring(name))
    end)
    assert.same({ "string x nil", "number 1 a", "number 2 b", "null null c" }, seen)
  end)

  it("reads every escape", function()
    assert.equal('é"\\/\b\f\n\r\t€😀', json_tree.read '"\\u00e9\\"\\\\\\/\\b\\f\\n\\r\\t\\u20ac\\ud83d\\ude00"'.text)
  end)
end)

