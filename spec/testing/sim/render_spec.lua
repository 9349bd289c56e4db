-- SPDX-License-Identifier: MIT
-- The simulator's answers in the live form, rejections and samples; response_formats_spec.lua has the document's form.

local answers = require "answers"
local cjson = require "cjson"
local operations = require "purser.client.operations"
local render = require "purser.testing.sim.render"

local function answer(id) return render.answer(operations.by_id[id], answers[id].result, true) end

local EXTRAS = ',"explorerUrl":"https://explorer.invalid/tx/0","currencyId":"128f589271cb4951b03e71e6323eb7be",'
  .. '"depositPreConfirms":12,"tag":null,"rank":12345678901234567890123.50,'
  .. '"details":{"level":1,"path":["a",2,true,{}]}'

-- Each difference: the operation, and the edits that turn the document's text into the live one, in order, as plain
-- text.
local edits = {
  { -- lists with their count
    A1 = { { '[{"tranId"', '{"result":[{"tranId"' }, { "}]", '}],"totalCount":1}' } },
    B7 = { { '[{"tranId"', '{"result":[{"tranId"' }, { "}]", '}],"totalCount":1}' } },
  },
  { -- records and rows without an array around them
    A2 = { { "[{", "{" }, { "}]", "}" } }, A14 = { { "[{", "{" }, { "}]", "}" } },
    B6 = { { "[{", "{" }, { "}]", "}" } },
    C9 = { { "[{", "{" }, { "}]", "}" } }, C17 = { { "[{", "{" }, { "}]", "}" } },
    C10 = { { "[{\"rows\"", "{\"rows\"" }, { '1}]', '1}' } },
  },
  { C12 = { { "convertPlatformToken", "convertMx" } } },
  { -- the memo joined to the address
    A9 = { { '"rAddr"', '"rAddr:31"' }, { '"memo":"31"', '"memo":""' } },
  },
  { B6 = { { '"44"', "44" } } },
  { -- amounts with all their places
    A10 = { { '00"', '00000000000000"' } }, A11 = { { '00"', '00000000000000"' } },
    C4 = { { '00"', '00000000000000"' } },
    C5 = { { '"amount":"9"', '"amount":"9.000000000000000000"' }, { '"1"', '"1.000000000000000000"' } },
  },
}

local function apply(text, list)
  local at = 1
  for _, edit in ipairs(list) do
    local first, last = text:find(edit[1], at, true)
    assert(first, ("the edit %q does not fit %s"):format(edit[1], text))
    if edit[2]:find("]", 1, true) or edit[1]:find("^[%]}]+$") then -- a closing bracket: the last one
      local from = first
      while from do
        first, last = from, from + #edit[1] - 1
        from = text:find(edit[1], from + 1, true)
      end
    end
    text = text:sub(1, first - 1) .. edit[2] .. text:sub(last + 1)
    at = first + #edit[2]
  end
  return text
end

local function without_nulls(json) return (json:gsub(',"%a+":null', "")) end

describe("an answer in the live form", function()
  for _, row in ipairs(operations.list) do
    it(("is the document's, with what was seen: %s %s"):format(row.id, row.full_name), function()
      local expected = answers[row.id].json
      for _, by_operation in ipairs(edits) do expected = apply(expected, by_operation[row.id] or {}) end
      local text, count = answer(row.id), 0
      repeat
        local first, last = text:find(EXTRAS, 1, true)
        if first then text, count = text:sub(1, first - 1) .. text:sub(last + 1), count + 1 end
      until not first
      assert.is_true(count > 0 or row.id == "C7", "no further members")
      assert.equal(without_nulls(expected), without_nulls(text))
    end)
  end

  it("names the network beside a coin that has several networks", function()
    for coin, shown in pairs { USDT = "USDT-TRX", DOGE = "DOGE", NONE = "NONE" } do
      local text = render.answer(operations.by_id.C4, { { coin = coin, netWork = "TRX" } }, true)
      assert.matches('"coin":"' .. shown .. '"', text, 1, true)
    end
  end)

  it("has members without a value, which are null", function()
    assert.matches('"id":"45","withdrawOrderId":null,"txId":null', answer "C5", 1, true)
  end)
end)

describe("a rejection", function()
  local withdraw, create = operations.by_id.C2, operations.by_id.B1

  local function rejected(...)
    local status, json = render.rejection(...)
    return status .. " " .. json
  end

  it("is HTTP 400 with a numeric code and msg", function()
    assert.equal('400 {"code":700002,"msg":"The signature is not valid."}',
      rejected("700002", nil, nil, withdraw))
    assert.equal('400 {"code":10101,"msg":"not enough"}', rejected(10101, "not enough", false, create))
    assert.equal('400 {"code":700002,"msg":"x"}', rejected("700002", "x", false, nil))
  end)

  it("has a code as text in the live form, and with some operations HTTP 200", function()
    assert.equal('400 {"code":"10101","msg":"no"}', rejected("10101", "no", true, withdraw))
    assert.equal('200 {"code":"730601","msg":"no"}', rejected("730601", "no", true, create))
    assert.equal('200 {"code":"730101","msg":"no"}', rejected("730101", "no", true, operations.by_id.A2))
    assert.equal('400 {"code":"10101","msg":"no"}', rejected("10101", "no", true, operations.by_id.A5))
  end)
end)

describe("a sample", function()
  it("has the right form and the same leaf everywhere", function()
    assert.equal('{"id":[]}', render.sample(operations.by_id.C2, "[]"))
    assert.equal('[{"tranId":1e999}]', render.sample(operations.by_id.C9, "1e999"))
    for _, row in ipairs(operations.list) do cjson.decode(render.sample(row, "{}")) end
  end)
end)

describe("a text of an answer", function()
  it("is escaped as JSON wants it, and read as it was", function()
    for text, written in pairs { ['a"b'] = [["a\"b"]], ["a\\b"] = [["a\\b"]], ["\n\t\0"] = [["\n\t\u0000"]],
      ["\195\188/'"] = '"\195\188/\'"' } do
      local json = render.answer(operations.by_id.B1, { subAccount = "a", note = text })
      assert.equal(('{"subAccount":"a","note":%s}'):format(written), json)
      assert.equal(text, cjson.decode(json).note)
    end
  end)
end)
