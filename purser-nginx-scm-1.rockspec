-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser-nginx"
version = "scm-1"
-- A placeholder, of tools/address: the project has no public address yet, so `luarocks make` in a clone works and
-- `luarocks install` does not.
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = "git+" .. address .. ".git" }
description = {
  summary = "Purser in nginx, and rate limits that many processes share",
  detailed = [[
    Transports for OpenResty and for nginx's own sockets, and the stores of a rate limit that several processes or
    hosts keep together: a shared dictionary of nginx, Redis, SQLite, PostgreSQL.
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "api", "client", "openresty", "nginx" },
}
dependencies = { "lua >= 5.1, < 5.6", "purser == scm-1" }
-- LuaRocks' own build copies the whole folder lua/; a rock has its own modules alone.
build = {
  type = "none",
  install = {
    lua = {
      -- made: modules
      ["purser.hosts.limits.database_store"] = "lua/purser/hosts/limits/database_store.lua",
      ["purser.hosts.limits.documents"] = "lua/purser/hosts/limits/documents.lua",
      ["purser.hosts.limits.init"] = "lua/purser/hosts/limits/init.lua",
      ["purser.hosts.limits.redis"] = "lua/purser/hosts/limits/redis.lua",
      ["purser.hosts.limits.resp"] = "lua/purser/hosts/limits/resp.lua",
      ["purser.hosts.limits.shared_dict"] = "lua/purser/hosts/limits/shared_dict.lua",
      ["purser.hosts.nginx.cosocket"] = "lua/purser/hosts/nginx/cosocket.lua",
      ["purser.hosts.nginx.openresty"] = "lua/purser/hosts/nginx/openresty.lua",
      ["purser.hosts.nginx.phases"] = "lua/purser/hosts/nginx/phases.lua",
      -- end: modules
    },
  },
}
