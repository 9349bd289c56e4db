-- SPDX-License-Identifier: MIT
-- Secret keys outside of Lua strings. Each is an object in locked memory, which purser.new takes as `secret_key` for
-- any number of clients; `secret:close()` wipes the object, and the clients go on.

local core = require "purser.core"

---@class purser.Secret: userdata
---@field close fun(self: purser.Secret)  wipes it

---@class purser.modules.secrets
local M = {}

--- Returns the secret key that a file holds and nothing else. The file must be this user's or root's and closed to all
--- others, and at most 64 KiB long.
---@param path string
---@return purser.Secret|nil secret, string|nil message  which never quotes the file
function M.from_file(path)
  if type(path) ~= "string" then return nil, ("the path of the file is a %s; give a text"):format(type(path)) end
  return core.read_secret(path)
end

--- Returns the value of an environment variable. The variable is wiped and gone afterwards: a second call finds
--- nothing. To be called before the program starts threads, which could use the environment meanwhile.
---@param name string
---@return purser.Secret|nil secret, string|nil message  which never quotes the value
function M.from_environment(name)
  if type(name) ~= "string" then return nil, ("the name of the variable is a %s; give a text"):format(type(name)) end
  return core.take_secret(name)
end

--- Returns the secret that the options `secret_key_file` or `secret_key_env` of purser.new name; or nil and what is
--- wrong.
---@private
function M.of(options)
  local option, read = "secret_key_file", M.from_file
  if options.secret_key_env then option, read = "secret_key_env", M.from_environment end
  local secret, message = read(options[option])
  if not secret then return nil, ('"%s": %s'):format(option, message) end
  return secret
end

return M
