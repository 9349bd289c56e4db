-- SPDX-License-Identifier: MIT
--- Keys in files of mode 0600: the vault of a fleet, with a line a key, and the keys of one account, as `purser login`
--- keeps them. Secrets are read as purser.Secret: no Lua string holds them.

local views = require "purser.client.util.views"
local core = require "purser.core"
local files = require "purser.client.util.files"
local key_file = require "purser.client.util.key_file"
local option_schema = require "purser.client.util.option_schema"
local plain_text = require "purser.client.util.plain_text"

---@class purser.modules.vault
local M = {}

local MAX_BYTES = 64 * 1024 * 1024 -- some 300,000 keys

---@class purser.VaultOptions
---@field base_url string|nil     written next to each key that is stored: the service it belongs to
---@field read_only boolean|nil   nothing is stored, and a file that is missing is not made

---@class purser.VaultKey
---@field api_key string
---@field account string|nil
---@field note string|nil
---@field base_url string|nil

---@class purser.AccountKeyTexts
---@field api_key string
---@field secret_key string
---@field base_url string|nil
---@field profile string|nil

--- The vault of a fleet in a file: a line an API key, with secret, account, note and address of the service between
--- tabs. A line that was cut off counts for nothing.
---@class purser.VaultFile: purser.Vault
---@field path string
---@field store fun(secret: purser.FleetSecret): boolean|nil  writes a key; when it returns, the key is on the disk
---@field holds fun(api_key: string): boolean  whether the file has the secret of a key
local VaultFile = { __name = "purser.fleet.vault" }
VaultFile.__index = VaultFile

