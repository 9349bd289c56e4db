-- Makes the sub-accounts of a list, and an API key for each. Run again after a failure, it makes what is missing.
--
--   lua examples/provision.lua accounts.csv keys.csv
--
-- accounts.csv has a line a sub-account: name,note,permissions (separated by blanks),ip addresses (same, may be empty).
-- The keys are appended to keys.csv the moment they exist: the service shows a secret once. Keep that file to yourself.
-- The service is named by PURSER_BASE_URL or PURSER_PROFILE, the main account's key by PURSER_API_KEY and
-- PURSER_SECRET_KEY. A broker sets PURSER_GROUP=broker.

local purser = require "purser"

local list_path, keys_path = arg[1], arg[2]
if not keys_path then
  io.stderr:write "usage: provision.lua accounts.csv keys.csv\n"
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})
local group = client[os.getenv "PURSER_GROUP" or "sub_account"]

-- Stops the run. Of a key or an account nobody is sure about, it says what to look at first.
local function must(result, err)
  if result then return result end
  io.stderr:write(tostring(err), "\n")
  os.exit(err.outcome == "unknown" and 4 or 1)
end

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local function read_list(path)
  local wanted = {}
  for line in assert(io.lines(path)) do
    local name, note, permissions, ips = line:match "^([^,]+),([^,]+),([^,]+),?([^,]*)$"
    if name then
      wanted[#wanted + 1] = { name = name, note = note, permissions = words(permissions), ips = words(ips) }
    elseif line:find "%S" then
      error(("%s: this line is not name,note,permissions,ips: %s"):format(path, line), 0)
    end
  end
  return wanted
end

-- The names of all sub-accounts there are, page by page.
local function existing_accounts()
  local names, page = {}, 1
  repeat
    local accounts = must(group:list_sub_accounts { page = page, limit = 200 })
    for _, account in ipairs(accounts) do names[account.subAccount] = true end
    page = page + 1
  until #accounts < 200
  return names
end

local function has_key(name, note)
  for _, key in ipairs(must(group:list_api_keys { subAccount = name })) do
    if key.note == note then return true end
  end
  return false
end

local wanted = read_list(list_path)
local keys = assert(io.open(keys_path, "a")) -- before the first key is made: none may be lost
local existing, made_accounts, made_keys = existing_accounts(), 0, 0

for _, account in ipairs(wanted) do
  if not existing[account.name] then
    must(group:create_sub_account { subAccount = account.name, note = account.note })
    made_accounts = made_accounts + 1
  end
  if not has_key(account.name, account.note) then
    local key = must(group:create_api_key {
      subAccount = account.name, note = account.note, permissions = account.permissions,
      ip = #account.ips > 0 and account.ips or nil,
    })
    assert(keys:write(table.concat({ account.name, key.apiKey, key.secretKey }, ","), "\n"))
    assert(keys:flush())
    made_keys = made_keys + 1
  end
end

assert(keys:close())
print(("%d sub-accounts wanted: %d made, %d keys made"):format(#wanted, made_accounts, made_keys))
