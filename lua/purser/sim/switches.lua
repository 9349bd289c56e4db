-- SPDX-License-Identifier: MIT
-- What the interface leaves open about the service's behaviour, as options of purser.sim.new: each with the values it
-- may have. The first value, or the default, is the one that is harder on a client.

local option_schema = require "purser.util.option_schema"

local M = {}

local number = { 0, option_schema.EXACT }

--- Option -> its rule (purser.util.option_schema).
M.rules = {
  repeated_ids = { "execute", "reject" }, fee = { "on_top", "inside" }, unnamed_accounts = { "reject", "execute" },
  saved_addresses_only = "boolean", max_sub_accounts = number, key_days = number,
  visibility_delay_ms = number, transfer_wait_ms = number,
}

local defaults = {
  repeated_ids = "execute", fee = "on_top", unnamed_accounts = "reject", saved_addresses_only = false,
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
