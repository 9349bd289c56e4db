-- SPDX-License-Identifier: MIT
-- Keys and passwords come from a private file or the environment, and never from an argument, which every process of
-- the machine can see. No Lua string holds a secret key.

local core = require "purser.core"
local files = require "purser.client.util.files"
local key_file = require "purser.client.util.key_file"
local report = require "purser.cli.report"
local suggest = require "purser.client.util.suggest"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

--- Returns a variable of the environment; nil for an empty one.
function M.variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local own_key -- the API key of the environment
local taken, why_not -- its secret, or why there is none

--- Takes key and secret out of the environment: no child process inherits the secret.
function M.take_secret()
  own_key = M.variable "PURSER_API_KEY" or own_key
  local held = core.take_secret "PURSER_API_KEY"
  if held then held:close() end
  local secret, message, is_unset = core.take_secret "PURSER_SECRET_KEY"
  if is_unset then message = "PURSER_SECRET_KEY is not set" end
  if secret then taken, why_not = secret, nil else why_not = why_not or message end
end

--- Returns the user's folder; nil for a relative path, which depends on the current folder.
function M.home()
  local home = M.variable "HOME"
  return home and home:find "^/" and home or nil
end

function M.folder()
  local config, home = M.variable "XDG_CONFIG_HOME", M.home()
  if config and config:find "^/" then return config .. "/purser" end
  return home and home .. "/.config/purser"
end

function M.path_of(name)
  if not name:find "^[%w_][%w_.-]*$" then
    return nil, ("%q is no name of an account; use letters, digits, _ and -"):format(name)
  end
  local folder = M.folder()
  if not folder then return nil, "HOME is no absolute path, so there are no accounts; use --credentials FILE" end
  return ("%s/%s.keys"):format(folder, name)
end

