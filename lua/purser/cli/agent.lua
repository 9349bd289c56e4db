-- SPDX-License-Identifier: MIT
-- `purser agent`: an MCP server on standard input and output; see docs/desk/agents.md.

local connection = require "purser.cli.connection"
local lazy = require "purser.client.util.lazy"
local report = require "purser.cli.report"
local purser = lazy "purser"

local M = {}

local MAX_BYTES = 1048577 -- one more than the server takes, so that the server sees that a message is too large

function M.grammar()
  return {
    text = "Serve an agent over standard input and output (MCP, a message a line): it reads, proposes payments and "
      .. "makes them.\nThe policy says what nobody is asked for; anything above needs a person's signature.",
    { "Options",
      { "--read-only", "Let the agent read alone; then no policy is needed." },
      { "--stop-file", "<file>", "While this file exists nothing is paid (default: the journal's name and .stop)." },
      { "--equal-days", "<n>", "An equal payment within so many days needs a person (7)." },
      { "--who", "<name>", "Name of the agent in the journal's log (agent)." } },
    connection.safety, connection.service, connection.messages,
  }
end

local function next_line()
  local bytes, count = {}, 0
  for byte in function() return io.read(1) end do
    if byte == "\n" then return table.concat(bytes) end
    count = count + 1
    if count <= MAX_BYTES then bytes[count] = byte end
  end
end

function M.start(options)
  if not options.journal then
    report.bad_input "agent needs --journal FILE: the journal keeps which reference was paid"
  end
  if not options.account then report.bad_input "agent needs --account NAME" end
  if not options.read_only and not connection.policy(options) then
    report.bad_input "agent needs --policy FOLDER, which says what nobody is asked for; or --read-only"
  end
  local client, sources = connection.open(options)
  local stop_file = options.stop_file or not options.journal:find "^postgresql:" and options.journal .. ".stop" or nil
  local serve = report.must(purser.agent.new { client = client, journal = sources.journal, stop_file = stop_file,
    read_only = options.read_only or false, equal_days = options.equal_days, who = options.who })
  for line in next_line do
    local answer = serve(line)
    if answer then
      report.write(answer .. "\n")
      io.stdout:flush()
    end
  end
  return report.DONE
end

return M
