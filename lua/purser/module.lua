-- SPDX-License-Identifier: MIT
-- The module `purser`, apart from init.lua, which an installation parses at each start.

local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local policy = require "purser.write.policy"
local rocks = require "purser.client.util.rocks"
local version = require "purser.version"
local approved = lazy("purser.desk.approvals.approved", "the option policy")
local clients = lazy "purser.client"
local views = lazy "purser.client.util.views"
local hosts = lazy "purser.hosts"
local limits = lazy("purser.hosts.limits", "the option rate_limit.store")
local names_of = lazy "purser.client.util.names_of"
local public = lazy "purser.client.operations.public"
local rate_limit = lazy "purser.client.call.rate_limit"
local profile_rules = lazy "purser.client.operations.profile_rules"
local suggest = lazy "purser.client.util.suggest"
local transports = lazy "purser.client.transports"
local workflow = lazy "purser.desk.workflow"
local writes = lazy "purser.write"

---@class purser
---@field _VERSION string
---@field operations purser.Row[]           the rows of all operations, also by full name; a copy each time it is read
---@field profiles table<string, table>     the conventions by profile name; read-only
---@field address purser.modules.address    addresses as values: their family, payee, and fit to a network
---@field decimal purser.modules.decimal    exact amounts; `purser.decimal(text)` makes one
---@field secrets purser.modules.secrets    secret keys that no Lua string holds
---@field vault purser.modules.vault        keys in files that only this user can read
---@field states purser.modules.states      states of deposits and withdrawals by number and name
---@field utc purser.modules.utc            UTC times to and from epoch milliseconds
---@field codes purser.modules.codes        the service's codes: what each means, and what cures it
---@field csv purser.modules.csv            lines of CSV that a spreadsheet does not run
---@field json purser.modules.json          JSON with exact numbers and members in order
---@field sim purser.modules.sim            the simulator
---@field journal purser.modules.journal    journals of what is sent
---@field payouts purser.modules.payouts    queues of payments
---@field agent purser.modules.agent        a server for a program that talks
---@field approvals purser.modules.approvals  plans that persons sign, and policies
---@field books purser.modules.books        a copy of the histories, and statements
---@field receive purser.modules.receive    deposits credited once, by named receivers
---@field monitor purser.modules.monitor    alerts and numbers for who keeps watch
---@field fleet purser.modules.fleet        sub-accounts and keys as they are declared
---@field transport purser.Transports       what makes transports, by name
local M = { _VERSION = version }

local function open_store(options)
  return limits.open(options)
end

local seams = { methods = workflow, open_store = open_store, writes = writes }

--- Makes a client. Returns it, or nil and an error of kind "config".
---@param options purser.Options
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options)
  return clients.new(options, seams)
end

--- Returns a fresh clientTranId, 32 random letters and digits; nil and a message where OpenSSL has no random bytes.
---@return string|nil id, string|nil message
function M.client_id()
  return core.random_token(32)
end

--- Returns a copy of the conventions under an option `profile`, a name or a table.
---@param requested string|table|nil
---@return table|nil profile, string|nil message
function M.profile(requested)
  local profile, message = profile_rules.resolve(requested)
  return profile and public.copy(profile), message
end

local profiles = "purser.client.operations.profiles"

local function register_transports()
  hosts.register(transports.register)
  transports.register("record", "purser.testing.recording.record")
  transports.register("replay", "purser.testing.recording.replay")
  return transports.by_name
end

-- Members made at the first use: a module, a member of one, or a function that makes the member.
local members = {
  address = "purser.address", decimal = "purser.decimal", codes = "purser.codes", json = "purser.json",
  csv = "purser.client.util.csv", secrets = "purser.client.util.secrets", utc = "purser.client.util.utc",
  states = "purser.client.operations.states",
  journal = "purser.write.journal",
  agent = "purser.desk.agent", approvals = "purser.desk.approvals",
  books = "purser.desk.books", fleet = "purser.desk.fleet",
  receive = "purser.desk.receive", monitor = "purser.desk.monitor",
  payouts = "purser.desk.payouts", vault = "purser.desk.fleet.vault",
  sim = "purser.testing.sim",
  run = "purser.schedule run", spawn = "purser.schedule spawn", join = "purser.schedule join",
  all = "purser.schedule all", sleep = "purser.schedule sleep", cancel = "purser.schedule cancel",
  restricted = "purser.client.restricted new", sandbox = "purser.client.sandbox new",
  transport = register_transports,
  profiles = function() return views.frozen(require(profiles)) end,
  rate_limit = function() return function(options) return rate_limit.new(options, open_store) end end,
}

policy.use(approved)

local groups = { wallet = true, sub_account = true, broker = true, live = true }

-- Raises for a client's group, or nearly a member's name. Any other name is nil: `if purser.something then` works.
local function refuse(name)
  if type(name) ~= "string" or name:find "^_" then return end
  if groups[name] then error(('purser has no "%s": a client has it, as client.%s'):format(name, name), 3) end
  local near = suggest.find(name, names_of(members, M), #name / 5)
  if near then error(('purser has no "%s" (did you mean "%s"?)'):format(name, near), 3) end
end

return setmetatable(M, {
  __index = function(module, name)
    if name == "operations" then return public.rows() end -- each reader has its own copy
    local member = members[name]
    if not member then
      refuse(name)
      return nil
    end
    if type(member) == "function" then
      member = member()
    else
      local path, field = member:match "^(%S+) ?(%S*)$"
      member = rocks.require(path, "purser." .. name)
      if field ~= "" then member = member[field] end
    end
    module[name] = member
    return member
  end,
})
