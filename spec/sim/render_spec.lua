-- SPDX-License-Identifier: MIT
-- The simulator's answers: each variant of the interface document's form, rejections and samples.

local answers = require "answers"
local cjson = require "cjson"
local operations = require "purser.api.operations"
local render = require "purser.sim.render"
local variants = require "purser.sim.variants"

local function answer(id, variant)
  return render.answer(operations.by_id[id], answers[id].result, variant)
end

-- Each switch: the operation, and the edits that turn the document's text into the variant's, in order, as plain text.
local edits = {
  counted_lists = {
    A1 = { { '[{"tranId"', '{"result":[{"tranId"' }, { "}]", '}],"totalCount":1}' } },
    B7 = { { '[{"tranId"', '{"result":[{"tranId"' }, { "}]", '}],"totalCount":1}' } },
  },
  records_bare = {
    A2 = { { "[{", "{" }, { "}]", "}" } }, A14 = { { "[{", "{" }, { "}]", "}" } },
    B6 = { { "[{", "{" }, { "}]", "}" } },
    C9 = { { "[{", "{" }, { "}]", "}" } }, C17 = { { "[{", "{" }, { "}]", "}" } },
    C2 = {}, C6 = {}, C15 = {},
  },
  records_in_array = {
    C2 = { { "{", "[{" }, { "}", "}]" } },
    C6 = { { "{", "[{" }, { "}", "}]" } }, C15 = { { "{", "[{" }, { "}", "}]" } },
    B6 = {}, C9 = {}, C17 = {}, A2 = {}, A14 = {},
  },
  rows_bare = { C10 = { { "[{\"rows\"", "{\"rows\"" }, { '1}]', '1}' } } },
  envelope_code = { A2 = { { '"code":"0"', '"code":200' } }, A3 = { { '"code":"0"', '"code":200' } },
    A14 = { { '"code":"0"', '"code":200' } } },
  bare_values = {
    A1 = { { '"9007199254740993"', "9007199254740993" }, { '"0.10"', "0.10" } },
    B7 = { { '"9007199254740993"', "9007199254740993" }, { '"0.10"', "0.10" } },
    A12 = { { '"42"', "42" } }, A13 = { { '"43"', "43" } }, A15 = { { '"0.01"', "0.01" }, { '"55"', "55" } },
    B2 = { { '"66"', "66" } }, B6 = { { '"44"', "44" } }, C2 = { { '"45"', "45" } }, C3 = { { '"45"', "45" } },
    C5 = { { '"45"', "45" }, { '"amount":"9"', '"amount":9' }, { '"transactionFee":"1"', '"transactionFee":1' } },
    C9 = { { '"46"', "46" } }, C15 = { { '"47"', "47" } }, C17 = { { '"48"', "48" } },
    C10 = { { '"123"', "123" }, { '"7"', "7" } }, C11 = { { '"123"', "123" }, { '"7"', "7" } },
    C16 = { { '"47"', "47" }, { '"amount":"2"', '"amount":2' } },
    A4 = { { '"2"', "2" } },
    A10 = { { '"1.500000000000000000"', "1.500000000000000000" }, { '"status":"5"', '"status":5' } },
    A11 = { { '"1.500000000000000000"', "1.500000000000000000" } },
    C4 = { { '"1.500000000000000000"', "1.500000000000000000" } },
    B8 = { { '"10.000000000000000001"', "10.000000000000000001" }, { '"locked":"0"', '"locked":0' } },
    C1 = { { '"withdrawFee":"1"', '"withdrawFee":1' }, { '"withdrawMin":"10"', '"withdrawMin":10' },
      { '"900000000000000000000000000000"', "900000000000000000000000000000" } },
    C12 = { { '"0.5"', "0.5" }, { '"1.2"', "1.2" }, { '"balance":"3"', '"balance":3' } },
    C13 = { { '"0.07"', "0.07" }, { '"0.001"', "0.001" } },
    C14 = { { '"0.07"', "0.07" }, { '"0.001"', "0.001" }, { '"8"', "8" }, { '"0.07"', "0.07" },
      { '"0.001"', "0.001" }, { '"amount":"3"', '"amount":3' } },
  },
  values_as_text = {
    A1 = { { "1700000000001", '"1700000000001"' } }, B7 = { { "1700000000001", '"1700000000001"' } },
    A2 = { { "1700000000000", '"1700000000000"' } }, A3 = { { ":1}", ':"1"}' }, { ":2}", ':"2"}' } },
    A5 = { { "1700000000000", '"1700000000000"' } }, A6 = { { "1700000000000", '"1700000000000"' } },
    A10 = { { "1700000000000", '"1700000000000"' } },
    A11 = { { '"status":5', '"status":"5"' }, { "1700000000000", '"1700000000000"' } },
    A14 = { { ":true", ':"true"' }, { '"1700000000000"', "1700000000000" } },
    B2 = { { ":false", ':"false"' }, { "1700000000000", '"1700000000000"' } },
    B3 = { { "1700000000000", '"1700000000000"' } }, B4 = { { '"creatTime":1', '"creatTime":"1"' } },
    C1 = { { ":true", ':"true"' }, { ":false", ':"false"' }, { '"minConfirm":20', '"minConfirm":"20"' },
      { ":false", ':"false"' } },
    C4 = { { '"status":5', '"status":"5"' }, { "1700000000000", '"1700000000000"' } },
    C5 = { { '"status":3', '"status":"3"' }, { "1700000000000", '"1700000000000"' },
      { "1700000000001", '"1700000000001"' } },
    C10 = { { "1700000000002", '"1700000000002"' } }, C11 = { { "1700000000002", '"1700000000002"' } },
    C14 = { { ":1700000000000", ':"1700000000000"' }, { ":1700000000000", ':"1700000000000"' } },
    C16 = { { "1700000000000", '"1700000000000"' } },
  },
  states_null = {
    A10 = { { '"status":"5"', '"status":null' } }, A11 = { { '"status":5', '"status":null' } },
    C4 = { { '"status":5', '"status":null' } }, C1 = { { '"minConfirm":20', '"minConfirm":null' } },
    C5 = { { '"status":3', '"status":null' } },
  },
  other_names = {
    A1 = { { "fromsymbol", "fromSymbol" }, { "tosymbol", "toSymbol" } },
    A5 = { { "apikey", "apiKey" }, { "createTime", "creatTime" } },
    A6 = { { "apiKey", "apikey" }, { "creatTime", "createTime" } },
    A15 = { { "totalPageNum", "totalPage" } }, B2 = { { "createTime", "creatTime" } },
    B3 = { { "apiKey", "apikey" }, { "creatTime", "createTime" } },
    B4 = { { "apiKey", "apikey" }, { "creatTime", "createTime" } },
    B7 = { { "fromSymbol", "fromsymbol" }, { "toSymbol", "tosymbol" } },
    C1 = { { '"name"', '"Name"' }, { '"name"', '"Name"' } }, C8 = { { "totalPageNum", "totalPage" } },
    C10 = { { "fromSymbol", "fromsymbol" }, { "toSymbol", "tosymbol" } },
    C14 = { { "totalPageNum", "totalPage" } }, C16 = { { "totalPageNum", "totalPage" } },
  },
  token_name = { C12 = { { "convertPlatformToken", "convertMx" } } },
  address_with_memo = {
    A9 = { { '"rAddr"', '"rAddr:31"' }, { '"memo":"31"', '"memo":""' } },
  },
  bare_transfer_ids = { B6 = { { '"44"', "44" } } },
  hex_ids = {}, -- of records that are made while it is on
  padded_amounts = {
    A10 = { { '00"', '00000000000000"' } }, A11 = { { '00"', '00000000000000"' } },
    C4 = { { '00"', '00000000000000"' } },
    C5 = { { '"amount":"9"', '"amount":"9.000000000000000000"' }, { '"1"', '"1.000000000000000000"' } },
  },
  other_networks = {}, -- their records here lack netWork
  output_numbers = { A10 = { { '"0xab:0"', '"0xab:0:0"' } }, A11 = { { '"0xab:0"', '"0xab:0:0"' } },
    C4 = { { '"0xab:0"', '"0xab:0:0"' } } },
  seen_members = { -- the records of the others lack them here
    C10 = { { '"timestamp":1700000000002', '"timestamp":1700000000002,"symbol":null' } },
  },
  other_addresses_with_memo = {
    C6 = { { '"rAddr"', '"rAddr:31"' }, { '"memo":"31"', '"memo":""' } },
    A10 = { { '"TAddr"', '"TAddr:77"' }, { '"memo":"77"', '"memo":""' } },
    A11 = { { '"TAddr"', '"TAddr:77"' }, { '"memo":"77"', '"memo":""' } },
    C4 = { { '"TAddr"', '"TAddr:77"' }, { '"memo":"77"', '"memo":""' } },
  },
  null_members = {
    C5 = { { '"id":"45",', '"id":"45","withdrawOrderId":null,' } },
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

describe("a variant changes what it says and nothing else:", function()
  for name, by_operation in pairs(edits) do
    it(name, function()
      for _, row in ipairs(operations.list) do
        local expected = apply(answers[row.id].json, by_operation[row.id] or {})
        assert.equal(expected, answer(row.id, { name }), row.id)
      end
    end)
  end

  -- Members of a decoded answer by path, so that answers can be compared whatever their order and spacing.
  local function flat(value, path, into)
    into = into or {}
    if type(value) ~= "table" then
      into[path] = tostring(value)
    else
      if next(value) == nil then into[path] = "{}" end
      for name, inner in pairs(value) do flat(inner, path .. "/" .. tostring(name), into) end
    end
    return into
  end
  local function decoded(json) return flat(cjson.decode(json), "") end

  it("shuffled keeps every member and value", function()
    for _, row in ipairs(operations.list) do
      assert.same(decoded(answers[row.id].json), decoded(answer(row.id, { "shuffled" })), row.id)
    end
    assert.not_equal(answers.C5.json, answer("C5", { "shuffled" }))
  end)

  it("shuffled follows the seed", function()
    assert.equal(answer("C5", { "shuffled", seed = 4 }), answer("C5", { "shuffled", seed = 4 }))
    assert.not_equal(answer("C5", { "shuffled", seed = 4 }), answer("C5", { "shuffled", seed = 5 }))
  end)

  it("extra_members adds to every record and takes nothing away", function()
    for _, row in ipairs(operations.list) do
      local plain, rich = decoded(answers[row.id].json), decoded(answer(row.id, { "extra_members" }))
      for path, value in pairs(plain) do
        if not path:find "^/?%d*$" and value ~= "{}" then assert.equal(value, rich[path], row.id .. path) end
      end
      if row.id ~= "C7" then assert.matches("explorerUrl", answer(row.id, { "extra_members" })) end
    end
  end)
end)

describe("a set of variants", function()
  it("every switch of an answer is proven above", function()
    local proven = { shuffled = true, extra_members = true }
    for _, name in ipairs { "coins_with_network", "more_addresses", "ten_ips", "many_coins", "empty_paths",
      "refused_parentheses" } do proven[name] = true end -- in switches_spec.lua
    for _, name in ipairs(variants.names) do
      assert.is_true(edits[name] ~= nil or proven[name] or name:find "^error_" ~= nil, name)
      assert.is_string(variants.descriptions[name])
    end
  end)

  it("every switch is documented, with whether it is live", function()
    local file = assert(io.open "docs/simulator.md")
    local text = file:read "*a"
    file:close()
    local live = variants.resolve "live"
    for _, name in ipairs(variants.names) do
      assert.matches(("\n| `%s` |%s | "):format(name, live[name] and " yes" or ""), text, 1, true)
    end
  end)

  it("is a closed vocabulary that names the nearest word", function()
    local ok, message = pcall(variants.resolve, { "bare_value" })
    assert.is_false(ok)
    assert.matches('unknown variant "bare_value" (did you mean "bare_values"?)', message, 1, true)
    assert.has_error(function() variants.resolve "mexc" end)
    assert.has_error(function() variants.resolve { "records_bare", "records_in_array" } end)
  end)

  it("can be text, a list, a map, and another set with more", function()
    assert.same(variants.resolve { "bare_values", "shuffled" }, variants.resolve "bare_values,shuffled")
    assert.same(variants.resolve { "bare_values" }, variants.resolve { bare_values = true, shuffled = false })
    local set = variants.resolve { "live", "shuffled", seed = 9 }
    assert.is_true(set.shuffled and set.hex_ids and set.counted_lists)
    assert.equal(9, set.seed)
    assert.equal(set, variants.resolve(set))
  end)

  it('"live" is what the live service shows', function()
    assert.equal('{"id":"45","explorerUrl":', answer("C2", "live"):sub(1, 25))
    assert.matches('^{"result":%[{"tranId":"9007199254740993",', answer("A1", "live"))
    assert.equal('{"tranId":44,', answer("B6", "live"):sub(1, 13))
    assert.matches('"convertMx":"0.5"', answer("C12", "live"), 1, true)
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
    assert.equal('400 {"code":10101,"msg":"not enough"}', rejected(10101, "not enough", "document", create))
    assert.equal('400 {"code":700002,"msg":"x"}', rejected("700002", "x", "document", nil))
  end)

  it("has a code as text, a message, further members, or HTTP 200 where the variant says so", function()
    assert.equal('400 {"code":"10101","msg":"no"}', rejected("10101", "no", { "error_code_text" }, withdraw))
    assert.equal('400 {"success":false,"code":10101,"message":"no","_extend":null,"traceId":"7f000001-0"}',
      rejected("10101", "no", { "error_members" }, withdraw))
    assert.equal('200 {"code":730601,"msg":"no"}', rejected("730601", "no", { "error_http_200" }, create))
    assert.equal('200 {"code":730101,"msg":"no"}', rejected("730101", "no", { "error_http_200" }, operations.by_id.A2))
    assert.equal('400 {"code":10101,"msg":"no"}', rejected("10101", "no", { "error_http_200" }, withdraw))
    assert.equal('400 {"code":10101,"msg":"no"}', rejected("10101", "no", { "error_http_200" }, operations.by_id.A5))
  end)
end)

describe("a sample", function()
  it("has the right form and the same leaf everywhere", function()
    assert.equal('{"id":[]}', render.sample(operations.by_id.C2, "[]"))
    assert.equal('[{"tranId":1e999}]', render.sample(operations.by_id.C9, "1e999"))
    for _, row in ipairs(operations.list) do cjson.decode(render.sample(row, "{}")) end
  end)
end)

-- Returns what a client makes of it: the same result, whatever the variant.
describe("the client reads the same result", function()
  local decoders = require "purser.call.decoders"
  local unwrap = require "purser.call.unwrap"
  local lossy = { states_null = true }

  -- Differences that some switches make: the same amount with more zeros, the same transaction with its output.
  local function is_same(want, have)
    if type(have) ~= "string" or type(want) ~= "string" then return want == have end
    return have == want or have == want .. ":0" or have:gsub("0+$", "") == want:gsub("0+$", "")
      or have:gsub("%.0+$", "") == want
  end

  -- Where `have` lacks a member of `want` or has another value; members that `want` does not know are extra.
  local function difference(want, have, path)
    if type(want) ~= "table" then
      return not is_same(want, have) and ("%s: %s instead of %s"):format(path, tostring(have), tostring(want)) or nil
    end
    if type(have) ~= "table" then return path .. ": no table" end
    if #want ~= #have then return path .. ": another number of records" end
    for name, value in pairs(want) do
      local wrong = difference(value, have[name], path .. "/" .. name)
      if wrong then return wrong end
    end
  end

  local function read(row, variant)
    local body = answer(row.id, variant)
    local value, message, offset = decoders.of(row):decode(body)
    assert(value, ("%s: %s at byte %s"):format(row.id, tostring(message), tostring(offset)))
    return assert(unwrap.take(row, value, body))
  end

  local function expected(row)
    local unsaid, canonical = answers[row.id].unsaid, answers[row.id].result
    if not unsaid then return canonical end
    local copy = { {} }
    for name, value in pairs(canonical[1]) do copy[1][name] = value end
    for _, name in ipairs(unsaid) do copy[1][name] = nil end
    return copy
  end

  local function same_for_all(variant)
    for _, row in ipairs(operations.list) do
      assert.is_nil(difference(expected(row), read(row, variant), row.id))
    end
  end

  it("of the document's form", function()
    same_for_all "document"
  end)

  it("of the live form", function()
    same_for_all "live"
  end)

  for _, name in ipairs(variants.names) do
    if not lossy[name] and not name:find "^error_" then
      it("with " .. name, function() same_for_all { name } end)
    end
  end

  it("with everything at once, in twenty orders", function()
    for seed = 1, 20 do
      local all = { seed = seed }
      for _, name in ipairs(variants.names) do
        all[name] = not lossy[name] and not name:find "^records_" or nil
      end
      same_for_all(all)
    end
  end)
end)

describe("a text of an answer", function()
  it("is escaped as JSON wants it, and read as it was", function()
    for text, written in pairs { ['a"b'] = [["a\"b"]], ["a\\b"] = [["a\\b"]], ["\n\t\0\127"] = [["\n\t\u0000\u007f"]],
      ["\195\188/'"] = '"\195\188/\'"' } do
      local json = render.answer(operations.by_id.B1, { subAccount = "a", note = text })
      assert.equal(('{"subAccount":"a","note":%s}'):format(written), json)
      assert.equal(text, cjson.decode(json).note)
    end
  end)
end)
