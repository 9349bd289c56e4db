-- SPDX-License-Identifier: MIT
--- Loads the C module purser.http, which holds libcurl, with the first transport that needs libcurl.
---
--- libcurl brings thirty libraries. `require` would look up every symbol, of which a program uses a few; core.library
--- looks a symbol up at the first use. A host with the module under package.preload, or outside of a file, gets the
--- module by `require`, as does a host without `package`, or with a part of `package` (Minetest).

local core = require "purser.core"

local NAME, OPEN = "purser.http", "luaopen_purser_http"

local package = rawget(_G, "package")
local loaded, preload = package and package.loaded, package and package.preload
local path = loaded and preload and package.searchpath and not loaded[NAME] and not preload[NAME]
  and package.searchpath(NAME, package.cpath)
local open = path and core.library(path, OPEN)
if open then loaded[NAME] = open(NAME, path) end

return require(NAME)
