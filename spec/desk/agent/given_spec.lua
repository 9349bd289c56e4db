-- SPDX-License-Identifier: MIT
-- Arguments and parameters of an agent are read once, or refused with the schema's word.

local given = require "purser.desk.agent.given"
local message = require "purser.desk.agent.message"

describe("parameters of an agent", function()
  local row = { by_name = { amount = { "amount", "amount" }, limit = { "limit", "count" }, memo = { "memo", "memo" },
    ips = { "ips", "ips" } } }

  for _, case in ipairs {
    { "amount", "20.50", "20.50" }, { "amount", "2e1", nil, "is a number with an exponent" },
    { "amount", '"2e1"', "2e1" }, { "amount", "-1", "-1" }, { "limit", "5", "5" }, { "limit", "5.00", "5" },
    { "limit", "5.01", nil, "no integer" }, { "limit", "5e0", nil, "no integer" }, { "memo", "104448", "104448" },
    { "memo", "104448.0", nil, "no string" }, { "memo", "-0", nil, "no string" }, { "memo", "-7", "-7" },
    { "memo", "18446744073709551616", "18446744073709551616" }, { "memo", "{}", nil, "is an object and no string" },
    { "other", "7.5", nil, "no string" }, { "other", "null", nil }, { "other", "true", true },
  } do
    local name, text, wanted, problem = case[1], case[2], case[3], case[4]
    it(("read %s %s as %s"):format(name, text, tostring(wanted or problem)), function()
      local read, why = given.params(row, message.read(('{"%s":%s}'):format(name, text)))
      if problem then
        assert.is_nil(read)
        assert.matches("the parameter " .. name, why, 1, true)
        assert.matches(problem, why, 1, true)
      else
        assert.equal(wanted, read[name])
      end
    end)
  end

  it("read lists, and nothing at all", function()
    assert.same({ ips = { "1.1.1.1", "2" } }, given.params(row, message.read '{"ips":["1.1.1.1",2]}'))
    assert.is_nil((given.params(row, message.read '{"ips":["1.1.1.1",2.5]}')))
    assert.same({}, given.params(row, nil))
  end)
end)

describe("arguments of an agent", function()
  local tool = { name = "t", takes = { { "reference", { type = "string" } }, { "params", { type = "object" }, true },
    { "references", { type = "array" }, true } } }

  local function read(text) return given.arguments(tool, message.read(text)) end

  it("fit the schema, or say its word", function()
    assert.same({ reference = "a", references = { "b", "c" } },
      read '{"reference":"a","params":null,"references":["b","c"]}')
    assert.equal("x", read '{"reference":"a","params":"{\\"m\\":\\"x\\"}"}'.params.m)
    for text, problem in pairs { ["{}"] = "reference is missing", ['{"reference":null}'] = "reference is missing",
      ['{"reference":1}'] = "is a number and no string", ['{"reference":"a","x":1}'] = "takes no argument x",
      ['{"reference":"a","params":[]}'] = "is an array and no object",
      ['{"reference":"a","params":"[]"}'] = "is a string and no object",
      ['{"reference":"a b "}'] = "cannot be seen", ['{"reference":""}'] = "is empty",
      [('{"reference":"%s"}'):format(("a"):rep(65))] = "longer than 64",
      ['{"reference":"a","references":"b"}'] = "is a string and no array",
      ['{"reference":"a","references":[1]}'] = "is a number and no string",
      ['{"reference":"a","references":[""]}'] = "is empty" } do
      local arguments, why = read(text)
      assert.is_nil(arguments)
      assert.matches(problem, why, 1, true)
    end
  end)
end)
