-- SPDX-License-Identifier: MIT
-- What the interface leaves open about the service's behaviour, as options of purser.sim.new: each with the values it
-- may have. The first value, or the default, is the one that is harder on a client.

local option_schema = require "purser.util.option_schema"

local M = {}

local number = { 0, option_schema.EXACT }

---@class purser.SimSwitches  what the interface leaves open; the first value is the default
---@field repeated_ids "execute"|"reject"|nil      a client's id that was used before
---@field fee "on_top"|"inside"|nil                of a withdrawal
---@field saved_addresses_only boolean|nil         whether withdrawals go to saved addresses alone. Default: false
---@field max_sub_accounts integer|nil             default 30
---@field key_days integer|nil                     how long a key without an IP list lives. Default: 90
---@field visibility_delay_ms integer|nil          how long a record is missing from histories. Default: 0
---@field transfer_wait_ms integer|nil             how long a transfer waits. Default: 0

--- Option -> its rule (purser.util.option_schema).
M.rules = {
  repeated_ids = { "execute", "reject" }, fee = { "on_top", "inside" },
  saved_addresses_only = "boolean", max_sub_accounts = number, key_days = number,
  visibility_delay_ms = number, transfer_wait_ms = number,
}

local defaults = {
  repeated_ids = "execute", fee = "on_top", saved_addresses_only = false,
  max_sub_accounts = 30, key_days = 90, visibility_delay_ms = 0, transfer_wait_ms = 0,
}

--- The switches of these options, complete.
function M.of(options)
  local switches = {}
  for name, default in pairs(defaults) do
    if options[name] == nil then switches[name] = default else switches[name] = options[name] end
  end
  return switches
end

return M
