-- SPDX-License-Identifier: MIT
-- The duel: every client of bench/duel/clients, in each of its modes, makes the same payments under the same faults.
-- Prints one table, and writes it and each client's payments into build/duel. `make duel` calls it.
--
--   lua5.4 bench/duel/run.lua [PAYMENTS] [SEED] [REPEATED_IDS] [FILE...]      200, 7, execute, and all clients

local judge = dofile "bench/duel/judge.lua"
local files = dofile "tools/whole_files.lua"

local AT_A_TIME, PROCESSES = tonumber(os.getenv "DUEL_AT_A_TIME" or 4), 12

local count, seed, repeated_ids = tonumber(arg[1] or 200), tonumber(arg[2] or 7), arg[3] or "execute"
local FOLDER = files.output_of("pwd"):gsub("\n", "") .. "/build/duel"
local names = #arg > 3 and { table.unpack(arg, 4) } or files.lines_of "ls bench/duel/clients"

assert(os.execute(("mkdir -p %s && cp bench/duel/drive.mjs bench/duel/clients/* %s && rm -rf %s/rounds"):format(FOLDER,
  FOLDER, FOLDER)))

-- Returns what a driver's head says of it after a word.
local function head(name, word, otherwise)
  local text = files.read("bench/duel/clients/" .. name)
  return text:match("\n%S+ " .. word .. ": ([^\n]*)") or otherwise or error(name .. ": no " .. word)
end

local rows, jobs = {}, {}
for _, name in ipairs(names) do
  for mode in head(name, "modes"):gmatch "%a+" do
    local folder = ("%s/rounds/%s-%s"):format(FOLDER, name, mode)
    rows[#rows + 1] = { client = head(name, "client"), mode = mode, path = folder .. "/result.tsv" }
    jobs[#jobs + 1] = ("%s %s %s %d %d %s %d\n"):format(name, mode, folder, count, seed, repeated_ids,
      head(name, "processes", PROCESSES))
  end
end

-- Those at both ends of the list run longest and begin first.
local began, order = os.time(), {}
for i = 1, #jobs do order[i] = table.remove(jobs, i % 2 == 1 and #jobs or 1) end
files.write(FOLDER .. "/jobs", table.concat(order))
local ok = os.execute(("xargs -L 1 -P %d lua5.4 bench/duel/round.lua <%s/jobs"):format(AT_A_TIME, FOLDER))
if not ok then
  io.stderr:write "duel: a round failed\n"
  os.exit(1)
end

for _, row in ipairs(rows) do row.result = judge.read(row.path) end
local text = judge.table_of(rows)
files.write(FOLDER .. "/table.md", text)
print(("%d payments, seed %d, repeated ids: %s; %d s\n\n%s\nEach payment: build/duel/rounds/*/result.tsv"):format(count,
  seed, repeated_ids, os.time() - began, text))
