-- SPDX-License-Identifier: MIT
--- Loads at once what a program will need later: before it gives up the file system (`chroot`), behind a loading
--- screen, or before a sandbox closes `require`.
---
---     assert(purser.preload { "curl", "journal" })
---
--- Afterwards Purser opens no file for a call, an error, a retry, a walk or reconciling. Others still open theirs:
--- libcurl those with certificates (give `ca_pem`), the system's resolver its own, SQLite the journal.

local core = require "purser.core"
local errors = require "purser.call.errors"
local lazy = require "purser.util.lazy"
local operations = require "purser.api.operations"
local suggest = require "purser.util.suggest"

---@class purser.modules.preload
local M = {}

-- Modules that no other names at its head.
local always = {
  "purser.client", "purser.client.methods", "purser.write.modules", "purser.api.profiles",
  "purser.history", "purser.json", "purser.workflow.wait", "purser.workflow.plan", "purser.workflow.dust",
  "purser.workflow.watch", "purser.workflow.coins", "purser.workflow.balances", "purser.utc", "purser.states",
}

-- What is loaded only when it is named. `others` may be missing: the part's first use says so.
local parts = {
  curl = { "purser.transport.curl" },
  multi = { "purser.transport.multi" },
  openresty = { "purser.nginx.openresty", others = { "ngx.semaphore" } },
  cosocket = { "purser.nginx.cosocket", others = { "ngx.semaphore" } },
  journal = { "purser.write.journal", others = { "DBI", "dbd.sqlite3", "dbd.postgresql" } },
  payouts = { "purser.payouts", others = { "DBI", "dbd.sqlite3", "dbd.postgresql" } },
  fleet = { "purser.fleet", "purser.fleet.vault" },
  sim = { "purser.sim", "purser.sim.transport" },
}

-- A transport has a library of its own, which a host with another transport may not have.
local function is_optional(name)
  return name:find("^purser%.transport%.") or name:find("^purser%.sim")
end

-- What was named by `lazy` so far, and what that names in its turn.
local function load_lazies()
  local i = 0
  while i < #lazy.names do
    i = i + 1
    if not is_optional(lazy.names[i]) then require(lazy.names[i]) end
  end
end

-- OpenSSL and libcurl read their settings at their first use.
local function use_once(opened)
  local signer = assert(core.signer("hmac-sha256", "preload"))
  signer:sign ""
  signer:close()
  assert(core.random_token(1))
  for _, transport in ipairs(opened) do transport:close() end
end

local function load(names)
  for _, name in ipairs(always) do require(name) end
  local opened = {}
  for _, name in ipairs(names) do
    for _, module in ipairs(parts[name]) do require(module) end
    for _, module in ipairs(parts[name].others or {}) do pcall(require, module) end
    if name == "curl" or name == "multi" then
      local new = require("purser.transport." .. name).new
      opened[#opened + 1] = assert(new(name == "curl" and { base_url = "http://127.0.0.1" } or {}))
    end
  end
  load_lazies()
  use_once(opened)
  return operations.list ~= nil
end

local function check(names)
  local known = {}
  for name in pairs(parts) do known[#known + 1] = name end
  table.sort(known)
  for _, name in ipairs(names) do
    if not parts[name] then
      return ('there is no part "%s"%s; give some of %s'):format(tostring(name), suggest.hint(tostring(name), known),
        table.concat(known, ", "))
    end
  end
end

--- Loads what every client needs, and the named parts: "curl", "multi", "openresty", "cosocket", "journal", "payouts",
--- "fleet", "sim". Without a list it loads "curl", the default transport. Returns true; or nil and an error of kind
--- "config" that says which module is missing.
---@param names string[]|nil
---@return true|nil, purser.Error|nil
function M.load(names)
  if names == nil then names = { "curl" } end
  local message = type(names) ~= "table" and "give a list of names" or check(names)
  if message then return nil, errors.config("purser.preload: " .. message) end
  local ok, problem = pcall(load, names)
  if not ok then return nil, errors.config("purser.preload: " .. tostring(problem)) end
  return true
end

return M
