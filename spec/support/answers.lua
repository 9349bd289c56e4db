-- SPDX-License-Identifier: MIT
-- One canonical result an operation, and the answer that the interface document describes for it, written by hand.

local secret = "obviously-not-a-secret"

local deposit = {
  amount = "1.500000000000000000", coin = "USDT", network = "Tron(TRC20)", status = 5, address = "TAddr",
  addressTag = "77", txId = "0xab:0", unlockConfirm = "20", confirmTimes = "19", insertTime = 1700000000000,
  memo = "77",
}
local sub_deposit = {}
for name, value in pairs(deposit) do sub_deposit[name] = value end
sub_deposit.status = "5"

local sub_transfer = {
  tranId = "9007199254740993", fromAccount = "parent", toAccount = "alice0001",
  clientTranId = "abcdefghijklmnopqrstuvwxyz012345", asset = "USDT", amount = "0.10", fromAccountType = "SPOT",
  toAccountType = "FUTURES", fromSymbol = "BTCUSDT", toSymbol = "ETHUSDT", status = "SUCCESS",
  timestamp = 1700000000001,
}
local wallet_transfer = {
  tranId = "123", asset = "USDT", amount = "7", fromAccountType = "SPOT", toAccountType = "FUTURES", status = "WAIT",
  timestamp = 1700000000002,
}
local transfer_text = '"asset":"USDT","amount":"0.10","fromAccountType":"SPOT","toAccountType":"FUTURES",'

