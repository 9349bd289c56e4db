-- SPDX-License-Identifier: MIT
-- Prints the Debian package of each file below an installed folder `purser` that is not of lua-purser: a line each, the
-- package and the path. The packages are those of LuaRocks: `lua5.4 tools/release/deb_files.lua FOLDER`.

local rocks = dofile "lua/purser/client/util/rocks.lua"
local files = dofile "tools/whole_files.lua"

local PACKAGES = { ["purser-desk"] = "lua-purser-desk", ["purser-cli"] = "purser", ["purser-sim"] = "lua-purser-sim",
  ["purser-nginx"] = "lua-purser-nginx" }

local folder = arg[1]
for _, path in ipairs(files.lines_of(("find '%s' -type f | LC_ALL=C sort"):format(folder))) do
  local below = path:sub(#folder + 2)
  local module = "purser." .. below:gsub("%.%l+$", ""):gsub("/init$", ""):gsub("/", ".")
  local archive = below:match "^modules%-%x+(%-%l+)$"
  local package = PACKAGES[archive and "purser" .. archive or rocks.of(module)]
  if package then print(package, below) end
end
