-- SPDX-License-Identifier: MIT
-- The long torture, for `make torture`:
--
--   lua spec/torture/run.lua DATABASE [PAYMENTS] [WORKERS] [SEED] [SECONDS] [PER_CENT] [KILL_EVERY]
--
-- DATABASE is sqlite or postgresql, PER_CENT the share of requests that meet a fault (30), KILL_EVERY after how many
-- requests of all workers one of them is killed (0: never), which is also how many each makes in its life. A new worker
-- reads whole histories for what was rejected: in less than a fortieth of the payments it would read and find nothing.
-- The last line says `N passed, N failed`.

local postgresql = dofile "spec/torture/postgresql.lua"
local torture = dofile "spec/torture/torture.lua"

local database = arg[1] or "sqlite"
local payments, workers = tonumber(arg[2] or 10000), tonumber(arg[3] or (database == "sqlite" and 1 or 8))
local seed, seconds = tonumber(arg[4] or 1), tonumber(arg[5] or 600 + payments)
local share = tonumber(arg[6] or 30) / 100
local kill_every = tonumber(arg[7] or math.max(50, math.floor(payments / 40)))

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p " .. folder)

local server = database == "postgresql" and postgresql.start(folder) or nil
local ok, result = pcall(torture.run, {
  payments = payments, workers = workers, seed = seed, seconds = seconds, kill_every = kill_every,
  share = share, keys = 16,
  folder = folder,
  journal = server and { postgresql = server.options } or { sqlite = folder .. "/journal" },
  tell = function(line) print("  " .. line) end,
})
if server then server.stop() end
os.execute("rm -r " .. folder)
if not ok then
  print(result)
  print "0 passed, 1 failed"
  os.exit(1)
end

local function list(counts)
  local names, parts = {}, {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = ("%s %d"):format(name, counts[name]) end
  return table.concat(parts, ", ")
end

print(("  %s, %d workers, seed %d: %d payments in %d s (%d/s)"):format(database, workers, seed, payments,
  result.seconds, math.floor(payments / math.max(1, result.seconds))))
print(("  %d done, %d undecided, %d requests (%.1f a payment), %d kills"):format(result.done, result.undecided,
  result.requests, result.requests / payments, result.kills))
for cause, reasons in pairs(result.causes) do print(("  undecided, %s: %s"):format(cause, list(reasons))) end
print("  requests: " .. list(result.requests_by_operation))
print("  faults: " .. list(result.faults))
for i, problem in ipairs(result.problems) do
  if i <= 20 then print("  " .. problem) end
end
print(("%d passed, %d failed"):format(#result.problems == 0 and 1 or 0, #result.problems))
os.exit(#result.problems == 0 and 0 or 1)
