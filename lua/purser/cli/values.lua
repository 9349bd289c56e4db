-- SPDX-License-Identifier: MIT
-- Values as people type them: times, durations, sources of a password.

local lazy = require "purser.client.util.lazy"
local core = lazy "purser.core"
local states = require "purser.client.operations.states"
local utc = require "purser.client.util.utc"

local M = {}

local UNIT_MS = { s = 1000, m = 60000, h = 3600000, d = 86400000, w = 604800000 }

local TIME_FORMS = "a duration before now (30d, 12h, 90m, 45s, 2w), a date (2026-01-31, 2026-01-31T10:00, with Z or "
  .. "+02:00, else UTC), or epoch milliseconds (13 digits)"

--- Milliseconds of a duration as people type it ("45s", "30m", "2h", "1d"); nil and a message for anything else.
function M.duration(text)
  local count, unit = text:match "^(%d%d?%d?%d?%d?)([smhdw])$"
  if count and tonumber(count) > 0 then return tonumber(count) * UNIT_MS[unit] end
  return nil, ("'%s' is no duration; give 45s, 30m, 2h or 7d"):format(text)
end

-- The forms of a text that names a database, and each as the help shows it. No form takes a password, so messages may
-- quote the text.
local stores = {
  { "^redis://([%w.-]+):(%d+)$", function(host, port) return { redis = { host = host, port = tonumber(port) } } end,
    shown = "redis://HOST:PORT" },
  { "^redis://([%w.-]+)$", function(host) return { redis = { host = host } } end },
  { "^redis:(/[^/].*)$", function(path) return { redis = { path = path } } end, shown = "redis:/SOCKET" },
  { "^sqlite:(.+)$", function(path) return { sqlite = path } end, shown = "sqlite:FILE" },
  { "^postgresql:([^=@:/]*)$", function(name) return { postgresql = { database = name ~= "" and name or nil } } end,
    shown = "postgresql:DATABASE" },
}

--- Returns the database that a text such as "redis://127.0.0.1:6379", "redis:/path/of/socket", "sqlite:/path" or
--- "postgresql:database" names, as an option; nil for any other text.
---@param text string
---@return table|nil options
function M.store(text)
  for _, form in ipairs(stores) do
    local first, second = text:match(form[1])
    if first then return form[2](first, second) end
  end
end

--- Returns the forms of such a text as one sentence's words, and how each begins.
---@return string words, string[] beginnings
function M.store_forms()
  local shown, beginnings = {}, {}
  for _, form in ipairs(stores) do
    if form.shown then
      shown[#shown + 1] = form.shown
      beginnings[#shown] = form.shown:match "^%l+:/*"
    end
  end
  local last = table.remove(shown)
  return table.concat(shown, ", ") .. " or " .. last, beginnings
end

--- Returns the options of purser.journal.open; a plain path is a file of SQLite. Nil and a message for other stores.
function M.journal(text)
  local store = M.store(text) or not text:find "^%a+:" and { sqlite = text }
  if store and not store.redis then return store end
  return nil, "this names no journal; give FILE, sqlite:FILE or postgresql:DATABASE" -- it may hold a password
end

--- Returns the epoch milliseconds of a time as people type it; nil and a message for anything else.
function M.time(text)
  if text == "now" then return core.now_ms() end
  local before = M.duration(text)
  if before then return core.now_ms() - before end
  if text:find("^%d%d%d%d%d%d%d%d%d%d%d%d%d$") then return tonumber(text) end
  local ms = utc.ms(text)
  if ms then return ms end
  return nil, ('"%s" is not a time; give %s'):format(text, TIME_FORMS)
end

function M.since(help)
  return { "--since", "<when>", help, convert = function(text)
    local ms, message = M.time(text)
    if not ms or ms <= core.now_ms() then return ms, message end
    return nil, ('"%s" is in the future, so there is nothing since then'):format(text)
  end }
end

--- Returns "2026-01-31 10:00:00" (UTC) of epoch milliseconds; the milliseconds are shown when there are any.
---@param style string|nil  utc (default), local, iso or ms
function M.show_time(ms, style)
  if style == "ms" then return ("%d"):format(ms) end
  if style == "local" then return os.date("%Y-%m-%d %H:%M:%S %Z", math.floor(ms / 1000)) end
  if style == "iso" then return utc.text(ms) or ("%d"):format(ms) end
  local seconds = math.floor(ms / 1000)
  local rest = ms - seconds * 1000
  return os.date("!%Y-%m-%d %H:%M:%S", seconds) .. (rest > 0 and (".%03d"):format(rest) or "")
end

--- Returns "SUCCESS" of the state 5 of a deposit; a state that is not known as it is.
function M.state(kind, value) return tonumber(value) and states.name(kind, value) or tostring(value) end

-- Patterns of the module's messages, and the options of the shell, in order of use.
local shell_names = {
  { "`connect_timeout_ms` and `timeout_ms` allow more", "--timeout allows more" }, { "`?timeout_ms`?", "--timeout" },
  { "`ca_file`, `ca_path` or `ca_pem`", "--ca-file" }, { '[`"]ca_file[`"]', "--ca-file" },
  { '[`"]base_url[`"]', "--base-url" }, { "%f[%w_]base_url%f[^%w_]", "--base-url" }, { '[`"]proxy[`"]', "--proxy" },
  { "`webhook`", "--webhook" },
  { "get a credit; give one", "get a credit; give --run NAME=COMMAND or --webhook NAME=URL" },
  { "client:reconcile ?[({].-[)}] looks in", "look in" }, { '`?profile = "mexc"`?', "--profile mexc" },
  { 'give the client account = "([^"]*)"', "name it %1 (--account, or PURSER_ACCOUNT with keys of the environment)" },
  { "see wallet%.coins", "`purser wallet coins` lists them" },
  { "the option `networks`", "--network" }, { "err.details.plan", "the plan on standard output" },
  { "networks, below, key_days, permissions or journal", "--network, --below, --key-days, --permissions or --journal" },
  { '[`"]?recv_window[`"]?', "--recv-window" }, { "`api_key`", "the API key" },
}

--- Returns a message of the module with options of the shell.
function M.in_shell(text)
  for _, pair in ipairs(shell_names) do text = text:gsub(pair[1], pair[2]) end
  return (text:gsub('option (%-%-)', '%1'):gsub("([.!?]);", ";"))
end

function M.shell_word(text)
  if text:find("^[%w_%-%./:@,+=]+$") then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

function M.command_line(words)
  local quoted = { "purser" }
  for i, word in ipairs(words) do quoted[i + 1] = M.shell_word(word) end
  return table.concat(quoted, " ")
end

return M
