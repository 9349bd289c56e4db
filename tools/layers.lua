-- SPDX-License-Identifier: MIT
-- Holds the direction of the layers: a module of lua/purser requires only modules of its own layer and of lower ones,
-- and no module requires itself through others. It reads every `require` with a literal name, those inside functions,
-- too.
-- Closes with `N passed, N failed`; `lua tools/layers.lua`, and `make lint` runs it.

-- From the lowest layer up. A file on top of lua/purser is a public name; those named here belong to a layer.
local order = { "base", "util", "transport", "api", "sim", "call", "history", "exactly_once", "workflow", "client",
  "top", "cli" }
local base = { core = true, http = true, httpd = true, version = true, decimal = true, json = true, libcurl = true,
  schedule = true, codes = true, secrets = true, http1 = true }
local layer_of_public = { csv = "util" }

local rank = {}
for i, name in ipairs(order) do rank[name] = i end

local function lines_of(command)
  local list = {}
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

local function layer_of(module)
  if module == "purser" then return "top" end
  local first = module:match "^purser%.([%w_]+)"
  if base[first] then return "base" end
  return layer_of_public[first] or rank[first] and first or "top"
end

local passed, failed = 0, 0
local function bad(...)
  failed = failed + 1
  print("layers: " .. (...):format(select(2, ...)))
end

local requires, names = {}, {}
for _, path in ipairs(lines_of "find lua -name '*.lua' ! -name meta.lua | LC_ALL=C sort") do
  local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  names[#names + 1], requires[name] = name, {}
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    for needed in line:gsub("%-%-.*", ""):gmatch "require *%(?[\"'](purser[%w_.]*)[\"']" do
      requires[name][#requires[name] + 1] = { name = needed, place = path .. ":" .. number, late = line:find "^%s" }
    end
  end
end

local late = 0
for _, name in ipairs(names) do
  for _, needed in ipairs(requires[name]) do
    local own, other = layer_of(name), layer_of(needed.name)
    if rank[other] > rank[own] then
      bad("%s: %s (%s) requires %s (%s), a layer above it", needed.place, name, own, needed.name, other)
    else
      passed = passed + 1
    end
    if needed.late then late = late + 1 end
  end
end

-- Cycles: a module that is met again on the way down from it.
local state = {}
local function visit(name, way)
  if state[name] == "done" or not requires[name] then return end
  if state[name] == "open" then return bad("a cycle: %s -> %s", table.concat(way, " -> "), name) end
  state[name] = "open"
  way[#way + 1] = name
  for _, needed in ipairs(requires[name]) do visit(needed.name, way) end
  way[#way] = nil
  state[name] = "done"
end
for _, name in ipairs(names) do visit(name, {}) end

if arg[1] == "late" then print(late .. " requires stand inside functions") end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
