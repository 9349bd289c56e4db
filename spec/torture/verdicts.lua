-- SPDX-License-Identifier: MIT
-- Where the calls of drawn worlds (spec/support/verdict_worlds.lua) stay undecided, for `make verdicts`:
--
--   lua spec/torture/verdicts.lua KIND WORLDS FIRST
--
-- Prints the share of lost calls that is left at the second question: by reason ("unread": no reading was whole), by
-- the way in which the service shows a member, and how much of it nobody could decide. That is proved for each call:
-- the program looks for two services, both of which show each answered call as the client saw it. One shows the call
-- so, and the other shows another payment so, a stranger's or another lost call's. The proof knows the list of ways,
-- and no client does, so it is a lower bound.

local worlds = require "verdict_worlds"

local kind, count = arg[1] or "hard", tonumber(arg[2] or 2000)
local first = tonumber(arg[3] or worlds.FIRST[kind])

local SHOWN_AS = { id = "withdrawOrderId", address = "address", amount = "amount", coin = "coin", time = "applyTime" }
local BEFORE_MS, AFTER_MS = 6000, 71000 -- of a record's time, from the sending of its call

-- Returns whether a record of this call may show this member so, in this way.
local function may_show(name, way, call, sent_at, record)
  local shown, sent = record.shown[SHOWN_AS[name]], call[SHOWN_AS[name]]
  if name ~= "time" then return shown == (sent and way(sent, call)) end
  local from, to = sent_at - BEFORE_MS, sent_at + AFTER_MS
  for _, at in ipairs { math.max(from, shown), 2 * shown - way(shown) } do -- times that are cut, and shifted
    local image = way(at)
    local is_same = image == shown or image * 1000 == shown -- seconds are read as milliseconds
    if is_same and at >= from and at <= to then return true end
  end
  return false
end

-- Other values than a call's: of a payee of which the first and last signs are the same, and amounts with more digits.
local OTHERS = { address = function(value) return value:sub(1, 4) .. ("zZ9"):rep(7) .. value:sub(-2) end,
  amount = function(value) return ("%.4f"):format(value + 0.0001) end, coin = function() return "USDC" end }

-- Returns whether another payment than the call may show a member so, in this way.
local function may_be_anothers(name, way, call, record)
  local shown = record.shown[SHOWN_AS[name]]
  local texts = { OTHERS[name](call[name]), shown, name == "address" and shown and shown:gsub("^EQ", "") or nil }
  for i = 1, 3 do
    local value = texts[i]
    if value and value ~= call[name] and (name ~= "amount" or tonumber(value)) then
      local other = setmetatable({ [name] = value }, { __index = call })
      local ok, image = pcall(way, value, other) -- fees are those of known coins
      if ok and image == shown then return true end
    end
  end
  return false
end

-- Returns whether nobody could decide a call: a record may be its own, and each that may may be another's.
local function is_open_to_all(world, intent)
  local ways, free = {}, {}
  for _, record in ipairs(world.records) do free[#free + 1] = not record.is_answered and record or nil end
  for name, list in pairs(worlds.ways) do
    ways[name] = {}
    for _, way in ipairs(list) do
      local fits = true
      for _, record in ipairs(world.records) do
        fits = fits and (not record.is_answered or may_show(name, way, record.call, record.made, record))
      end
      if fits then table.insert(ways[name], way) end
    end
  end
  local function some(name, test)
    for _, way in ipairs(ways[name]) do
      if test(way) then return true end
    end
    return false
  end
  local function may_be(call, record)
    for _, name in ipairs(worlds.NAMES) do
      if not some(name, function(way) return may_show(name, way, call.params, call.sent_at, record) end) then
        return false
      end
    end
    return true
  end
  local function has_another(record)
    for _, other in ipairs(world.lost) do
      if other ~= intent and may_be(other, record) then return true end
    end
    for name in pairs(record.shown.withdrawOrderId == nil and OTHERS or {}) do
      if some(name, function(way) return may_be_anothers(name, way, intent.params, record) end) then return true end
    end
    return false
  end
  local is_open = false
  for _, record in ipairs(free) do
    if may_be(intent, record) then
      if not has_another(record) then return false end
      is_open = true
    end
  end
  return is_open
end

local lost, left, open, reasons, by_way = 0, 0, 0, {}, {}
for seed = first, first + count - 1 do
  local left_here = 0
  local false_words, lost_here, _, _, shows = worlds.run(seed, kind, function(world, intent, answer)
    left_here, open = left_here + 1, open + (is_open_to_all(world, intent) and 1 or 0)
    local why = answer.why or "unread"
    reasons[why] = (reasons[why] or 0) + 1
  end)
  for _, word in ipairs(false_words) do print("false: " .. word) end
  lost, left = lost + lost_here, left + left_here
  for name, list in pairs(worlds.ways) do
    for i, way in ipairs(list) do
      local key = ("%-7s %d"):format(name, i)
      by_way[key] = by_way[key] or { 0, 0 }
      if shows[name] == way then by_way[key] = { by_way[key][1] + lost_here, by_way[key][2] + left_here } end
    end
  end
end

print(("%s: %d lost, %d left: %.1f %%; nobody could decide %.1f %%"):format(kind, lost, left, 100 * left / lost,
  100 * open / lost))
for why, number in pairs(reasons) do print(("  %-10s %5d  %.1f %%"):format(why, number, 100 * number / lost)) end
local keys = {}
for key in pairs(by_way) do keys[#keys + 1] = key end
table.sort(keys)
for _, key in ipairs(keys) do
  local of_way = by_way[key]
  print(("  %s  %5d lost, left %.1f %%"):format(key, of_way[1], 100 * of_way[2] / math.max(1, of_way[1])))
end
