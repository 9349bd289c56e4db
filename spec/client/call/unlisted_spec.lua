-- SPDX-License-Identifier: MIT
-- Parameters that a row does not list: a password in plain, and what `extra_params` may add.

local core = require "purser.core"
local operations = require "purser.client.operations"
local profiles = require "purser.client.operations.profiles"
local unlisted = require "purser.client.call.unlisted"

local row = operations.by_name["broker.withdraw"]

describe("a funds password in plain", function()
  it("travels as its MD5, under the parameter's own name", function()
    local values, params = {}, { funds_password = "open sesame" }
    assert.is_true(unlisted.take(row, params, "funds_password", params.funds_password, values))
    assert.same({ password = core.md5_hex "open sesame" }, values)
  end)

  it("is rejected next to its MD5, and where it is no text, and never quoted", function()
    for _, params in ipairs { { funds_password = "s3cr3t", password = ("0f"):rep(16) }, { funds_password = "" },
      { funds_password = 5 }, { funds_password = true } } do
      local values = {}
      local ok, err = unlisted.take(row, params, "funds_password", params.funds_password, values)
      assert.is_nil(ok)
      assert.same({ "argument", "not_sent", "funds_password" }, { err.kind, err.outcome, err.parameter })
      assert.equal(params.password ~= nil, err.message:find('is given together with "password"', 1, true) ~= nil)
      assert.is_nil(tostring(err):find("s3cr3t", 1, true))
      assert.same({}, values)
    end
  end)

  it("sends nothing where no MD5 can be made", function()
    local md5_hex = core.md5_hex
    finally(function() core.md5_hex = md5_hex end)
    core.md5_hex = function() return nil, "MD5 is switched off" end
    local ok, err = unlisted.take(row, {}, "funds_password", "s3cr3t", {})
    assert.is_nil(ok)
    assert.same({ "config", "not_sent", "funds_password", 'give its hexadecimal MD5 as "password"' },
      { err.kind, err.outcome, err.parameter, err.hint })
    assert.is_nil(tostring(err):find("s3cr3t", 1, true))
  end)

  it("is not known where the operation takes no password", function()
    local ok, err = unlisted.take(operations.by_name["wallet.withdraw"], {}, "funds_password", "x", {})
    assert.is_nil(ok)
    assert.matches("is not known", err.message, 1, true)
  end)
end)

describe("a name that is not known", function()
  it("is told with all that are, a password in plain among them; an operation may have none", function()
    local function hint_of(name, of) return select(2, unlisted.take(of or row, {}, name, "1", {})).hint end
    local params = {}
    for _, param in ipairs(row.params) do
      params[#params + 1] = param[1]
      params[#params + 1] = param.plain
    end
    assert.equal("there are " .. table.concat(params, ", "), hint_of "zzz")
    assert.matches("password, funds_password", hint_of "zzz")
    assert.matches('did you mean "funds_password"', select(2, unlisted.take(row, {}, "fund_password", "1", {})).message)
    assert.equal("remove it: this operation has none", hint_of("zzz", operations.by_name["wallet.coins"]))
    assert.matches('parameter "recvWindow" travels with every operation', select(2, unlisted.take(row, {}, "recvWindow",
      "1", {})).message)
    assert.matches("a parameter has no name", select(2, unlisted.take(row, {}, 1, "1", {})).message)
  end)
end)

describe("a parameter that no row lists", function()
  it("travels as text, but for an integer and a boolean", function()
    local values, later = {}, setmetatable({}, { __tostring = function() return "7" end })
    local names = unlisted.add_extra(row, { number = 5, text = "a b", flag = true }, values, profiles.default)
    assert.same({ number = 5, text = "a b", flag = true }, values)
    assert.equal(3, #names)
    local ok, err = unlisted.add_extra(row, { later = later }, {}, profiles.default)
    assert.same({ nil, "later" }, { ok, err.parameter })
  end)
end)

describe("a name that Purser sets itself", function()
  it("is rejected, with where it is set", function()
    for name, words in pairs { timestamp = "client's clock", signature = "made by Purser",
      recvWindow = "recv_window" } do
      local _, err = unlisted.take(row, {}, name, "1", {})
      assert.matches(words, tostring(err), 1, true)
      _, err = unlisted.add_extra(row, { [name] = "1" }, {}, profiles.default)
      assert.same({ "argument", name }, { err.kind, err.parameter })
    end
    local profile = setmetatable({ timestamp_name = "ts", signature_name = "sig" }, { __index = profiles.default })
    for _, name in ipairs { "ts", "sig" } do
      local _, err = unlisted.add_extra(row, { [name] = "1" }, {}, profile)
      assert.matches("as the profile says", err.message, 1, true)
    end
  end)
end)

describe("extra parameters", function()
  it("are added as they are, and named in order", function()
    local values = { coin = "USDT" }
    assert.same({ "a", "b", "c" }, unlisted.add_extra(row, { c = true, a = "x y", b = 5 }, values, profiles.default))
    assert.same({ coin = "USDT", a = "x y", b = 5, c = true }, values)
  end)

  it("are rejected where the operation has them: a password would travel in plain, an amount twice", function()
    for _, name in ipairs { "funds_password", "password", "amount", "coin" } do
      local values = {}
      local names, err = unlisted.add_extra(row, { [name] = "s3cr3t" }, values, profiles.default)
      assert.is_nil(names)
      assert.same({ "argument", "not_sent", name }, { err.kind, err.outcome, err.parameter })
      assert.is_nil(tostring(err):find("s3cr3t", 1, true))
      assert.same({}, values)
    end
  end)

  it("are rejected where a name or a value cannot travel, or there are too many", function()
    local many = {}
    for i = 1, 33 do many["p" .. i] = "x" end
    for _, extra in ipairs { { "x" }, { [""] = "x" }, { ["a\n"] = "x" }, { [("n"):rep(129)] = "x" }, { ["\255"] = "x" },
      { a = "" }, { a = 1.5 }, { a = {} }, { a = "b\nc" }, many } do
      local names, err = unlisted.add_extra(row, extra, {}, profiles.default)
      assert.is_nil(names)
      assert.same({ "argument", "not_sent" }, { err.kind, err.outcome })
    end
    many.p33 = nil
    assert.equal(32, #unlisted.add_extra(row, many, {}, profiles.default))
  end)
end)
