-- SPDX-License-Identifier: MIT
--- The C module purser.http, which holds libcurl; loaded with the first transport that needs it.
--
-- libcurl brings thirty libraries. `require` would look up all their symbols, of which a program uses a few; so the
-- module is opened by core.library, which leaves each to its first use. A host that has it under package.preload, or
-- where it is not a file, gets it by `require`; so does one that has no `package`, or a part of it (Minetest).

local core = require "purser.core"

local NAME, OPEN = "purser.http", "luaopen_purser_http"

local package = rawget(_G, "package")
local loaded, preload = package and package.loaded, package and package.preload
local path = loaded and preload and package.searchpath and not loaded[NAME] and not preload[NAME]
  and package.searchpath(NAME, package.cpath)
local open = path and core.library(path, OPEN)
if open then loaded[NAME] = open(NAME, path) end

return require(NAME)
