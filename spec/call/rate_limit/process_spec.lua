-- SPDX-License-Identifier: MIT
-- The store of one process counts most calls without the rule: it has to say what the rule says, call by call.

local process = require "purser.call.rate_limit.process"
local sliding_log = require "purser.call.rate_limit.sliding_log"

local SPAN = 10240
local TAKES = {
  { "ip", 1, 40, SPAN }, { "ip", 10, 40, SPAN }, { "ip", 10, 40, SPAN, "account", 3, 17, SPAN },
  { "ip", 0, 40, SPAN }, { "account", 1, 17, SPAN }, { "ip", 1, 40, 5120 }, {},
}

-- The rule and nothing else.
local function rule(clock)
  local documents = {}
  local kv = {
    get = function(name) return documents[name] end,
    put = function(name, document) documents[name] = document end,
  }
  local store = {}
  function store.reserve(_, takes, priority, number)
    return sliding_log.reserve(kv, clock(), takes, priority, number, "")
  end
  function store.hold(_, ms) return sliding_log.hold(kv, clock(), ms, "") end
  for _, name in ipairs { "give_back", "block", "pool" } do
    store[name] = function(_, ...) return sliding_log[name](kv, clock(), ...) end
  end
  return store
end

-- A step of a random life of a store: the name of a method and its arguments. `taken` and `tickets` are what may be
-- given back.
local function next_step(taken, tickets)
  local dice = math.random(100)
  local takes = TAKES[dice > 60 and math.random(#TAKES) or 1]
  if dice == 1 then return "block", "ip", SPAN, math.random(2) == 1 and -1 or math.random(3000) end
  if dice == 2 then return "hold", math.random(500) end
  if dice < 6 and taken[1] then
    local last = table.remove(taken, math.random(#taken))
    return "give_back", last[1], 0, last[2]
  end
  if dice < 10 and tickets[1] then
    local ticket = table.remove(tickets, math.random(#tickets))
    if math.random(2) == 1 then return "give_back", ticket[1], ticket[2], 0 end
    return "reserve", ticket[1], 1, ticket[2]
  end
  return "reserve", takes, math.random(0, 1), 0
end

describe("the store of one process", function()
  it("says what the rule says, in series of equal calls and between them, whatever happens", function()
    for seed = 1, 25 do
      math.randomseed(seed)
      local now = 1000000
      local function clock() return now end
      local store, oracle, taken, tickets, at_once = process.new { now = clock }, rule(clock), {}, {}, 0
      for step = 1, 400 do
        local at = ("seed %d, step %d"):format(seed, step)
        local method, a, b, c = next_step(taken, tickets)
        local said, expected = { store[method](store, a, b, c) }, { oracle[method](oracle, a, b, c) }
        assert.equal(expected[1], said[1], at)
        if method == "reserve" and expected[1] == 0 then
          assert.equal(expected[3], said[3], at)
          taken[#taken + 1], at_once = { a, now }, at_once + 1
        elseif method == "reserve" then
          assert.equal(expected[2], said[2], at)
          if expected[1] > 0 then tickets[#tickets + 1] = { a, expected[2] } end
        end
        if math.random(8) == 1 then
          for _, name in ipairs { "ip", "account" } do
            assert.same({ oracle:pool(name, SPAN) }, { store:pool(name, SPAN) }, at)
          end
        end
        if math.random(3) == 1 then now = now + math.random(0, 200) end
        if math.random(40) == 1 then now = now + math.random(-300, 12000) end
      end
      assert(at_once > 20, at_once)
    end
  end)

  it("counts all calls of a series, also those that nothing asked about since", function()
    local now = 1000001
    local store = process.new { now = function() return now end }
    for _ = 1, 17 do assert.equal(0, (store:reserve(TAKES[5], 1, 0))) end
    assert(store:reserve(TAKES[5], 1, 0) > 0)
    assert.equal(17, (store:pool("account", SPAN)))
  end)
end)
