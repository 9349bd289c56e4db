-- SPDX-License-Identifier: MIT
-- Where keys and passwords come from: a file that nobody else can read, or the environment. Never an argument, which
-- every process of the machine can see. A secret key goes from there to the signer in C: no Lua string ever holds it.

local core = require "purser.core"
local key_file = require "purser.util.key_file"

local M = {}

--- A variable of the environment; one that is empty counts as not set.
---@param name string
---@return string|nil
function M.variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local taken, why_not -- the secret of the environment, or why there is none

--- Takes the secret key out of the environment, wherever the keys come from: no child process inherits it.
function M.take_secret()
  local secret, message, is_unset = core.take_secret "PURSER_SECRET_KEY"
  if is_unset then message = "PURSER_SECRET_KEY is not set" end
  if secret then taken, why_not = secret, nil else why_not = why_not or message end
end

-- A path of the environment; a relative one counts as not set: it would lead into the folder that the command is called
-- in, whose files may be anybody's.
local function absolute(name)
  local path = M.variable(name)
  return path and path:find "^/" and path or nil
end

--- The folder of the named accounts: $XDG_CONFIG_HOME/purser, or ~/.config/purser. Nil without a home.
---@return string|nil
function M.folder()
  local config, home = absolute "XDG_CONFIG_HOME", absolute "HOME"
  return config and config .. "/purser" or home and home .. "/.config/purser" or nil
end

--- The file of a named account; nil and a message for what is no name.
---@param name string
---@return string|nil path, string|nil message
function M.path_of(name)
  if not name:find "^[%w_][%w_.-]*$" then
    return nil, ("%q is no name of an account; use letters, digits, _ and -"):format(name)
  end
  local folder = M.folder()
  if not folder then return nil, "HOME is not set, so there is no folder of accounts; use --credentials FILE" end
  return ("%s/%s.keys"):format(folder, name)
end

-- The keys of a named account, where it has a file; nil alone where it has none.
local function from_account(name)
  local path, message = M.path_of(name)
  if not path then return nil, message end
  if not core.file_mode(path) then return nil end
  local keys
  keys, message = key_file.read(path)
  if keys then keys.account = name end
  return keys, message
end

-- What a service manager hands over: systemd's LoadCredential=purser:/path.
local function from_service_manager()
  local folder = M.variable "CREDENTIALS_DIRECTORY"
  local path = folder and folder .. "/purser"
  if path and core.file_mode(path) then return key_file.read(path) end
end

local function from_environment()
  local api_key = M.variable "PURSER_API_KEY"
  if api_key and taken then
    return { api_key = api_key, secret = taken, source = "PURSER_API_KEY and PURSER_SECRET_KEY" }
  end
  local missing = not api_key and not taken and "no keys" or not api_key and "PURSER_API_KEY is not set" or why_not
  return nil, missing .. ": name a file with --credentials, set PURSER_API_KEY and PURSER_SECRET_KEY, or keep a key "
    .. "with `purser login`"
end

-- The places without an option of their own, the nearest first. The keys of the account `default` are not those of an
-- account that was named.
local function from_surroundings(named)
  local path, command = M.variable "PURSER_CREDENTIALS", M.variable "PURSER_CREDENTIALS_COMMAND"
  if path then return key_file.read(path) end
  if M.variable "PURSER_API_KEY" or taken then return from_environment() end
  if command then return key_file.read("|" .. command, "PURSER_CREDENTIALS_COMMAND") end
  local keys, message = from_service_manager()
  if not keys and not message and not named and M.folder() then keys, message = from_account "default" end
  if keys or message then return keys, message end
  keys, message = from_environment()
  local missing = named and M.path_of(named)
  if not missing then return keys, message end
  return nil, ("--account %s has no keys: there is no %s; `purser login %s` makes it, or name a file with "
    .. "--credentials, or set PURSER_API_KEY and PURSER_SECRET_KEY"):format(named, missing, named)
end

--- The keys to sign with, both from one source, and the service they belong to when the file says so. The secret is an
--- object, which the caller closes when the client is made.
---@param options table  of argparse: credentials, account
---@return table|nil keys  { api_key, secret, source, account, base_url, profile }
---@return string|nil message
function M.find(options)
  if options.credentials == "" then return nil, "--credentials is empty; name a file, or - for standard input" end
  if options.credentials then return key_file.read(options.credentials) end
  if options.account then
    local keys, message = from_account(options.account)
    if keys or message then return keys, message end
  end
  return from_surroundings(options.account)
end

--- A password from where `source` says: env:NAME or file:PATH. Returns nil and a message for anything else, which is
--- never quoted: it may be the password itself.
---@param source string
---@return string|nil password, string|nil message
function M.password(source)
  local kind, where = source:match("^(%a+):(.+)$")
  if kind == "env" then
    local value = M.variable(where)
    if not value then return nil, ("names the variable %s, which is not set"):format(where) end
    return value
  elseif kind == "file" then
    local text, message = core.read_private(where)
    if not text then return nil, "names a file that will not do: " .. message end
    local line = text:match("^[^\r\n]*")
    if line == "" then return nil, ("names the file %s, whose first line is empty"):format(where) end
    return line
  end
  return nil, "must not be typed as an argument, which every process here can see; give env:NAME or file:PATH"
end

return M
