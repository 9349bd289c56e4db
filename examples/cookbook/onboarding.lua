-- SPDX-License-Identifier: MIT
-- Makes the sub-accounts of a list and an API key for each. A second run makes only what is missing.
--
--   lua examples/cookbook/onboarding.lua NAMES SECRETS        NAMES: a name a line; SECRETS: a file for you alone

local purser = require "purser"

if not arg[2] then
  io.stderr:write "usage: onboarding.lua NAMES SECRETS\n"
  os.exit(2)
end

local vault = assert(purser.vault.open(arg[2])) -- mode 0600; a key that it cannot store is deleted at once
local accounts = {}
for name in io.lines(arg[1]) do
  accounts[#accounts + 1] = { name = name, note = "trading desk", keys = {
    { note = "bot", permissions = { "SPOT_ACCOUNT_READ", "SPOT_DEAL_WRITE" }, ip = { "203.0.113.7" } },
  } }
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local fleet = assert(purser.fleet.new { client = client, group = "sub_account", accounts = accounts, vault = vault })
local steps, err = fleet:apply()
for _, step in ipairs(steps or err.details and err.details.done or {}) do print(step.account, step.what) end
if not steps then io.stderr:write(tostring(err), "\n") end
os.exit(steps and 0 or 1)
