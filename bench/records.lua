-- SPDX-License-Identifier: MIT
-- Deterministic history answers as the service sends them: every run, on every Lua, makes the same bytes.
local M = {}

-- A Lehmer generator: its products stay below 2^53, so it is the same wherever numbers are doubles.
local function generator(seed)
  local state = seed
  return function(n)
    state = state * 48271 % 2147483647
    return state % n
  end
end

local function pick(random, list)
  return list[random(#list) + 1]
end

local function text_of(random, alphabet, length)
  local out = {}
  for i = 1, length do
    local at = random(#alphabet) + 1
    out[i] = alphabet:sub(at, at)
  end
  return table.concat(out)
end

local HEX = "0123456789abcdef"
local BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

local NETWORKS = {
  { "USDT", "Tron(TRC20)", "TRX", "https://tronscan.org/#/transaction/" },
  { "USDT", "Ethereum(ERC20)", "ETH", "https://etherscan.io/tx/" },
  { "ETH", "Ethereum(ERC20)", "ETH", "https://etherscan.io/tx/" },
  { "BTC", "Bitcoin(BTC)", "BTC", "https://blockchair.com/bitcoin/transaction/" },
  { "BNB", "BNB Smart Chain(BEP20)", "BSC", "https://bscscan.com/tx/" },
  { "USDC", "Polygon(MATIC)", "MATIC", "https://polygonscan.com/tx/" },
  { "XRP", "Ripple(XRP)", "XRP", "https://xrpscan.com/tx/" },
  { "SOL", "Solana(SOL)", "SOL", "https://solscan.io/tx/" },
}

local function address(random, network)
  if network == "ETH" or network == "BSC" or network == "MATIC" then
    return "0x" .. text_of(random, HEX, 40)
  end
  return "T" .. text_of(random, BASE58, 33)
end

local function amount(random)
  local whole = tostring(random(10 ^ (1 + random(4)))):gsub("%.0$", "")
  local places = random(9)
  if places == 0 then return whole end
  return whole .. "." .. text_of(random, "0123456789", places)
end

local function time(random, index)
  return ("%.0f"):format(1700000000000 + index * 61000 + random(60000))
end

local function list(records)
  return "[" .. table.concat(records, ",") .. "]"
end

--- `count` deposit records, about 287 bytes each.
function M.deposits(count)
  local random, records = generator(20240501), {}
  for i = 1, count do
    local net = pick(random, NETWORKS)
    local memo = net[3] == "XRP" and text_of(random, "0123456789", 9) or ""
    records[i] = ('{"amount":"%s","coin":"%s","network":"%s","status":%d,"address":"%s","txId":"%s",' ..
      '"unlockConfirm":"%s","confirmTimes":"%s","insertTime":%s,"netWork":"%s","memo":"%s"}'):format(
      amount(random), net[1], net[2], pick(random, { 5, 5, 5, 5, 4, 6 }), address(random, net[3]),
      text_of(random, HEX, 64), pick(random, { "12", "20", "64", "3" }), tostring(20 + random(300)),
      time(random, i), net[3], memo)
  end
  return list(records)
end

--- `count` withdrawal records, about 548 bytes each.
function M.withdrawals(count)
  local random, records = generator(20240502), {}
  for i = 1, count do
    local net = pick(random, NETWORKS)
    local at, hash = time(random, i), text_of(random, HEX, 64)
    local order = random(3) == 0 and ('"withdrawOrderId":"%s",'):format(text_of(random, HEX, 32)) or ""
    local confirmed = random(8) > 0
    records[i] = ('{"id":"%s",%s"txId":%s,"coin":"%s","network":"%s","address":"%s","amount":"%s",' ..
      '"transferType":%d,"status":%d,"transactionFee":"%s","confirmNo":%s,"applyTime":%s,"remark":"%s","memo":"%s",' ..
      '"explorerUrl":%s,"transHash":%s,"updateTime":%s,"netWork":"%s","coinId":"%s","vcoinId":"%s"}'):format(
      text_of(random, HEX, 32), order, confirmed and ('"%s"'):format(hash) or "null", net[1], net[2],
      address(random, net[3]), amount(random), random(10) == 0 and 1 or 0, confirmed and 7 or 2,
      pick(random, { "1", "0.0005", "0.8", "5" }), confirmed and tostring(random(40)) or "null", at,
      pick(random, { "", "", "", "payroll", "cold storage" }), "",
      confirmed and i % 4 == 0 and ('"%s%s"'):format(net[4], hash) or "null",
      confirmed and i % 2 > 0 and ('"%s"'):format(hash) or "null", at, net[3],
      "128f589271cb4951b03e71e6323e" .. random(8), "febc9973be4d4d53bb374476239e" .. random(8))
  end
  return list(records)
end

--- The coin list: `count` coins with their networks, about 1.2 MB for 1600.
function M.coins(count)
  local random, coins = generator(20240503), {}
  for i = 1, count do
    local coin, networks = ("C%d%s"):format(i, text_of(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3)), {}
    for n = 1, 1 + random(2) do
      local net = pick(random, NETWORKS)
      networks[n] = ('{"coin":"%s","depositDesc":null,"depositEnable":%s,"minConfirm":%d,"name":"%s-%s",' ..
        '"network":"%s","withdrawEnable":%s,"withdrawFee":"%s","withdrawIntegerMultiple":null,"withdrawMax":"%s",' ..
        '"withdrawMin":"%s","sameAddress":false,"contract":"%s","withdrawTips":null,"depositTips":%s,"netWork":"%s"}'
      ):format(coin, pick(random, { "true", "false" }), 1 + random(64), coin, net[3], net[2],
        pick(random, { "true", "false" }), amount(random), "900000000000000000000000000000", amount(random),
        "0x" .. text_of(random, HEX, 40),
        random(4) == 0 and '"Only the main contract is supported.\\nOther deposits are lost."' or "null", net[3])
    end
    coins[i] = ('{"coin":"%s","Name":"%s","networkList":[%s]}'):format(coin, text_of(random, BASE58, 12),
      table.concat(networks, ","))
  end
  return list(coins)
end

local function fields(description)
  local out = {}
  for name, type in description:gmatch("([%w|]+):(%a+)") do
    local aliases = {}
    for spelling in name:gmatch("%w+") do aliases[#aliases + 1] = spelling end
    out[#out + 1] = { name = table.remove(aliases, 1), type = type, aliases = aliases }
  end
  return out
end

M.deposit = { name = "deposit_record", fields = fields [[amount:string coin:string network:string status:integer
  address:address addressTag:string txId:string unlockConfirm:string confirmTimes:string insertTime:integer
  memo:string]] }

M.withdrawal = { name = "withdrawal_record", fields = fields [[id:string withdrawOrderId:string txId:string coin:string
  network:string address:string amount:string transferType:integer status:integer transactionFee:string
  confirmNo:integer applyTime:integer updateTime:integer remark:string memo:string transHash:string coinId:string
  vcoinId:string]] }

M.network = { name = "network", fields = fields [[coin:string name:string network:string netWork:string
  depositEnable:boolean withdrawEnable:boolean withdrawFee:string withdrawMin:string withdrawMax:string
  withdrawIntegerMultiple:string minConfirm:integer sameAddress:boolean contract:string depositDesc:string
  depositTips:string withdrawTips:string]] }

M.coin = { name = "coin", fields = fields [[coin:string name|Name:string]] }
M.coin.fields[3] = { name = "networkList", type = { list = { record = M.network } } }

return M
