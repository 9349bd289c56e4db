-- SPDX-License-Identifier: MIT
-- `purser login NAME`: keeps a key in a file that only this user can read.

local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local key_file = require "purser.client.util.key_file"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

function M.grammar()
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
      { "--base-url", "<url>", "Address of the service that the key belongs to." },
      { "--profile", "<name>", "Conventions of the service: default, or mexc.", choices = { "default", "mexc" } },
      { "--replace", "Replace the key that is kept under this name; its service stays unless it is given anew." },
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

function M.start(options)
  local path, message = credentials.path_of(options.name or "default")
  if not path then report.bad_input("login: %s", message) end
  if core.file_mode(path) and not options.replace then
    report.bad_input("login: %s is there already; give --replace to replace it", path)
  end
  local service = options
  if core.file_mode(path) and not (options.base_url or options.profile) then
    service, message = core.read_credentials(path)
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
  os.execute("umask 077; mkdir -p " .. values.shell_word(credentials.folder()) .. " 2>/dev/null")
  local ok, reason = key_file.write(path, { base_url = service.base_url, profile = service.profile, api_key = api_key,
    secret_key = secret }, true)
  if not ok then
    report.bad_input("login: %s cannot be written: %s; nothing was kept; make its folder writable, or set "
      .. "XDG_CONFIG_HOME", path, tostring(reason))
  end
  report.note("kept in %s; next: purser doctor --account %s", path, options.name or "default")
end

return M
