-- SPDX-License-Identifier: MIT
-- Holds the direction of the layers: a module of lua/purser requires only modules of its own layer and of lower ones,
-- and no module requires itself through others. It reads every `require` and `lazy` (util/lazy.lua) with a literal
-- name. Each stands at the margin: none in a function, where the head of the file would not show it.
-- A room on top of the client (payouts/, cli/ ...) requires public names only.
-- It holds the fields of a client's inner state as well: client/build.lua declares them. And it holds that code which
-- decides about money looks up no method of a text.
-- Closes with `N passed, N failed`; `lua tools/layers.lua`, and `make lint` runs it.

-- From the lowest layer up. A file on top of lua/purser is a public name; those named here belong to a layer.
local order = { "base", "util", "transport", "api", "call", "signed", "history", "write", "client", "top", "cli" }
local base = { core = true, http = true, httpd = true, version = true, decimal = true,
  codes = true }
local layer_of_public = { json = "util", schedule = "util" }
local rank = {}
for i, name in ipairs(order) do rank[name] = i end

local lines_of = dofile("tools/whole_files.lua").lines_of

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

local function layer_of(module)
  if module == "purser" then return "top" end
  if module:find "^purser%.recording%.drift" then return "top" end -- it makes clients and simulators
  local first = module:match "^purser%.([%w_]+)"
  if base[first] then return "base" end
  return layer_of_public[first] or rank[first] and first or "top"
end

-- A room on top of the client requires public names, purser.core, util/, signed/ (plans and policies, which are texts:
-- it knows neither client nor journal) and itself. Public is what has a page in the reference.
local rooms = set_of "approvals payouts workflow fleet limits nginx recording monitor sim cli books"
local public = set_of [[purser purser.call.errors purser.write.journal purser.fleet.vault purser.api.states
  purser.recording.drift purser.recording.record purser.recording.replay purser.write.planned]]

local libraries = set_of "util transport signed"

local function room_of(module) return module:match "^purser%.([%w_]+)" end

-- Returns whether a module must not require another: it stands in a room on top, and that name is not public.
local function is_behind_a_wall(own, needed)
  local room, folder, rest = room_of(own), needed:match "^purser%.([%w_]+)(.*)$"
  return rooms[room] and folder and rest ~= "" and not public[needed] and folder ~= room and not libraries[folder]
end

local passed, failed = 0, 0
local function bad(...)
  failed = failed + 1
  print("layers: " .. (...):format(select(2, ...)))
end

-- A local that holds a module has the module's name in its own: `text_rules` of api.text, `intents` of write.intent.
local function check_name(line, module, place)
  local own = line:match "^local ([%w_]+) = %a+ *%(?[\"'][%w_.]+[\"']%)?$"
  if own and not own:find(module:match("[^.]+$"):gsub("s$", ""), 1, true) then
    bad("%s: the local %s holds %s; give it the module's name", place, own, module)
  end
end

local requires, names = {}, {}
for _, path in ipairs(lines_of "find lua -name '*.lua' ! -name meta.lua | LC_ALL=C sort") do
  local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  names[#names + 1], requires[name] = name, {}
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    for how, needed in line:gsub("%-%-.*", ""):gmatch "(%a+) *%(?[\"'](purser[%w_.]*)[\"']" do
      if how == "require" or how == "lazy" then
        check_name(line, needed, path .. ":" .. number)
        requires[name][#requires[name] + 1] = {
          name = needed, place = path .. ":" .. number, is_inside = line:find "^%s", is_lazy = how == "lazy",
        }
      end
    end
  end
end

local lazies = 0
for _, name in ipairs(names) do
  for _, needed in ipairs(requires[name]) do
    if is_behind_a_wall(name, needed.name) then
      bad("%s: the room %s requires %s, which is no public name", needed.place, room_of(name), needed.name)
    end
    local own, other = layer_of(name), layer_of(needed.name)
    if rank[other] > rank[own] then
      bad("%s: %s (%s) requires %s (%s), a layer above it", needed.place, name, own, needed.name, other)
    else
      passed = passed + 1
    end
    if needed.is_inside and not needed.name:find "%.$" then -- not where the rest of the name is computed
      bad('%s: %s is required inside a function; write `local name = lazy "%s"` at the top of the file', needed.place,
        needed.name, needed.name)
    end
    if needed.is_lazy then lazies = lazies + 1 end
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

-- The modules share a client's inner state: each field is declared once, in client/build.lua, and used.
local STATE = "lua/purser/client/build.lua"
local declared, used = {}, {}
for _, line in ipairs(lines_of("cat " .. STATE)) do
  local field = line:match "^%-%-%-@field (_[%w_]+) "
  if field and declared[field] then bad("%s: %s is declared twice", STATE, field) end
  if field then declared[field] = true end
end
for _, path in ipairs(lines_of "find lua -name '*.lua' ! -name meta.lua | LC_ALL=C sort") do
  for number, line in ipairs(lines_of("cat " .. path)) do
    local room = room_of(path:gsub("^lua/", ""):gsub("/", "."))
    if rooms[room] and line:find("private.state_of", 1, true) then
      bad("%s:%d: a room on top asks for a client's inner state", path, number)
    end
    for field in line:gsub("^%s*%-%-.*", ""):gmatch "[%w%])]%.(_%l[%w_]*)" do
      if not declared[field] then bad("%s:%d: %s is not declared in %s", path, number, field, STATE) end
      used[field] = true
    end
  end
end
for field in pairs(declared) do
  if used[field] then passed = passed + 1 else bad("%s: %s is never used", STATE, field) end
end

-- Code that decides about money looks up no method of a text: `text:upper()` asks the one metatable of texts, whose
-- table is `string`, where other code can put a function of its own. It keeps `local upper = string.upper`.
local STRICT = "lua/purser/signed lua/purser/write/guard lua/purser/client/restricted.lua "
  .. "lua/purser/client/sandbox.lua "
  .. "lua/purser/api/parameters.lua lua/purser/api/text.lua lua/purser/api/write_kinds.lua "
  .. "lua/purser/call/validate.lua lua/purser/call/pipeline.lua lua/purser/write/intent.lua "
  .. "lua/purser/transport/http1.lua"
for _, path in ipairs(lines_of("find " .. STRICT .. " -name '*.lua' | LC_ALL=C sort")) do
  for number, line in ipairs(lines_of("cat " .. path)) do
    for name in line:gsub("^%s*%-%-.*", ""):gmatch "[%w_%]%)]:(%l+)%s*[%(\"'{%[]" do
      if string[name] then
        bad("%s:%d: :%s() is looked up in the metatable of texts; keep `local %s = string.%s`", path, number,
          name, name, name)
      end
    end
  end
  passed = passed + 1
end

if arg[1] == "lazy" then print(lazies .. " modules are loaded at their first use") end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
