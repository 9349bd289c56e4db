-- SPDX-License-Identifier: MIT
-- Runs every check of the project and adds up what each counted. `make test` calls it; named stages limit it to those.
--
-- A stage is a command whose output holds one line of the form `N passed, N failed`, or busted's closing line. A stage
-- that ends with an error without saying what failed counts as one failure. So does one that is not over in time: it
-- is killed, and the test that was running is named. The last line is the sum. Each stage says what it does, and how
-- far it is from time to time.

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
    command = lua .. " /usr/bin/busted --output=TAP --pattern=_test --no-recursive spec/hosts 2>&1" },
  { name = "hosts-all", does = "each page of docs/hosts in its real host", only_named = true,
    command = lua .. " /usr/bin/busted --output=TAP --pattern=_test spec/hosts 2>&1" },
  -- LuaJIT differs most from 5.4: no integers, no __close, another C interface. `make test-all` has those in between.
  { name = "specs on LuaJIT", does = "the same specs once more",
    command = "${MAKE:-make} -s --no-print-directory LUA=luajit BUILD=build/luajit spec" },
}

local A_SIGN_OF_LIFE = 5000 -- passed checks

-- Seconds. A stage takes a few minutes, on a busy machine ten.
local STAGE_LIMIT, WHOLE_LIMIT = 1800, 4500
local RUNNING = build .. "/running-test" -- spec/support/running.lua writes the name of each test there
local began = os.time()

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The command of a stage, killed with all of its children when the time is over. Its last line is `exit STATUS`; what a
-- process that was left behind writes later is not waited for.
local function bounded(command)
  local seconds = math.max(1, math.min(STAGE_LIMIT, began + WHOLE_LIMIT - os.time()))
  return ("PURSER_RUNNING=%s timeout -k 10 %d sh -c %s 2>&1; echo \"exit $?\""):format(quoted(RUNNING), seconds,
    quoted(command))
end

local function running_test()
  local file = io.open(RUNNING)
  local name = file and file:read "*a"
  if file then file:close() end
  return name or "unknown"
end

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
  os.remove(RUNNING)
  local pipe = assert(io.popen(bounded(stage.command), "r"))
  local status
  for line in pipe:lines() do
    status = line:match("^exit (%d+)$")
    if status then break end
    count(line, seen)
    if not line:find("^ok %d+") and not line:find("^1%.%.") then print("  " .. line) end
  end
  pipe:close()
  if status == "124" or status == "137" then
    seen.failed = seen.failed + 1
    print(("  stage %s was not over in time and was killed; the test that was running: %s"):format(stage.name,
      running_test()))
  end
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
  if #arg == 0 and not stage.only_named or requested[stage.name] then
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
