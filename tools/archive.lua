-- SPDX-License-Identifier: MIT
-- Writes the archive of an installation (lua/purser/util/archive.lua): all modules below a folder as the Lua that runs
-- this compiles them. Messages name the files and lines of the sources.
--
--   archive.lua FOLDER [FOLDER AS MESSAGES NAME IT]     such as /usr/local/share/lua/5.4/purser

local archive = dofile "lua/purser/util/archive.lua"
local files = dofile "tools/whole_files.lua"

local compile = loadstring or load -- luacheck: ignore 113

local folder, shown = arg[1], arg[2] or arg[1]
local probe, name = archive.probe()

local index, dumps = {}, {}
for i, path in ipairs(files.lines_of(("find '%s' -name '*.lua' ! -name meta.lua | LC_ALL=C sort")
  :format((folder:gsub("'", "'\\''"))))) do
  local below = path:sub(#folder + 1)
  dumps[i] = string.dump(assert(compile(files.read(path), "@" .. shown .. below)))
  index[i] = ("purser%s %d\n"):format(below:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."), #dumps[i])
end
local list = table.concat(index)
files.write(folder .. "/" .. name, ("%d %d\n"):format(#list, #probe) .. list .. probe .. table.concat(dumps))
