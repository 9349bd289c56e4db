-- SPDX-License-Identifier: MIT
-- `purser wait withdrawal|transfer ID`: waits until it is done; see docs/desk/receive.md.

local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

local kinds = {
  withdrawal = { "wait_withdrawal", "wallet.withdrawal_history" },
  transfer = { "wait_transfer", "wallet.get_transfer" },
}

function M.grammar()
  return {
    text = "Wait until a withdrawal (by its id) or a transfer between spot and futures (by its tranId) is done, and "
      .. "print it. Ends with 1 when that can no longer be, with 3 when the time is over. Deposits are credited by "
      .. "`purser receive`.",
    arguments = { { "kind", "withdrawal or transfer.", choices = { "withdrawal", "transfer" } },
      { "id", "Its id.", values = {} } },
    { "Options",
      { "--goal", "<goal>", "withdrawal: success, sent, final, cancelled.",
        values = { "success", "sent", "final", "cancelled" } },
      { "--deadline", "<duration>", "How long to wait: 45s, 30m, 2h; default 10m." },
      values.since "From when on a withdrawal is looked for: 12h, 2026-01-31." },
    output.group(), connection.service, connection.messages,
  }
end

local function progress_of(at)
  return ("%s %s, %d s left%s"):format(at.what, at.state or "is not found yet", math.ceil(at.left_ms / 1000),
    at.error and "; the last read failed: " .. at.error.message or "")
end

function M.start(options)
  for _, name in ipairs(options.kind == "transfer" and { "goal", "since" } or {}) do
    if options[name] then report.bad_input("wait transfer: --%s is of a withdrawal; leave it out", name) end
  end
  local client = connection.open(options)
  if core.is_terminal(2) then report.note("waiting; to stop it changes nothing at the service") end
  local show, clear = terminal.progress_line()
  local kind = kinds[options.kind]
  local record, err = client.wallet[kind[1]](client.wallet, options.id, { goal = options.goal,
    deadline_ms = options.deadline, since = options.since, progress = function(at) show(progress_of(at)) end })
  clear()
  if record then return report.write(output.record(catalogue.by_name[kind[2]], record, options), options.raw) end
  if err.kind ~= "workflow" then return report.failure({ effect = "read" }, {}, err) end
  local text = err.message:gsub("(%d+) ms", function(ms) return ("%g s"):format(tonumber(ms) / 1000) end)
  terminal.fail("%s%s", text, err.outcome == "rejected" and "" or "; give a longer --deadline to wait again")
  return err.outcome == "rejected" and report.REJECTED or report.NOT_SENT
end

return M
