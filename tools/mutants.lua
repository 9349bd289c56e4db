-- SPDX-License-Identifier: MIT
-- Makes small random changes of lua/purser and tells the ones that no spec of the changed module notices.
--
--   lua5.4 tools/mutants.lua [ROOM=write] [N=100] [SEED=1] [JOBS=1]
--
-- ROOM is a folder below lua/purser, a file of one, or `client/*` for a folder's own files. The specs of a module have
-- the module's path. They must pass unchanged and fail when the module's first line is `error`; otherwise the module's
-- changes count as unusable. No change is drawn that does not parse or that compiles to the same bytecode
-- (tools/mutants/changes.lua has the kinds).
--
-- A changed program may ask any host and end any process. So each run has namespaces of its own: loopback, processes,
-- an empty /tmp, and a read-only copy of the project at /mnt. Without namespaces nothing runs.
-- A survivor is for a person to judge: the change may be equal, or a spec of another module may notice the change.

local files = dofile "tools/whole_files.lua"
local changes = dofile "tools/mutants/changes.lua"

local options = { ROOM = "", N = "100", SEED = "1", JOBS = "1", ROOT = "." }
for _, word in ipairs(arg) do
  local name, value = word:match "^(%u+)=(.*)$"
  assert(options[name], word .. " is no option: ROOM=, N=, SEED=, JOBS=")
  if value ~= "" then options[name] = value end
end
local count = assert(math.tointeger(tonumber(options.N)), "N is a number")

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function paths_of(where)
  return files.lines_of(("cd %s && find %s | LC_ALL=C sort"):format(quoted(options.ROOT), where))
end

-- Returns a change's text as one short line.
local function flat(text)
  text = text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  return #text > 200 and text:sub(1, 200) .. " ..." or text
end

------------------------------------------------------------------------------------------------------------- modules

-- Returns the room of a module for the table: at most two folders.
local function room_of(name)
  local folders = name:match "^(.*)/[^/]*$" or "(top)"
  return folders:match "^[^/]*/[^/]*" or folders
end

