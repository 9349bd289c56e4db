-- SPDX-License-Identifier: MIT
-- Options by name: which values fit a rule, and where a message comes from.

local option_schema = require "purser.client.util.option_schema"

local rules = { name = "string", place = "string or table", given = "any", ms = { 1, 1000 }, count = { 0 },
  way = { "wait", "reject" }, version = { 1, 2, 3 }, key = option_schema.NAME }

describe("a value", function()
  for name, values in pairs {
    name = { fits = { "", "x" }, fails = { 1, true, {}, print } },
    place = { fits = { "x", {} }, fails = { 1, print } },
    given = { fits = { "x", 1, {}, false, print }, fails = {} },
    ms = { fits = { 1, 1000, 7.0 }, fails = { 0, 1001, 1.5, "5", -1, 0 / 0, 1 / 0, -1 / 0 } },
    count = { fits = { 0, 2 ^ 53, 1 / 0 }, fails = { -1, 0.5, "0", 0 / 0 } },
    key = { fits = { "x", "invoice 1" }, fails = { "", "x ", 1, {} } },
    way = { fits = { "wait", "reject" }, fails = { "Wait", "wai", "", 1, true } },
  } do
    it(("fits the rule of `%s` or does not"):format(name), function()
      for _, value in ipairs(values.fits) do
        assert.is_true(option_schema.matches(value, rules[name]), tostring(value))
        assert.is_nil((option_schema.check({ [name] = value }, rules, "option")))
      end
      for _, value in ipairs(values.fails) do
        assert.is_false(option_schema.matches(value, rules[name]), tostring(value))
        assert.is_string((option_schema.check({ [name] = value }, rules, "option")))
      end
    end)
  end

  it("is a time in milliseconds, and no time in seconds", function()
    assert.is_true(option_schema.matches(1700000000000, option_schema.TIME))
    for _, time in ipairs { 1700000000, 17000000000000, 1700000000000.5 } do
      assert.is_false(option_schema.matches(time, option_schema.TIME))
    end
  end)
end)

describe("a list", function()
  it("has no holes and no other members", function()
    for _, list in ipairs { {}, { 1 }, { "a", {}, false } } do assert.is_true(option_schema.is_list(list)) end
    for _, other in ipairs { { a = 1 }, { 1, nil, 3 }, { 1, a = 1 }, { [0] = 1 }, { [2] = 1 } } do
      assert.is_false(option_schema.is_list(other))
    end
    assert.is_true(option_schema.matches({ "a", "b" }, option_schema.TEXTS))
    for _, other in ipairs { "a", 5, { 1 }, { "a", b = "c" }, { "a", nil, "c" } } do
      assert.is_false(option_schema.matches(other, option_schema.TEXTS))
    end
  end)
end)

describe("options", function()
  it("that all fit give nothing, and no table at all is a message", function()
    for _, ask in ipairs { option_schema.check, option_schema.text } do
      assert.is_nil((ask({}, rules, "option")))
      assert.is_nil((ask({ name = "x", ms = 5 }, rules, "option")))
      for _, wrong in ipairs { 5, "x", true, print } do assert.is_string((ask(wrong, rules, "option"))) end
    end
  end)

  it("have one text that holds the message and the cure, where there is a cure", function()
    local message, name, hint = option_schema.check({ ms = 0 }, rules, "retry option")
    assert.equal("ms", name)
    assert.equal(message .. "; " .. hint, option_schema.text({ ms = 0 }, rules, "retry option"))
    message, name, hint = option_schema.check({ nam = "x" }, rules, "option")
    assert.same({ "nam" }, { name, hint })
    assert.equal(message, option_schema.text({ nam = "x" }, rules, "option"))
  end)
end)
