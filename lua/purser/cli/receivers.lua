-- SPDX-License-Identifier: MIT
-- The receivers of events of `purser receive`, `purser sync` and `purser watch`.

local lazy = require "purser.client.util.lazy"
local plain_text = require "purser.client.util.plain_text"
local purser = lazy "purser"
local report = require "purser.cli.report"
local values = require "purser.cli.values"

local M = {}

M.WAITS = 5 -- exit code: an event waits for a receiver

function M.options()
  return { "Receivers",
    { "--run", "<name=value>", "Receiver: a command of the shell that gets each event, a line of JSON, on its "
      .. "standard input.", many = true },
    { "--webhook", "<name=value>", "Receiver: URL that each event is posted to.", many = true },
    { "--secret-file", "<file>", "With --webhook: file with the key of its signatures, readable by you alone." },
    { "--receiver-timeout", "<duration>", "How long a receiver may take; default 10s.",
      target = "limit_ms" } }
end

function M.secret(options)
  if not options.secret_file then return nil end
  local secret, message = purser.secrets.from_file(options.secret_file)
  return secret or report.bad_input("--secret-file: %s", message)
end

function M.of(options)
  local made, secret = {}, M.secret(options)
  for kind, name in pairs { command = "run", webhook = "webhook" } do
    for _, pair in ipairs(options[name] or {}) do
      if made[pair[1]] then report.bad_input("the receiver %s is given twice", pair[1]) end
      made[pair[1]] = { [kind] = pair[2], secret = kind == "webhook" and secret or nil, limit_ms = options.limit_ms,
        ca_file = options.ca_file }
    end
  end
  return made
end

--- Says what waits. Returns the exit code.
---@param given table|nil    the receivers of this run
---@param drop string        the command that forgets a receiver; %s is its name
function M.say_waiting(rows, given, drop)
  local code = report.DONE
  for _, row in ipairs(rows) do
    if row.waiting ~= "0" then
      code = M.WAITS
      report.say("%s: %s wait since %s%s%s", row.receiver, row.waiting, values.show_time(tonumber(row.since)),
        row.error ~= "" and row.error and "; " .. plain_text.clean(values.in_shell(row.error)) or "",
        given and not given[row.receiver] and "; this receiver is not on the command line: give --run "
        .. row.receiver .. "=..., or `" .. drop:format(row.receiver) .. "`" or "")
    end
  end
  return code
end

return M
