-- SPDX-License-Identifier: MIT
-- Checks the options of one call, and the credentials.

local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local errors = lazy "purser.client.call.errors"

local M = {}

--- At most an hour.
M.HOUR_MS = { 1, 3600000 }

M.rules = { extra_params = "table", recv_window = { 1 }, timeout_ms = M.HOUR_MS, info = "table",
  key = option_schema.NAME, asked = "table", equal_since = option_schema.TIME }

--- Returns nil where the profile bears the window of checked options; else a message, the option and a hint.
function M.check_window(options, profile)
  local window = options.recv_window
  if window == nil or window <= profile.max_recv_window then return nil end
  return option_schema.check({ recv_window = window }, { recv_window = { 1, profile.max_recv_window } }, "option")
end

--- Returns nil, or an argument error.
function M.check(opts, profile)
  local message, name, hint = option_schema.check(opts, M.rules, "option")
  if not message then message, name, hint = M.check_window(opts, profile) end
  return message and errors.option(message, name, hint) or nil
end

local MAX_API_KEY_BYTES = 4096

local function check_key(name, value)
  if value == "" then return ('"%s" is empty'):format(name), "give it a value" end
  if value:find("%c") then
    return ('"%s" holds a line break or another control character'):format(name), "remove it"
  end
end

local NO_SECRET = '"secret_key" is neither a string nor a secret of purser.secrets'
local MISSING = "give api_key and secret_key, or credentials; os.getenv gives nil for a variable that is not set"

local function check_secret(name)
  if name == "purser.secret (closed)" then return '"secret_key" is a secret that was closed', "read it again" end
  if name ~= "purser.secret" then return NO_SECRET, "give one of them" end
end

--- Returns nil, or what to do and a message that quotes no value.
function M.check_credentials(api_key, secret_key)
  if type(api_key) ~= "string" then return '"api_key" is missing', MISSING end
  if secret_key == nil then return '"secret_key" is missing', MISSING end
  local message, hint = check_key("api_key", api_key)
  if message then return message, hint end
  if api_key:find(" ", 1, true) then return '"api_key" holds a blank', "remove it" end
  if api_key:find("[\128-\255]") then
    return '"api_key" holds a character that a header cannot carry', "copy it again"
  end
  if #api_key > MAX_API_KEY_BYTES then return '"api_key" is longer than a header can carry', "copy it again" end
  if type(secret_key) == "userdata" then return check_secret(tostring(secret_key)) end
  if type(secret_key) ~= "string" then return NO_SECRET, "give one of them" end
  return check_key("secret_key", secret_key)
end

return M
