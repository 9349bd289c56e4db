-- SPDX-License-Identifier: MIT
-- Every code block of the documentation runs, so that none can be wrong for long.
-- make test: 12 s, waits, on lua5.4 and luajit

package.path = "tools/?.lua;" .. package.path

local skipped_time = require "skipped_time"
require("purser.core").sleep_ms = skipped_time.sleep -- a block of Lua waits for no real time

local files = require "files"
local run = require "docs.run"
local start = require("service").start

local function pages()
  local paths = { "README.md" }
  local pipe = assert(io.popen "find docs -name '*.md' | sort")
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

-- A service and what the pages speak of, until the test is over.
local function world()
  skipped_time.reset()
  local service, fixture = start(), nil
  finally(function()
    service.stop()
    for _, suffix in ipairs(fixture and { "", "-wal", "-shm" } or {}) do os.remove(fixture.journal_path .. suffix) end
    if fixture then
      os.remove(fixture.keys_path)
      files.remove(fixture.folder)
    end
  end)
  fixture = run.furnish(service)
  fixture.folder = files.folder()
  return service, fixture
end

describe("the documentation's code", function()
  for _, path in ipairs(pages()) do
    local blocks = run.blocks(path)
    local runnable = {}
    for _, block in ipairs(blocks) do
      if (block.language == "lua" or block.language == "sh") and not block.file then -- cookbook_spec runs its programs
        runnable[#runnable + 1] = block
      end
    end
    if #runnable > 0 then
      it("of " .. path .. " runs", function()
        local service, fixture = world()
        local env = run.environment(service, fixture, {})
        if path == "docs/guide.md" then runnable = run.one_program(runnable) end
        for _, block in ipairs(runnable) do
          if block.language == "lua" then run.run_lua(block, service, env) else run.run_sh(block, service, fixture) end
        end
        assert(service.world:verify())
      end)
    end
  end

  it("would be caught when it were wrong", function()
    local service, fixture = world()
    local block = { path = "page.md", line = 7, text = "local _, err = client.wallet:withdraw { coin = 'USDT' }\n"
      .. "error(tostring(err))\n" }
    local ok, message = pcall(run.run_lua, block, service, run.environment(service, fixture, {}))
    assert.is_false(ok)
    assert.matches('page.md:7: .*parameter "a%a+" is required', message)
    ok = pcall(run.run_sh, { path = "page.md", line = 9, text = "false\ntrue\n" }, service, fixture)
    assert.is_false(ok)
  end)
end)
