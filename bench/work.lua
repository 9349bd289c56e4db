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
  coin = "USDT", netWork = "TRX", address = "TPb6j7oQmKdKnG5mGkVc3nJdPqYpdzqyUJ", memo = "MX10568", amount = "1250.75",
}

local DATABASE = os.tmpname()
os.remove(DATABASE)

-- A client whose transfers are answered, each with another id; with a journal in a file of SQLite, or with none.
local function payer(journal)
  local answered = 0
  return assert(purser.new {
    profile = "mexc", base_url = "http://127.0.0.1:1", api_key = "mx0aBENCHbenchKEY", journal = journal,
    secret_key = "bench-secret-key-0123456789abcdef", account = journal and "treasury", rate_limit = false,
    transport = { send = function(_, request)
      answered = answered + 1
      local id = request.target:find("uid", 1, true) and '{"uid":"4711"}' or ('{"tranId":"%d"}'):format(answered)
      return { status = 200, headers = "", body = id }
    end },
  })
end

local function transfer(owner)
  local amount = 0
  return function()
    amount = amount + 1
    assert(owner.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = ("%d"):format(amount) })
  end
end

local works = {
  prepare = function() assert(client:prepare("wallet.withdraw", withdrawal)) end,
  parse = function() assert(client:parse("wallet.deposit_history", 200, body)) end,
  call = function() assert(client.wallet:deposit_history(params)) end,
  post = name == "post" and transfer(payer()) or nil,
  recorded = name == "recorded" and transfer(payer(assert(purser.journal.open { sqlite = DATABASE }))) or nil,
}

local work = works[name]
for _ = 1, count do work() end
for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(DATABASE .. suffix) end
