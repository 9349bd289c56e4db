-- SPDX-License-Identifier: MIT
-- Runs every check of the project and adds up what each counted. `make test` calls it; named stages limit it to those.
--
-- A stage is a command whose output holds one line of the form `N passed, N failed`, or busted's closing line. A stage
-- that ends with an error without saying what failed counts as one failure. The last line is the sum. Each stage says
-- what it does, and how far it is from time to time.

local lua = os.getenv "LUA" or "lua5.4"
local build = os.getenv "BUILD" or "build/" .. lua

local stages = {
  { name = "lint", does = "luacheck, C warnings, blanks", command = "tools/lint" },
  { name = "C floor", does = "the C tests, a line a program", command = ([[for t in %s/spec/test_*; do
      case $t in *.d) ;; *) echo "$t"; "$t" || exit 1;; esac
    done]]):format(build) },
  { name = "specs", does = "spec/*_spec.lua on " .. lua, command = lua .. " /usr/bin/busted --output=TAP 2>&1" },
  { name = "torture", does = "payments at a service that answers badly, short",
    command = lua .. " /usr/bin/busted --output=TAP --pattern=_test spec/torture 2>&1" },
  { name = "hosts", does = "nginx, libuv, a frame loop and ThreadSanitizer",
    command = lua .. " /usr/bin/busted --output=TAP --pattern=_test spec/hosts 2>&1" },
  -- LuaJIT differs most from 5.4: no integers, no __close, another C interface. `make test-all` has those in between.
  { name = "specs on LuaJIT", does = "the same specs once more",
    command = "${MAKE:-make} -s --no-print-directory LUA=luajit BUILD=build/luajit test-one 2>&1" },
}

local A_SIGN_OF_LIFE = 5000 -- passed checks

-- Adds up what one stage printed. TAP is counted line by line; everything else by its closing lines.
local function count(line, seen)
  local passed, failed = line:match("^(%d+) passed, (%d+) failed$")
  if passed then
    seen.passed, seen.failed, seen.said = seen.passed + passed, seen.failed + failed, true
  elseif line:find("^ok %d+") then
    seen.passed, seen.said = seen.passed + 1, true
    if seen.passed % A_SIGN_OF_LIFE == 0 then
      print(("  %d passed so far"):format(seen.passed))
      io.stdout:flush()
    end
    if line:find("# SKIP", 1, true) then seen.failed = seen.failed + 1 end -- nothing may be left pending
  elseif line:find("^not ok %d+") then
    seen.failed, seen.said = seen.failed + 1, true
  end
end

local function run(stage)
  local seen = { passed = 0, failed = 0, said = false }
  local pipe = assert(io.popen("{ " .. stage.command .. "\n} 2>&1; echo \"exit $?\"", "r"))
  local status
  for line in pipe:lines() do
    status = line:match("^exit (%d+)$") or status
    count(line, seen)
    if not line:find("^ok %d+") and not line:find("^exit %d+$") and not line:find("^1%.%.") then print("  " .. line) end
  end
  pipe:close()
  if (status ~= "0" and seen.failed == 0) or not seen.said then
    print(("  stage %s ended with status %s%s"):format(stage.name, tostring(status),
      seen.said and "" or " and counted nothing"))
    seen.failed = seen.failed + 1
  end
  return seen
end

local requested = {}
for _, name in ipairs(arg) do requested[name] = true end

local passed, failed = 0, 0
for _, stage in ipairs(stages) do
  if #arg == 0 or requested[stage.name] then
    local started = os.time()
    print(("%s: %s"):format(stage.name, stage.does))
    io.stdout:flush()
    local seen = run(stage)
    print(("  %s: %d passed, %d failed (%d s)"):format(stage.name, seen.passed, seen.failed, os.time() - started))
    passed, failed = passed + seen.passed, failed + seen.failed
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0)