-- Returns the name of the module that a spec tests: the spec's own name without the last words of an aspect. A spec of
-- a folder's own module stands in the folder: spec/cli/cli_help_spec.lua tests lua/purser/cli/init.lua.
local function module_of(spec, by_name)
  local name, folder = spec, spec:match "^(.*)/[^/]*$"
  while name do
    if by_name[name] then return by_name[name] end
    name = name:match "^(.*)_[^_/]*$"
  end
  local own = folder and folder:match "[^/]+$"
  return own and (spec:match "[^/]+$" .. "_"):sub(1, #own + 1) == own .. "_" and by_name[folder] or nil
end

-- Returns the modules of the room, each with the spec files of its own that `make test` runs.
local function read_modules()
  local modules, by_name, room = {}, {}, options.ROOM:gsub("^lua/purser/", ""):gsub("/$", "")
  for _, path in ipairs(paths_of "lua/purser -name '*.lua' ! -name meta.lua") do
    local file = path:gsub("^lua/purser/", "")
    local name = file:gsub("%.lua$", ""):gsub("(.)/init$", "%1")
    by_name[name] = { path = path, specs = {}, source = files.read(options.ROOT .. "/" .. path),
      room = room_of(file:gsub("%.lua$", "")) }
    local is_in = room == "" or room == file or file:sub(1, #room + 1) == room .. "/"
      or room == (file:match "^.*/" or "") .. "*"
    if is_in then modules[#modules + 1] = by_name[name] end
  end
  for _, path in ipairs(paths_of "spec -name '*_spec.lua'") do
    local module = module_of(path:gsub("^spec/", ""):gsub("_spec%.lua$", ""), by_name)
    local head = files.read(options.ROOT .. "/" .. path):sub(1, 2000)
    if module and not head:find("\n-- make test-all:", 1, true) then
      table.insert(module.specs, { path = path, lua = head:match "\n%-%- make test:[^\n]* on (lua[%w.]+)" or "lua5.4" })
    end
  end
  -- A spec without an aspect comes first: it notices most.
  for _, module in ipairs(modules) do table.sort(module.specs, function(a, b) return #a.path < #b.path end) end
  return modules
end

------------------------------------------------------------------------------------------------------------- drawing

-- Draws a change of a module, or nil where the drawn one does not parse or means nothing.
local function draw_one(module)
  module.places = module.places or changes.places_of(module.source)
  local kinds = {}
  for kind in pairs(module.places) do kinds[#kinds + 1] = kind end
  if #kinds == 0 then return nil end
  table.sort(kinds)
  local places = module.places[kinds[math.random(#kinds)]]
  local place = places[math.random(#places)]
  local by, source = place.texts[math.random(#place.texts)], module.source
  local text = source:sub(1, place.first - 1) .. by .. source:sub(place.last + 1)
  local made = load(text, "=module")
  if not made or string.dump(made, true) == string.dump(assert(load(source, "=module")), true) then return nil end
  local before = source:sub(1, place.first - 1):match "[^\n]*$"
  local behind = source:match("^[^\n]*", place.last + 1)
  return { module = module, text = text, kind = place.kind, line = place.line,
    old = flat(before .. source:sub(place.first, place.last) .. behind), new = flat(before .. by .. behind) }
end

-- Draws changes of modules by their lines, and of a module by kinds: equal seeds draw equal changes of equal sources.
local function draw(modules)
  math.randomseed((assert(math.tointeger(tonumber(options.SEED)), "SEED is a number")))
  local drawn, seen, lines = {}, {}, 0
  for _, module in ipairs(modules) do
    module.lines = select(2, module.source:gsub("\n", ""))
    lines = lines + module.lines
  end
  for _ = 1, lines > 0 and 50 * count or 0 do
    local at, index = math.random(lines), 1
    while at > modules[index].lines do at, index = at - modules[index].lines, index + 1 end
    local change = #drawn < count and draw_one(modules[index])
    local name = change and change.module.path .. "\n" .. change.text
    if change and not seen[name] then drawn[#drawn + 1], seen[name] = change, true end
  end
  return drawn
end

------------------------------------------------------------------------------------------------------------- running

local folder = files.lines_of("mktemp -d")[1]
local rights = "" -- of unshare: `-r` for a user who is not root
local jobs = 0

-- Returns a command that runs a shell script in namespaces. The script's shell is process 1: all processes end with it.
local function isolated(script)
  return ("unshare %s -n -p -f --mount-proc sh -c %s"):format(rights, quoted("ip link set lo up || exit\n" .. script))
end

local MOUNTS = [[
mount --bind %s/copy /mnt && mount --bind %s.lua /mnt/%s && mount -t tmpfs none /tmp || exit
mount -o remount,bind,ro /mnt && mount -o remount,bind,ro / && cd /mnt || exit
export HOME=/tmp
ulimit -v 4000000]] -- KiB: a change may make a loop that allocates for ever

local SPEC = [[
export LUA=%s BUILD=build/%s LUA_PATH='/mnt/lua/?.lua;/mnt/lua/?/init.lua;;' LUA_CPATH='/mnt/build/%s/?.so;;'
began=$(date +%%s)
timeout -k 2 %d %s /usr/bin/busted --output=TAP --pattern=. --no-keep-going %s; status=$?
echo; echo "#ran $status $(($(date +%%s) - began)) %s"
[ $status = 0 ] || exit]]

-- Writes a job: the specs of a module with a text in the module's place, until one fails.
local function write_job(module, text)
  jobs = jobs + 1
  local job = { name = folder .. "/" .. jobs, module = module }
  files.write(job.name .. ".lua", text)
  local script = { MOUNTS:format(folder, job.name, module.path) }
  for _, spec in ipairs(module.specs) do
    local lua, limit = spec.lua, spec.seconds and 15 + 4 * spec.seconds or 240
    script[#script + 1] = SPEC:format(lua, lua, lua, limit, lua, spec.path, spec.path)
  end
  files.write(job.name .. ".sh", isolated(table.concat(script, "\n")) .. (" >%s.log 2>&1 </dev/null"):format(job.name))
  return job
end

-- Judges an ended job. Sets its result ("passed", "failed", "error", "time"), last spec and counts.
local function judge(job)
  local log, ran, told = files.read(job.name .. ".log"), 0, 1
  job.result, job.log = "error", log
  for from, status, seconds, path, to in ("\n" .. log):gmatch "()\n#ran (%d+) (%d+) ([^\n]*)()" do
    local output, spec = ("\n" .. log):sub(told, from), job.module.specs[ran + 1]
    ran, told, job.last = ran + 1, to, path
    local tests = select(2, output:gsub("\nok %d", ""))
    local is_whole = status == "0" and tests > 0 and tests == (spec.tests or tests)
    job.result = (status == "124" or status == "137") and "time" or output:find "\nnot ok" and "failed"
      or is_whole and "passed" or "error"
    job.counted = job.counted or {}
    job.counted[ran] = { tests = tests, seconds = tonumber(seconds) }
    if job.result ~= "passed" then break end
  end
  if job.result == "passed" and ran < #job.module.specs then job.result = "error" end
end

-- Runs jobs, and calls `tell` with each as it ends.
local function run(list, tell)
  local names, waiting = {}, {}
  for i, job in ipairs(list) do
    names[i] = job.name .. ".sh"
    waiting[names[i]] = job
  end
  files.write(folder .. "/list", table.concat(names, "\n"))
  local ended = assert(io.popen(([[xargs -r -P %d -n 1 sh -c 'sh "$0"; echo "$0"' <%s/list]]):format(
    tonumber(options.JOBS), folder)))
  for name in ended:lines() do
    judge(waiting[name])
    if tell then tell(waiting[name]) end
    waiting[name] = nil
  end
  ended:close()
  assert(not next(waiting), "interrupted")
end

-- Runs each drawn module unchanged and broken. Sets module.problem where the module's specs cannot judge.
local function judge_specs(drawn)
  local unchanged, broken, seen = {}, {}, {}
  for _, change in ipairs(drawn) do
    local module = change.module
    if not seen[module] then
      seen[module], module.problem = true, not module.specs[1] and "has no spec" or nil
      if module.specs[1] then unchanged[#unchanged + 1] = write_job(module, module.source) end
    end
  end
  run(unchanged)
  for _, job in ipairs(unchanged) do
    local module = job.module
    if job.result == "passed" then
      for i, spec in ipairs(module.specs) do spec.tests, spec.seconds = job.counted[i].tests, job.counted[i].seconds end
      broken[#broken + 1] = write_job(module, 'error "changed"\n' .. module.source)
    else
      module.problem = ("fails unchanged: %s %s"):format(job.last, flat(job.log:sub(-400)))
    end
  end
  run(broken)
  for _, job in ipairs(broken) do
    if job.result == "passed" then job.module.problem = "has specs that pass without it" end
  end
end

----------------------------------------------------------------------------------------------------------- reporting

local COLUMNS = { "failed", "error", "time", "survived", "unusable" }

local function print_result(change)
  local shown = ("%s:%d  [%s] %s"):format(change.module.path, change.line, change.kind, change.result)
  if change.module.problem then shown = shown .. ": its module " .. change.module.problem end
  if change.result == "survived" or change.result == "unusable" then
    shown = shown .. ("\n    - %s\n    + %s"):format(change.old, change.new)
  end
  print((shown:gsub(" +\n", "\n"):gsub(" +$", "")))
end

local function print_table(drawn)
  local rooms, names = { all = {} }, {}
  for _, change in ipairs(drawn) do
    local room = change.module.room
    if not rooms[room] then rooms[room], names[#names + 1] = {}, room end
    for _, of in ipairs { rooms[room], rooms.all } do of[change.result] = (of[change.result] or 0) + 1 end
  end
  table.sort(names)
  names[#names + 1] = "all"
  print(("\n%-22s %8s"):format("room", "noticed") .. (" %8s"):rep(#COLUMNS):format(table.unpack(COLUMNS)))
  for _, name in ipairs(names) do
    local row = {}
    for i, column in ipairs(COLUMNS) do row[i] = rooms[name][column] or 0 end
    local noticed = row[1] + row[2] + row[3]
    local rate = noticed + row[4] > 0 and ("%.0f %%"):format(100 * noticed / (noticed + row[4])) or "-"
    print(("%-22s %8s"):format(name, rate) .. (" %8d"):rep(#row):format(table.unpack(row)))
  end
end

local function main()
  if not os.execute(isolated "true" .. " 2>/dev/null") then rights = "-r" end
  if not os.execute(isolated "true" .. " 2>/dev/null") then
    print "mutants: needs namespaces (unshare, ip), so that nothing leaves this machine"
    return false
  end
  local began, modules = os.time(), read_modules()
  local drawn, list = draw(modules), {}
  assert(os.execute(("mkdir %s/copy && tar cf - -C %s --exclude=.git . | tar xf - -C %s/copy"):format(folder,
    quoted(options.ROOT), folder)))
  judge_specs(drawn)
  local change_of = {}
  for _, change in ipairs(drawn) do
    change.result = "unusable"
    if change.module.problem then
      print_result(change)
    else
      list[#list + 1] = write_job(change.module, change.text)
      change_of[list[#list]] = change
    end
  end
  run(list, function(job)
    change_of[job].result = job.result == "passed" and "survived" or job.result
    print_result(change_of[job])
  end)
  print_table(drawn)
  print(("%d changes of %d modules in %d s; seed %s"):format(#drawn, #modules, os.time() - began, options.SEED))
  return #drawn > 0
end

io.stdout:setvbuf "line" -- each result is seen when its specs end, also in a file
local is_done, result = xpcall(main, debug.traceback)
os.execute("rm -rf " .. folder)
if not is_done then print(result) end
os.exit(is_done and result)
