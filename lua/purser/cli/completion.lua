-- `purser completion bash|zsh`: a script that completes commands, options and their choices, made from the grammar.

local report = require "purser.cli.report"

local M = { summary = "Print a completion script for a shell." }

function M.define(command)
  command:description "Print a completion script for a shell.\nbash: source <(purser completion bash)\n"
    :usage_margin(2)
  command:argument("shell", "bash or zsh."):choices { "bash", "zsh" }
end

function M.start(options, parser)
  local text = options.shell == "bash" and parser:get_bash_complete() or parser:get_zsh_complete()
  return report.write(text) and report.DONE or report.NOT_WRITTEN
end

return M
