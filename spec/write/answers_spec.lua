-- SPDX-License-Identifier: MIT
-- Members that may stand next to a list from which something is concluded, and in the answer of a write call.

local core = require "purser.core"
local compare = require "purser.write.answers"
local operations = require "purser.client.operations"

local HISTORY = operations.by_name["wallet.withdrawal_history"]

-- Returns whether an answer is believed: its list is empty.
local function believes(body, status, headers, row)
  local list = {}
  local value, err = compare.verify(row or HISTORY, { status = status or 200, headers = headers or "", body = body },
    list)
  if value ~= nil then return true end
  assert.equal("decode", err.kind)
  return false
end

describe("a list from which something is concluded", function()
  it("comes with status 200, and no header that says it is old or a part", function()
    assert.is_true(believes "[]")
    for _, status in ipairs { 201, 202, 203, 206, 207, 226, 299 } do assert.is_false(believes("[]", status)) end
    for _, header in ipairs { "Content-Range: bytes 0-1/2048", 'Warning: 110 - "stale"', "Age: 900" } do
      assert.is_false(believes("[]", 200, header .. "\r\n"), header)
    end
    assert.is_true(believes("[]", 200, "Age: 0\r\n"))
  end)

  it("has nothing beside it but what says nothing else", function()
    for _, body in ipairs { '{"data":[]}', '{"code":0,"msg":"success","data":[]}',
      '{"code":"0","message":"","data":[]}',
      '{"success":true,"data":[],"timestamp":1700000000000}', '{"data":[],"error":null,"errors":[]}',
      '{"data":[],"hasMore":false,"nextCursor":""}', '{"data":[],"count":0}' } do
      assert.is_true(believes(body), body)
    end
    for _, body in ipairs { '{"data":[],"error":"db down"}', '{"data":[],"errors":[{"message":"db down"}]}',
      '{"status":"error","data":[]}', '{"data":[],"partial":true}', '{"data":[],"hasMore":true}',
      '{"data":[],"hasNext":true,"nextCursor":"abc"}', '{"data":[],"count":1}', '{"data":[],"totalNum":1}',
      '{"code":0,"msg":"query timeout, partial result","data":[]}', '{"data":[],"anything":"else"}',
      '{"data":{"rows":[],"warning":"x"}}' } do
      assert.is_false(believes(body), body)
    end
  end)

  it("is a list of any form, and a record is none", function()
    assert.is_true(believes('{"rows":[],"total":0}', 200, "", operations.by_name["wallet.transfer_history"]))
    assert.is_false(believes('{"rows":[],"total":0,"error":"x"}', 200, "",
      operations.by_name["wallet.transfer_history"]))
    assert.is_true(believes('{"status":"1","error":"x"}', 200, "", operations.by_name["broker.sub_account_status"]))
  end)
end)

describe("the answer of a call that moves funds", function()
  local withdraw, transfer = operations.by_name["wallet.withdraw"], operations.by_name["sub_account.transfer"]

  local payment = { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "5" }
  local move = { asset = "USDT", toAccount = "desk", amount = "5" }

  local function why(row, body, status, headers)
    local params = row == withdraw and payment or row == transfer and move or { subAccount = "a" }
    return compare.doubt_of_result(row, params, core.decode(body), { status = status or 200, body = body,
      headers = headers })
  end

  it("shows that it was executed by its id, and what was sent", function()
    for _, body in ipairs { '{"id":"w1"}', '{"code":0,"msg":"success","data":{"id":"w1"}}', '[{"id":"w1"}]',
      '{"id":"w1","coin":"usdt","amount":"5.00"}', '{"id":"w1","explorerUrl":"https://x.example"}',
      '{"id":"w1","error":null,"success":true}' } do
      assert.is_nil(why(withdraw, body), body)
    end
    assert.is_nil(why(transfer, '{"tranId":"9001","toAccount":"desk"}'))
    assert.is_nil(why(operations.by_name["broker.create_sub_account"], '{"subAccount":"a","details":"x"}'))
  end)

  it("does not by another status, another account, or a word that nobody here can read", function()
    for _, status in ipairs { 202, 203, 206 } do
      assert.matches("HTTP " .. status, why(withdraw, '{"id":"w1"}', status))
    end
    assert.matches("toAccount", why(transfer, '{"tranId":"9001","toAccount":"evil"}'))
    assert.matches("toAccount", why(transfer, '{"tranId":"9001","toAccount":"desk1"}'))
    for _, more in ipairs { '"ok":false', '"state":"FAILED"', '"status":"PENDING_APPROVAL"', '"errorCode":"1"',
      '"errors":["x"]', '"msg":"insufficient balance"', '"retCode":10001', '"queued":true', '"amount":"1"' } do
      assert.is_string(why(withdraw, '{"id":"w1",' .. more .. "}"), more)
      assert.is_string(why(withdraw, '{"data":{"id":"w1",' .. more .. "}}"), more)
    end
  end)

  it("does not where it is old, or a part, by its own word", function()
    for _, header in ipairs { "Content-Range: bytes 0-10/900", 'Warning: 110 - "stale"', "Age: 900" } do
      assert.is_string(why(withdraw, '{"id":"w1"}', 200, header .. "\r\n"), header)
    end
    assert.is_nil(why(withdraw, '{"id":"w1"}', 200, "Age: 0\r\n"))
  end)

  it("names no one whom the operation does not pay: that is another operation's", function()
    assert.matches("toAccount", why(withdraw, '{"id":"w1","toAccount":"evil"}'))
    assert.matches("address", why(transfer, '{"tranId":"9001","address":"TOther"}'))
    assert.is_nil(why(withdraw, '{"id":"w1","toAccount":""}'))
  end)

  it("may show what was not sent, and a network by its other name; another network is another call's", function()
    for _, more in ipairs { '"memo":"77"', '"network":"Tron(TRC20)"', '"netWork":"Tron(TRC20)"' } do
      assert.is_nil(why(withdraw, '{"id":"w1",' .. more .. "}"), more)
    end
    for _, more in ipairs { '"network":"ETH"', '"netWork":"BEP20(BSC)"', '"network":"","netWork":"Solana"' } do
      assert.matches("another network", why(withdraw, '{"id":"w1",' .. more .. "}"), more)
      assert.matches("`network`, which is not what was", why(withdraw, '{"data":{"id":"w1",' .. more .. '}}'), more)
    end
    assert.is_nil(why(withdraw, '{"id":"w1","network":"nobody knows"}'))
    assert.equal("TRX was asked for, and the answer is of the network ETH", compare.doubt_of_result(
      operations.by_name["wallet.create_deposit_address"], { coin = "USDT", network = "TRX" },
      { coin = "USDT", network = "ETH", address = payment.address }))
    local memo = { coin = "USDT", address = payment.address, amount = "5", memo = "78" }
    assert.matches("memo", compare.doubt_of_result(withdraw, memo, { id = "w1", memo = "77" }))
  end)
end)
