-- SPDX-License-Identifier: MIT
--- The rehearsal: the torture without a machine. Workers, service, network, clocks and deaths live in one program on
--- virtual time, and everything that happens comes from one seed: a run that goes wrong can be run again, to the last
--- event, as often as it takes to understand it.
--
--     local result = rehearsal.run { seed = 7, folder = "..." }
--     -- { problems, done, undecided, deaths, events, trace }
--
-- A worker may die before and after every statement of its journal and every request, in the middle of a transaction
-- too; what it had sent arrives all the same. It may also stand still for longer than its lease, and then go on as if
-- nothing had happened. Statements fail, and commits whose success is not heard of. The service's clock is not the
-- workers', whose clock is set now and then, and it shows records late. Answers are mixed up.

local M = {}

---@class rehearsal.Options
---@field seed integer
---@field folder string            for the journal
---@field payments integer|nil     (30)
---@field workers integer|nil      (2)
---@field keys integer|nil         API keys to be made (2)
---@field dies_once_in integer|nil a worker dies at one in so many of the points where it may (400)
---@field fails_once_in integer|nil so does a statement of the journal fail (1000)
---@field jumps_once_in integer|nil  so is the clock of the workers' machine set, by up to 20 s (1000)
---@field mixes_once_in integer|nil  so does a transport hand out the answer of an earlier call (50)
---@field lies boolean|nil         one read of the run gets the answer of an earlier read of its worker
---@field share number|nil         of requests that meet a fault (0.3)
---@field nonsense_in integer|nil  of so many reads one gets an answer that shows no list (0: none)
---@field blanks boolean|nil       a third of these are lists with one member of their records hidden
---@field unsure_in integer|nil    of so many write calls one gets a code that proves nothing (0: none)
---@field fee string|nil           whether a withdrawal's fee is "on_top" (the default) or "inside" its amount
---@field repeated_ids string|nil  what the service does with an id that was used before ("execute"), or "reject"
---@field twin_in integer|nil     one in so many payments that nothing identifies has an equal (20)
---@field identified boolean|nil   all payments carry an id
---@field check boolean|nil        workers look at the histories before they send (only where they do not die too soon)
---@field puts_back boolean|nil    an older copy of the journal is put back in the middle, with all workers killed
---@field empties boolean|nil      with puts_back: no copy, but a new journal to which the payments are added again
---@field writes_late boolean|nil  without the record before the request
---@field changed table[]|nil      what is changed in Purser's source: a list of { module, text, other text }
---@field tell fun(line: string)|nil  is told every event

-- The path and the source of a module of Purser.
local function read_module(module)
  local place = "lua/" .. module:gsub("%.", "/")
  local path = place .. ".lua"
  local file = io.open(path, "r")
  if not file then
    path = place .. "/init.lua"
    file = assert(io.open(path, "r"))
  end
  local source = file:read "*a"
  file:close()
  return path, source
end

--- Returns loaders of modules with texts of their source changed, each of which must occur once.
function M.changed_loaders(changed)
  local paths, sources, loaders = {}, {}, {}
  for _, change in ipairs(changed) do
    local module, text, other = change[1], change[2], change[3]
    if not sources[module] then paths[module], sources[module] = read_module(module) end
    local source = sources[module]
    local first, last = source:find(text, 1, true)
    assert(first and not source:find(text, last + 1, true), paths[module] .. " does not hold this text once: " .. text)
    sources[module] = source:sub(1, first - 1) .. other .. source:sub(last + 1)
  end
  for module, source in pairs(sources) do
    loaders[module] = assert((loadstring or load)(source, "=" .. paths[module])) -- luacheck: ignore (Lua 5.1)
  end
  return loaders
end

-- The functions of Purser's files, compiled once: each run has its own modules, and most of them the same source.
local chunks = {}

local function find_compiled(name)
  if not name:find "^purser" or name == "purser.core" or package.preload[name] then return nil end
  if not chunks[name] then
    local path = package.searchpath and package.searchpath(name, package.path)
    if not path or not path:find "^lua/" and not path:find "/lua/" then return nil end
    chunks[name] = assert(loadfile(path))
  end
  return chunks[name]
end

local searchers = package.searchers or rawget(package, "loaders")
table.insert(searchers, 2, find_compiled)

-- Calls `fn` with modules of its own, so that nothing of one run is left in the next. The C core is one.
local function with_own_modules(changed, fn)
  local kept = {}
  for name, module in pairs(package.loaded) do
    if name:find "^purser" and name ~= "purser.core" then kept[name] = module end
  end
  for name in pairs(kept) do package.loaded[name] = nil end
  local loaders = M.changed_loaders(changed)
  for module, loader in pairs(loaders) do package.preload[module] = loader end
  local ok, result = pcall(fn)
  for module in pairs(loaders) do package.preload[module] = nil end
  for name in pairs(package.loaded) do
    if name:find "^purser" and name ~= "purser.core" then package.loaded[name] = nil end
  end
  for name, module in pairs(kept) do package.loaded[name] = module end
  if not ok then error(result, 0) end
  return result
end

--- Runs it. Returns { problems, done, undecided, deaths, events, trace, ms }; two runs of one seed have one trace.
---@param options rehearsal.Options
function M.run(options)
  local state = { payments = 30, workers = 2, keys = 2, dies_once_in = 400, fails_once_in = 1000, share = 0.3,
    jumps_once_in = 1000, mixes_once_in = 50, nonsense_in = 0, unsure_in = 0 }
  for name, value in pairs(options) do state[name] = value end
  return with_own_modules(options.changed or {}, function() return dofile("spec/torture/scene.lua")(state) end)
end

--- A new folder for journals: in memory where the machine has such a place, since time does not pass there either.
function M.folder()
  local path = os.tmpname()
  os.remove(path)
  local in_memory = "/dev/shm/" .. path:match "[^/]+$"
  local made = os.execute(("mkdir %s 2>/dev/null"):format(in_memory))
  if made == true or made == 0 then return in_memory end -- Lua 5.1 says 0
  os.execute("mkdir " .. path)
  return path
end

--- Options that differ from seed to seed.
---@return rehearsal.Options
function M.varied(seed, folder, tell)
  local loses = seed % 4 == 3 -- then workers live long enough to look at the histories
  return { seed = seed, folder = folder, tell = tell, payments = 10 + seed % 50, workers = 1 + seed % 4,
    check = loses, puts_back = loses,
    empties = seed % 8 == 7, lies = seed % 6 == 5,
    keys = loses and 0 or seed % 4, twin_in = seed % 3 == 0 and 2 or 20,
    dies_once_in = ({ 60, 120, 400, 4000 })[seed % 4 + 1],
    jumps_once_in = ({ 1000, 300, 3000 })[seed % 3 + 1], share = ({ 0.3, 0.5, 0.1, 0, 0.3 })[seed % 5 + 1],
    nonsense_in = ({ 0, 4, 12 })[math.floor(seed / 4) % 3 + 1],
    unsure_in = ({ 6, 0, 20 })[math.floor(seed / 5) % 3 + 1],
    blanks = math.floor(seed / 12) % 2 == 1, repeated_ids = seed % 7 == 0 and "reject" or "execute",
    fee = seed % 5 == 0 and "inside" or "on_top" }
end

return M
