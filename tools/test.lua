-- SPDX-License-Identifier: MIT
-- Runs stages of tests side by side and adds up what each test file counted: `make test` and `make test-all` call it.
--
--   lua5.4 tools/test.lua quick              the stages of `make test`
--   lua5.4 tools/test.lua all                those of `make test-all`: what `quick` leaves out
--   lua5.4 tools/test.lua room spec/cli      the test files of folders, or files
--
-- A job is a command that prints TAP, or lines of the form `N passed, N failed`. It has a shell script of its own in
-- build/test/STAGE, and xargs runs one more of these than there are cores, which fills the pauses of the others; those
-- that mostly wait have twice as many workers as there are cores. A spec file says in a line at its top how long it
-- runs, where that is more than a second:
--
--   -- make test: 20 s, waits          (seconds of wall clock beside other tests)
--   -- make test-all: 40 s             `make test` leaves it out
--   -- make test: 1 s, on luajit       it is for one Lua
--   -- make test: 30 s, on lua5.4 and luajit   it is long, and the same modules are loaded on the others by other files
--   -- make test: 9 s, a third        of its cases (spec/support/draws.lua); `make test-all` runs all of them on lua5.4
--
-- The longest begin first; ORDER=7 shuffles them. A job's processes have a bound of processor time, and a busy machine
-- does not shorten that bound; the clock ends a job that waits for ever (TEST_LIMIT seconds). Both are failures, as
-- is a job that ends with an error, that counts nothing, or whose TAP has no plan.

local FOLDER = os.getenv "TEST_FOLDER" or "build/test/" .. arg[1]
local TELL_EVERY = 10 -- seconds

local files = dofile "tools/whole_files.lua"
local stages = dofile "tools/test_stages.lua"

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function number_of(command) return assert(tonumber((files.output_of(command)))) end

-------------------------------------------------------------------------------------------------------------- running

local function file_of(job, suffix) return ("%s/%d.%s"):format(FOLDER, job.number, suffix) end

-- Writes the script of a job. It prints the processor time, the job's number, its exit status and its milliseconds.
local function write_script(job)
  local lua = job.lua or "lua5.4"
  local build = job.build or "build/" .. lua
  local processor_s = 120 + 8 * (job.seconds or 1)
  local limit = os.getenv "TEST_LIMIT" or math.min(900, 5 * processor_s) -- seconds
  local command = ("ulimit -t %d; %s"):format(processor_s, job.command)
  files.write(file_of(job, "sh"), ([[
export LUA=%s BUILD=%s PURSER_RUNNING=%s LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;;" LUA_CPATH="$PWD/%s/?.so;;"
began=$(date +%%s%%3N)
timeout -k 10 %s sh -c %s >%s 2>&1 </dev/null
status=$?
times >%s
echo "$(tail -n 1 %s) %d $status $(($(date +%%s%%3N) - began))"
]]):format(lua, build, file_of(job, "running"), build, limit, quoted(command),
    file_of(job, "log"), file_of(job, "times"), file_of(job, "times"), job.number))
end

local function shuffle(jobs, seed)
  math.randomseed(seed)
  for i = #jobs, 2, -1 do
    local k = math.random(i)
    jobs[i], jobs[k] = jobs[k], jobs[i]
  end
end

-- Starts the jobs: a list for those that work and one for those that wait. Returns the pipe of their closing lines.
local function start(jobs, cores)
  local lists = { works = {}, waits = {} }
  for i, job in ipairs(jobs) do
    job.number = i
    write_script(job)
    table.insert(job.waits and lists.waits or lists.works, file_of(job, "sh"))
  end
  for name, list in pairs(lists) do files.write(FOLDER .. "/" .. name, table.concat(list, "\n") .. "\n") end
  local xargs = "xargs -r -P %d -n 1 sh <" .. FOLDER .. "/%s"
  return assert(io.popen(("%s & %s; wait"):format(xargs:format(cores + 1, "works"), xargs:format(2 * cores, "waits"))))
end

------------------------------------------------------------------------------------------------------------- counting

