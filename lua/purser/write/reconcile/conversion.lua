-- SPDX-License-Identifier: MIT
-- C13: a batch whose coins were all asked for; where there is none, the coins themselves say whether there is still
-- something to convert. Neither batches nor answers have an id, so another call for coins of a batch may have made it.

local compare = require "purser.write.reconcile.compare"
local looks = require "purser.write.reconcile.look"
local operations = require "purser.api.operations"

local undecided, NOTHING_YET = looks.undecided, looks.NOTHING_YET

local function coins_of(intent)
  local coins = {}
  for coin in intent.params.asset:upper():gmatch "[^,]+" do coins[coin] = true end
  return coins
end

-- Whether a batch may be of a call for these coins: it holds no other. One that shows no coins may be of any.
local function may_hold(batch, coins)
  for _, detail in ipairs(batch.convertDetails or {}) do
    if not compare.is_blank(detail.asset) and not coins[detail.asset:upper()] then return false end
  end
  return true
end

-- The batches that may be the call's, and those that may be where the history is shifted by some hours.
local function matching(look, reading, claimed)
  local asked, found, shifted = coins_of(look.intent), {}, {}
  for _, batch in ipairs(reading.records) do
    local shift = may_hold(batch, asked) and look:shift_of(batch, reading, claimed)
    if shift then table.insert(shift == 0 and found or shifted, batch) end
  end
  return found, shifted
end

-- What is concluded from one batch that matches.
local function judge(look, batch, open)
  if #(batch.convertDetails or {}) == 0 then
    return undecided({ batch }, "a batch that shows no coins matches in part")
  end
  local others, err = look:other_calls()
  if not others then return nil, err end
  for _, other in ipairs(others) do
    if may_hold(batch, coins_of(other.intent)) then open = open + 1 end
  end
  if look:has_forgotten_calls() then open = open + 1 end
  if open > 0 then return undecided({ batch }, "another conversion of these coins could have made it as well") end
  return { outcome = "done", record = batch }
end

-- What is concluded where no batch matches.
local function ask_coins(look)
  local coins, err = look.service:read(operations.by_name[look.reconcile.second_list], {})
  if not coins then return nil, err end
  local asked = coins_of(look.intent)
  for _, coin in ipairs(coins) do
    if asked[tostring(coin.asset):upper()] and not coin.code then return { outcome = "not_done" } end
  end
  return undecided({}, "no batch shows it, but none of the coins can be converted any more")
end

---@param look purser.reconcile.Look
return function(look)
  local reading, err, why = look:list(look.first, look.last)
  if not reading then return nil, err, why end
  local claimed, open = look:equal_calls()
  if not claimed then return nil, open end
  if not look.late then return NOTHING_YET end
  local found, shifted = matching(look, reading, claimed)
  if reading.incomplete then return look:doubt(reading, found) end
  if #found > 1 then return undecided(found, "more than one batch matches") end
  if found[1] then return judge(look, found[1], open) end
  if shifted[1] then return undecided(shifted, looks.SHIFTED) end
  return ask_coins(look)
end
