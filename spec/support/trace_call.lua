-- SPDX-License-Identifier: MIT
-- Follows one call through Purser's files, in a process of its own: trace_call.lua coins|withdraw|reconcile|payment.
-- Prints `files N`, `calls N`, and `up FROM TO N` for each pair where a file of a lower layer called a function of a
-- higher one. Modules are loaded before, by the same call made once; the simulator is not counted.

local what = arg[1]
local rank = { util = 1, transport = 2, operations = 3, call = 4, history = 5, client = 6, write = 7, desk = 8,
  hosts = 8, testing = 8 } -- decimal ... have none

-- Returns the layer of a file: a folder of client/, or the first folder.
local function layer_of(file)
  return file:match "^client/(%l+)/" or file:match "^%l+"
end

local unpack = table.unpack or unpack -- luacheck: ignore 143
local create, hooked = coroutine.create, nil -- a hook belongs to one coroutine

function coroutine.create(fn) -- luacheck: ignore 122
  local made = create(fn)
  if hooked then debug.sethook(made, hooked, "c") end
  return made
end

function coroutine.wrap(fn) -- luacheck: ignore 122
  local made = coroutine.create(fn)
  return function(...)
    local results = { coroutine.resume(made, ...) }
    if not results[1] then error(results[2], 0) end
    return unpack(results, 2, 20)
  end
end

local purser = require "purser"

local function file_of(level)
  local info = debug.getinfo(level + 1, "S")
  if not info then return nil, true end
  return info.source:match "lua/purser/(.+)%.lua$"
end

-- Returns the file of Purser's that called what runs at `level`, and true where the simulator waits for it.
local function caller_of(level)
  local caller
  for up = level + 2, level + 200 do
    local file, is_end = file_of(up)
    if is_end then return caller, false end
    if file and file:find "^testing/sim/" then return caller, true end
    caller = caller or file
  end
end

local files, calls, ups = {}, 0, {}

local function count()
  local file = file_of(2)
  if not file or file:find "^testing/sim/" then return end
  local from, is_in_sim = caller_of(2)
  if is_in_sim then return end
  files[file], calls = true, calls + 1
  local lower, higher = from and rank[layer_of(from)], rank[layer_of(file)]
  if lower and higher and higher > lower then
    local pair = layer_of(from) .. " " .. layer_of(file)
    ups[pair] = (ups[pair] or 0) + 1
  end
end

local function traced(fn)
  hooked = count
  debug.sethook(count, "c")
  local result, err = fn()
  debug.sethook()
  hooked = nil
  return assert(result, err)
end

local sim = purser.sim.new { seed = 1 }
-- Returns a function that is not followed: the simulator's methods have a wrapper in views.lua, too.
local function unfollowed(fn)
  return function(...)
    debug.sethook()
    local result = fn(...)
    if hooked then debug.sethook(hooked, "c") end
    return result
  end
end
sim.handle = unfollowed(sim.handle)
local owner = assert(sim:account { role = "main", balances = { USDT = "1000" } })
local address = "TSampLeAddressThatNobodyHarzyqGjJi"
assert(sim:save_address { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", address = address })
local path = os.tmpname()
os.remove(path)
local journal = assert(purser.journal.open { sqlite = path })
local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), account = "me",
  api_key = owner.api_key, secret_key = owner.secret_key, journal = journal,
  clock = unfollowed(function() return sim:now() end),
  guard = { max_amount = { USDT = "100" }, spending_limit = { USDT = "500" }, no_duplicates = true,
    addresses = { address } } })

local function withdraw(amount)
  return client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = amount, address = address }
end

local function lose(amount)
  sim:fault { kind = "lost_answer", operation = "wallet.withdraw" }
  local _, err = withdraw(amount)
  assert(err.outcome == "unknown")
  return err
end

local function pay(key, amount, run)
  local payouts = assert(purser.payouts.new { journal = journal, client = client })
  assert(payouts:add(key, "wallet.withdraw", { coin = "USDT", netWork = "TRX", amount = amount, address = address }))
  return run(function() return payouts:run() end)
end

local function straight(fn) return assert(fn()) end

local ways = {
  coins = function(run) return run(function() return client.wallet:coins() end) end,
  withdraw = function(run, amount) return run(function() return withdraw(amount) end) end,
  reconcile = function(run, amount)
    local err = lose(amount)
    return run(function() return client:reconcile(err) end)
  end,
  payment = function(run, amount) return pay("key" .. amount, amount, run) end,
}
ways[what](straight, "11")
ways[what](traced, "12")

local number = 0
for _ in pairs(files) do number = number + 1 end
print(("files %d\ncalls %d"):format(number, calls))
for pair, times in pairs(ups) do print(("up %s %d"):format(pair, times)) end
journal:close()
for _, ending in ipairs { "", "-wal", "-shm" } do os.remove(path .. ending) end
