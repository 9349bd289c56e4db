-- SPDX-License-Identifier: MIT
-- The lists of files in the rockspecs, made from the tree.

local rocks = dofile "lua/purser/client/util/rocks.lua"

local M = { names = rocks.names }

local function paths_of(command)
  local paths = {}
  local pipe = assert(io.popen(command .. " | LC_ALL=C sort"))
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

-- As parts of one text; check_deps.c, which says what is missing, comes first.
local function parts_of(paths)
  local first, rest = {}, {}
  for _, path in ipairs(paths) do
    local list = path:find "check_deps%.c$" and first or rest
    list[#list + 1] = ('  .. " %s"\n'):format(path)
  end
  return table.concat(first) .. table.concat(rest)
end

--- The C sources of purser.core.
function M.core()
  return parts_of(paths_of "ls src/core/*.c src/bind/*.c | grep -v -e /http -e /l_http")
end

--- Those of purser.http: its own, and the few that both have, as in the Makefile.
function M.http()
  local both = "src/core/check_deps.c src/core/buf.c src/core/clock.c src/core/ip.c src/bind/lpu.c"
  return parts_of(paths_of("ls src/core/http*.c src/bind/http*.c src/bind/l_http*.c " .. both))
end

--- Those of purser.httpd.
function M.httpd()
  return parts_of(paths_of "ls src/httpd/*.c")
end

--- Returns the Lua modules of a rock, as lines of a Lua table.
---@param rock string
function M.modules(rock)
  local lines = {}
  for _, path in ipairs(paths_of "find lua -name '*.lua'") do
    local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
    if rocks.of(name) == rock then
      local installed = path:find "/init%.lua$" and name .. ".init" or name
      lines[#lines + 1] = ('      ["%s"] = "%s",\n'):format(installed, path)
    end
  end
  return table.concat(lines)
end

-- The one place that names where the project is.
local function address()
  return (io.open("tools/address"):read "*l")
end

--- The line of a rockspec.
function M.address()
  return ('local address = "%s"\n'):format(address())
end

--- The field of debian/control.
function M.homepage()
  return ("Homepage: %s\n"):format(address())
end

--- The line of debian/watch.
function M.watch()
  return ("%s/ .*/purser-([\\d.]+)\\.tar\\.gz\n"):format(address())
end

--- Returns the rockspec of a release, made from the rockspec of a clone: the source is the archive of the release.
---@param clone string    the clone's text
---@param version string
---@return string
function M.release(clone, version)
  local source = ('source = { url = address .. "/purser-%s.tar.gz", dir = "purser-%s" }'):format(version, version)
  return (clone:gsub("%-%- A placeholder.-(%-%- made: address)", "%1")
    :gsub('version = "scm%-1"', ('version = "%s-1"'):format(version))
    :gsub('"(purser[%l-]*) == scm%-1"', ('"%%1 == %s"'):format(version))
    :gsub("source = [^\n]*", source))
end

return M
