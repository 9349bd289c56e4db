-- SPDX-License-Identifier: MIT
-- The options of purser.new; call/call_options.lua has those of a call.

local call_options = require "purser.client.call.call_options"
local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local loopback = lazy "purser.client.util.loopback"

local M = {}

local HOUR_MS = call_options.HOUR_MS
local client_rules = {
  base_url = "string", api_key = "string", secret_key = "string or userdata", credentials = "function",
  secret_key_file = "string", secret_key_env = "string",
  profile = "string or table", recv_window = { 1 }, timeout_ms = HOUR_MS, connect_timeout_ms = HOUR_MS,
  transport = "table", clock = "function", proxy = "string", ca_file = "string", ca_path = "string",
  ca_pem = "string", pinned_key = "string", user_agent = "string", max_response_bytes = { 1024, 2 ^ 31 },
  hooks = "table", rate_limit = "any", retry = "any", allow_insecure = "boolean",
  account = option_schema.NAME, journal = "table", guard = "table", policy = "string", generate_ids = "boolean",
  visibility_delay_ms = { 0, 3600000 },
  correct_clock = "boolean",
}
local hook_rules = { before = "function", after = "function", wait = "function" }

local SECURE = "use https://, or allow_insecure = true if you must"

local function is_port(text)
  local digits = text:match("^:(%d+)$")
  return text == "" or digits ~= nil and #digits <= 5 and tonumber(digits) >= 1 and tonumber(digits) <= 65535
end

--- Returns origin ("https://host:port") and path of a base URL; or nil, a message and what to do.
function M.split_url(url, allow_insecure)
  if url:find("[%c%s]") then return nil, "base_url holds a blank or a control character", "remove it" end
  local scheme, authority, path = url:match("^(%a+)://([^/?#]+)([^?#]*)$")
  scheme = scheme and scheme:lower()
  if scheme ~= "https" and scheme ~= "http" then
    local quoted = url:find("@", 1, true) and "" or (' "%s"'):format(url) -- it may hold a password
    return nil, ("base_url%s is not that of a service"):format(quoted), scheme
      and "it must look like https://host, without query or fragment"
      or "it must begin with https:// (a simulator on this machine: http://), and hold no query or fragment"
  end
  if authority:find("@", 1, true) then return nil, "base_url holds a user name or password", "leave it out" end
  local host, port = authority:match("^(%[[%x:%.]+%])(.*)$")
  if not host then host, port = authority:match("^([^:]+)(.*)$") end
  if not host or not is_port(port) then
    return nil, "base_url has a host or port that cannot be",
    "give a host, and a port from 1 to 65535"
  end
  if path:find("[\128-\255]") then return nil, "base_url has a path with bytes beyond ASCII", "percent-encode it" end
  if scheme == "http" and not allow_insecure and not loopback.address(host) then
    return nil, "base_url is http:// to another machine, which anyone on the way can read and change",
      SECURE, "allow_insecure"
  end
  return scheme .. "://" .. authority, (path:gsub("/+$", ""))
end

local proxy_schemes = { http = true, https = true, socks4 = true, socks4a = true, socks5 = true, socks5h = true }

-- Returns a fault of a proxy's form, or nil. A proxy may hold a password, and is not quoted.
local function problem_of(proxy)
  local scheme, rest = proxy:match "^(%a[%w+.-]*)://(.*)$"
  if scheme and not proxy_schemes[scheme:lower()] then return "is of a kind that is not known" end
  local host = (rest or proxy):gsub("/$", ""):match "([^@]*)$"
  local name, port = host:match "^(%[[%x:.]+%])(.*)$"
  if not name then name, port = host:match "^([%w._-]+)(.*)$" end
  if not name then return "names no host" end
  if port ~= "" and not (port:find "^:%d%d?%d?%d?%d?$" and tonumber(port:sub(2)) < 65536) then
    return "has no port that is a number from 0 to 65535"
  end
end

--- Checks a proxy's form, and that it cannot read requests. Returns nil, or a message, the option and what to do.
---@param url string
---@param options table  proxy, allow_insecure
function M.check_proxy(url, options)
  local problem = problem_of(options.proxy)
  if problem then
    return 'option "proxy" ' .. problem, "proxy", "give http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT"
  end
  if options.allow_insecure or not url:find "^[Hh][Tt][Tt][Pp]:" then return nil end
  return '"proxy" would see the key and the signature of every request to an http:// base_url', "allow_insecure",
    "use https://, or allow_insecure = true if you must"
end

local function check_sources(options)
  local given = {}
  for _, name in ipairs { "secret_key", "secret_key_file", "secret_key_env" } do
    if options[name] ~= nil then given[#given + 1] = ('"%s"'):format(name) end
  end
  if #given > 1 then return table.concat(given, " and ") .. " are given together", nil, "give one of them" end
  if options.credentials and (options.api_key or given[1]) then
    return '"credentials" is given together with a key', "credentials",
      ('give either "credentials" or "api_key" and %s'):format(given[1] or '"secret_key"')
  end
end

-- Options that a given transport would drop.
local of_transport = { "pinned_key", "ca_file", "ca_path", "ca_pem", "proxy", "max_response_bytes",
  "connect_timeout_ms" }

local function check_transport(options)
  if not options.transport then return nil end
  if type(options.transport.send) ~= "function" then
    return 'option "transport" has no method send', "transport", "purser.transport has those that have one"
  end
  for _, name in ipairs(of_transport) do
    if options[name] ~= nil then
      return ('"%s" is the transport\'s'):format(name), name, "give it to what makes it, such as purser.transport.multi"
    end
  end
end

-- Returns a fault of files that is known before the first call.
local function check_reachable(options)
  if options.ca_file and not core.file_mode(options.ca_file) then
    return ('option "ca_file": %s cannot be read'):format(options.ca_file), "ca_file",
      "name the file of the authorities"
  end
  if options.ca_path and select(4, core.file_mode(options.ca_path)) ~= "folder" then
    return ('option "ca_path": %s is no folder'):format(options.ca_path), "ca_path",
      "name the folder of the authorities, or a file with ca_file"
  end
end

--- Returns nil, or a message, the option and what to do.
function M.check(options)
  local message, option, hint = option_schema.check(options, client_rules, "option")
  if not message and options.hooks then
    message, option, hint = option_schema.check(options.hooks, hook_rules, "hook")
  end
  if not message then message, option, hint = check_transport(options) end
  if not message then message, option, hint = check_reachable(options) end
  if message then return message, option, hint end
  if options.journal and type(options.journal.begin) ~= "function" then
    return 'option "journal" is no journal', "journal", "give one that purser.journal.open made"
  end
  return check_sources(options)
end

M.vocabulary = { client = client_rules, call = call_options.rules, hooks = hook_rules } -- for the specs of the pages

return M
