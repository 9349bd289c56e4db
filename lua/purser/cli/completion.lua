-- SPDX-License-Identifier: MIT
-- `purser completion bash|zsh|fish`: a script that completes commands, options and their choices, from the grammar.

local report = require "purser.cli.report"

local M = { summary = "Print a completion script for a shell." }

function M.define(command)
  command:description "Print a completion script for a shell.\nbash: source <(purser completion bash)"
  command:argument("shell", "bash, zsh or fish."):choices { "bash", "zsh", "fish" }
end

function M.start(options, parser)
  local text = parser["get_" .. options.shell .. "_complete"](parser)
  return report.write(text, true) and report.DONE or report.NOT_WRITTEN
end

return M
