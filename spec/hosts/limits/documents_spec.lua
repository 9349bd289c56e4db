-- SPDX-License-Identifier: MIT
-- The documents of the rule as text, and the rule on a store that keeps texts.

local documents = require "purser.hosts.limits.documents"
local process = require "purser.client.call.rate_limit.process"
local property = require "store_property"
local purser = require "purser"

describe("a document", function()
  it("is the same after it was a text", function()
    for _, document in ipairs {
      { { 1700000000001, 0, "-", 0 } }, { { 1, 1700000009999, "run:1.2", 10240 } }, { { 10240, 0, 0 }, {}, {} },
      { { 10240, 0, 0 }, { 1700000000080, 3, 1700000000160, 4 }, { 7, 1, 1700000000500, 2 } },
    } do
      assert.same(document, documents.decode(documents.encode(document)))
    end
  end)

  it("is read once, and noted where it was put, with how long it matters", function()
    local reads = 0
    local results, put = documents.run(function(kv, now, run)
      for _ = 1, 2 do
        assert.same({ { 1, 2, 3 } }, kv.get "ip")
        assert.is_nil(kv.get "account")
      end
      kv.put("account", { { 9 } }, 5)
      assert.same({ { 9 } }, kv.get "account")
      return now, run, kv.may_forget
    end, function(name)
      reads = reads + 1
      return name == "ip" and "1 2 3" or nil
    end, 7, "r", true)
    assert.equal(2, reads)
    assert.same({ 7, "r", true }, results)
    assert.same({ account = { "9", 5 } }, put)
  end)

  it("that is another's text is said to make no sense, and nothing is raised", function()
    local limit
    local store = { kind = "odd", close = function() end, transact = function(_, _, fn)
      local results, put = documents.run(fn, function() return "no | such" end, 7, "-")
      if not results then return nil, put end
      return (table.unpack or unpack)(results) -- luacheck: ignore
    end }
    limit = purser.rate_limit { store = store }
    local takes, why = limit:acquire({ full_name = "wallet.coins", effect = "read" }, "key", error)
    assert.is_nil(takes)
    assert.matches("the rate limit's store (odd) cannot be used: what it keeps makes no sense", why, 1, true)
  end)
end)

describe("a rest before the next try", function()
  it("gets shorter, so that who has waited for longer tries more often", function()
    for try, most in pairs { [1] = 16, [4] = 4, [8] = 2, [1000] = 2 } do
      local seen = {}
      for _ = 1, 400 do seen[documents.rest_ms(try)] = true end
      local list = {}
      for ms = 1, most do list[ms] = true end
      assert.same(list, seen)
    end
  end)
end)

describe("a store that keeps texts", function()
  -- As the stores of this folder, in a table.
  local function text_store(clock)
    local store, texts = { kind = "texts", close = function() end }, {}
    function store:transact(names, fn)
      local known = {}
      for _, name in ipairs(names) do known[name] = true end
      local results, put = documents.run(fn, function(name)
        assert(known[name], name .. " was not asked for")
        return texts[name]
      end, clock(), self.run or "-")
      if not results then return nil, put end
      for name, kept in pairs(put) do
        assert(known[name], name .. " was not asked for")
        texts[name] = kept[1]
      end
      return (table.unpack or unpack)(results, 1, 5) -- luacheck: ignore
    end
    return store
  end

  it("says what the rule says on tables, whatever happens", function()
    for seed = 1, 8 do
      math.randomseed(seed)
      local now = 1700000000000
      local function clock() return now end
      local pools = { ip = { capacity = 40, window_ms = 10000 },
        account = { capacity = 17, window_ms = 10000, scope = "account" } }
      local pair = {}
      for i, store in ipairs { text_store(clock), process.new(clock) } do
        pair[i] = purser.rate_limit { store = store, pools = pools, now = clock, when_full = "reject" }
      end
      local function both(method, ...)
        local first, second = { pair[1][method](pair[1], ...) }, { pair[2][method](pair[2], ...) }
        assert.same(second, first, ("seed %d: %s"):format(seed, method))
        return first
      end
      for _ = 1, 150 do
        local weight, key = math.random(1, 10), math.random(2) == 1 and "a" or nil
        local row = { full_name = "wallet.coins", effect = math.random(2) == 1 and "read" or "move", weight = weight }
        if math.random(30) == 1 then both("block", math.random(2) == 1 and 500 or nil) end
        local taken = both("acquire", row, key, error)
        if taken[1] and math.random(5) == 1 then both("give_back", taken[1], taken[2]) end
        both("status", "a")
        now = now + math.random(0, 400)
      end
    end
  end)

  property.of(it, function(world)
    local offset, run = 0, 1
    local store = text_store(function() return world.now + offset end)
    return { new = function() return store end, harms = {
      function() offset = offset - math.random(0, 5000) end, -- its clock is set back
      function()
        run = run + 1
        store.run = "run" .. run
      end,
    } }
  end, 20)
end)
