-- SPDX-License-Identifier: MIT
-- A service of deposits by seed: plain, odd in one thing, or hard: odd in two to five. Twins of one transaction, dust,
-- refunds, records that respell. `uid` is the truth, which deposit a record is; nothing of the product reads it.

local S, MIN, HOUR = 1000, 60000, 3600000
local R = math.random
local function p(x) return R() < x end

local M = { T0 = 1700000000000 }
local T0 = M.T0

local ODD = { "net", "txform", "txswap", "txlate", "cut", "fee", "t1s", "t30", "memo", "coin", "back", "refund", "late",
  "pages", "lose", "shard", "addr", "flip", "nofirst" }
local TWIN = { "equal", "coin", "memo", "output", "net" }

local function deposit(s, at, more)
  s.n = s.n + 1
  local c = s.base[R(4)]
  if p(.06) then c = s.base[at < T0 + 5 * HOUR and 5 or 6] end
  local d = { uid = "u" .. s.n, customer = c[1], address = c[2], memo = c[3], coin = p(.8) and "USDT" or "USDC",
    net = c[2]:sub(1, 1) == "0" and (p(.5) and "ERC20" or "BSC") or "XRP", amount = tostring(R(3)),
    tx = ("%08x%08x"):format(R(2 ^ 31 - 1), R(2 ^ 31 - 1)), time = at, plan = {}, seen = {} }
  if p(.03) then -- nobody's
    d.memo, d.customer = "9", nil
    if d.address:find "^0x" then d.address, d.memo = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee9", "" end
  end
  for k, v in pairs(more or {}) do d[k] = v end
  local ok = at + R(50) * MIN
  d.plan[1] = { at, p(.1) and 1 or 4 }
  d.plan[2] = { ok, (p(.9) or more) and 5 or 7 }
  if p(.1) then table.insert(d.plan, 2, { ok - R(10) * MIN, ({ 6, 9, 11 })[R(3)] }) end
  local function later(from, to, state) d.plan[#d.plan + 1] = { ok + R(from, to) * MIN, state } end
  if d.plan[#d.plan][2] == 5 then
    if p(s.odd.back or 0) then
      later(1, 30, p(.5) and 4 or 6)
      later(31, 200, 5)
    end
    if p((s.odd.refund or 0) / 2 + .03) then later(210, 600, ({ 8, 8, 7, 10 })[R(4)]) end
    if p(.005) then later(210, 600, 12) end
  end
  d.visible = at + R(0, 20) * S
  if p((s.odd.late or 0) / 2) then d.visible = at + (p(.5) and R(60) * MIN or R(20) * HOUR) end
  for _, o in ipairs(ODD) do
    if s.odd[o] and p(s.odd[o]) then d.seen[o] = at + (p(.3) and R(20) * MIN or R(600) * MIN) end
  end
  d.shard = d.seen.shard and d.seen.shard + R(5, 90) * MIN
  d.long = d.seen.cut ~= nil
  s.deps[#s.deps + 1] = d
  return d
end

-- Two deposits of one transaction to one address.
local function twins(s, at)
  local kind, a, same = TWIN[R(#TWIN)], deposit(s, at, {}), {}
  for _, k in ipairs { "customer", "address", "memo", "coin", "net", "amount", "tx" } do same[k] = a[k] end
  if not a.customer then return end
  if kind == "coin" then same.coin = "SHIB"
  elseif kind == "net" then same.net = "ARB"
  elseif kind == "output" then a.tx, same.tx = a.tx .. ":0", a.tx .. ":1"
  elseif kind == "memo" and a.customer == "C" then same.memo, same.customer = "2", "D"
  elseif kind == "memo" and a.customer == "D" then same.memo, same.customer = "1", "C" end
  local b = deposit(s, at, same)
  if a.coin == b.coin and a.net == b.net and a.memo == b.memo then
    b.uid, a.twin, b.twin = a.uid, true, true
  end
end

--- Makes a service: { odd, deps, base, by_uid }. base: { customer, address, memo, from, till }.
function M.new(class, has_flood)
  local s = { odd = {}, deps = {}, n = 0, by_uid = {} }
  if class == "one" then s.odd[ODD[R(#ODD)]] = p(.5) and 1 or .4
  elseif class == "hard" then for _ = 1, R(2, 5) do s.odd[ODD[R(#ODD)]] = p(.5) and 1 or .4 end end
  s.base = { { "A", "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "" },
    { "B", "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2", "" },
    { "C", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "1" }, { "D", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "2" },
    { "E", "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5", "", nil, T0 + 5 * HOUR },
    { "F", "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5", "", T0 + 5 * HOUR } }
  for _ = 1, R(0, 4) do deposit(s, T0 - R(24 * 60) * MIN) end
  for _ = 1, R(3, 10) do deposit(s, T0 + R(600) * MIN) end
  if p(.35) then twins(s, T0 + R(600) * MIN) end
  local c = s.base[1]
  for _ = 1, has_flood and 150 or 0 do
    local d = deposit(s, T0 + R(600) * MIN, { amount = "0.0001", customer = c[1], address = c[2], memo = c[3] })
    d.plan = { { d.time, 1 } }
  end
  for _, d in ipairs(s.deps) do
    s.by_uid[d.uid] = s.by_uid[d.uid] or {}
    table.insert(s.by_uid[d.uid], d)
  end
  s.lose = s.odd.lose and p(s.odd.lose) and ({ .01, .05 })[R(2)] or 0
  return s
end

--- Returns the state of a deposit at a time.
function M.state(d, now)
  local state
  for _, step in ipairs(d.plan) do
    if step[1] <= now then state = step[2] end
  end
  return state
end

--- Tells whether a deposit was successful at a time or before.
function M.ever(d, now)
  for _, step in ipairs(d.plan) do
    if step[1] <= now and step[2] == 5 then return true end
  end
  return false
end

local respell = {
  net = function(r) r.network = r.network .. " (long)" end,
  txform = function(r) r.txId = "0x" .. r.txId:upper() end,
  txswap = function(r) r.txId = "chain" .. r.txId:reverse() end,
  cut = function(r) r.amount = r.amount:gsub("(%.%d%d)%d+", "%1") end,
  fee = function(r, d) r.amount = ("%.1f"):format(tonumber(d.amount) - .1) end,
  t1s = function(r) r.insertTime = r.insertTime + 1000 end,
  t30 = function(r, d) r.insertTime = r.insertTime + (d.tx:byte(1) % 2 == 0 and -30 or 30) * MIN end,
  memo = function(r) r.memo = "" end,
  coin = function(r) r.coin = r.coin .. "-X" end,
  addr = function(r, d)
    if d.memo == "" then r.address = "evm:" .. r.address:upper() end
    if r.memo == "" then return end -- the deposit has none, or it is hidden
    r.address = r.address .. ":" .. r.memo
    r.memo = p(.5) and "" or r.memo
  end,
}
local ORDER = { "net", "txform", "txswap", "cut", "fee", "t1s", "t30", "memo", "coin", "addr" }

--- Returns the record that the service shows of a deposit at a time; or nil.
function M.show(d, now)
  local seen = d.seen
  if now < d.visible or seen.shard and now >= seen.shard and now < d.shard then return nil end
  local r = { uid = d.uid, coin = d.coin, network = d.net, txId = d.tx, address = d.address, memo = d.memo,
    amount = d.amount .. (d.long and ".123456789" or ""), insertTime = d.time, status = M.state(d, now) }
  for _, o in ipairs(ORDER) do
    if seen[o] and now >= seen[o] then respell[o](r, d) end
  end
  if seen.txlate and now < seen.txlate then r.txId = "" end
  if seen.flip and now >= seen.flip and math.floor(now / (7 * MIN)) % 2 == 0 then r.network = r.network .. " v2" end
  return r
end

return M
