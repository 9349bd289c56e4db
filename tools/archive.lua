-- SPDX-License-Identifier: MIT
-- Writes the archive of an installation: all modules below a folder as the Lua that runs this compiles them, so that a
-- start parses none. Messages name the files and lines of the sources. src/bind/core_archive.c reads it:
--
--   <how many modules><length of the probe>     numbers in 11 bytes each, filled up with blanks
--   <probe>                                     lua/purser/client/util/archive.lua says of what
--   <name in 58 bytes><offset><size> ...        a line of 80 bytes a module, sorted by name
--   <dump of a module><dump of a module> ...
--
--   archive.lua FOLDER [FOLDER AS MESSAGES NAME IT [ROCK]]     such as /usr/local/share/lua/5.4/purser
--
-- With a ROCK the archive holds the modules of that rock alone: a system's package brings its own.

local archive = dofile "lua/purser/client/util/archive.lua"
local files = dofile "tools/whole_files.lua"

local compile = loadstring or load -- luacheck: ignore 113

local rocks = dofile "lua/purser/client/util/rocks.lua"

local folder, shown, rock = arg[1], arg[2] or arg[1], arg[3]
local probe, file_name = archive.probe()
if rock then file_name = file_name .. rock:gsub("^purser", "") end

local names, dumps = {}, {}
local find = ("find '%s' -name '*.lua' ! -name meta.lua"):format((folder:gsub("'", "'\\''")))
for _, path in ipairs(files.lines_of(find)) do
  local below = path:sub(#folder + 1)
  local name = ("purser%s"):format(below:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."))
  assert(#name <= 58, name)
  if not rock or rocks.of(name) == rock then
    names[#names + 1] = name
    dumps[name] = string.dump(assert(compile(files.read(path), "@" .. shown .. below)))
  end
end
table.sort(names)

local head = ("%11d%11d%s"):format(#names, #probe, probe)
local index, contents = {}, {}
local size = #head + 80 * #names
for i, name in ipairs(names) do
  local dump = dumps[name]
  index[i], contents[i] = ("%-58s%11d%11d"):format(name, size, #dump), dump
  size = size + #dump
end
files.write(folder .. "/" .. file_name, head .. table.concat(index) .. table.concat(contents))
