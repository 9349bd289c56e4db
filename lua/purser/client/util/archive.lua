-- SPDX-License-Identifier: MIT
-- An installation's archive of modules beside the sources (made by tools/archive.lua). A Lua that the archive does not
-- fit takes the sources, as a clone without an archive does.

local M = {}

-- A dump differs where a version, a format, the size of a number or the compiler's code does.
local PROBE = "local a, b = 1, 2.5 for i = a, 3 do b = b .. i end return function(...) return a, ... end"

--- Returns a dump that is equal wherever dumps can be exchanged, and the name of the archive for Luas whose dumps have
--- this head and length: several Luas may share a folder (5.1 and LuaJIT, and all of Debian's).
---@return string dump, string name
function M.probe()
  local dump = string.dump((rawget(_G, "loadstring") or load)(PROBE, "=probe"))
  local version, format = dump:byte(5, 6)
  return dump, ("modules-%02x%02x%02x"):format(version, format, #dump % 256)
end

--- Lets `require` find the modules of the archive beside these sources, where there is one that fits.
---@param core table  purser.core
function M.use(core)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)[/\\]client[/\\]util[/\\]archive%.lua$"
  local probe, name = M.probe()
  local searcher = core.archive(folder .. "/" .. name, probe)
  local searchers = package.searchers or package.loaders -- luacheck: ignore 143
  if searcher then table.insert(searchers, 2, searcher) end -- after package.preload
end

return M
