-- SPDX-License-Identifier: MIT
-- Where keys and passwords come from: a file that nobody else can read, or the environment. Never an argument, which
-- every process of the machine can see. A secret key goes from there to the signer in C: no Lua string ever holds it.

local core = require "purser.core"

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
  local secret, message = core.take_secret "PURSER_SECRET_KEY"
  if secret then taken, why_not = secret, nil else why_not = why_not or message end
end

local function from_file(path)
  local keys, message = core.read_credentials(path)
  if not keys then return nil, message end
  if not keys.api_key or not keys.secret then
    return nil, path .. " must hold the lines api_key = ... and secret_key = ..."
  end
  keys.source = path
  return keys
end

local function from_environment()
  local api_key = M.variable "PURSER_API_KEY"
  if api_key and taken then
    return { api_key = api_key, secret = taken, source = "PURSER_API_KEY and PURSER_SECRET_KEY" }
  end
  local missing = not api_key and not taken and "no keys" or not api_key and "PURSER_API_KEY is not set"
    or tostring(why_not):find("is not set", 1, true) and "PURSER_SECRET_KEY is not set" or why_not
  return nil, missing .. ": name a file with --credentials, or set PURSER_API_KEY and PURSER_SECRET_KEY"
end

--- The keys to sign with, both from one source, and the service they belong to when the file says so. The secret is an
--- object, which the caller closes when the client is made.
---@param path string|nil  of a file; the environment is used without it
---@return table|nil keys  { api_key, secret, source, base_url, profile }
---@return string|nil message
function M.find(path)
  if path then return from_file(path) end
  return from_environment()
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
