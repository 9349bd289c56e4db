-- SPDX-License-Identifier: MIT
--- One kind of work, COUNT times, for bench/instructions.lua: work.lua NAME COUNT.

local records = require "bench.records"
local purser = require "purser"

local name, count = arg[1], tonumber(arg[2])
local body = records.deposits(20)
local endless = { capacity = 1000000000, window_ms = 86400000 }
local client = assert(purser.new {
  profile = "mexc", base_url = "http://127.0.0.1:1", api_key = "mx0aBENCHbenchKEY", recv_window = 5000,
  secret_key = "bench-secret-key-0123456789abcdef", rate_limit = { pools = { ip = endless, account = endless } },
  transport = { send = function() return { status = 200, body = body, headers = "" } end },
})

local params = { coin = "USDT" }
local withdrawal = {
  coin = "USDT", netWork = "TRX", address = "TPb6j7oQmKdKnG5mGkVc3nJdPqYpXz8Wr1", memo = "MX10568", amount = "1250.75",
}

local works = {
  prepare = function() assert(client:prepare("wallet.withdraw", withdrawal)) end,
  parse = function() assert(client:parse("wallet.deposit_history", 200, body)) end,
  call = function() assert(client.wallet:deposit_history(params)) end,
}

local work = works[name]
for _ = 1, count do work() end
