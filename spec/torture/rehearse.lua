-- SPDX-License-Identifier: MIT
-- Rehearsals of many seeds, for `make rehearse`:
--
--   lua spec/torture/rehearse.lua FIRST COUNT [tell]
--
-- The numbers of payments, workers, keys, deaths and faults differ from seed to seed. `tell` prints every event. Before
-- the end stand the undecided payments: by cause, with the share of all payments, and there by reason. The last line
-- says `N passed, N failed`.

local rehearsal = dofile "spec/torture/rehearsal.lua"

local first, count = tonumber(arg[1] or 1), tonumber(arg[2] or 1000)
local folder = rehearsal.folder()

collectgarbage("setpause", 1000) -- to collect within a run took a fifth of the time; it is done after each
io.stdout:setvbuf "line" -- a run of many seeds may be stopped, and what it found must not be lost
local sums = { done = 0, undecided = 0, deaths = 0, events = 0, ms = 0 }
local passed, failed, causes = 0, 0, {}
for seed = first, first + count - 1 do
  local ok, result = pcall(rehearsal.run, rehearsal.varied(seed, folder, arg[3] == "tell" and print or nil))
  if not ok then result = { problems = { tostring(result) } } end
  for name in pairs(sums) do sums[name] = sums[name] + (result[name] or 0) end
  for cause, reasons in pairs(result.causes or {}) do
    local of_cause = causes[cause] or { cause = cause, number = 0 }
    causes[cause] = of_cause
    for reason, number in pairs(reasons) do
      of_cause.number, of_cause[reason] = of_cause.number + number, (of_cause[reason] or 0) + number
    end
  end
  for _, problem in ipairs(result.problems) do print(("  seed %d: %s"):format(seed, problem)) end
  if #result.problems == 0 then passed = passed + 1 else failed = failed + 1 end
  os.execute(("rm -f %s/journal-%d*"):format(folder, seed))
  collectgarbage()
end
os.execute("rm -r " .. folder)
local total, list = sums.done + sums.undecided, {}
for _, of_cause in pairs(causes) do list[#list + 1] = of_cause end
table.sort(list, function(a, b) return a.number > b.number end)
for _, of_cause in ipairs(list) do
  print(("  %5d undecided (%.3f %%): %s"):format(of_cause.number, of_cause.number * 100 / total, of_cause.cause))
  for reason, number in pairs(of_cause) do
    if reason ~= "number" and reason ~= "cause" then print(("        %5d %s"):format(number, reason)) end
  end
end
print(("  %d payments done, %d undecided, %d deaths, %d events in %d virtual minutes"):format(sums.done, sums.undecided,
  sums.deaths, sums.events, math.floor(sums.ms / 60000)))
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
