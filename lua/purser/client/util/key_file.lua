-- SPDX-License-Identifier: MIT
-- Files with an account's key: lines like `api_key = ...`. The secret goes to an object in C, past all Lua strings.

local core = require "purser.core"
local files = require "purser.client.util.files"

local M = {}

-- Returns the keys that a file's command prints, with the service of the file or the command.
local function from_command(file, path)
  if file.api_key or file.secret then
    return nil, path .. " gives a credentials_command and a key of its own; remove one of them"
  end
  local keys, message = core.read_credentials("|" .. file.credentials_command)
  if not keys then return nil, ("the credentials_command of %s: %s"):format(path, message) end
  if keys.credentials_command then
    return nil, ("the credentials_command of %s writes another credentials_command; let it write the keys"):format(path)
  end
  for _, name in ipairs { "base_url", "profile" } do
    if file[name] and keys[name] then
      return nil, ("%s and what its credentials_command writes both give %s; remove one"):format(path, name)
    end
    keys[name] = keys[name] or file[name]
  end
  return keys
end

--- Reads both keys of an account from one source.
---@param source string  a path, or "-" for standard input
---@return table|nil keys  { api_key, secret, source, base_url, profile }
---@return string|nil message
function M.read(source)
  local name = source == "-" and "standard input" or source
  local keys, message = files.secret(core.read_credentials,
    source:find "^|" and "./" .. source or source) -- a path is no command
  if keys and keys.credentials_command then
    if source == "-" then
      return nil, name .. " gives a credentials_command, which only a file may; let it write the keys"
    end
    keys, message = from_command(keys, source)
  end
  if not keys then return nil, message end
  if not keys.api_key or not keys.secret then
    return nil, name .. " has no key, or no secret; give the lines api_key = ... and secret_key = ..., or "
      .. "credentials_command = ..."
  end
  keys.source = name
  return keys
end

local members = { "base_url", "profile", "api_key", "secret_key" }

--- Writes an account's keys to a new file, or with `replaces` over an old file in one step. Only this user can read the
--- file. Returns nil and a message, which quotes no value, for a value that the file cannot hold.
---@param path string
---@param keys { api_key: string, secret_key: string, base_url: string|nil, profile: string|nil }
---@param replaces boolean|nil
---@return true|nil ok, string|nil message
function M.write(path, keys, replaces)
  local lines = {}
  for _, name in ipairs(members) do
    local value = keys[name]
    if value ~= nil then
      if type(value) ~= "string" or value == "" then return nil, ("%s is no text; give one"):format(name) end
      if value:find "[%c%s]" then
        return nil, ("%s holds a blank or a control character; give it without"):format(name)
      end
      lines[#lines + 1] = name .. " = " .. value .. "\n"
    elseif name == "api_key" or name == "secret_key" then
      return nil, name .. " is missing; give it"
    end
  end
  if replaces then return files.replace(path, table.concat(lines)) end
  return core.write_new(path, table.concat(lines))
end

return M
