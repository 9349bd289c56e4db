-- SPDX-License-Identifier: MIT
-- Finds an installation's archives of modules (tools/archive.lua): one of all modules, or one for each rock, where the
-- system's packages bring the rocks. A Lua that cannot read an archive takes the sources.

local M = {}

-- Its dump differs by version, format, size of numbers and compiler.
local PROBE = "local a, b = 1, 2.5 for i = a, 3 do b = b .. i end return function(...) return a, ... end"

--- Returns the probe's dump, and the archive's name for Luas with such a dump: several Luas may share a folder.
function M.probe()
  local dump = string.dump((rawget(_G, "loadstring") or load)(PROBE, "=probe"))
  local version, format = dump:byte(5, 6)
  return dump, ("modules-%02x%02x%02x"):format(version, format, #dump % 256)
end

---@param core table      purser.core
---@param rocks string[]  names of the rocks
function M.use(core, rocks)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)[/\\]client[/\\]util[/\\]archive%.lua$"
  local probe, name = M.probe()
  local searchers = package.searchers or package.loaders -- luacheck: ignore 143
  for _, rock in ipairs(rocks) do
    local searcher = core.archive(folder .. "/" .. name .. rock:gsub("^purser", ""), probe)
    if searcher then table.insert(searchers, 2, searcher) end -- after package.preload
  end
end

return M
