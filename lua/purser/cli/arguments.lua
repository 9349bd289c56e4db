-- SPDX-License-Identifier: MIT
-- The words of a command line before argparse sees them: `help`, `version`, options before the command, negative
-- numbers.

local M = {}

-- Options that stand for all commands and take a value.
local takes_value = {
  ["--base-url"] = true, ["--profile"] = true, ["--credentials"] = true, ["--account"] = true, ["--timeout"] = true,
  ["--recv-window"] = true, ["--format"] = true, ["--columns"] = true, ["--time"] = true, ["--output"] = true,
  ["--journal"] = true, ["--guard"] = true, ["--filter"] = true, ["--color"] = true,
}
local answered_at_once = { ["-h"] = true, ["--help"] = true, ["--version"] = true, ["-v"] = true, ["-V"] = true }

-- Moves options that stand before the command to the end.
local function options_last(words)
  local at = 1
  while words[at] and words[at]:find "^%-." and not answered_at_once[words[at]] do
    at = at + (takes_value[words[at]] and 2 or 1)
  end
  local list = {}
  for i = at, #words do list[#list + 1] = words[i] end
  for i = 1, math.min(at - 1, #words) do list[#list + 1] = words[i] end
  return list
end

-- `--amount -5` is the value of the option, and no option.
local function join_negative(words)
  local list = {}
  for _, word in ipairs(words) do
    local before = list[#list]
    if word:find "^%-%d" and before and before:find "^%-%-[^=]+$" then list[#list] = before .. "=" .. word
    else list[#list + 1] = word end
  end
  return list
end

--- The words as argparse takes them.
---@param words string[]
---@return string[]
function M.normal(words)
  local list = join_negative(options_last(words))
  local first = list[1]
  if first == "version" or first == "-v" or first == "-V" then return { "--version" } end
  if first == "help" then
    table.remove(list, 1)
    if list[1] ~= "credentials" then list[#list + 1] = "--help" else list = { "login", "--help" } end
  end
  return list
end

-- The parser of the command that the words name.
local function leaf(parser, words)
  for _, word in ipairs(words) do
    local found
    for _, command in ipairs(parser._commands) do
      for _, alias in ipairs(command._aliases) do
        if alias == word then found = command end
      end
    end
    if not found then break end
    parser = found
  end
  return parser
end

--- The options that must be given and were not, by their names.
---@param parser table  of argparse
---@param words string[]
---@return string[]
function M.missing(parser, words)
  local given, names = {}, {}
  for _, word in ipairs(words) do given[word:match "^[^=]+" or ""] = true end
  for _, option in ipairs(leaf(parser, words)._options) do
    local has = (option._mincount or 0) == 0
    for _, alias in ipairs(option._aliases) do has = has or given[alias] end
    if not has then names[#names + 1] = option._aliases[1] end
  end
  return names
end

return M
