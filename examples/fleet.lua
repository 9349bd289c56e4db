-- SPDX-License-Identifier: MIT
-- Makes a fleet of sub-accounts as a file declares it, and keeps the secrets in a file only the user can read.
--
--   lua examples/fleet.lua DECLARATION SECRETS plan|apply|rotate|retire
--
-- The declaration is a Lua table: { group = "sub_account", accounts = { { name =, note =, keys = { ... } } } }; see
-- docs/fleets.md. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"

local declaration_file, secrets_file, command = arg[1], arg[2], arg[3]
local commands = { plan = true, apply = true, rotate = true, retire = true }
if not commands[command] then
  io.stderr:write("usage: fleet.lua DECLARATION SECRETS plan|apply|rotate|retire\n")
  os.exit(2)
end

-- One line a key: apiKey, secretKey, account, note. The file is written before the service is asked for anything more.
local held = {}
local file = io.open(secrets_file, "r")
if file then
  for line in file:lines() do held[line:match("^(%S+)") or ""] = true end
  file:close()
else
  assert(require("purser.core").create_private(secrets_file))
end

local function store(secret)
  local out = assert(io.open(secrets_file, "a"))
  assert(out:write(("%s\t%s\t%s\t%s\n"):format(secret.apiKey, secret.secretKey, secret.account, secret.note)))
  assert(out:close())
  held[secret.apiKey] = true
end

local chunk = assert(loadfile(declaration_file))
local declaration = chunk()

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})

local fleet = assert(purser.fleet.new {
  client = client, group = declaration.group, accounts = declaration.accounts,
  vault = { store = store, holds = function(api_key) return held[api_key] ~= nil end },
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
for _, step in ipairs(done or err.done or {}) do print(step.account, step.what, step.note or "") end
if not done then
  io.stderr:write(tostring(err), "\n")
  os.exit(1)
end
