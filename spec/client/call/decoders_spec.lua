-- SPDX-License-Identifier: MIT
-- The decoders of rows: their forms, and what each takes and rejects. unwrap_spec.lua asks it of every operation.

local decoders = require "purser.client.call.decoders"
local operations = require "purser.client.operations"

describe("the decoder of a row", function()
  it("is made once, for each form of a result", function()
    local seen = {}
    for _, row in ipairs(operations.every) do
      assert.equal(decoders.of(row), decoders.of(row))
      seen[decoders.form_of(row.result)] = true
    end
    assert.same({ list = true, record = true, page = true, rows = true }, seen)
  end)

  it("reads a list bare and in each wrapper, with the members of its shape", function()
    local row = operations.by_name["wallet.deposit_history"]
    for _, name in ipairs(decoders.carriers_of(row.result)) do
      local value = assert(decoders.of(row):decode(('{"code":"0","%s":[{"coin":"USDT","status":"5"}]}'):format(name)))
      assert.same({ { coin = "USDT", status = 5 } }, value[name])
      assert.equal("0", value.code)
    end
    assert.same({ { coin = "USDT" } }, decoders.of(row):decode '[{"coin":"USDT"}]')
    assert.is_nil((decoders.of(row):decode '[{"coin":{}}]'))
  end)
end)

describe("the decoder of a write call", function()
  it("takes nothing that is said twice, where a read takes the last", function()
    local body = '{"id":"1","id":"2"}'
    assert.is_nil((decoders.of(operations.by_name["wallet.withdraw"]):decode(body)))
    local read = decoders.of(operations.by_name["wallet.withdrawal_history"]):decode('{"data":[' .. body .. "]}")
    assert.equal("2", read.data[1].id)
  end)
end)

describe("a list in a wrapper of its own", function()
  it("is read beside its count, and within `data`", function()
    local count = 0
    for _, row in ipairs(operations.every) do
      local is_key = row.result.list == "api_key" -- whose records have a member of the wrapper's name
      for _, name in ipairs(row.result.list and not is_key and row.result.wrappers or {}) do
        local value = assert(decoders.of(row):decode(('{"data":{"%s":[{}]}}'):format(name)))
        assert.same({ {} }, value.data[name], row.full_name)
        value = assert(decoders.of(row):decode(('{"data":{"%s":[{}],"totalCount":"7"}}'):format(name)))
        assert.equal(row.result.counts and 7 or "7", value.data.totalCount)
        count = count + 1
      end
    end
    assert.is_true(count >= 2)
  end)
end)

describe("the decoder of errors", function()
  it("reads the code and the texts of any object, and no list", function()
    local decoder = decoders.of_errors()
    assert.same({ code = "10", msg = "no" }, decoder:decode '{"code":10,"msg":"no"}')
    assert.is_nil((decoder:decode "[]"))
  end)
end)
