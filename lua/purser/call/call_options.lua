-- SPDX-License-Identifier: MIT
-- What is given with one call, checked: its options, and the credentials that sign it.

local option_schema = require "purser.util.option_schema"
local errors = require "purser.call.errors"

local M = {}

--- The rule of a timeout: at most an hour.
M.HOUR_MS = { 1, 3600000 }

--- The options of a call.
M.rules = { extra_params = "table", recv_window = { 1 }, timeout_ms = M.HOUR_MS, info = "table" }

--- nil when the profile bears the window of checked options, else a message.
function M.check_window(options, profile)
  local window = options.recv_window
  if window == nil or window <= profile.max_recv_window then return nil end
  return option_schema.check({ recv_window = window }, { recv_window = { 1, profile.max_recv_window } }, "option")
end

--- Checks the options of one call. Returns nil, or an argument error.
function M.check(opts, profile)
  local message, name = option_schema.check(opts, M.rules, "option")
  if not message then message, name = M.check_window(opts, profile) end
  return message and errors.argument(name, message)
end

local MAX_API_KEY_BYTES = 4096

local function check_key(name, value)
  if value == "" then return ('"%s" is empty'):format(name) end
  if value:find("%c") then
    return ('"%s" holds a line break or another control character; remove it'):format(name)
  end
end

local function check_secret(name)
  if name == "purser.secret (closed)" then return '"secret_key" is a secret that was closed' end
  if name ~= "purser.secret" then return '"secret_key" is neither a string nor a secret of purser.secrets' end
end

--- Checks what credentials are made of. Returns nil, or a message that never quotes a value.
function M.check_credentials(api_key, secret_key)
  if type(api_key) ~= "string" then return '"api_key" is missing; give api_key and secret_key, or credentials' end
  if secret_key == nil then return '"secret_key" is missing; give api_key and secret_key, or credentials' end
  local message = check_key("api_key", api_key)
  if message then return message end
  if api_key:find("[\128-\255 ]") then return '"api_key" holds a character that a header cannot carry' end
  if #api_key > MAX_API_KEY_BYTES then return '"api_key" is longer than a header can carry' end
  if type(secret_key) == "userdata" then return check_secret(tostring(secret_key)) end
  if type(secret_key) ~= "string" then return '"secret_key" is neither a string nor a secret of purser.secrets' end
  if secret_key == "" then return '"secret_key" is empty' end
  -- a PEM key has line breaks; every other secret that has one was pasted wrong
  if not secret_key:find("^%s*%-%-%-%-%-BEGIN ") then return check_key("secret_key", secret_key) end
end

return M
