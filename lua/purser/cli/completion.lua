-- SPDX-License-Identifier: MIT
-- `purser completion bash|zsh|fish`: a script that asks the command itself what can follow. Each name comes once, and
-- an option with known values offers them.

local credentials = require "purser.cli.credentials"
local known_coins = require "purser.cli.known_coins"
local lazy = require "purser.util.lazy"
local report = require "purser.cli.report"
local command_parser = lazy "purser.cli.parser"
local operations = lazy "purser.api.operations"
local output = lazy "purser.cli.output"
local parameters = lazy "purser.api.parameters"

local M = { summary = "Print a completion script for a shell." }

local scripts = {
  bash = [=[
# bash completion of purser: source <(purser completion bash)
_purser() {
    local IFS=$'\n' word
    local -a words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # bash has cut name=value at the =
        if ((${#words[@]})) && [[ $word == = || ${words[-1]} == *= && -n $word ]]; then words[-1]+=$word
        else words+=("$word"); fi
    done
    COMPREPLY=($("${COMP_WORDS[0]}" completion --words -- "${words[@]}" 2>/dev/null))
    if [ "${COMPREPLY[0]}" = "<file>" ]; then
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    elif [[ ${words[-1]} == *=* && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${words[-1]%"${words[-1]##*=}"}"}")
    elif [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _purser purser
]=],
  zsh = [[
#compdef purser
_purser() {
    local -a found
    found=(${(f)"$("${words[1]}" completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"})
    if [ "${found[1]}" = "<file>" ]; then _files; return; fi
    local -a open=(${(M)found:#*=}) closed=(${found:#*=})
    compadd -S '' -a open
    compadd -a closed
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

function M.define(command)
  command:description "Print a completion script for a shell.\nbash: source <(purser completion bash)"
  local shell = command:argument("shell", "bash, zsh or fish."):argname("<shell>"):args("*")
  shell.suggested, shell.takes_no_file = { "bash", "zsh", "fish" }, true
  command:flag("--words", "What the scripts ask: the words that may stand last."):hidden(true)
end

-- The values of options that the grammar does not hold. Coins and networks are these until `purser wallet coins` was
-- run: see known_coins.lua.
local NETWORKS = { "TRX", "ETH", "BSC", "SOL", "MATIC", "ARB", "OP", "BTC", "LTC", "DOGE", "XRP", "XLM", "TONCOIN",
  "ADA" }
local COINS = { "USDT", "USDC", "BTC", "ETH", "MX", "SOL", "XRP", "DOGE", "TRX", "LTC" }
local DURATIONS, TIMES = { "45s", "10m", "30m", "2h" }, { "now", "1h", "24h", "7d", "30d" }
local fixed = {
  ["--deadline"] = DURATIONS, ["--poll"] = DURATIONS, ["--since"] = TIMES, ["--until"] = TIMES,
  ["--rate-limit"] = { "redis://", "redis:", "sqlite:", "postgresql:" },
}
local goals = { withdrawal = { "success", "sent", "final", "cancelled" }, deposit = { "credited", "seen", "final" } }

local function coins() return known_coins.coins() or COINS end

-- The networks of the coin that stands on the line; of every coin where none does.
local function networks_on(words)
  local coin
  for i = 1, #words - 2 do
    if words[i] == "--coin" or words[i] == "--asset" then coin = words[i + 1] end
  end
  return known_coins.networks(coin) or NETWORKS
end

local computed = { ["--coin"] = coins, ["--asset"] = coins, ["--network"] = networks_on, ["--netWork"] = networks_on }

-- The operations that a payment may be.
local function transfers()
  local names = {}
  for _, row in ipairs(operations.list) do
    if row.effect == "transfer" then names[#names + 1] = row.full_name end
  end
  return names
end

-- The row of `export HISTORY`.
local function exported(words)
  local name = words[1] == "export" and words[2] or ""
  return operations.by_name[(name:gsub("[ :/]", ".", 1):gsub("%-", "_"))]
end

-- What can be typed for --columns: the last of those that commas join. For --filter: name=, then the known values.
local function columns_of(row, typed)
  local before, list = typed:match "^(.*,)[^,]*$" or "", {}
  for i, member in ipairs(output.members(row)) do list[i] = before .. member end
  return list
end

local shapes_with_states = { deposit = "deposit_states", sub_account_deposit = "deposit_states",
  withdrawal = "withdrawal_states" }

local function filters_of(row, typed, words)
  local name, list = typed:match "^([^=]+)=", {}
  if not name then
    for i, member in ipairs(output.members(row)) do list[i] = member .. "=" end
    return list
  end
  local states = parameters.choices[shapes_with_states[output.shape_of(row)]]
  local known = name == "status" and states or name:find "[cC]oin$" and coins()
    or name:find "[nN]etWork$" and networks_on(words) or {}
  for i, value in ipairs(known) do list[i] = name .. "=" .. value end
  return list
end

local takes_file = { ["--credentials"] = true, ["--journal"] = true, ["--guard"] = true, ["--output"] = true,
  ["--cursor"] = true, ["--secrets"] = true, ["--file"] = true, ["--secret-file"] = true, ["--addresses"] = true,
  ["--state"] = true }

local function values_of(option, name, row, words)
  local known = option._choices or fixed[name] or computed[name] and computed[name](words)
  if known then return known end
  local typed = words[#words]
  if name == "--account" then return credentials.names() end
  if name == "--goal" then return goals[words[2]] or {} end
  if name == "--operation" then return transfers() end
  row = row or exported(words)
  if name == "--columns" and row then return columns_of(row, typed) end
  if name == "--filter" and row then return filters_of(row, typed, words) end
  if name == "--param" and row then
    local names = {}
    for i, param in ipairs(row.params) do names[i] = param[1] .. "=" end
    return names
  end
  local param = row and row.by_name[name:sub(3)]
  local states = param and param.choices and parameters.choices[param.choices]
  if states and states[1] == "SMALL" or states and states[1] == "APPLY" then -- its names, then its numbers
    local list = {}
    for i, state in ipairs(states) do list[i], list[#states + i] = state, ("%d"):format(i) end
    return list
  end
  return states or takes_file[name] and { "<file>" } or {}
end

local function find_option(parser, name)
  for _, option in ipairs(parser._options) do
    for _, alias in ipairs(option._aliases) do
      if alias == name then return option end
    end
  end
end

-- What may stand where the last word is being typed.
local function candidates(parser, words)
  local is_help = words[1] == "help" and #words > 1
  if is_help then words = { (table.unpack or unpack)(words, 2) } end -- luacheck: ignore
  local row_name, used, at = {}, {}, 1
  while at < #words do
    local found
    for _, command in ipairs(parser._commands) do
      for _, alias in ipairs(command._aliases) do
        if alias == words[at] then found = command end
      end
    end
    if not found then break end
    row_name[#row_name + 1] = found._name
    parser, at = found, at + 1
  end
  local row = operations.by_name[table.concat(row_name, ".")]
  local before = words[#words - 1]
  local option = before and before:find "^%-" and find_option(parser, before)
  for _, command in ipairs(before and at == 1 and not option and parser._commands or {}) do
    option = option or command._name == "payouts" and find_option(command, before) -- one that stands before the command
  end
  if option and option._maxargs > 0 then return values_of(option, before, row, words) end
  for i = at, #words - 1 do used[words[i]] = true end
  local list = {}
  if words[#words]:find "^%-" then
    for _, known in ipairs(parser._options) do
      local name = known._public_aliases[#known._public_aliases]
      if name and not known._hidden and not used[name] then list[#list + 1] = name end
    end
    return list
  end
  for _, command in ipairs(parser._commands) do list[#list + 1] = command._public_aliases[1] end
  if at == 1 and is_help then list[#list + 1] = "credentials"
  elseif at == 1 then list[#list + 1], list[#list + 2] = "help", "version" end
  local argument = parser._arguments[#words - at + 1]
  for _, choice in ipairs(argument and (argument._choices or argument.suggested) or {}) do list[#list + 1] = choice end
  if argument and not argument._choices and not argument.takes_no_file then list[#list + 1] = "<file>" end
  return list
end

local function write_words(words)
  if #words == 0 then words = { "" } end
  local list, out = candidates(command_parser.build(), words), {}
  for _, word in ipairs(list) do
    local fits = word:sub(1, #words[#words]) == words[#words]
    if word == "<file>" and not out[1] or word ~= "<file>" and fits then out[#out + 1] = word .. "\n" end
  end
  return report.write(table.concat(out), true) and report.DONE or report.NOT_WRITTEN
end

function M.start(options)
  if options.words then return write_words(options.shell) end
  local script = #options.shell == 1 and scripts[options.shell[1]]
  if not script then return report.bad_input("completion: which shell? it must be one of 'bash', 'zsh', 'fish'") end
  return report.write(script, true) and report.DONE or report.NOT_WRITTEN
end

return M
