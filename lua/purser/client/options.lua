-- SPDX-License-Identifier: MIT
-- The options of purser.new, checked before anything is made of them. Those of a call are in call/call_options.lua.

local call_options = require "purser.call.call_options"
local lazy = require "purser.util.lazy"
local option_schema = require "purser.util.option_schema"
local loopback = lazy "purser.util.loopback"

local M = {}

local HOUR_MS = call_options.HOUR_MS
local client_rules = {
  base_url = "string", api_key = "string", secret_key = "string or userdata", credentials = "function",
  secret_key_file = "string", secret_key_env = "string",
  profile = "string or table", recv_window = { 1 }, timeout_ms = HOUR_MS, connect_timeout_ms = HOUR_MS,
  transport = "table", clock = "function", proxy = "string", ca_file = "string", ca_path = "string",
  ca_pem = "string", pinned_key = "string", user_agent = "string", max_response_bytes = { 1024, 2 ^ 31 },
  hooks = "table", rate_limit = "any", retry = "any", allow_insecure = "boolean",
  account = "string", journal = "table", guard = "table", generate_ids = "boolean", visibility_delay_ms = { 0,
    3600000 },
  correct_clock = "boolean",
}
local hook_rules = { before = "function", after = "function" }

local function is_port(text)
  local digits = text:match("^:(%d+)$")
  return text == "" or digits ~= nil and #digits <= 5 and tonumber(digits) >= 1 and tonumber(digits) <= 65535
end

--- Splits a base URL into origin ("https://host:port") and path prefix; nil and a message when it will not do.
---@return string|nil origin, string prefix_or_message
function M.split_url(url, allow_insecure)
  if url:find("[%c%s]") then return nil, "base_url holds a blank or a control character" end
  local scheme, authority, path = url:match("^(%a+)://([^/?#]+)([^?#]*)$")
  scheme = scheme and scheme:lower()
  if scheme ~= "https" and scheme ~= "http" then
    return nil, "base_url must look like https://host, without query or fragment"
  end
  if authority:find("@", 1, true) then return nil, "base_url must not hold a user name or password" end
  local host, port = authority:match("^(%[[%x:%.]+%])(.*)$")
  if not host then host, port = authority:match("^([^:]+)(.*)$") end
  if not host or not is_port(port) then return nil, "base_url has a host or port that cannot be" end
  if path:find("[\128-\255]") then return nil, "base_url has a path that must be percent-encoded" end
  if scheme == "http" and not allow_insecure and not loopback.is(host:lower()) then
    return nil, "base_url is http:// to another machine, which anyone on the way can read and change; use https://, "
      .. "or allow_insecure = true if you must"
  end
  return scheme .. "://" .. authority, (path:gsub("/+$", ""))
end

local function check_sources(options)
  local given = {}
  for _, name in ipairs { "secret_key", "secret_key_file", "secret_key_env" } do
    if options[name] ~= nil then given[#given + 1] = ('"%s"'):format(name) end
  end
  if #given > 1 then return ("give one of %s"):format(table.concat(given, " and ")) end
  if options.credentials and (options.api_key or given[1]) then
    return ('give either "credentials" or "api_key" and %s'):format(given[1] or '"secret_key"')
  end
end

-- What only a transport can do: next to one that was given they would be dropped.
local of_transport = { "pinned_key", "ca_file", "ca_path", "ca_pem", "proxy", "max_response_bytes",
  "connect_timeout_ms" }

-- nil when none of them stands next to `transport`, else a message.
local function check_transport(options)
  if not options.transport then return nil end
  if type(options.transport.send) ~= "function" then return 'option "transport" has no method send' end
  for _, name in ipairs(of_transport) do
    if options[name] ~= nil then
      return ('"%s" is the transport\'s: give it to what makes it, such as purser.transport.multi'):format(name)
    end
  end
end

--- Whether requests to that URL would reach a proxy readable. Returns nil, or a message.
function M.check_proxy(url, options)
  if not options.proxy or options.proxy == "" or options.allow_insecure or not url:find("^[Hh][Tt][Tt][Pp]:") then
    return nil
  end
  return '"proxy" would see the key and the signature of every request to an http:// base_url; use https://, or '
    .. "allow_insecure = true if you must"
end

--- Checks all options of purser.new. Returns nil, or a message.
function M.check(options)
  local message = option_schema.check(options, client_rules, "option")
    or options.hooks and option_schema.check(options.hooks, hook_rules, "hook")
    or check_transport(options)
  if message then return message end
  if options.journal and type(options.journal.begin) ~= "function" then
    return 'option "journal" is not one that purser.journal.open made'
  end
  if options.account and options.account:find("%c") then
    return 'option "account" holds a line break or another control character; remove it'
  end
  return check_sources(options)
end

M.vocabulary = { client = client_rules, call = call_options.rules, hooks = hook_rules }

return M
