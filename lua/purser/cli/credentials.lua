-- SPDX-License-Identifier: MIT
-- Where keys and passwords come from: the environment, or a file that nobody else can read. Never an argument, which
-- every process of the machine can see.

local files = require "purser.cli.file"

local M = {}

local names = { api_key = true, secret_key = true, secret_key_file = true, base_url = true, profile = true }

local function parse_keys(path, text)
  local keys, number = {}, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    line = line:gsub("\r$", "")
    if not line:find("^%s*#") and line:find("%S") then
      local name, value = line:match("^%s*([%w_]+)%s*=%s*(.-)%s*$")
      -- a line that is not understood may well hold a secret, so it is never quoted
      if not name or not names[name] or value == "" then
        return nil, ("%s line %d is not of the form `name = value` with name api_key, secret_key, secret_key_file, "
          .. "base_url or profile"):format(path, number)
      end
      keys[name] = value
    end
  end
  return keys
end

local function from_file(path)
  local text, complaint = files.read_private(path)
  if not text then return nil, complaint end
  local keys
  keys, complaint = parse_keys(path, text)
  if not keys then return nil, complaint end
  if keys.secret_key_file then
    keys.secret_key, complaint = files.read_private(keys.secret_key_file)
    if not keys.secret_key then return nil, complaint end
    keys.secret_key_file = nil
  end
  return keys
end

-- A variable of the environment; one that is empty counts as not set.
local function variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

--- The keys to sign with, and the service they belong to when the file says so.
---@param path string|nil  of a file; the environment is used without it
---@return table|nil keys  { api_key, secret_key, base_url, profile, source }
---@return string|nil complaint
function M.find(path)
  local keys, complaint
  if path then
    keys, complaint = from_file(path)
    if not keys then return nil, complaint end
    keys.source = path
  else
    keys = { api_key = variable "PURSER_API_KEY", secret_key = variable "PURSER_SECRET_KEY", source = "environment" }
  end
  if not keys.api_key or not keys.secret_key then
    if path then return nil, path .. " must hold the lines api_key = ... and secret_key = ..." end
    local missing = keys.api_key and "PURSER_SECRET_KEY is not set" or keys.secret_key and "PURSER_API_KEY is not set"
    return nil, (missing or "no keys") .. ": set PURSER_API_KEY and PURSER_SECRET_KEY, or name a file with --keys"
  end
  return keys
end

--- A password from where `source` says: env:NAME or file:PATH. Returns nil and a complaint for anything else, which is
--- never quoted: it may be the password itself.
---@param source string
---@return string|nil password, string|nil complaint
function M.password(source)
  local kind, where = source:match("^(%a+):(.+)$")
  if kind == "env" then
    local value = os.getenv(where)
    if not value or value == "" then return nil, ("names the variable %s, which is not set"):format(where) end
    return value
  elseif kind == "file" then
    local text, complaint = files.read_private(where)
    if not text then return nil, "names a file that will not do: " .. complaint end
    local line = text:match("^[^\r\n]*")
    if line == "" then return nil, ("names the file %s, whose first line is empty"):format(where) end
    return line
  end
  return nil, "must not be typed as an argument, which every process here can see; give env:NAME or file:PATH"
end

return M
