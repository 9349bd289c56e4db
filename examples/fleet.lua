-- SPDX-License-Identifier: MIT
-- Makes a fleet of sub-accounts as a file declares it, and keeps the secrets in a file only the user can read.
--
--   lua examples/fleet.lua DECLARATION SECRETS plan|apply|rotate|retire
--
-- The declaration is JSON, and nothing in it is run: {"group": "sub_account", "accounts": [{"name":, "note":, "keys":
-- [...]}]}; see docs/fleets.md. `purser fleet` does the same with a question before each change. PURSER_BASE_URL or
-- PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local core = require "purser.core"
local purser = require "purser"

local declaration_file, secrets_file, command = arg[1], arg[2], arg[3]
local commands = { plan = true, apply = true, rotate = true, retire = true }
if not commands[command] then
  io.stderr:write("usage: fleet.lua DECLARATION SECRETS plan|apply|rotate|retire\n")
  os.exit(2)
end

-- Made when it is missing; a key is on the disk before the service is asked for anything more.
local vault, message = purser.vault.open(secrets_file, { base_url = os.getenv "PURSER_BASE_URL" })
if not vault then
  io.stderr:write(message, "\n")
  os.exit(1)
end

local input = assert(io.open(declaration_file))
local declaration = core.decode(input:read "*a")
input:close()
if type(declaration) ~= "table" then
  io.stderr:write(declaration_file, " is not the JSON of an object\n")
  os.exit(1)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local fleet = assert(purser.fleet.new {
  client = client, group = declaration.group, accounts = declaration.accounts, vault = vault,
})

if command == "plan" then
  print(assert(fleet:plan()))
  return
end
local days = 86400000
local done, err
if command == "apply" then
  done, err = fleet:apply()
elseif command == "rotate" then
  done, err = fleet:rotate { max_age_ms = 90 * days }
else
  done, err = fleet:retire { overlap_ms = days }
end
local steps = done or err.details and err.details.done or {}
for _, step in ipairs(steps) do print(step.account, step.what, step.note or "") end
if not done then
  io.stderr:write(tostring(err), "\n")
  os.exit(1)
end