return {
  A1 = {
    result = { sub_transfer },
    json = '[{"tranId":"9007199254740993","fromAccount":"parent","toAccount":"alice0001",'
      .. '"clientTranId":"abcdefghijklmnopqrstuvwxyz012345",' .. transfer_text
      .. '"fromsymbol":"BTCUSDT","tosymbol":"ETHUSDT","status":"SUCCESS","timestamp":1700000000001}]',
  },
  A2 = {
    result = { subAccount = "alice0001", note = "x", timestamp = 1700000000000 },
    json = '{"code":"0","message":"","data":[{"subAccount":"alice0001","note":"x","timestamp":1700000000000}]}',
  },
  A3 = {
    result = { { subAccount = "alice0001", note = "x", timestamp = 1 },
      { subAccount = "bob00001", note = "y", timestamp = 2 } },
    json = '{"code":"0","message":"","data":[{"subAccount":"alice0001","note":"x","timestamp":1},'
      .. '{"subAccount":"bob00001","note":"y","timestamp":2}]}',
  },
  A4 = { result = { status = "2" }, json = '{"status":"2"}' },
  A5 = {
    result = { subAccount = "alice0001", permissions = "SPOT_ACCOUNT_READ", note = "k", apiKey = "mx0fake",
      secretKey = secret, createTime = 1700000000000, ip = "10.0.0.1,10.0.0.2" },
    json = '{"subAccount":"alice0001","permissions":"SPOT_ACCOUNT_READ","note":"k","apikey":"mx0fake","secretKey":"'
      .. secret .. '","createTime":1700000000000,"ip":"10.0.0.1,10.0.0.2"}',
  },
  A6 = {
    result = { { note = "k", apiKey = "mx0fake", permissions = "SPOT_ACCOUNT_READ", ip = "",
      createTime = 1700000000000 } },
    json = '{"subAccount":[{"note":"k","apiKey":"mx0fake","permissions":"SPOT_ACCOUNT_READ","ip":"",'
      .. '"creatTime":1700000000000}]}',
  },
  A7 = { result = { subAccount = "alice0001" }, json = '{"subAccount":"alice0001"}' },
  A8 = {
    result = { address = "TAddr", coin = "USDT", network = "Tron(TRC20)" },
    json = '{"address":"TAddr","coin":"USDT","network":"Tron(TRC20)","memo":null}',
  },
  A9 = {
    result = { { address = "rAddr", coin = "XRP", network = "Ripple(XRP)", memo = "31" } },
    json = '[{"address":"rAddr","coin":"XRP","network":"Ripple(XRP)","memo":"31"}]',
  },
  A10 = {
    result = { sub_deposit },
    json = '[{"amount":"1.500000000000000000","coin":"USDT","network":"Tron(TRC20)","status":"5","address":"TAddr",'
      .. '"addressTag":"77","txId":"0xab:0","unlockConfirm":"20","confirmTimes":"19",'
      .. '"insertTime":1700000000000,"memo":"77"}]',
  },
  A11 = {
    result = { deposit }, unsaid = { "addressTag" },
    json = '[{"amount":"1.500000000000000000","coin":"USDT","network":"Tron(TRC20)","status":5,"address":"TAddr",'
      .. '"txId":"0xab:0","unlockConfirm":"20","confirmTimes":"19",'
      .. '"insertTime":1700000000000,"memo":"77"}]',
  },
  A12 = { result = { id = "42" }, json = '{"id":"42"}' },
  A13 = { result = { tranId = "43" }, json = '{"tranId":"43"}' },
  A14 = {
    result = { subAccount = "alice0001", isFuturesEnabled = true, timestamp = "1700000000000" },
    json = '{"code":"0","message":"","data":[{"subAccount":"alice0001","isFuturesEnabled":true,'
      .. '"timestamp":"1700000000000"}]}',
  },
  A15 = {
    result = { data = { { asset = "USDT", amount = "0.01", type = "spot", uid = "55", time = "20231114" } }, page = 1,
      totalRecords = 11, totalPageNum = 2 },
    json = '{"page":1,"totalRecords":11,"totalPageNum":2,"data":[{"asset":"USDT","amount":"0.01","type":"spot",'
      .. '"uid":"55","time":"20231114"}]}',
  },
  B1 = {
    result = { subAccount = "alice0001", note = 'a "b"\\\n' },
    json = [[{"subAccount":"alice0001","note":"a \"b\"\\\n"}]],
  },
  B2 = {
    result = { { subAccount = "alice0001", isFreeze = false, createTime = 1700000000000, uid = "66" } },
    json = '{"subAccounts":[{"subAccount":"alice0001","isFreeze":false,"createTime":1700000000000,"uid":"66"}]}',
  },
  B3 = {
    result = { subAccount = "alice0001", note = "k", apiKey = "mx0fake", secretKey = secret,
      permissions = "SPOT_ACCOUNT_READ", ip = "10.0.0.1", createTime = 1700000000000 },
    json = '{"subAccount":"alice0001","note":"k","apiKey":"mx0fake","secretKey":"' .. secret
      .. '","permissions":"SPOT_ACCOUNT_READ","ip":"10.0.0.1","creatTime":1700000000000}',
  },
  B4 = {
    result = { { note = "k", apiKey = "mx0fake", permissions = "SPOT_ACCOUNT_READ", ip = "10.0.0.1", createTime = 1 } },
    json = '{"subAccount":[{"note":"k","apiKey":"mx0fake","permissions":"SPOT_ACCOUNT_READ","ip":"10.0.0.1",'
      .. '"creatTime":1}]}',
  },
  B5 = { result = { subAccount = "alice0001" }, json = '{"subAccount":"alice0001"}' },
  B6 = { result = { tranId = "44" }, json = '[{"tranId":"44"}]' },
  B7 = {
    result = { sub_transfer },
    json = '[{"tranId":"9007199254740993","fromAccount":"parent","toAccount":"alice0001",'
      .. '"clientTranId":"abcdefghijklmnopqrstuvwxyz012345",' .. transfer_text
      .. '"fromSymbol":"BTCUSDT","toSymbol":"ETHUSDT","status":"SUCCESS","timestamp":1700000000001}]',
  },
  B8 = {
    result = { { asset = "USDT", free = "10.000000000000000001", locked = "0" } },
    json = '{"balances":[{"asset":"USDT","free":"10.000000000000000001","locked":"0"}]}',
  },
  C1 = {
    result = { { coin = "USDT", name = "Tether", networkList = { {
      coin = "USDT", name = "Tether", network = "Tron(TRC20)", netWork = "TRX", depositEnable = true,
      withdrawEnable = false, withdrawFee = "1", withdrawMin = "10", withdrawMax = "900000000000000000000000000000",
      minConfirm = 20, sameAddress = false, contract = "TR7NH", withdrawTips = "Mind the network",
    } } } },
    json = '[{"coin":"USDT","name":"Tether","networkList":[{"coin":"USDT","name":"Tether","network":"Tron(TRC20)",'
      .. '"netWork":"TRX","depositEnable":true,"withdrawEnable":false,"withdrawFee":"1","withdrawMin":"10",'
      .. '"withdrawMax":"900000000000000000000000000000","withdrawIntegerMultiple":null,"minConfirm":20,'
      .. '"sameAddress":false,"contract":"TR7NH","depositDesc":null,"depositTips":null,'
      .. '"withdrawTips":"Mind the network"}]}]',
  },
  C2 = { result = { id = "45" }, json = '{"id":"45"}' },
  C3 = { result = { id = "45" }, json = '{"id":"45"}' },
  C4 = {
    result = { deposit },
    json = '[{"amount":"1.500000000000000000","coin":"USDT","network":"Tron(TRC20)","status":5,"address":"TAddr",'
      .. '"addressTag":"77","txId":"0xab:0","unlockConfirm":"20","confirmTimes":"19",'
      .. '"insertTime":1700000000000,"memo":"77"}]',
  },
  C5 = {
    result = { {
      id = "45", coin = "USDT", network = "Tron(TRC20)", address = "TAddr", amount = "9", transferType = 0, status = 3,
      transactionFee = "1", applyTime = 1700000000000, updateTime = 1700000000001, remark = "rent", memo = "",
      transHash = "", coinId = "128f", vcoinId = "v1",
    } },
    json = '[{"id":"45","txId":null,"coin":"USDT","network":"Tron(TRC20)","address":"TAddr","amount":"9",'
      .. '"transferType":0,"status":3,"transactionFee":"1","confirmNo":null,"applyTime":1700000000000,'
      .. '"updateTime":1700000000001,"remark":"rent","memo":"","transHash":"","coinId":"128f","vcoinId":"v1"}]',
  },
  C6 = {
    result = { address = "rAddr", coin = "XRP", network = "Ripple(XRP)", memo = "31" },
    json = '{"address":"rAddr","coin":"XRP","network":"Ripple(XRP)","memo":"31"}',
  },
  C7 = {
    result = { { address = "rAddr", coin = "XRP", network = "Ripple(XRP)", memo = "31" },
      { address = "TAddr", coin = "USDT", network = "Tron(TRC20)" } },
    json = '[{"address":"rAddr","coin":"XRP","network":"Ripple(XRP)","memo":"31"},'
      .. '{"address":"TAddr","coin":"USDT","network":"Tron(TRC20)","memo":null}]',
  },
  C8 = {
    result = { data = { { coin = "XRP", network = "XRP", address = "rSaved", addressTag = "home", memo = "31" },
      { coin = "BTC", network = "BTC", address = "bc1", addressTag = "" } },
      page = 1, totalRecords = 2, totalPageNum = 1 },
    json = '{"data":[{"coin":"XRP","network":"XRP","address":"rSaved","addressTag":"home","memo":"31"},'
      .. '{"coin":"BTC","network":"BTC","address":"bc1","addressTag":"","memo":null}],'
      .. '"totalRecords":2,"page":1,"totalPageNum":1}',
  },
  C9 = { result = { tranId = "46" }, json = '[{"tranId":"46"}]' },
  C10 = {
    result = { rows = { wallet_transfer }, total = 1 },
    json = '[{"rows":[{"tranId":"123","clientTranId":null,"asset":"USDT","amount":"7","fromAccountType":"SPOT",'
      .. '"toAccountType":"FUTURES","fromSymbol":null,"toSymbol":null,"status":"WAIT","timestamp":1700000000002}],'
      .. '"total":1}]',
  },
  C11 = {
    result = wallet_transfer,
    json = '{"tranId":"123","clientTranId":null,"asset":"USDT","amount":"7","fromAccountType":"SPOT",'
      .. '"toAccountType":"FUTURES","symbol":null,"status":"WAIT","timestamp":1700000000002}',
  },
  C12 = {
    result = { { convertPlatformToken = "0.5", convertUsdt = "1.2", balance = "3", asset = "ABC", code = "30021",
      message = "below the minimum" } },
    json = '[{"convertPlatformToken":"0.5","convertUsdt":"1.2","balance":"3","asset":"ABC","code":"30021",'
      .. '"message":"below the minimum"}]',
  },
  C13 = {
    result = { successList = { "ABC", "DEF" }, failedList = { { asset = "GHI", message = "no", code = "30021" } },
      totalConvert = "0.07", convertFee = "0.001" },
    json = '{"successList":["ABC","DEF"],"failedList":[{"asset":"GHI","message":"no","code":"30021"}],'
      .. '"totalConvert":"0.07","convertFee":"0.001"}',
  },
  C14 = {
    result = { data = { { totalConvert = "0.07", totalFee = "0.001", convertTime = 1700000000000, convertDetails = { {
      id = "8", convert = "0.07", fee = "0.001", amount = "3", time = 1700000000000, asset = "ABC" } } } }, page = 1,
      totalRecords = 1, totalPageNum = 1 },
    json = '{"data":[{"totalConvert":"0.07","totalFee":"0.001","convertTime":1700000000000,"convertDetails":['
      .. '{"id":"8",'
      .. '"convert":"0.07","fee":"0.001","amount":"3","time":1700000000000,"asset":"ABC"}]}],"totalRecords":1,'
      .. '"page":1,'
      .. '"totalPageNum":1}',
  },
  C15 = { result = { tranId = "47" }, json = '{"tranId":"47"}' },
  C16 = {
    result = { data = { { tranId = "47", asset = "USDT", amount = "2", toAccountType = "EMAIL",
      toAccount = "b@example.org",
      fromAccount = "a@example.org", status = "SUCCESS", timestamp = 1700000000000 } }, page = 1, totalRecords = 1,
      totalPageNum = 1 },
    json = '{"page":1,"totalRecords":1,"totalPageNum":1,"data":[{"tranId":"47","asset":"USDT","amount":"2",'
      .. '"toAccountType":"EMAIL","toAccount":"b@example.org","fromAccount":"a@example.org","status":"SUCCESS",'
      .. '"timestamp":1700000000000}]}',
  },
  C17 = { result = { id = "48" }, json = '[{"id":"48"}]' },
}
