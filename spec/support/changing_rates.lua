-- SPDX-License-Identifier: MIT
-- The counts of spec/write/verdict_rates_spec.lua: false words, and what is left to a person, at services of a kind.

local assert = require "luassert"
local changing_services = require "changing_services"
local changing_worlds = require "changing_worlds"
local schedule = require "purser.schedule"

local M = {}

--- Makes payments in so many worlds of a kind: each is made once. Returns how many were undecided after six tries, and
--- how many are left when two more were answered.
---@param twice integer|nil  so many executions more than were said, which no rule can know
---@return integer undecided, integer left
function M.hold(kind, first, worlds, twice)
  local count = changing_worlds.count(kind, first, worlds)
  assert.equal(0, count.false_done)
  assert.is_true(count.twice <= (twice or 0), table.concat(count.wrong, "\n"))
  assert.is_true(count.lost > worlds, count.lost)
  return count.undecided, count.left
end

M.KINDS, M.BUSY = changing_services.KINDS, {}

for _, shows_ids in ipairs { false, true } do
  for _, family in ipairs { "withdrawal", "user", "own", "sub_account" } do
    for _, is_equal in ipairs { false, true } do
      if not shows_ids or changing_services.families[family].client_id then
        M.BUSY[#M.BUSY + 1] = { family = family, shows_ids = shows_ids, is_equal = is_equal,
          name = ("%s, ids are %s, amounts are %s"):format(family, shows_ids and "shown" or "hidden",
            is_equal and "equal" or "different") }
      end
    end
  end
end

--- Makes calls side by side, an eighth of which is lost: all are decided. Where requests are lost that were not
--- executed, equal calls without ids are a person's.
function M.hold_busy(case, first, worlds)
  for _, before in ipairs { 0, 4 } do
    local count = changing_worlds.count_busy(case.family, case.shows_ids, case.is_equal, first, worlds, before)
    assert.same({}, count.wrong)
    assert.is_true(count.unknown >= worlds, count.unknown)
    local is_open = before > 0 and case.is_equal and not case.shows_ids
    assert.is_true(is_open or count.left <= count.unknown * (case.shows_ids and 0.005 or 0.1),
      ("%d of %d"):format(count.left, count.unknown))
  end
end

--- A lost withdrawal that a stranger's record leaves undecided until a later one is answered. Returns its state when
--- that has happened: `how` is who asks again.
---@param how "client"|"recover"|"line"|"none"
function M.freed(how)
  local world = changing_worlds.new_world(1, "plain", function()
    return changing_services.plain("withdrawal", false, 0, 0)
  end)
  world.is_quiet = true
  local state
  schedule.run(function()
    local function pay(key, payee, amount)
      return changing_worlds.make(world, { key = key, payee = payee, coin = "USDT", amount = amount })
    end
    assert.equal("done", pay("a", "Tone", "100"))
    schedule.sleep(60000)
    world.is_lost = true
    assert.equal("unknown", pay("b", "Ttwo", "50"))
    world.is_lost = false
    changing_worlds.execute(world, { coin = "USDT", address = "Tthree", amount = "60" }, "a stranger's")
    assert.equal("unknown", pay("b", "Ttwo", "50"))
    local entry = assert(world.journal:entries { state = "undecided" })[1]
    assert.equal("next", entry.why)
    assert.equal("undecided", assert(world.client:reconcile(entry.intent)).outcome)
    local executed = #world.ledger
    for i = 1, how == "none" and 0 or how == "client" and 2 or 1 do
      assert.equal("done", pay("c" .. i, "Tone", "7"))
      schedule.sleep(70000)
    end
    if how == "recover" then assert.equal(1, #assert(world.journal:recover(world.client))) end
    if how == "line" then
      assert.equal("done", pay("b", "Ttwo", "50"))
      assert.equal(executed + 2, #world.ledger)
    end
    for _, one in ipairs(assert(world.journal:entries())) do state = one.key == "b" and one.state or state end
  end)
  world.close()
  return state
end

return M
