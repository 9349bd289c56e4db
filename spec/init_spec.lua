-- SPDX-License-Identifier: MIT
-- The module itself: its members are loaded at their first use, and what it lacks is named.

local files = require "spec.support.files"
local purser = require "purser"

-- Returns what a program prints that runs in a process of its own; `prelude` comes before it is told where modules are.
local function run(program)
  local path = os.tmpname()
  files.write(path, program)
  local pipe = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", path)))
  local text = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return text
end

describe("purser", function()
  it("loads a member when it is first used, and only that", function()
    assert.equal("none\npurser.util.utc\n", run [[
      local purser = require "purser"
      local heavy = { "purser.client", "purser.schedule", "purser.sim", "purser.util.utc", "purser.fleet",
        "purser.write.journal", "purser.transport.curl", "purser.api.operations" }
      local function loaded()
        for _, name in ipairs(heavy) do
          if package.loaded[name] then return name end
        end
        return "none"
      end
      print(loaded())
      purser.utc.text(0)
      print(loaded())
    ]])
  end)

  it("has each member as the same thing each time, but a copy of the rows for each reader", function()
    for _, name in ipairs { "decimal", "secrets", "fleet", "sim", "vault", "states", "utc", "journal", "payouts",
      "profiles", "rate_limit", "run", "spawn", "join", "all", "sleep", "transport" } do
      assert.is_not_nil(purser[name], name)
      assert.equal(purser[name], purser[name])
    end
    local rows = purser.operations
    rows["wallet.withdraw"].path, rows[1] = "/elsewhere", nil
    assert.equal("/api/v3/capital/withdraw", purser.operations["wallet.withdraw"].path)
    assert.is_not_nil(purser.operations[1])
  end)

  it("has nil for any other name", function()
    for _, name in ipairs { "nope", "Decimal", "x", 5 } do assert.is_nil(purser[name]) end
  end)

  it("makes ids of 32 letters and digits, never the same", function()
    local seen = {}
    for _ = 1, 1000 do
      local id = assert(purser.client_id())
      assert(#id == 32 and not id:find "[^0-9A-Za-z]" and not seen[id], id)
      seen[id] = true
    end
  end)
end)

describe("a host without the C core", function()
  it("is told what to build for this Lua, or where the module has to be", function()
    local name = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
    for prelude, words in pairs {
      ["package.cpath = ''"] = "purser.core is not on package.cpath; run `make LUA=" .. name .. "` in the clone",
      ["package.preload['purser.core'] = function() error('undefined symbol: lua_xx', 0) end"] =
        "purser.core was built for another Lua than this one, " .. name .. "; run",
      ["package.preload['purser.core'] = function() error('no libcrypto', 0) end"] = "cannot be loaded; run `make LUA=",
    } do
      local text = run(prelude .. "\nprint(select(2, pcall(require, 'purser')))")
      assert.truthy(text:find(words, 1, true), text)
      assert.equal(prelude:find "libcrypto" ~= nil, text:find("no libcrypto", 1, true) ~= nil)
    end
  end)
end)

describe("purser.transport", function()
  it("has every transport there is a file of", function()
    local listing = assert(io.popen "cd lua/purser/transport && ls *.lua")
    for file in listing:lines() do
      local name = file:match "^(%w+)%.lua$"
      local is_part = name == "exchange" or name == "http1" -- what transports are made of
      assert.is_true(is_part or type(purser.transport[name]) == "function", name)
    end
    listing:close()
  end)

  it("says which transports there are when asked for another", function()
    for wrong, hint in pairs { mutli = 'did you mean "multi"', nope = "there are curl, multi, openresty, cosocket" } do
      local ok, message = pcall(function() return purser.transport[wrong] {} end)
      assert.is_false(ok)
      assert.matches('init_spec.lua:%d+: purser.transport has no "' .. wrong .. '"', message)
      assert.matches(hint, message)
      assert.is_nil(message:find("no file", 1, true))
    end
    assert.error_matches(function() return purser.transport[5] end, 'has no "5"')
  end)
end)
