-- SPDX-License-Identifier: MIT
-- `purser completion bash|zsh|fish`: a script that asks the command which words can follow. Completing sends nothing.

local commands = require "purser.cli.commands"
local grammar = require "purser.cli.grammar"
local terminal = require "purser.cli.terminal"

local M = {}

local scripts = {
  bash = [[
# bash completion of purser: source <(purser completion bash)
_purser() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" completion --words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [ "${COMPREPLY[0]}" = "<file>" ]; then COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -F _purser purser
]],
  zsh = [[
#compdef purser
_purser() {
    local -a found
    found=(${(f)"$("${words[1]}" completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"})
    if [ "${found[1]}" = "<file>" ]; then _files; return; fi
    compadd -a found
}
# zsh runs this file as _purser when it loads it from a folder of its fpath
if [ "${funcstack[1]}" = _purser ]; then _purser "$@"; else compdef _purser purser; fi
]],
  fish = [[
function __purser_words
    set -l found (purser completion --words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = "<file>"; __fish_complete_path (commandline -ct); else; printf '%s\n' $found; end
end
complete -c purser -f -a '(__purser_words)'
]],
}

function M.grammar()
  return { text = "Print a completion script for a shell.\nbash: source <(purser completion bash)",
    arguments = { { "shell", "bash, zsh or fish.", choices = { "bash", "zsh", "fish" } } } }
end

local function values_of(option)
  local values = option.choices or option.values or grammar.kind_of(option).values or {}
  return type(values) == "function" and values() or values
end

local function next_command(above, names, is_help)
  local list = names[2] and {} or is_help and { "credentials" } or { "help", "version" }
  for _, child in ipairs(above.commands) do list[#list + 1] = child[1] end
  return list
end

local function candidates(root, words)
  local is_help = words[1] == "help" and #words > 1
  if is_help then words = { (table.unpack or unpack)(words, 2) } end -- luacheck: ignore
  local typed = table.remove(words)
  local command, at, names, above = grammar.leaf(root, words)
  words[#words + 1] = typed
  local before = words[#words - 1] or ""
  if not command and before:find "^%-" then command, at = commands.shared(), #words - 1 end -- before the command
  if not command then return at == #words - 1 and next_command(above, names, is_help) or {} end
  local used, wanted, list = {}, nil, {}
  for i = at + 1, #words - 1 do used[words[i]] = true end
  local way = grammar.chosen(command, used)
  grammar.each_option(command, function(option)
    local name = grammar.name_of(option)
    if name == before and grammar.takes(option) then wanted = option end
    if not used[name] and not (way and (option.way or not grammar.is_read(option, way))) then list[#list + 1] = name end
  end)
  if wanted then return values_of(wanted) end
  if typed:find "^%-" then return list end
  local argument = (command.arguments or {})[math.min(#words - at, #(command.arguments or {}))]
  return argument and (argument.choices or argument.values or { "<file>" }) or {}
end

function M.write_words(words)
  if #words == 0 then words = { "" } end
  local typed, out = words[#words], {}
  for _, word in ipairs(candidates(commands.root(), words)) do
    if word == "<file>" and not out[1] or word:sub(1, #typed) == typed then out[#out + 1] = word .. "\n" end
  end
  return terminal.write(table.concat(out), true) and 0 or 5
end

function M.say(_, options)
  return terminal.write(scripts[options.shell], true) and 0 or 5
end

return M
