-- SPDX-License-Identifier: MIT
-- The words of a command line before argparse sees them: `help`, `version`, options before the command, negative
-- numbers.

local M = {}

-- Options that stand for all commands and take a value.
local takes_value = {
  ["--base-url"] = true, ["--profile"] = true, ["--credentials"] = true, ["--account"] = true, ["--timeout"] = true,
  ["--recv-window"] = true, ["--format"] = true, ["--columns"] = true, ["--time"] = true, ["--output"] = true,
  ["--journal"] = true, ["--guard"] = true, ["--filter"] = true, ["--color"] = true, ["--rate-limit"] = true,
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

--- Whether errors are wanted as JSON: what argparse does not understand is reported so, too.
---@param words string[]
---@return boolean
function M.wants_json(words)
  for i, word in ipairs(words) do
    if word == "--json" or word == "--format=json" or word == "--format" and words[i + 1] == "json" then return true end
  end
  return false
end

-- The parser of the command that the words name, and how many words that takes.
local function leaf(parser, words)
  for i, word in ipairs(words) do
    local found
    for _, command in ipairs(parser._commands) do
      for _, alias in ipairs(command._aliases) do
        if alias == word then found = command end
      end
    end
    if not found then return parser, i - 1 end
    parser = found
  end
  return parser, #words
end

-- The options of a command of argparse by their names.
local function by_name(command)
  local options = {}
  for _, option in ipairs(command._options) do
    for _, alias in ipairs(option._aliases) do options[alias] = option end
  end
  return options
end

-- Calls visit(name, value, option) for each option, and visit(nil, word) for each word that belongs to none, until one
-- returns something, which is returned.
local function each(parser, words, visit)
  local command, at = leaf(parser, words)
  local options = by_name(command)
  while at < #words do
    at = at + 1
    local word = words[at]
    local name, value = word:match "^(%-%-[^=]+)=(.*)$"
    name = name or word:match "^%-.+"
    local option = options[name]
    if option and not value and option._maxargs ~= 0 then
      at = at + 1
      value = words[at]
    end
    local found = visit(name, name and value or word, option)
    if found then return found end
  end
end

--- The option whose value was rejected with that message; or nil.
---@param parser table  of argparse
---@param words string[]
---@param message string
---@return string|nil
function M.rejected(parser, words, message)
  return each(parser, words, function(name, value, option)
    local convert = option and value and option._convert
    if type(convert) ~= "function" then return nil end
    local converted, problem = convert(value)
    return converted == nil and (problem or ("malformed argument '%s'"):format(value)) == message and name or nil
  end)
end

--- The names of the options of the command that the words name.
---@param parser table  of argparse
---@param words string[]
---@return string[]
function M.option_names(parser, words)
  local names = {}
  for name in pairs(by_name((leaf(parser, words)))) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Whether --format is given.
---@param words string[]
---@return boolean
function M.has_format(words)
  for _, word in ipairs(words) do
    if word == "--format" or word:find "^%-%-format=" then return true end
  end
  return false
end

--- The value that is given for an option or an argument; or nil.
---@param parser table  of argparse
---@param words string[]
---@param name string
---@return string|nil
function M.value_of(parser, words, name)
  local at, place = 0, nil
  for i, argument in ipairs(leaf(parser, words)._arguments) do place = argument._name == name and i or place end
  return each(parser, words, function(option, value)
    if not option then at = at + 1 end
    return (option == name or not option and at == place) and value or nil
  end)
end

--- The first word too many; or nil.
---@param parser table  of argparse
---@param words string[]
---@return string|nil
function M.surplus(parser, words)
  local room = #leaf(parser, words)._arguments
  return each(parser, words, function(name, word)
    if not name then room = room - 1 end
    return room < 0 and word or nil
  end)
end

--- The long option that was written with one hyphen, such as -coin; or nil.
---@param parser table  of argparse
---@param words string[]
---@return string|nil
function M.with_one_hyphen(parser, words)
  local options = by_name((leaf(parser, words)))
  for _, word in ipairs(words) do
    if word:find "^%-%a%a" and options["-" .. word] then return word end
  end
end

--- What the help says of an argument.
---@param parser table  of argparse
---@param words string[]
---@param name string
---@return string
function M.help_of(parser, words, name)
  for _, argument in ipairs((leaf(parser, words))._arguments) do
    if argument._name == name then return argument._description or "" end
  end
  return ""
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
