-- SPDX-License-Identifier: MIT
-- Where an error of bad input stands: the line of the program that called, and none of this package.

local files = require "spec.support.files"
local purser = require "purser"

local BASE = "http://127.0.0.1:1"
local client = assert(purser.new { base_url = BASE, api_key = "k", secret_key = "s" })

describe("the line of the caller", function()
  local WITHDRAW = "return select(2, client.wallet:withdraw { coin = 'USDT' })"

  -- Runs a program in a process of its own. Returns what it prints.
  local function run(program, prelude)
    local path = os.tmpname()
    files.write(path, (prelude or "") .. program)
    local pipe = io.popen(("%s '%s' 2>&1"):format(os.getenv "LUA" or "lua5.4", path))
    local text = pipe:read "*a"
    pipe:close()
    os.remove(path)
    return text, path
  end

  local HEAD = ("local purser = require 'purser' local client = assert(purser.new { base_url = %q, api_key = 'k', "
    .. "secret_key = 's' })\n"):format(BASE)

  it("is that of the call in a task, in a protected call and below functions of C", function()
    local lines = {}
    purser.run(function()
      local _, err = client.wallet:transfer {}
      lines[1] = err.where
      local _, _, other = pcall(function()
        local value, again = client.wallet:transfer {}
        return value, again
      end)
      lines[2] = other.where
    end)
    table.sort({ 2, 1 }, function()
      local _, err = client.wallet:transfer {}
      lines[3] = err.where
      return false
    end)
    local first = tonumber(lines[1]:match "^spec/client/call/errors_where_spec.lua:(%d+)$")
    assert.same({ first + 3, first + 9 }, { tonumber(lines[2]:match "%d+$"), tonumber(lines[3]:match "%d+$") })
  end)

  it("stands in what an assert of a script prints, where the host's assert takes more than texts", function()
    if _VERSION == "Lua 5.2" or _VERSION == "Lua 5.1" and not rawget(_G, "jit") then return end -- they take texts alone
    local text, path = run("local x = 1\nassert(client.wallet:withdraw { coin = 'USDT' })\n", HEAD)
    assert.is_truthy(text:find(path .. ':3: wallet.withdraw: parameter "', 1, true), text)
  end)

  it("quotes no text that was loaded as a program, which may hold a secret", function()
    local err = assert((loadstring or load)("local client = ... local secret = 's3cr3t' local r, e = " -- luacheck: ignore
      .. "client.wallet:withdraw {} return e"))(client)
    assert.equal("[string]:1", err.where)
    assert.is_nil(tostring(err):find("s3cr3t", 1, true))
  end)

  it("is left out where the host has no debug, and where the programs are stripped", function()
    local text = run("print(client.wallet:withdraw {})", "debug = nil package.loaded.debug = nil\n" .. HEAD)
    assert.is_truthy(text:find('nil\twallet.withdraw: parameter "coin" is required', 1, true), text)
    local stripped = "local load = loadstring or load print(load(string.dump(assert(load([[local client = ... %s]])), "
      .. "true))(client))"
    text = run(stripped:format(WITHDRAW), HEAD)
    assert.is_truthy(text:find "^[^\n]*wallet.withdraw: parameter", text)
  end)

  it("is not that of the command", function()
    local pipe = io.popen(("env PURSER_API_KEY=k PURSER_SECRET_KEY=s %s bin/purser --base-url %s wallet withdraw "
      .. "--coin USDT 2>&1"):format(os.getenv "LUA" or "lua5.4", BASE))
    local text = pipe:read "*a"
    pipe:close()
    assert.is_nil(text:find(".lua:", 1, true), text)
  end)
end)
