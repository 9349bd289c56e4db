-- The options of purser.new: a closed vocabulary, checked before anything is made of them.

local errors = require "purser.errors"
local profiles = require "purser.profiles"

local M = {}

local types = {
  base_url = "string", api_key = "string", secret_key = "string", credentials = "function",
  profile = "any", recv_window = "number", timeout_ms = "number", connect_timeout_ms = "number",
  transport = "table", clock = "function", proxy = "string", ca_file = "string", ca_path = "string",
  ca_pem = "string", pinned_key = "string", user_agent = "string", max_response_bytes = "number",
  hooks = "table", limits = "any", retry = "any", allow_insecure = "boolean",
  account = "string", journal = "table", guard = "table", client_ids = "boolean", visibility_lag_ms = "number",
  correct_clock = "boolean",
}
local call_types = {
  extra = "table", recv_window = "number", timeout_ms = "number", info = "table",
}
local hook_types = { before = "function", after = "function" }

-- nil when every option is known and of its type, else a complaint.
local function check_words(options, vocabulary)
  for name, value in pairs(options) do
    local wanted = vocabulary[name]
    if not wanted then
      return ('option "%s" is not known%s'):format(tostring(name), require("purser.nearest").among(name, vocabulary))
    end
    if wanted ~= "any" and type(value) ~= wanted then
      return ('option "%s" is a %s; it must be a %s'):format(name, type(value), wanted)
    end
  end
end

--- Whether a number is whole and within these.
function M.is_whole(value, low, high)
  return value == math.floor(value) and value >= low and value <= high
end

local function check_whole(options, name, low, high)
  local value = options[name]
  if value and not M.is_whole(value, low, high) then
    return ('option "%s" must be a whole number from %d to %d'):format(name, low, high)
  end
end

--- Checks the options of one call. Returns nil, or an argument error.
function M.check_call(opts, profile)
  if type(opts) ~= "table" then return errors.argument(nil, "the options of a call are a table") end
  local complaint = check_words(opts, call_types) or check_whole(opts, "recv_window", 1, profile.max_recv_window)
    or check_whole(opts, "timeout_ms", 1, 3600000)
  return complaint and errors.argument(nil, complaint)
end

--- The profile asked for, complete: a name, or a table that overrides single conventions.
---@return table|nil profile, string|nil complaint
function M.resolve_profile(wanted)
  if wanted == nil or wanted == "default" then return profiles.default end
  if wanted ~= "mexc" then return require("purser.conventions").resolve(wanted) end
  local profile = {}
  for name, value in pairs(profiles.default) do profile[name] = value end
  for name, value in pairs(profiles.mexc) do profile[name] = value end
  profile.base = nil
  return profile
end

local function is_loopback(host)
  return host == "localhost" or host == "[::1]" or host:find("^127%.%d+%.%d+%.%d+$") ~= nil
end

local function is_port(text)
  local digits = text:match("^:(%d+)$")
  return text == "" or digits ~= nil and #digits <= 5 and tonumber(digits) >= 1 and tonumber(digits) <= 65535
end

--- Splits a base URL into origin ("https://host:port") and path prefix; nil and a complaint when it will not do.
---@return string|nil origin, string prefix_or_complaint
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
  if scheme == "http" and not allow_insecure and not is_loopback(host:lower()) then
    return nil, "base_url is http:// to another machine, which anyone on the way can read and change; use https://, "
      .. "or allow_insecure = true if you must"
  end
  return scheme .. "://" .. authority, (path:gsub("/+$", ""))
end

local MAX_API_KEY_BYTES = 4096

local function check_key(name, value)
  if value == "" then return ('"%s" is empty'):format(name) end
  if value:find("%c") then
    return ('"%s" holds a line break or another control character; remove it'):format(name)
  end
end

--- Checks what credentials are made of. Returns nil, or a complaint that never quotes a value.
function M.check_credentials(api_key, secret_key)
  if type(api_key) ~= "string" then return '"api_key" is missing; give api_key and secret_key, or credentials' end
  if type(secret_key) ~= "string" then return '"secret_key" is missing; give api_key and secret_key, or credentials' end
  local complaint = check_key("api_key", api_key)
  if complaint then return complaint end
  if api_key:find("[\128-\255 ]") then return '"api_key" holds a character that a header cannot carry' end
  if #api_key > MAX_API_KEY_BYTES then return '"api_key" is longer than a header can carry' end
  if secret_key == "" then return '"secret_key" is empty' end
  -- a PEM key has line breaks; every other secret that has one was pasted wrong
  if not secret_key:find("^%s*%-%-%-%-%-BEGIN ") then return check_key("secret_key", secret_key) end
end

--- Checks all options of purser.new. Returns nil, or a complaint.
function M.check(options)
  if type(options) ~= "table" then return "purser.new takes a table of options" end
  local complaint = check_words(options, types)
    or check_whole(options, "timeout_ms", 1, 3600000) or check_whole(options, "connect_timeout_ms", 1, 3600000)
    or check_whole(options, "max_response_bytes", 1024, 2 ^ 31) or check_whole(options, "visibility_lag_ms", 0, 3600000)
    or check_words(options.hooks or {}, hook_types)
  if complaint then return complaint end
  if options.transport and type(options.transport.send) ~= "function" then
    return 'option "transport" has no method send'
  end
  if options.journal and type(options.journal.begin) ~= "function" then
    return 'option "journal" is not one that purser.journal.open made'
  end
  if options.credentials and (options.api_key or options.secret_key) then
    return 'give either "credentials" or "api_key" and "secret_key"'
  end
end

M.check_whole = check_whole
M.vocabulary = { client = types, call = call_types, hooks = hook_types }

return M
