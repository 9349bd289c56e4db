-- SPDX-License-Identifier: MIT
-- `purser agent`: an MCP server on standard input and output; see docs/desk/agents.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local report = require "purser.cli.report"
local schedule = lazy "purser.schedule"
local terminal = require "purser.cli.terminal"
local purser = lazy "purser"

local M = {}

local MAX_BYTES = 1048577 -- one more than the server takes, so that the server sees that a message is too large
local CHUNK = 65536
local PAUSE_MS, TURN_MS = 1000, 20 -- between two looks at the input: without calls under way, and with them

function M.grammar()
  return {
    text = "Serve an agent over standard input and output (MCP, a message a line): it reads, proposes payments and "
      .. "makes them.\nThe policy says what the agent pays alone; anything above needs a person's signature.",
    { "Options",
      { "--read-only", "Let the agent read alone; then no policy is needed.", into = "server" },
      { "--stop-file", "<file>", "While this file exists nothing is paid (default: the journal's name and .stop).",
        into = "server" },
      { "--equal-days", "<n>", "An equal payment within so many days needs a person (7).", into = "server" },
      { "--who", "<name>", "Name of the agent in the journal's log (agent).", into = "server" } },
    connection.safety, connection.service, connection.messages,
  }
end

-- Returns a function that gives the next line of standard input within `ms` milliseconds; "" for none yet, nil at the
-- end. A line beyond the bound loses its rest.
local function lines()
  local kept, is_ended = "", false
  return function(ms)
    local first, last = kept:find("\n", 1, true)
    if not first and not is_ended then
      local bytes, reason = core.read_ready(0, CHUNK, ms)
      if reason then report.note("standard input cannot be read: %s", reason) end
      is_ended = not bytes
      if #kept >= MAX_BYTES and bytes then
        bytes = bytes:find("\n", 1, true) and bytes:sub((bytes:find("\n", 1, true))) or ""
      end
      kept = kept .. (bytes or "")
      first, last = kept:find("\n", 1, true)
    end
    if first then
      local line = kept:sub(1, first - 1)
      kept = kept:sub(last + 1)
      return line
    end
    return not is_ended and "" or nil
  end
end

-- Serves the lines of standard input to the end, and finishes the calls that began. A client that is gone ends no
-- payment: the payment's reference finds the payment later. Returns whether each answer was written.
local function serve_lines(serve)
  local is_written = true
  local function send(line)
    is_written = is_written and (terminal.write(line .. "\n", true)) and true or false
  end
  core.ignore_broken_pipes()
  local next_line = lines()
  while true do
    local is_busy = serve() > 0
    local line = next_line(is_busy and 0 or PAUSE_MS)
    if line and line ~= "" then serve(line, send) end
    schedule.step()
    if serve() > 0 then
      if not line or line == "" then schedule.wait(TURN_MS) end
    elseif not line or not is_written then
      return is_written
    end
  end
end

function M.say(_, options)
  if not options.journal then
    report.bad_input "agent needs --journal FILE: the journal keeps which reference was paid"
  end
  if not options.account then report.bad_input "agent needs --account NAME" end
  local server = options.server
  server.read_only = server.read_only or false
  if not server.read_only and not connection.policy(options) then
    report.bad_input "agent needs --policy FOLDER, which says what the agent pays alone; or --read-only"
  end
  local client, sources = connection.open(options, { concurrent = true })
  server.stop_file = server.stop_file or not options.journal:find "^postgresql:" and options.journal .. ".stop" or nil
  server.client, server.journal = client, sources.journal
  local serve = report.must(purser.agent.new(server))
  if serve_lines(serve) then return report.DONE end
  report.say "the client is gone: an answer could not be written; `status` of the reference tells how a payment ended"
  return report.NOT_WRITTEN
end

return M
