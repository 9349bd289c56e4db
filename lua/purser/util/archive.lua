-- SPDX-License-Identifier: MIT
-- The archive of an installation: all modules of Purser as this Lua's compiler made them, in one file beside the
-- sources (tools/archive.lua writes it). It is read whole when `purser` is loaded and each module is undumped at its
-- first `require`, so that no file is opened later. A Lua that the archive does not fit takes the sources, as does a
-- clone, which has none.
--
--   <length of the index> <length of the probe>\n
--   purser.client <length of its dump>\n ...     the index
--   <probe><dump of a module><dump of a module> ...

local M = {}

local compile = rawget(_G, "loadstring") or load

-- A dump differs where a version, a format, the size of a number or the compiler's code does.
local PROBE = "local a, b = 1, 2.5 for i = a, 3 do b = b .. i end return function(...) return a, ... end"

--- Returns a dump that is equal wherever dumps can be exchanged, and the name of the archive for such Luas: several may
--- share a folder (Lua 5.1 and LuaJIT, and all of Debian's).
---@return string dump, string name
function M.probe()
  local dump, sum = string.dump(compile(PROBE, "=probe")), 1
  for i = 1, #dump do sum = (sum * 31 + dump:byte(i)) % 16777213 end
  return dump, ("modules-%06x"):format(sum)
end

-- Returns the modules of an archive as name -> dump; or nil where it is missing or does not fit.
local function read(path, probe)
  local file = io.open(path, "rb")
  if not file then return nil end
  file:setvbuf("full", 65536)
  local index_size, probe_size = file:read("*l"):match "^(%d+) (%d+)$"
  local index, dumps = index_size and file:read(tonumber(index_size)), nil
  if index and file:read(tonumber(probe_size)) == probe then
    dumps = {}
    for name, size in index:gmatch "(%S+) (%d+)\n" do dumps[name] = file:read(tonumber(size)) end
  end
  file:close()
  return dumps
end

-- Returns what gives `require` the loaders of these modules, each once.
local function searcher(dumps, path)
  return function(name)
    local dump = dumps[name]
    if not dump then return nil end
    dumps[name] = nil
    local chunk, problem = compile(dump, "=" .. name)
    return chunk or ("\n\tin %s: %s"):format(path, problem), path
  end
end

--- Lets `require` find the modules of the archive beside these sources, where there is one that fits.
function M.use()
  local searchers = package.searchers or package.loaders -- luacheck: ignore 143
  local folder = debug.getinfo(1, "S").source:match "^@(.*)[/\\]util[/\\]archive%.lua$"
  local probe, name = M.probe()
  local path = folder .. "/" .. name
  local dumps = read(path, probe)
  if dumps then table.insert(searchers, 2, searcher(dumps, path)) end -- after package.preload
end

-- A sandbox may lack `package`, `debug`, `io` or `string.dump`: its modules come from where the host has them.
pcall(M.use)

return M
