-- SPDX-License-Identifier: MIT
-- The secret of a command that is at work: it is searched for in the memory and the environment of the process.

local at_shell = require "at_shell"
local command = require "command"
local eventually = require "eventually"

local LUA = os.getenv "LUA" or "lua5.4"
-- Starts a command that waits, and searches its memory for a text once it waits.

describe("the secret of a command that is at work", function()
  local at

  setup(function() at = at_shell() end)
  teardown(function() at.stop() end)

  local function received() return (at.received "wallet.withdrawal_history") end

  local function copies_of(text, pid)
    local environment = io.open(("/proc/%s/environ"):format(pid), "rb")
    local found, memory = 0, io.open(("/proc/%s/mem"):format(pid), "rb")
    if environment then
      found = environment:read("*a"):find(text, 1, true) and 1 or 0
      environment:close()
    end
    if not memory then return found, false end
    for line in io.lines(("/proc/%s/maps"):format(pid)) do
      local from, to, mode, name = line:match "^(%x+)%-(%x+) (%S+) %S+ %S+ %S+%s*(.*)$"
      local size = tonumber(to, 16) - tonumber(from, 16)
      if mode:sub(1, 1) == "r" and not name:find "^%[v" and size < 2 ^ 32 then -- but a sanitizer's shadow
        memory:seek("set", tonumber(from, 16))
        local bytes = memory:read(size) or ""
        local _, stop = bytes:find(text, 1, true)
        while stop do
          found = found + 1
          _, stop = bytes:find(text, stop + 1, true)
        end
      end
    end
    memory:close()
    return found, true
  end

  local function search(text, words, environment)
    local before, line = received(), ""
    for name, value in pairs(environment) do line = line .. command.quote(name .. "=" .. value) .. " " end
    local pipe = assert(io.popen((
      "echo $$; exec env %s %s bin/purser wait withdrawal nobodyhasthis --deadline 5m %s 2>&1")
      :format(line, LUA, words)))
    local pid = pipe:read "*l"
    eventually(function() return received() ~= before end)
    local found, was_read = copies_of(text, pid)
    local owner = assert(io.popen("stat -c %U /proc/" .. pid .. "/mem")):read "*l"
    os.execute("kill " .. pid)
    pipe:close()
    return found, was_read, owner
  end

  -- Each process may read the other's memory here only as root; everybody else is rejected, which is what is requested.
  if io.open "/proc/self/maps" then
    it("is nowhere in its memory or environment when it comes from a file, and no other process reads it", function()
      local path = at.file(("api_key = %s\nsecret_key = %s\n"):format(at.account.api_key, at.account.secret_key))
      os.execute("chmod 600 " .. path)
      local found, _, owner = search(at.account.secret_key, "--credentials " .. path, { PURSER_BASE_URL = at.url })
      assert.same({ 0, "root" }, { found, owner })
    end)

    -- a sanitizer's runtime has a copy of the environment of its own
    local unless_sanitized = (os.getenv "LD_PRELOAD" or ""):find "asan" and function() end or it
    unless_sanitized("is nowhere when it comes from the environment", function()
      local found, _, owner = search(at.account.secret_key, "", at.keys)
      assert.same({ 0, "root" }, { found, owner })
    end)

    it("the search finds what is there", function()
      local found, was_read = search("nobodyhasthis", "", at.keys)
      assert.is_true(found > 0 or not was_read)
    end)
  end
end)