-- Returns the keys of a file without secrets, in order and by API key; nil, a message, and whether there is no file.
local function read(path)
  local text, message, is_missing = files.secret(core.read_vault, path, MAX_BYTES)
  if not text then return nil, message, is_missing end
  local list, held = {}, {}
  for line in text:gmatch "[^\n]+" do
    local cells = {}
    for cell in (line .. "\t"):gmatch "([^\t]*)\t" do cells[#cells + 1] = cell ~= "" and cell or false end
    local key = { api_key = cells[1], account = cells[2] or nil, note = cells[3] or nil, base_url = cells[4] or nil }
    if not held[key.api_key] then list[#list + 1], held[key.api_key] = key, key end
  end
  return list, held
end

-- Writes a line to the disk, or raises. No message has the secret.
local function write(self, secret)
  if type(secret) ~= "table" then error("purser.vault: store takes a table of a key; give apiKey and secretKey", 0) end
  local fields = { secret.apiKey, secret.secretKey, secret.account or "", secret.note or "", self.base_url or "" }
  for i, name in ipairs { "apiKey", "secretKey" } do
    local value = fields[i]
    if type(value) ~= "string" or value == "" or value:find "[%c%s]" then
      error(("purser.vault: %s is no text without blanks; give the one that the service returned"):format(name), 0)
    end
  end
  for i = 3, 5 do fields[i] = plain_text.clean(tostring(fields[i])) end
  if select(3, core.file_mode(self.path)) ~= self.id then -- the secret would be in a file without a name
    error("purser.vault: the file was moved or replaced since it was opened; open it again", 0)
  end
  self.held[fields[1]] = false -- until it is on the disk
  self.file:seek "end"
  assert(self.file:write(table.concat(fields, "\t") .. "\n"))
  assert(core.sync_file(self.file, files.folder_of(self.path)))
  self.held[fields[1]] = true
end

-- Opens the file to add to; a line that was cut off is ended first.
local function open_file(path)
  if not core.file_mode(path) then
    local made, reason = core.create_private(path)
    if not made then return nil, ("%s cannot be made: %s"):format(path, tostring(reason)) end
  end
  local file, message = files.open_private(path, "a+b")
  if not file then return nil, message end
  file:setvbuf "no" -- a buffer would hold secrets
  if file:seek "end" > 0 then
    file:seek("end", -1)
    if file:read(1) ~= "\n" then
      file:seek "end"
      assert(file:write "\n")
    end
  end
  return file
end

--- Opens the vault of a fleet; a file that is missing is made with mode 0600. A file that others can use is rejected.
---@param path string
---@param options purser.VaultOptions|nil
---@return purser.VaultFile|nil vault, string|nil message
function M.open(path, options)
  options = options or {}
  local message = type(path) ~= "string" and ("the path is a %s; give a text"):format(type(path))
    or option_schema.text(options, { base_url = "string", read_only = "boolean" }, "option")
  if message then return nil, "purser.fleet.vault.open: " .. message end
  local list, held, is_missing = read(path)
  if not list and not is_missing then return nil, held end
  local found = list and not list[1] and assert(io.open(path, "rb"))
  local size = found and found:seek "end"
  if found then found:close() end
  if size and size > 0 then -- the file of other things: every key would count as lost
    return nil, path .. " holds no key; name the file of secrets, or an empty one"
  end
  local self = setmetatable({ path = path, base_url = options.base_url, held = list and held or {} }, VaultFile)
  if not options.read_only then
    self.file, message = open_file(path)
    if not self.file then return nil, message end
    self.id, is_missing = select(3, core.file_mode(path)), false
  end
  function self.store(secret)
    if self.is_closed then error("purser.vault: the vault is closed", 0) end
    if not self.file then error("purser.vault: the vault is read_only; open it without that option", 0) end
    write(self, secret)
  end
  function self.holds(api_key)
    if self.held[api_key] == nil and not is_missing then -- another process may have stored the key meanwhile
      local now, known = read(path)
      if not now then error("purser.vault: " .. tostring(known), 0) end
      self.held[api_key] = known[api_key]
    end
    return not not self.held[api_key]
  end
  return self
end

function VaultFile:__tostring() return ("purser.vault (%s)"):format(plain_text.clean(self.path)) end

--- The keys of the file, without their secrets.
---@return purser.VaultKey[]|nil keys, string|nil message
function VaultFile:list()
  local list, message, is_missing = read(self.path)
  return list or is_missing and not self.file and {} or nil, message
end

--- One key with its secret, as options of purser.new.
---@param api_key string
---@return purser.Options|nil keys, string|nil message
function VaultFile:keys(api_key)
  local list, held = read(self.path)
  if not list then return nil, held end
  if not held[api_key] then
    return nil, ("%s has no secret of the key %s; `list` returns the keys it has"):format(self.path,
      plain_text.clean(tostring(api_key), 40))
  end
  local secret, message = files.secret(core.read_vault, self.path, MAX_BYTES, api_key)
  if not secret then return nil, message or self.path .. " changed while it was read; try again" end
  return { api_key = api_key, secret_key = secret, base_url = held[api_key].base_url }
end

--- Closes the file. Nothing can be stored any more.
function VaultFile:close()
  if self.file then self.file:close() end
  self.file, self.is_closed = nil, true
end

--- Reads the keys of one account from a file of `purser login`, as options of purser.new. Refuses a file that other
--- users can read or change.
---@param path string
---@return purser.Options|nil keys, string|nil message  which quotes no secret
function M.read_keys(path)
  if type(path) ~= "string" then
    return nil, ("purser.fleet.vault.read_keys: the path is a %s; give a text"):format(type(path))
  end
  local keys, message = key_file.read(path:find "^[|-]" and "./" .. path or path) -- never a command or standard input
  if not keys then return nil, message end
  return { api_key = keys.api_key, secret_key = keys.secret, base_url = keys.base_url, profile = keys.profile }
end

--- Writes the keys of one account to a new file of mode 0600; `replace = true` replaces a file in one step.
---@param path string
---@param keys purser.AccountKeyTexts
---@param options? { replace?: boolean }
---@return true|nil written, string|nil message  which quotes no secret
function M.write_keys(path, keys, options)
  local where = "purser.fleet.vault.write_keys: "
  if type(path) ~= "string" then return nil, ("%sthe path is a %s; give a text"):format(where, type(path)) end
  local message = option_schema.text(keys, { api_key = "string", secret_key = "string", base_url = "string",
    profile = "string" }, "key") or option_schema.text(options or {}, { replace = "boolean" }, "option")
  if message then return nil, where .. message end
  local ok, reason = key_file.write(path, keys, options and options.replace)
  if ok then return true end
  return nil, ("%s%s: %s"):format(where, path, tostring(reason))
end

views.check_colon(VaultFile, "vault")

return M
