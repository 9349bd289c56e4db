-- SPDX-License-Identifier: MIT
-- libcurl and its libraries are loaded with the first transport that needs them, and never before.

local core = require "purser.core"

local lua = os.getenv "LUA" or "lua5.4"

-- Returns what a program prints that is run in a process of its own.
local function output_of(script)
  local pipe = assert(io.popen(("%s -e '%s' 2>&1"):format(lua, script)))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local OPTIONS = 'base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false'

describe("libcurl", function()
  local maps = io.open "/proc/self/maps"
  if maps then
    maps:close()
    local LOADED = [[ print(io.open("/proc/self/maps"):read("*a"):find("libcurl", 1, true) ~= nil) ]]

    it("is not loaded where the host has a transport of its own", function()
      assert.equal("true\nfalse\n", output_of(([[
        local answer = { status = 200, body = "[]", headers = "" }
        local client = assert(require("purser").new { %s, transport = { send = function() return answer end } })
        print(client.wallet:deposit_history() ~= nil)
      ]]):format(OPTIONS) .. LOADED))
    end)

    it("is loaded with the transport that a client makes itself", function()
      assert.equal("true\n", output_of(('require("purser").new { %s }'):format(OPTIONS) .. LOADED))
    end)
  end

  it("may be found elsewhere: under package.preload", function()
    assert.equal("false\tgiven\n", output_of(([[
      package.preload["purser.http"] = function()
        return { easy = function() return { send = function() return nil, { message = "given" } end } end }
      end
      local client = assert(require("purser").new { %s })
      local answer, err = client:ping()
      print(answer ~= nil, err.message)
    ]]):format(OPTIONS)))
  end)
end)

describe("core.library", function()
  local path = package.searchpath and package.searchpath("purser.core", package.cpath)

  it("says what it cannot open", function()
    local opened, message = core.library("/nowhere/module.so", "luaopen_module")
    assert.is_nil(opened)
    assert.matches("/nowhere/module.so", message, 1, true)
  end)

  if path then
    it("says which name is not there, and gives the function of one that is", function()
      local opened, message = core.library(path, "luaopen_another")
      assert.is_nil(opened)
      assert.matches("luaopen_another", message, 1, true)
      assert.equal(core.md5_hex "a", core.library(path, "luaopen_purser_core")().md5_hex "a")
    end)
  end
end)
