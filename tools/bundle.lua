-- SPDX-License-Identifier: MIT
-- All Lua modules of Purser as one Lua file, for hosts with one script: `lua tools/bundle.lua > purser.lua`. Each is a
-- text that is compiled at its first `require`, so that a start costs what it uses. The command line, the check of
-- transports and the annotations stay out. With `c` as argument: a C file that holds the bundle.

local HEAD = [[
-- SPDX-License-Identifier: MIT
-- Purser %s in one file, made by `make bundle`. The first argument may be a table of C modules or of their openers:
--   local purser, require = loadfile "purser.lua" { ["purser.core"] = core, ["purser.http"] = http }
-- Without it they are found by the host's `require`. It needs neither `package` nor `io` nor `os`; of `load` (Lua 5.1:
-- `loadstring`) it needs its own: `load` in that table, a function of a text and a name, serves where there is none.

local given = ...
given = type(given) == "table" and given or {}
local package, outer_require = rawget(_G, "package"), rawget(_G, "require")
local compile = given.load or rawget(_G, "loadstring") or rawget(_G, "load")
local modules, loaded = {}, {}

local function require(name)
  local module = loaded[name]
  if module ~= nil then return module end
  local text = modules[name]
  if text then
    if not compile then error("this host has no `load`; give the bundle one", 2) end
    module = assert(compile("local require = ... " .. text[1], text[2]))(require, name)
  elseif given[name] ~= nil then
    module = given[name]
    if type(module) == "function" then module = module(name) end
  elseif outer_require then
    return outer_require(name)
  else
    error(("module '%%s' not found: this host has no `require`; give the module to the bundle"):format(name), 2)
  end
  if module == nil then module = true end
  loaded[name] = module
  return module
end

]]

local TAIL = [[

if package and package.preload then
  for name in next, modules do
    if name ~= "purser" then package.preload[name] = function() return require(name) end end
  end
end
return require "purser", require
]]

local read = dofile("tools/whole_files.lua").read

local parts = { HEAD:format(dofile "lua/purser/version.lua") }
local pipe = assert(io.popen "find lua -name '*.lua' | LC_ALL=C sort")
for path in pipe:lines() do
  local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  local stays_out = (name .. "."):find "^purser%.cli%."
    or name == "purser.client.util.meta" or name == "purser.client.util.archive"
  if not stays_out then
    local text = read(path):gsub('\npcall%(require "purser%.client%.util%.archive"[^\n]*', "\n")
    assert(not text:find("]==]", 1, true), path)
    parts[#parts + 1] = ("modules[%q] = { [==[\n%s]==], %q }\n"):format(name, text, "@" .. path:match "^lua/(.*)$")
  end
end
pipe:close()
parts[#parts + 1] = TAIL
local text = table.concat(parts)
assert((loadstring or load)(text, "@purser.lua")) -- luacheck: ignore 113

if arg[1] ~= "c" then
  io.write(text)
  return
end
-- Numbers, not a string: C99 promises no string of more than 4095 bytes.
io.write '#include <stddef.h>\nextern const unsigned char purser_bundle[];\nextern const size_t purser_bundle_size;\n'
io.write 'const unsigned char purser_bundle[] = {\n'
local line = {}
for i = 1, #text do
  line[#line + 1] = text:byte(i)
  if #line == 32 or i == #text then
    io.write(table.concat(line, ","), ",\n")
    line = {}
  end
end
io.write '};\nconst size_t purser_bundle_size = sizeof purser_bundle;\n'
