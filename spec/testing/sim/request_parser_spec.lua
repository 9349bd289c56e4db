-- SPDX-License-Identifier: MIT
-- Where parameters travel, and how queries are taken apart.

local purser = require "purser"
local request_parser = require "purser.testing.sim.request_parser"
local signed = require "signed"

local get, rejection = signed.get, signed.rejection

describe("the placement of parameters:", function()
  local sim, main, broker

  before_each(function() sim, main, broker = signed.main_and_broker() end)

  it("the service wants group A's parameters in a JSON object", function()
    local params = { subAccount = "desk0001", note = "n" }
    assert.equal("730002", rejection(sim, broker, "A2", params, { form = "array" }))
    assert.equal("730002", rejection(sim, broker, "A2", params, { body = "subAccount=desk0001&note=n" }))
    assert.equal("730002", rejection(sim, broker, "A2", params, { form = "query" }))
    assert.equal("730002", rejection(sim, broker, "A2", params, { body = "{\"subAccount\":" }))
    assert.equal("730002", rejection(sim, broker, "A2", nil, { body = '{"subAccount":12345678,"note":"n"}' }))
    assert.equal("730600", rejection(sim, broker, "A2", nil, { body = "" }))
    assert(get(sim, broker, "A2", params))
  end)

  it("the service takes group A in the query where the profile says so", function()
    local other = purser.sim.new { profile = { object_body = "query" } }
    local owner = other:account { role = "broker" }
    assert(get(other, owner, "A2", { subAccount = "desk0001", note = "n" }, { form = "query" }))
    assert.equal("730002", rejection(other, owner, "A2", { subAccount = "desk0002", note = "n" }))
  end)

  it("the service takes B3 and B5 as an array holding one object, or in the query, and nothing else", function()
    get(sim, main, "B1", { subAccount = "desk0001", note = "n" })
    local params = { subAccount = "desk0001", note = "k", permissions = "SPOT_ACCOUNT_READ" }
    local first = get(sim, main, "B3", params)
    local second = get(sim, main, "B3", params, { form = "query" })
    assert.equal("730002", rejection(sim, main, "B3", params, { form = "object" }))
    assert.equal("730002", rejection(sim, main, "B3", nil, { body = "[]" }))
    assert.equal("730002", rejection(sim, main, "B3", nil, { body = '[{"note":"a"},{"note":"b"}]' }))
    get(sim, main, "B5", { subAccount = "desk0001", apiKey = first.apiKey })
    get(sim, main, "B5", { subAccount = "desk0001", apiKey = second.apiKey }, { form = "query" })
    assert.same({}, get(sim, main, "B4", { subAccount = "desk0001" }).subAccount)
  end)

  it("the service wants an empty body everywhere else", function()
    assert.equal("33333", rejection(sim, main, "C6", { coin = "USDT", network = "Tron(TRC20)" }, { body = "{}" }))
    assert.equal("730002", rejection(sim, main, "B1", { subAccount = "desk0001", note = "n" }, { body = "{}" }))
    assert.equal("33333", rejection(sim, main, "C1", nil, { body = "x" }))
  end)
end)

describe("a query", function()
  it("is split at its last signature, wherever that stands", function()
    for _, case in ipairs {
      { "a=1&signature=xy", "a=1", "xy" }, { "signature=xy&a=1", "a=1", "xy" }, { "signature=xy", "", "xy" },
      { "a=1&signature=xy&b=2", "a=1&b=2", "xy" }, { "signature=1&a=1&signature=2", "signature=1&a=1", "2" },
      { "a=1&signature=", "a=1", "" }, { "a=1", "a=1" }, { "", "" }, { "a=1&xsignature=2", "a=1&xsignature=2" },
      { "a=1&signature", "a=1&signature" }, { "a=1&signature=x=y", "a=1", "x=y" },
      { "&signature=xy", "", "xy" }, { "a=signature=1", "a=signature=1" }, { "a=1&&signature=xy", "a=1&", "xy" },
    } do
      assert.same({ case[2], case[3] }, { request_parser.split(case[1], "signature") }, case[1])
    end
  end)

  it("is decoded, a plus as a blank, every name once", function()
    for _, case in ipairs {
      { "", {} }, { "a=1&b=", { a = "1", b = "" } }, { "a", { a = "" } }, { "a=b=c", { a = "b=c" } },
      { "a=1+2%2B3%20%c3%BC", { a = "1 2+3 \195\188" } }, { "a%41=1&&b=2&", { aA = "1", b = "2" } },
      { "=1", { [""] = "1" } }, { "a=%00", { a = "\0" } },
    } do
      assert.same(case[2], request_parser.query(case[1]), case[1])
    end
    for _, text in ipairs { "a=(1)", "a=1 2", "a=\195\188", 'a="1"', "a=%", "a=%4", "a=%zz", "a=%FF", "%C3=1",
      "a=1&a=2", "a=1&%61=1", "a=1\n", "a=1#", "a={}" } do
      local values, rejected = require("purser.testing.sim.rejection").catch(request_parser.query, text)
      assert.is_nil(values, text)
      assert.equal("700008", rejected.code, text)
    end
  end)

  it("loses its percent signs, or is none where one of them stands alone", function()
    assert.equal("100% \255", request_parser.unescape "100%25%20%ff")
    assert.equal("plain", request_parser.unescape "plain")
    for _, text in ipairs { "%", "a%2", "%%41", "%g0" } do assert.is_nil((request_parser.unescape(text)), text) end
  end)
end)