-- Returns what a job's output says: how many passed and failed, and the output of each test that failed.
local function read_result(job, status)
  local result = { passed = 0, failed = 0, skipped = 0, told = {}, notes = {} }
  local planned, count, inside = nil, 0, false
  local text = files.read(file_of(job, "log"))
  for line in text:gmatch "[^\n]+" do
    local passed, failed = line:match "^(%d+) passed, (%d+) failed$"
    local is_test, is_bad = line:find "^ok %d" or line:find "^not ok %d", line:find "^not ok %d" or line:find "# SKIP"
    if passed then
      result.passed, result.failed = result.passed + passed, result.failed + failed
    elseif is_test then
      count, inside = count + 1, is_bad
      local for_root = line:find "# SKIP .-root alone: " -- spec/support/as_root.lua
      is_bad, inside = is_bad and not for_root, inside and not for_root
      local name = is_bad and "failed" or for_root and "skipped" or "passed"
      result[name] = result[name] + 1
    end
    planned = planned or tonumber(line:match "^1%.%.(%d+)$")
    if inside and not line:find "^1%.%." then table.insert(result.told, line) end
    if not inside and line:find "^# " then table.insert(result.notes, line) end
  end
  local is_late = status == 124 or status == 137 or status == 152 -- by timeout(1), or by SIGXCPU
  local problem = is_late and "was not over in time and was killed"
    or (count > 0 and planned ~= count and result.failed == 0) and "ended in the middle"
    or (status ~= 0 and result.failed == 0) and "ended with status " .. status
    or result.passed + result.failed + result.skipped == 0 and "counted nothing"
  if problem then
    local is_read, running = pcall(files.read, file_of(job, "running"))
    result.failed = result.failed + 1
    table.insert(result.told, problem .. (is_read and "; the test that ran last: " .. running or ""))
  end
  if #result.told == 0 and result.failed > 0 or problem and count == 0 then
    local from = #text > 4000 and text:find("\n", -4000) or 1
    for line in text:sub(from):gmatch "[^\n]+" do table.insert(result.told, line) end
  end
  return result
end

local function report(job, result)
  print(("FAILED %s"):format(job.name))
  for _, lines in ipairs { result.notes or {}, result.told } do
    for _, line in ipairs(lines) do print("  " .. line) end
  end
  print("  alone: " .. job.alone)
end

--------------------------------------------------------------------------------------------------------------- stages

local began = os.time()

-- Runs the jobs and prints how far they are. Returns the sums.
local function run(jobs, cores)
  local passed, failed, skipped, done, told_at, times = 0, 0, 0, 0, began, {}
  local pipe = start(jobs, cores)
  for line in pipe:lines() do
    local user_m, user_s, system_m, system_s, number, status, wall = line:match(
      "^(%d+)m([%d.]+)s (%d+)m([%d.]+)s (%d+) (%d+) (%d+)$")
    local job = jobs[tonumber(number)]
    local result = read_result(job, tonumber(status))
    passed, failed, done, job.is_done = passed + result.passed, failed + result.failed, done + 1, true
    skipped = skipped + result.skipped
    if result.failed > 0 then report(job, result)
    elseif arg[1] == "room" and result.notes[1] then print(table.concat(result.notes, "\n"))
    end
    times[done] = ("%.2f\t%.2f\t%s\t%s"):format(wall / 1000, user_m * 60 + user_s + system_m * 60 + system_s,
      job.waits and "waits" or "works", job.name)
    if os.time() - told_at >= TELL_EVERY or done == #jobs or result.failed > 0 then
      told_at = os.time()
      print(("%d/%d files, %d s: %d passed, %d failed"):format(done, #jobs, told_at - began, passed, failed))
    end
    io.stdout:flush()
  end
  pipe:close()
  for _, job in ipairs(jobs) do
    if not job.is_done then
      failed = failed + 1
      report(job, { told = { "did not end" } })
    end
  end
  table.sort(times, function(a, b) return tonumber(a:match "^%S+") > tonumber(b:match "^%S+") end)
  files.write(FOLDER .. "/times.tsv", "wall\tprocessor\tpool\tname\n" .. table.concat(times, "\n") .. "\n")
  if skipped > 0 then print(("%d tests are for root alone and were left out"):format(skipped)) end
  return passed, failed
end

assert(os.execute(("rm -rf %s && mkdir -p %s"):format(FOLDER, FOLDER)))
local jobs = stages.jobs(table.unpack(arg))
if #jobs == 0 then
  print(("there is no test file in %s"):format(table.concat(arg, " ", 2)))
  print "0 passed, 1 failed"
  os.exit(false)
end
for i, job in ipairs(jobs) do job.place = i end
table.sort(jobs, function(a, b)
  local x, y = a.seconds or 1, b.seconds or 1
  if x ~= y then return x > y end
  return a.place < b.place
end)
local order = tonumber(os.getenv "ORDER" or "")
if order then shuffle(jobs, order) end
local cores = number_of "nproc"
print(("%d files, %d at a time and %d that wait%s"):format(#jobs, cores + 1, 2 * cores,
  order and ", in the order " .. order or ""))
local passed, failed = run(jobs, cores)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0)
