-- SPDX-License-Identifier: MIT
-- A Lua whose integers have 32 bits (LUA_32BITS) would cut times and ids without a word, so it is not compiled for.

local files = require "files"

local function output_of(command) return files.output_of(command .. " 2>&1") end

describe("the C modules", function()
  local folder

  setup(function()
    folder = files.folder()
    for place in output_of("pkg-config --cflags-only-I lua5.4"):gmatch "%-I(%S+)" do
      os.execute(("cp %s/*.h %s"):format(place, folder))
    end
  end)
  teardown(function() files.remove(folder) end)

  local function compile(bits)
    local changed, count = files.read(folder .. "/luaconf.h"):gsub("(\n#define LUA_32BITS[ \t]+)[01]", "%1" .. bits)
    assert.equal(1, count, "luaconf.h says nothing of LUA_32BITS")
    files.write(folder .. "/luaconf.h", changed)
    return output_of(("env -u LD_PRELOAD cc -std=c99 -D_POSIX_C_SOURCE=200809L -fsyntax-only -I%s "
      .. "$(pkg-config --cflags lua5.4) src/bind/core_module.c"):format(folder))
  end

  it("do not compile for integers of 32 bits, and say why in one sentence", function()
    local sentence = "Purser needs integers of 64 bits, for times and ids: use a Lua that was built without LUA_32BITS"
    assert.matches(sentence, compile "1", 1, true)
    assert.equal("", compile "0")
  end)
end)

describe("a module of another Lua", function()
  it("is rejected with one sentence that says what to run", function()
    local here = os.getenv "LUA" or "lua5.4"
    local other = (here == "luajit" or here == "lua5.1") and "lua5.4" or "luajit" -- LuaJIT loads modules of 5.1
    local command = "LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='build/%s/?.so' %s -e 'require [[purser]]'"
    local said = output_of(command:format(here, other))
    local line, name = said:match "[^\n]*purser: [^\n]*", other:gsub("%.", "%%.")
    assert.matches("the C module purser.core cannot be loaded by this Lua, " .. name, line)
    assert.matches("run `make LUA=" .. name .. "` in the clone", line)
  end)
end)
