-- SPDX-License-Identifier: MIT
--- Loads the C module purser.http, and with it libcurl's thirty libraries. `require` would look up every symbol;
--- core.library looks a symbol up at the first use. A host with the module under package.preload, outside of a file, or
--- without `package` or a part of it (Minetest), gets the module by `require`.

local core = require "purser.core"

local NAME, OPEN = "purser.http", "luaopen_purser_http"

local package = rawget(_G, "package")
local loaded, preload = package and package.loaded, package and package.preload
local path = loaded and preload and package.searchpath and not loaded[NAME] and not preload[NAME]
  and package.searchpath(NAME, package.cpath)
local open = path and core.library(path, OPEN)
if open then loaded[NAME] = open(NAME, path) end

return require(NAME)