function M.names()
  local folder, names = M.folder(), {}
  local pipe = folder and io.popen("ls -1 " .. values.shell_word(folder) .. " 2>/dev/null", "r")
  for line in pipe and pipe:lines() or function() end do names[#names + 1] = line:match "^([%w_][%w_.-]*)%.keys$" end
  if pipe then pipe:close() end
  return names
end

-- Tells whether a file is missing; a file that cannot be looked up is not.
local function is_missing(path) return select(3, core.file_mode(path)) == true end

-- Returns the keys of a named account; nil alone where the account has no file.
local function from_account(name)
  local path, message = M.path_of(name)
  if not path then return nil, message end
  if is_missing(path) then return nil end
  local keys
  keys, message = key_file.read(path)
  if keys then keys.account = name end
  return keys, message
end

local function from_variables()
  if own_key and taken then
    return { api_key = own_key, secret = taken, source = "PURSER_API_KEY and PURSER_SECRET_KEY" }
  end
  local missing = not own_key and not taken and "no keys" or not own_key and "PURSER_API_KEY is not set" or why_not
  local kept = M.names()
  return nil, missing .. ": name a file with --credentials, set PURSER_API_KEY and PURSER_SECRET_KEY, or "
    .. (kept[1] and "give --account, of which there are keys: " .. table.concat(kept, ", ")
      or "keep a key with `purser login`; `purser sim --demo` has keys to play with")
end

-- Returns the keys that the environment holds or names, the nearest first; nil alone where it has none.
local function from_environment()
  local path, folder, keys, message = M.variable "PURSER_CREDENTIALS", M.variable "CREDENTIALS_DIRECTORY", nil, nil
  if path then keys, message = key_file.read(path)
  elseif own_key or taken then keys, message = from_variables()
  elseif folder and (is_missing(folder) or not is_missing(folder .. "/purser")) then -- LoadCredential=purser:/path
    keys, message = key_file.read(folder .. "/purser")
  end
  if keys then keys.account = M.variable "PURSER_ACCOUNT" end
  return keys, message
end

-- Returns why an account has no keys: keys of another source may belong to another account.
local function without_keys(source, name, path)
  local own, names = M.variable "PURSER_ACCOUNT", M.names()
  names[#names + 1] = own ~= name and own or nil
  local has_others = own ~= name and (own_key or taken or M.variable "PURSER_CREDENTIALS")
  return ("%s %s has no keys%s: there is no %s; `purser login %s` makes it%s"):format(source, name,
    suggest.hint(name, names), path, name, has_others
    and "; if the keys of the environment are this account's, say so with PURSER_ACCOUNT=" .. name or "")
end

--- Returns the name of the account whose keys `find` finds; nil where the source of the keys names none.
function M.account(options)
  if options.account or options.credentials then return options.account end
  local has_own = own_key or taken or M.variable "PURSER_CREDENTIALS" or M.variable "CREDENTIALS_DIRECTORY"
  return M.variable "PURSER_ACCOUNT" or not has_own and "default" or nil
end

--- Returns keys, account and service of one source. The caller closes the secret, an object. A named account has its
--- own keys or none.
---@return table|nil keys  { api_key, secret, source, account, base_url, profile }
function M.find(options)
  if options.credentials == "" then return nil, "--credentials is empty; name a file, or - for standard input" end
  local typed, named, keys, message = options.account, M.variable "PURSER_ACCOUNT", nil, nil
  if options.credentials then
    keys, message = key_file.read(options.credentials)
    if not keys then return nil, "--credentials " .. message end
    keys.account = typed
    return keys
  end
  if typed then keys, message = from_account(typed) end
  if not keys and not message and (not typed or typed == named) then keys, message = from_environment() end
  if not keys and not message and not typed and (named or M.folder()) then
    keys, message = from_account(named or "default")
  end
  if keys or message then return keys, message end
  if not typed and not named then return from_variables() end
  local path
  path, message = M.path_of(typed or named)
  return nil, path and without_keys(typed and "--account" or "PURSER_ACCOUNT", typed or named, path) or message
end

--- Returns the password of env:NAME or file:PATH. No message quotes another text: it may be the password.
function M.password(source)
  local kind, where = source:match("^(%a+):(.+)$")
  if kind == "env" then
    local value = M.variable(where)
    if not value then return nil, ("names the variable %s, which is not set"):format(where) end
    return value
  elseif kind == "file" then
    local text, message = files.secret(core.read_private, where)
    if not text then return nil, "names a file that will not do: " .. message end
    local line = text:match("^[^\r\n]*")
    if line == "" then return nil, ("names the file %s, whose first line is empty"):format(where) end
    return line
  end
  return nil, "must not be typed as an argument, which every process here can see; give env:NAME or file:PATH"
end

M.login = {}

function M.login.grammar()
  return {
    text = "Ask for an API key and its secret, which is not shown, and keep both in "
    .. "~/.config/purser/NAME.keys, which only you can read. Nothing is sent.\n\n"
    .. "Keys come from the first of these that there is:\n"
    .. "  1. --credentials FILE, or - for standard input\n"
    .. "  2. --account NAME: ~/.config/purser/NAME.keys, else what follows if PURSER_ACCOUNT is NAME, else none\n"
    .. "  3. PURSER_CREDENTIALS, a file; it may have credentials_command = pass show mexc in place of the keys\n"
    .. "  4. PURSER_API_KEY and PURSER_SECRET_KEY\n"
    .. "  5. the file that systemd's LoadCredential=purser:/path/of/keys gives a service (CREDENTIALS_DIRECTORY)\n"
    .. "  6. ~/.config/purser/default.keys, or that of PURSER_ACCOUNT\n"
    .. "PURSER_ACCOUNT names the account of the keys 3 to 5. An empty variable counts as not set.",
    arguments = { { "name", "Name of the account; without it \"default\".", optional = true, values = {} } },
    { "Options",
      { "--base-url", "<url>", "Address of the service that the key belongs to.", into = "service" },
      { "--profile", "<name>", "Conventions of the service: default, or mexc.", choices = { "default", "mexc" },
        into = "service" },
      { "--replace", "Replace the key that is kept under this name; its service stays unless one is given." },
      { "--no-input", "Never ask; read the two lines from standard input." } },
  }
end

local function read_line(prompt, hidden, quiet)
  if not quiet then terminal.prompt(prompt) end
  if hidden and not quiet then core.terminal_echo(0, false) end
  local ok, line = pcall(io.stdin.read, io.stdin, "*l")
  if hidden and not quiet then
    core.terminal_echo(0, true)
    terminal.prompt "\n"
  end
  if not ok then error(line, 0) end
  line = line and line:match "^%s*(.-)%s*$"
  return line ~= "" and line or nil
end

-- Returns the path of the key's file and the account's name.
local function place_of(options)
  local name = options.name or "default"
  local path, message = M.path_of(name)
  if not path then report.bad_input("login: %s", message) end
  if core.file_mode(path) and not options.replace then
    report.bad_input("login: %s is there already; give --replace to replace it", path)
  end
  return path, name
end

function M.login.say(_, options)
  local path, name = place_of(options)
  local service, message = options.service -- luacheck: ignore
  if core.file_mode(path) and not next(service) then
    service, message = files.secret(core.read_credentials, path)
    if not service then
      report.bad_input("login: %s, so its service is not known; give --base-url or --profile", message)
    end
    if service.secret then service.secret:close() end
  end
  local quiet = options.no_input or not core.is_terminal(0)
  local api_key = read_line("API key: ", false, quiet)
  local secret = read_line("Secret key (not shown): ", true, quiet)
  if not api_key or not secret then
    report.bad_input("login: the key or the secret is missing, so nothing was kept; type both, or give "
      .. "them as two lines on standard input")
  end
  if (api_key .. secret):find "[%c%s]" then
    report.bad_input("login: the key or its secret holds a blank or a control character; nothing was kept")
  end
  os.execute("umask 077; mkdir -p " .. values.shell_word(M.folder()) .. " 2>/dev/null")
  local ok, reason = key_file.write(path, { base_url = service.base_url, profile = service.profile, api_key = api_key,
    secret_key = secret }, true)
  if not ok then
    report.bad_input("login: %s cannot be written: %s; nothing was kept; make its folder writable, or set "
      .. "XDG_CONFIG_HOME", path, tostring(reason))
  end
  report.note("kept in %s; next: purser doctor --account %s", path, name)
end

return M
