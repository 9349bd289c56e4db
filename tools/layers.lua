-- SPDX-License-Identifier: MIT
-- Holds the doors of lua/purser: a module requires only modules of its own room and of lower ones, and no module
-- requires itself through others. The check reads every `require` and `lazy` (client/util/lazy.lua) with a literal
-- name. Each stands at the margin: none in a function, where the head of the file would not show it.
-- A room above write/ requires public names only.
-- The check holds the fields of a client's inner state as well: client/build.lua declares them. And it holds that code
-- which decides about money looks up no method of a text.
-- Closes with `N passed, N failed`; `lua tools/layers.lua`, and `make lint` runs it.

-- The rooms, from the lowest up. Rooms of one line know each other by public names alone.
local order = {
  { "base" },
  { "client/util" }, { "client/transport" }, { "client/operations" }, { "client/call" }, { "client/history" },
  { "client" },
  { "write" },
  { "desk/agent", "desk/approvals", "desk/books", "desk/fleet", "desk/monitor", "desk/payouts", "desk/receive",
    "desk/workflow",
    "testing/recording", "testing/sim", "hosts", "hosts/limits", "hosts/nginx" },
  { "module" },
  { "cli" },
}
-- Files on top of lua/purser that are values; json and schedule use client/util.
local values = { core = "base", http = "base", httpd = "base", version = "base", decimal = "base", codes = "base",
  json = "client/util", schedule = "client/util", address = "client/operations", init = "module", module = "module" }
local rank = {}
for i, rooms in ipairs(order) do
  for _, room in ipairs(rooms) do rank[room] = i end
end
local WRITE = rank.write

local whole_files = dofile "tools/whole_files.lua"
local lines_of = whole_files.lines_of

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

-- Returns the room of a module: its deepest folder that `order` names.
local function room_of(module)
  local first, second = module:match "^purser%.([%w_]+)%.?([%w_]*)"
  if not first then return "module" end
  if module:find "^purser%.testing%.recording%.drift" then return "module" end -- drift makes clients and simulators
  if rank[first .. "/" .. second] then return first .. "/" .. second end
  return rank[first] and first or values[first] or first
end

-- A room above write/ requires public names, purser.core, client/util, client/transport and itself. Public is each name
-- that has a page in the reference.
local public = set_of [[purser purser.client.call.errors purser.write.journal purser.desk.fleet.vault
  purser.client.operations.facts purser.client.operations.states
  purser.client.operations.network purser.client.operations.columns purser.address
  purser.testing.recording.drift purser.testing.recording.record
  purser.testing.recording.replay purser.write.planned purser.desk.approvals.plan_text purser.desk.approvals.signers
  purser.desk.approvals.sshsig purser.desk.approvals.policy purser.desk.approvals.policy_chain]]
local libraries = set_of "base client/util client/transport"

-- Requires that still go up. A seam takes each of them away; no line is added here.
local upward = {}

-- Returns whether a module must not require another: it stands in a room above write/, and that name is not public.
local function is_behind_a_wall(own, needed)
  local room, other = room_of(own), room_of(needed)
  if rank[room] <= WRITE or room == "module" or room == other then return false end
  if libraries[other] or public[needed] then return false end
  return not (needed == "purser." .. other:gsub("/", ".") or needed == "purser")
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
  for number, line in ipairs(whole_files.lines(path)) do
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
    local pair = name .. ">" .. needed.name
    if is_behind_a_wall(name, needed.name) and not upward[pair] then
      bad("%s: the room %s requires %s, which is no public name", needed.place, room_of(name), needed.name)
    end
    local own, other = room_of(name), room_of(needed.name)
    if rank[other] > rank[own] and not upward[pair] and not (needed.name == "purser" and rank[own] > WRITE) then
      bad("%s: %s (%s) requires %s (%s), a room above it", needed.place, name, own, needed.name, other)
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
for _, line in ipairs(whole_files.lines(STATE)) do
  local field = line:match "^%-%-%-@field (_[%w_]+) "
  if field and declared[field] then bad("%s: %s is declared twice", STATE, field) end
  if field then declared[field] = true end
end
for _, path in ipairs(lines_of "find lua -name '*.lua' ! -name meta.lua | LC_ALL=C sort") do
  for number, line in ipairs(whole_files.lines(path)) do
    local room = room_of(path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/", "."))
    if rank[room] > WRITE and room ~= "module" and line:find("private.state_of", 1, true) then
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
local STRICT = "lua/purser/write/guard lua/purser/client/restricted.lua lua/purser/client/sandbox.lua "
  .. "lua/purser/desk/approvals/approved.lua lua/purser/desk/approvals/approval_rows.lua "
  .. "lua/purser/write/policy.lua lua/purser/desk/approvals/plan_text.lua lua/purser/desk/approvals/policy.lua "
  .. "lua/purser/desk/approvals/policy_chain.lua lua/purser/desk/approvals/rules.lua "
  .. "lua/purser/desk/approvals/signers.lua lua/purser/desk/approvals/sshsig.lua "
  .. "lua/purser/client/operations/parameters.lua lua/purser/client/operations/text.lua "
  .. "lua/purser/client/operations/write_kinds.lua "
  .. "lua/purser/client/call/validate.lua lua/purser/client/call/pipeline.lua lua/purser/write/intent.lua "
  .. "lua/purser/client/transport/http1.lua"
for _, path in ipairs(lines_of("find " .. STRICT .. " -name '*.lua' | LC_ALL=C sort")) do
  for number, line in ipairs(whole_files.lines(path)) do
    for name in line:gsub("^%s*%-%-.*", ""):gmatch "[%w_%]%)]:(%l+)%s*[%(\"'{%[]" do
      if string[name] then
        bad("%s:%d: :%s() is looked up in the metatable of texts; keep `local %s = string.%s`", path, number,
          name, name, name)
      end
    end
  end
  passed = passed + 1
end

-- Absent, no and failed are three results: what may fail is not asked as if it could not. (`select(3, ...) == true`
-- asks for absent alone.) A place that may do so has its reason here.
local two_results = { "rows and rows%[1%]", "read%([^)]*%) or \"\"", "core%.[%w_]+%(.*%) == true" }
local allowed = {
  ["lua/purser/desk/payouts/history_check.lua"] = "the line before ends the run where the read failed",
}
for _, path in ipairs(lines_of "find lua/purser/write lua/purser/desk lua/purser/cli -name '*.lua' | LC_ALL=C sort") do
  for number, line in ipairs(whole_files.lines(path)) do
    for _, pattern in ipairs(two_results) do
      if line:find(pattern) and not line:find("select(3, core.", 1, true) and not allowed[path] then
        bad("%s:%d: a failure passes for nothing there; ask for the message as well", path, number)
      end
    end
  end
  passed = passed + 1
end

if arg[1] == "lazy" then print(lazies .. " modules are loaded at their first use") end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
