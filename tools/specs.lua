-- SPDX-License-Identifier: MIT
-- Holds the names of the specs: lua/purser/<path>.lua has spec/<path>_spec.lua, and each other spec in a layer's folder
-- begins with the path of the module it tests: spec/<path>_<aspect>_spec.lua.
-- Closes with `N passed, N failed`; `lua tools/specs.lua`, and `make lint` runs it.

local lines_of = dofile("tools/whole_files.lua").lines_of

-- Folders that mirror no layer: the C sources, and what tests the whole.
local OTHER_FOLDERS = {}
for name in ("bind c c_lua docs system fuzz support torture golden browser threads httpd"):gmatch "%S+" do
  OTHER_FOLDERS[name] = true
end

local passed, failed = 0, 0
local function check(holds, ...)
  if holds then
    passed = passed + 1
  else
    failed = failed + 1
    print("specs: " .. (...):format(select(2, ...)))
  end
end

local modules, specs = {}, {}
for _, path in ipairs(lines_of "find lua/purser -name '*.lua' ! -name meta.lua | LC_ALL=C sort") do
  local module = path:gsub("^lua/purser/", ""):gsub("%.lua$", ""):gsub("(.)/init$", "%1")
  modules[#modules + 1] = module
  modules[module] = true
end
for _, path in ipairs(lines_of "find spec -name '*_spec.lua' | LC_ALL=C sort") do
  -- The specs of a room's own module stand in the room: spec/cli/cli_spec.lua is that of lua/purser/cli/init.lua.
  local name = path:gsub("^spec/", ""):gsub("_spec%.lua$", "")
  local room, last, rest = name:match "^(.-([%w_]+))/([^/]*)$"
  if room and modules[room] and (rest .. "_"):find("^" .. last .. "_")
    and not modules[name:match "^.*/[^/_]*_[^/_]*"] then
    name = room .. rest:sub(#last + 1)
  end
  specs[#specs + 1] = name
  specs[name] = true
end

for _, module in ipairs(modules) do
  check(specs[module], "lua/purser/%s.lua has no spec/%s_spec.lua", module, module)
end

-- A name without its aspect, a word at a time.
local function tests_a_module(name)
  while name do
    if modules[name] then return true end
    name = name:match "^(.*)_[^_/]*$"
  end
end
for _, name in ipairs(specs) do
  if not OTHER_FOLDERS[name:match "^([^/]+)/"] then
    check(tests_a_module(name), "spec/%s_spec.lua begins with the path of no module", name)
  end
end

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
