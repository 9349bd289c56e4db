-- SPDX-License-Identifier: MIT
-- Everything that a script reaches that runs in the environment of purser.sandbox, by any value and any call.

local purser = require "purser"
local simulated = require "simulated"

local unpack = table.unpack or unpack -- luacheck: ignore

local GOOD = "TSampLeAddressThatNobodyHarzyqGjJi"
local PARAMS = { coin = "USDT", netWork = "TRX", address = GOOD, amount = "500" }

local sim, client, limited

before_each(function()
  sim = purser.sim.new { seed = 5 }
  local account = assert(sim:account { name = "Host", role = "main", balances = { USDT = "1000" } })
  client = simulated.client(sim, account, { retry = false, rate_limit = false, guard = {
    max_amount = { USDT = "20", DOGE = "100000" }, addresses = { { address = GOOD } } } })
  limited = assert(purser.restricted(client, { "wallet.*", "wallet.withdraw" }))
end)

local function run_script(text, environment)
  local setfenv, loadstring = rawget(_G, "setfenv"), rawget(_G, "loadstring")
  local chunk = setfenv and setfenv(assert(loadstring(text, "=script")), environment)
    or assert(load(text, "=script", "t", environment))
  return chunk()
end

--------------------------------------------------------------------------------------------------- the host's tables

