-- SPDX-License-Identifier: MIT
-- luacheck: ignore 631
-- The totals of answers: what they say of records, and where they say nothing.

local purser = require "purser"
local operations = require "purser.client.operations"

local client = assert(purser.new {
  base_url = "https://service.example", api_key = "key", secret_key = "secret", retry = false,
  transport = { send = function() error "nothing is sent here" end },
})

-- The answer must be an error of this kind and outcome.
local function fails(row, status, body, kind, outcome, words)
  local result, err = client:parse(row.full_name, status, body)
  assert.is_nil(result)
  assert.same({ kind, outcome }, { err.kind, err.outcome })
  assert.matches(words or "", err.hint and err.message .. "; " .. err.hint or err.message)
end

describe("a total", function()
  local result = require "purser.client.call.unwrap"

  local function contradicts(name, body, words)
    local row = operations.by_name[name]
    fails(row, 200, body, "decode", "unknown", words)
  end

  it("makes an answer without a record no empty list", function()
    for _, name in ipairs { "broker.transfer_history", "sub_account.transfer_history" } do
      for _, form in ipairs { "%s", '{"code":0,"data":%s}' } do
        contradicts(name, form:format '{"result":[],"totalCount":7}', "no record and a total of 7")
        assert.same({}, client:parse(name, 200, form:format '{"result":[],"totalCount":1}')) -- it may count pages
      end
    end
    contradicts("wallet.transfer_history", '{"rows":[],"total":3}', "no record and a total of 3")
    for _, name in ipairs { "wallet.internal_transfer_history", "wallet.conversion_history", "broker.rebates",
      "wallet.withdrawal_addresses" } do
      contradicts(name, '{"data":[],"page":1,"totalRecords":5,"totalPageNum":1}', "no record and a total of 5")
    end
  end)

  it("throws away no record that is there", function()
    for _, name in ipairs { "broker.transfer_history", "sub_account.transfer_history" } do
      for _, total in ipairs { "0", "1", '"many"', "null" } do
        local list = assert(client:parse(name, 200, ('{"result":[{"tranId":1},{"tranId":2}],"totalCount":%s}')
          :format(total)))
        assert.same({ "1", "2" }, { list[1].tranId, list[2].tranId })
      end
    end
    assert.equal("1", client:parse("wallet.transfer_history", 200, '[{"rows":[{"tranId":1}],"total":0}]').rows[1].tranId)
  end)

  it("of any meaning stays with the records, as all that stood beside them", function()
    local row = operations.by_name["broker.transfer_history"]
    for _, body in ipairs { '{"result":[{"tranId":1}],"totalCount":9,"next":"x"}',
      '{"code":0,"data":{"result":[{"tranId":1}],"totalCount":"9"},"next":"x"}' } do
      local list = assert(client:parse("broker.transfer_history", 200, body))
      assert.same({ { tranId = "1" } }, list)
      assert.same({ n = 3, nil, nil, 9 }, table.pack(result.counts(row, list)))
      assert.same({ 9, "x" }, { result.beside(list).totalCount, result.beside(list).next })
    end
    assert.same({}, (result.beside(assert(client:parse("broker.transfer_history", 200, "[]")))))
    row = operations.by_name["wallet.internal_transfer_history"]
    local page = '{"code":0,"data":[{"tranId":"1"}],"totalRecords":4,"totalPageNum":2,"partial":true}'
    page = assert(client:parse("wallet.internal_transfer_history", 200, page))
    assert.same({ n = 3, 4, 2 }, table.pack(result.counts(row, page)))
    local partial = assert(client:parse("broker.transfer_history", 206, '[{"tranId":"1"}]'))
    assert.same({ {}, 206 }, { result.beside(partial) })
    assert.same({ true, 1 }, { result.beside(page).partial, #{ result.beside(page) } })
  end)

  -- As they stand in the vendor's pages of 2026-01: A15, C16 and C14 name another number of records than they show, and
  -- a network of C1 has a member twice.
  it("of the vendor's samples contradicts the records, and is read", function()
    local rebates = assert(client:parse("broker.rebates", 200, [[{"page":1,"totalRecords":1,"totalPageNum":1,"data":[
      {"asset":"USDT","amount":"0.00082273","type":"spot","uid":"221827","time":"20221022"},
      {"asset":"USDT","amount":"0.00082273","type":"spot","uid":"2","time":"20221022"}]}]]))
    assert.same({ 2, 1 }, { #rebates.data, rebates.totalRecords })
    local moved = assert(client:parse("wallet.internal_transfer_history", 200, [[{"page":1,"totalRecords":1,
      "totalPageNum":1,"data":[{"tranId":"11945860693","asset":"BTC","amount":"0.1","toAccountType":"EMAIL",
      "toAccount":"a@b.example","fromAccount":"d@e.example","status":"SUCCESS","timestamp":1544433325000},
      {"tranId":"","asset":"BTC","amount":"0.8","toAccountType":"UID","fromAccount":"a@b.example",
      "toAccount":"87658765","status":"SUCCESS","timestamp":1544433325000}]}]]))
    assert.equal(2, #moved.data)
    local batches = assert(client:parse("wallet.conversion_history", 200, [[{"data":[{"totalConvert":"0.000002",
      "totalFee":"0.00000004","convertTime":1665300874000,"convertDetails":[]},{"totalConvert":"0.000003",
      "totalFee":"0.00000005","convertTime":1665300873000,"convertDetails":[]}],"totalRecords":4,"page":1,"totalPageNum":2}]]))
    assert.equal(2, #batches.data)
    local coins = assert(client:parse("wallet.coins", 200, [[ [{"coin":"EOS","name":"EOS","networkList":[{"coin":"EOS",
      "depositDesc":null,"depositEnable":true,"minConfirm":0,"name":"EOS","network":"EOS","withdrawEnable":false,
      "withdrawFee":"0.0001","withdrawIntegerMultiple":null,"withdrawMax":"10000","withdrawMin":"0.001",
      "sameAddress":false,"contract":"TN3W4H6rK2ce4vX9YnFQHwKENnHjoxbm9","withdrawTips":"Both a MEMO and an Address",
      "network":"EOS2","netWork":"EOS"}]}] ]]))
    assert.equal("EOS2", coins[1].networkList[1].network)
  end)

  it("may be more than an empty page after the first one shows", function()
    local reader = assert(purser.new { base_url = "https://service.example", api_key = "key", secret_key = "secret",
      retry = false, transport = { send = function(_, request)
        local body = request.target:find("capital/transfer?", 1, true) and '{"rows":[],"total":3}'
          or '{"result":[],"totalCount":7}'
        return { status = 200, body = body, headers = "" }
      end } })
    local window = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    for page, words in pairs { "shows no record", false } do
      window.page = page
      for _, name in ipairs { "sub_account.transfer_history", "wallet.transfer_history" } do
        local answer, err = reader:call(name, window)
        if words then assert.matches(words, err.message) else assert.same({}, answer.rows or answer) end
      end
    end
  end)
end)
