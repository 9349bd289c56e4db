-- SPDX-License-Identifier: MIT
-- The options that say which service to talk to and with whose keys, and the client they make.

local credentials = require "purser.cli.credentials"

local M = {}

local function whole(text)
  local number = text:find("^%d+$") and #text < 10 and tonumber(text)
  if not number then return nil, ("'%s' is not a whole number"):format(text) end
  return number
end

local function seconds(text)
  local number = #text < 10 and (text:find("^%d+$") or text:find("^%d+%.%d+$")) and tonumber(text)
  if not number or number <= 0 then return nil, ("'%s' is not a number of seconds"):format(text) end
  return math.max(1, math.floor(number * 1000 + 0.5))
end

--- Adds the options to a command of argparse.
function M.define(command)
  local options = {
    command:option("--base-url", "Address of the service (or PURSER_BASE_URL)."):argname("<url>"),
    command:option("--profile", "Conventions of the service: default or mexc (or PURSER_PROFILE).")
      :argname("<name>"):choices { "default", "mexc" },
    command:option("--keys", "File with `api_key = ...` and `secret_key = ...`, readable by you alone. Without it the "
      .. "keys come from PURSER_API_KEY and PURSER_SECRET_KEY."):argname("<file>"),
    command:option("--timeout", "Longest time of one request, default 10."):argname("<seconds>"):convert(seconds),
    command:option("--recv-window", "How old a request may be when it arrives, in ms."):argname("<ms>"):convert(whole),
  }
  command:group("Connection", (table.unpack or unpack)(options)) -- luacheck: ignore
end

--- The client that the options ask for; nil and a complaint when they do not make one.
---@param options table       of argparse
---@param overrides table|nil further options of purser.new
---@return purser.Client|nil client, string complaint_or_source
function M.open(options, overrides)
  local keys, complaint = credentials.find(options.keys)
  if not keys then return nil, complaint end
  local wanted = {
    api_key = keys.api_key, secret_key = keys.secret_key,
    base_url = options.base_url or keys.base_url or os.getenv "PURSER_BASE_URL",
    profile = options.profile or keys.profile or os.getenv "PURSER_PROFILE",
    timeout_ms = options.timeout, recv_window = options.recv_window,
  }
  for name, value in pairs(overrides or {}) do wanted[name] = value end
  if not wanted.base_url and not wanted.profile then
    return nil, "which service? give --base-url (or PURSER_BASE_URL), such as http://127.0.0.1:8080 for `purser sim`; "
      .. "or --profile mexc for the live one"
  end
  local client, err = require("purser").new(wanted)
  -- allow_insecure is for programs: here nothing permits it
  if not client then return nil, (err.message:gsub(", or allow_insecure.*$", "")) end
  return client, keys.source
end

return M
