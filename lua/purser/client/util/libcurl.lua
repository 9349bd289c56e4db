-- SPDX-License-Identifier: MIT
--- The C module purser.http, which holds libcurl; loaded with the first transport that needs it.
--
-- libcurl brings thirty libraries. `require` would look up all symbols, of which a program uses a few; core.library
-- leaves each symbol to the first use. `require` serves hosts with the module under package.preload or outside of
-- files, and hosts without a whole `package` (Minetest).

local core = require "purser.core"

local NAME, OPEN = "purser.http", "luaopen_purser_http"

local package = rawget(_G, "package")
local loaded, preload = package and package.loaded, package and package.preload
local path = loaded and preload and package.searchpath and not loaded[NAME] and not preload[NAME]
  and package.searchpath(NAME, package.cpath)
local open = path and core.library(path, OPEN)
if open then loaded[NAME] = open(NAME, path) end

return require(NAME)
