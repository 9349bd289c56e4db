-- SPDX-License-Identifier: MIT
-- Makes the sub-accounts of a list and an API key for each. A second run makes only what is missing.
--
--   lua examples/cookbook/onboarding.lua NAMES SECRETS        NAMES: a name a line; SECRETS: a file for you alone

local core = require "purser.core"
local purser = require "purser"

if not core.file_mode(arg[2]) then assert(core.create_private(arg[2])) end -- mode 0600, and never an old file
assert(core.file_mode(arg[2]) % 64 == 0, "others can use the file: chmod 600 it")
local secrets, held = assert(io.open(arg[2], "a+")), {}
for line in secrets:lines() do held[line:match "^(%S+)" or ""] = true end

local vault = {}
function vault.store(key) -- runs before anything else happens; a key that cannot be stored is deleted at once
  assert(secrets:write(("%s\t%s\t%s\n"):format(key.apiKey, key.secretKey, key.account)))
  assert(core.sync_file(secrets))
  held[key.apiKey] = true
end
function vault.holds(api_key) return held[api_key] ~= nil end

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