-- Every table that the host holds now: from the registry, by members, metatables, upvalues and environments.
local function tables_of_the_host()
  local found, queue = {}, { debug.getregistry() }
  local function add(value)
    local is = type(value)
    if (is == "table" or is == "function" or is == "userdata") and not found[value] then
      found[value] = true
      queue[#queue + 1] = value
    end
  end
  local function add_upvalues(value)
    for i = 1, 255 do
      local name, held = debug.getupvalue(value, i)
      if not name then break end
      add(held)
    end
  end
  add(_G)
  add(debug.getmetatable "")
  while #queue > 0 do
    local value = table.remove(queue)
    if type(value) == "table" then
      for name, member in next, value do
        add(name)
        add(member)
      end
    elseif type(value) == "function" then
      add_upvalues(value)
    end
    if debug.getfenv then add(debug.getfenv(value)) end -- luacheck: ignore 143
    if type(value) ~= "function" then add(debug.getmetatable(value)) end
  end
  return found
end

-- Returns what the libraries hold now, by the path of each member.
local function libraries()
  local held = {}
  for name, library in pairs { _G = _G, string = string, table = table, math = math, os = os, package = package,
    text = debug.getmetatable("").__index } do
    for member, value in pairs(library) do held[name .. "." .. tostring(member)] = value end
  end
  return held
end

--------------------------------------------------------------------------------------------- what a script can reach

local PROBES = { "__index", "__newindex", "__metatable", "__gc", "__call", "__tostring", "__name", "_G", "states",
  "walk", "source", "held", "state", "_guard", "_signer", "_client", "_api_key", "client", "intent", "details", "dump",
  1, 2 }
for name in pairs(string) do PROBES[#PROBES + 1] = name end

local function args_for_calls(environment)
  return {
    function() return nil end, function() return "text" end, function() return 1 end,
    function() return { { "a" }, "b" } end, function() return environment.client.wallet end,
    function() return function(...) return ... end end,
  }
end

-- Finds every value that a script reaches from its environment: members, whatever an index answers, and the results of
-- each function called with up to three arguments. Calls `visit(value, way)` with each table, function and object.
local function reach(environment, visit)
  local seen, queue, args = {}, {}, args_for_calls(environment)
  local function add(value, way)
    local is = type(value)
    if is == "nil" or is == "boolean" or is == "number" or is == "string" or seen[value] then return end
    seen[value] = true
    visit(value, way)
    queue[#queue + 1] = { value, way }
  end
  local function add_results(way, ok, ...)
    for i = 1, select("#", ...) do add((select(i, ...)), way .. (ok and "()" or "() error")) end
  end
  local function probe(value, way)
    for _, name in ipairs(PROBES) do
      local ok, member = pcall(function() return value[name] end)
      if ok then add(member, way .. "." .. name) end
    end
  end
  probe("", '("")')
  add(environment, "environment")
  local calls = 0
  local function call_all(fn, way)
    add_results(way, pcall(fn))
    for _, first in ipairs(args) do
      add_results(way, pcall(fn, first()))
      for _, second in ipairs(args) do
        add_results(way, pcall(fn, first(), second()))
        for _, third in ipairs(args) do
          calls = calls + 1
          add_results(way, pcall(fn, first(), second(), third()))
        end
      end
    end
  end
  local depth = {}
  while #queue > 0 do
    local value, way = unpack(table.remove(queue))
    if type(value) == "table" then
      for name, member in next, value do
        add(name, way .. " name")
        add(member, way .. "." .. tostring(name))
      end
    end
    probe(value, way)
    -- Results of a call are called as well, but not for ever: a function that makes functions would.
    local level = select(2, way:gsub("%(%)", ""))
    if type(value) == "function" and level < 2 then
      depth[level] = (depth[level] or 0) + 1
      if level == 0 or depth[level] < 40 then call_all(value, way) end
    end
  end
  return calls
end

describe("the environment of purser.sandbox", function()
  it("leads to no table of the host, by any member, index or call", function()
    assert(purser.sandbox(limited, {}))
    reach(assert(purser.sandbox(limited, {})), function() end) -- loads all that is loaded at its first use
    local hosts, before = tables_of_the_host(), libraries()
    local ours = assert(purser.restricted(client, { "wallet.*", "wallet.withdraw" }))
    local environment = assert(purser.sandbox(ours, { numbers = { 1, 2, { 3 } } }))
    local found = { table = 0, ["function"] = 0 }
    local calls = reach(environment, function(value, way)
      local is = type(value)
      if not found[is] then error(("%s is a %s"):format(way, is), 0) end
      found[is] = found[is] + 1
      if is == "table" and hosts[value] then error(way .. " is a table of the host", 0) end
    end)
    assert.is_true(found.table > 20 and found["function"] > 60 and calls > 10000,
      ("%d tables, %d functions, %d calls"):format(found.table, found["function"], calls))
    assert.same(before, libraries())
    assert.is_nil(environment.client._guard)
  end)

  it("has no name that reaches beyond it", function()
    local environment = assert(purser.sandbox(limited))
    for name in ("collectgarbage coroutine debug dofile getfenv getmetatable io jit load loadfile loadstring module "
      .. "newproxy package print purser rawset require setfenv ffi arg"):gmatch "%S+" do
      assert.is_nil(environment[name], name)
    end
    for name in ("dump gfind"):gmatch "%S+" do assert.is_nil(environment.string[name], name) end
    for name in ("execute exit getenv remove rename setlocale tmpname"):gmatch "%S+" do
      assert.is_nil(environment.os[name], name)
    end
    assert.is_nil(environment.math.randomseed)
    assert.equal(environment, environment._G)
    assert.is_nil(getmetatable(environment))
  end)

  local ways_past_the_rails = {
    ["the metatable of texts"] = 'getmetatable("").__index.upper = function() return "DOGE" end',
    ["the library that texts know"] = '("").__index.upper = function() return "DOGE" end',
    ["its own string"] = 'string.upper = function() return "DOGE" end',
    ["module"] = 'module "purser.client.util.private" for _, state in next, states do state._guard = nil end',
    ["newproxy"] = "getmetatable(newproxy(true)).__gc = function() end",
    ["a finaliser"] = "setmetatable({}, { __gc = function() end })",
    ["rawset"] = 'rawset(client.wallet, "withdraw", 1)',
    ["the class of an error"] = "local _, err = client.wallet:withdraw {} err.__index.check = 1",
  }
  for way, text in pairs(ways_past_the_rails) do
    it("keeps the guard rails from a script that tries " .. way, function()
      local environment = assert(purser.sandbox(limited, { params = PARAMS }))
      pcall(run_script, text, environment)
      local done, err = run_script("return client.wallet:withdraw(params)", environment)
      assert.is_nil(done)
      assert.equal("guard.max_amount", err.code)
      assert.equal("USDT", ("usdt"):upper())
    end)
  end

  it("has guard rails that hold even where the host's string is changed", function()
    local library, kept = debug.getmetatable("").__index, {}
    for name, fn in pairs(library) do kept[name] = fn end
    library.upper = function(text) return text == "USDT" and "DOGE" or kept.upper(text) end
    library.find, library.match, library.gmatch = function() end, function() end, function() return function() end end
    local done, err = client.wallet:withdraw(PARAMS)
    for name, fn in pairs(kept) do library[name] = fn end
    assert.is_nil(done)
    assert.equal("guard.max_amount", err.code)
  end)

  it("rejects a finaliser, and takes any other metatable", function()
    local environment = assert(purser.sandbox(limited))
    local ok, message = pcall(run_script, "return setmetatable({}, { __gc = 1 })", environment)
    assert.is_false(ok)
    assert.matches("no finalisers", message)
    message = select(2, pcall(run_script, "local x = setmetatable({}, { __gc = 1 }) return x", environment))
    assert.matches("^script:1: a script has no finalisers", message)
    assert.equal(7, run_script("return setmetatable({}, { __index = { a = 7 } }).a", environment))
    assert.is_false((pcall(run_script, "setmetatable(client, {})", environment)))
  end)

  it("runs a common script", function()
    local environment = assert(purser.sandbox(limited, { since = sim:now() - 1000 }))
    assert.equal("1 3 USDT", run_script([[
      local names, total = {}, 0
      for _, coin in ipairs(assert(client.wallet:coins())) do names[coin.coin] = true end
      for i = 1, 2 do total = total + i end
      for _ in client.wallet:each_deposit { from = since } do error "there is none" end
      return select("#", total) .. " " .. ("%d"):format(total) .. " " .. (names.USDT and "usdt" or "none"):upper()
    ]], environment))
  end)

  it("takes no function of Lua's own that leads to the host, under no name; and takes the host's", function()
    for _, value in ipairs { getmetatable, rawset, require, load, rawget(_G, "module") or load,
      rawget(_G, "newproxy") or load, rawget(_G, "setfenv") or load, coroutine.wrap, debug.getinfo, io.open, os.execute,
      string.dump, coroutine, { deep = { debug } } } do
      local environment, err = purser.sandbox(limited, { harmless = value })
      assert.is_nil(environment)
      assert.same({ "config", true }, { err.kind, err.message:find("leads to the host", 1, true) ~= nil })
    end
    assert.is_truthy(purser.sandbox(limited, { print = print, mine = function() end, pi = math.pi, now = os.time }))
  end)

  it("holds copies of the extras", function()
    local shared = { 1, { 2 } }
    shared.itself = shared
    local environment = assert(purser.sandbox(limited, { shared = shared, print = print, coin = "USDT" }))
    assert.equal(print, environment.print)
    assert.equal("USDT", environment.coin)
    assert.equal(environment.shared, environment.shared.itself)
    environment.shared[2][1], environment.shared.itself = "changed", nil
    assert.equal(2, shared[2][1])
    assert.equal(shared, shared.itself)
    assert.is_nil(assert(purser.sandbox(limited)).shared)
  end)

  it("is made of a restricted client and of plain data", function()
    for expected, given in pairs {
      ["no restricted client"] = { client, nil }, ["are a string"] = { limited, "x" },
      ["no name that a script could use"] = { limited, { [1] = "x" } },
      ["by a word"] = { limited, { ["a b"] = "x" } },
      ["plans is an object"] = { limited, { plans = setmetatable({}, {}) } },
      ["all.journal is an object"] = { limited, { all = { journal = client } } },
      ["number is an object"] = { limited, { number = purser.decimal "1" } },
      ["task is an object"] = { limited, { task = coroutine.create(function() end) } },
      ["named by a table"] = { limited, { all = { [{}] = 1 } } },
    } do
      local environment, err = purser.sandbox(given[1], given[2])
      assert.is_nil(environment)
      assert.equal("config", err.kind)
      assert.truthy(tostring(err):find(expected, 1, true), tostring(err))
    end
  end)
end)
