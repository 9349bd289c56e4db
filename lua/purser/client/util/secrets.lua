-- SPDX-License-Identifier: MIT
-- Secret keys in locked memory, never in a Lua string. purser.new takes an object as `secret_key` for any number of
-- clients; `secret:close()` wipes it, and clients keep their own states.

local core = require "purser.core"
local files = require "purser.client.util.files"

---@class purser.Secret: userdata
---@field close fun(self: purser.Secret)  wipes it

---@class purser.modules.secrets
local M = {}

--- Returns a file's only content as a secret key: a file of this user or root, closed to others, at most 64 KiB long.
---@param path string
---@return purser.Secret|nil secret, string|nil message  which never quotes the file
function M.from_file(path)
  if type(path) ~= "string" then return nil, ("the path of the file is a %s; give a text"):format(type(path)) end
  return files.secret(core.read_secret, path)
end

--- Returns the value of an environment variable, which is wiped and gone afterwards. To be called before the program
--- starts threads, which could use the environment meanwhile.
---@param name string
---@return purser.Secret|nil secret, string|nil message  which never quotes the value
function M.from_environment(name)
  if type(name) ~= "string" then return nil, ("the name of the variable is a %s; give a text"):format(type(name)) end
  return core.take_secret(name)
end

--- Returns the secret of the options `secret_key_file` or `secret_key_env`; or nil and the fault.
---@private
function M.of(options)
  local option, read = "secret_key_file", M.from_file
  if options.secret_key_env then option, read = "secret_key_env", M.from_environment end
  local secret, message = read(options[option])
  if not secret then return nil, ('"%s": %s'):format(option, message) end
  return secret
end

return M
