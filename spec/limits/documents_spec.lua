-- SPDX-License-Identifier: MIT
-- The documents of the rule as text, and a store that keeps texts.

local documents = require "purser.limits.documents"
local sliding_log = require "purser.call.rate_limit.sliding_log"

local SPAN = 10240

describe("a document", function()
  it("is the same after it was a text", function()
    for name, list in pairs {
      queue = { { 1700000000001, 0, "", 0, {} }, { 1700000000001, 1700000009999, "run:1.2", 10240, {
        { 1700000000000, 0, 1700000000500, "ip", 50, "account:ab12", 1 }, { 7, 1, 9, "ip", 0 } } } },
      members = { {}, { "process_1", 1700000000000, "12", 5 } },
      ip = { { 1700000000, 300, 0, 81920, 80, 128, 10240, 0, 1, 299 } },
    } do
      for _, document in ipairs(list) do
        assert.same(document, documents.decode(name, documents.encode(name, document)))
      end
    end
  end)

  it("is read once, and noted where it was put", function()
    local reads = 0
    local kv, put = documents.kv(function(name)
      reads = reads + 1
      return name == "ip" and "1 2 3" or nil
    end)
    for _ = 1, 2 do
      assert.same({ 1, 2, 3 }, kv.get "ip")
      assert.is_nil(kv.get "account")
    end
    assert.equal(2, reads)
    assert.same({}, put)
    kv.put("account", { 9 })
    assert.same({ 9 }, kv.get "account")
    assert.same({ account = { 9 } }, put)
  end)
end)

describe("a store that keeps texts", function()
  local now

  -- As database_store.lua, in a table.
  local function text_store()
    local Store, texts = {}, {}
    documents.methods(Store)
    function Store:transact(names, fn)
      local known = {}
      for _, name in ipairs(names) do known[name] = true end
      local kv, put = documents.kv(function(name)
        assert(known[name], name .. " was not asked for")
        return texts[name]
      end)
      local results = { fn(kv, now, self.run) }
      for name, document in pairs(put) do texts[name] = documents.encode(name, document) end
      return results[1], results[2], results[3], results[4], results[5]
    end
    return setmetatable({ run = "run-1" }, { __index = Store })
  end

  -- The rule on tables.
  local function table_store()
    local kept = {}
    local kv = { get = function(name) return kept[name] end, put = function(name, document) kept[name] = document end }
    local store = { run = "run-1" }
    function store:reserve(takes, priority, number)
      return sliding_log.reserve(kv, now, takes, priority, number, self.run)
    end
    function store:hold(ms) return sliding_log.hold(kv, now, ms, self.run) end
    for _, name in ipairs { "give_back", "block", "seen", "pool", "members" } do
      store[name] = function(_, ...) return sliding_log[name](kv, now, ...) end
    end
    return store
  end

  local function last_of(taken)
    local last = table.remove(taken)
    return last[1], last[2], last[3]
  end

  it("says what the rule says, whatever happens", function()
    local TAKES = { { "ip", 1, 40, SPAN }, { "ip", 10, 40, SPAN, "account:a1", 3, 17, SPAN },
      { "account:a1", 5, 17, SPAN } }
    for seed = 1, 8 do
      math.randomseed(seed)
      now = 1700000000000
      local store, rule, taken = text_store(), table_store(), {}
      local function both(method, ...)
        local said = { store[method](store, ...) }
        assert.same({ rule[method](rule, ...) }, said, ("seed %d: %s"):format(seed, method))
        return said[1], said[2], said[3]
      end
      for _ = 1, 150 do
        local dice, takes = math.random(20), TAKES[math.random(3)]
        if dice == 1 then both("block", "ip", SPAN, math.random(2) == 1 and -1 or 500)
        elseif dice == 2 then both("hold", 300)
        elseif dice == 3 then both("seen", "member" .. math.random(3))
        elseif dice == 4 and taken[1] then both("give_back", last_of(taken))
        elseif dice == 5 then store.run, rule.run = "run-" .. seed .. now, "run-" .. seed .. now
        else
          local ms, number, at = both("reserve", takes, math.random(0, 1), 0)
          if ms == 0 then taken[#taken + 1] = { takes, 0, at } end
          if ms > 0 and dice > 15 then both("give_back", takes, number, 0) end
        end
        both("pool", "ip", SPAN)
        both "members"
        now = now + math.random(0, 400)
      end
    end
  end)
end)
