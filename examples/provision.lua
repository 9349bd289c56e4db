-- SPDX-License-Identifier: MIT
-- Makes the sub-accounts of a list, and an API key for each. Run again after a failure, it makes what is missing.
--
--   lua examples/provision.lua accounts.csv keys.vault
--
-- accounts.csv has a line a sub-account: name,note,permissions (separated by blanks),ip addresses (same, may be empty).
-- The keys are appended to keys.vault the moment they exist: the service shows a secret once. That file is made for
-- your eyes alone, and one that others can use is rejected.
-- A key whose answer was lost is deleted and made again, and one whose permissions or addresses the list has changed is
-- replaced (docs/fleets.md). The service is named by PURSER_BASE_URL or PURSER_PROFILE, the main account's key by
-- PURSER_API_KEY and PURSER_SECRET_KEY. A broker sets PURSER_GROUP=broker.

local purser = require "purser"

local list_path, keys_path = arg[1], arg[2]
if not keys_path then
  io.stderr:write "usage: provision.lua accounts.csv keys.vault\n"
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local function read_list(path)
  local file, problem = io.open(path)
  if not file then
    io.stderr:write(problem, "\n")
    os.exit(2)
  end
  local accounts = {}
  for line in file:lines() do
    local name, note, permissions, ips = line:match "^([^,]+),([^,]+),([^,]+),?([^,]*)$"
    if name then
      local key = { note = note, permissions = words(permissions), ip = #words(ips) > 0 and words(ips) or nil }
      accounts[#accounts + 1] = { name = name, note = note, keys = { key } }
    elseif line:find "%S" then
      error(("%s: this line is not name,note,permissions,ips: %s"):format(path, line), 0)
    end
  end
  file:close()
  return accounts
end

local accounts = read_list(list_path)
-- Opened before the first key is made: none may be lost.
local vault, message = purser.vault.open(keys_path)
if not vault then
  io.stderr:write(message, "\n")
  os.exit(2)
end

local fleet = assert(purser.fleet.new {
  client = client, group = os.getenv "PURSER_GROUP", accounts = accounts, vault = vault,
})
local done, err = fleet:apply()

local made = { create_account = 0, create_key = 0 }
local steps = done or err.details and err.details.done or {}
for _, step in ipairs(steps) do made[step.what] = (made[step.what] or 0) + 1 end
print(("%d sub-accounts requested: %d made, %d keys made"):format(#accounts, made.create_account, made.create_key))
vault:close()
if not done then
  io.stderr:write(tostring(err), "\n")
  os.exit(err.outcome == "unknown" and 4 or 1)
end
