-- SPDX-License-Identifier: MIT
--- The grammar of a command line. Parsing, help, completion and the cures of mistakes come from one table a command:
--
--   { text = "What it does.", epilog = "An example.", arguments = { { "file", "The file." } },
--     { "Options", { "--cursor", "<file>", "Where it is kept." }, { "--yes", "Do it without asking." } } }
--
-- A command with subcommands has `commands` instead, each { name, summary, load = fn() returning a table }.
-- An argument is { name, help }, an option { names, "<kind>", help }, a flag { names, help }, with optional members:
--   choices    the only values
--   values     offers of completion: a list, or a function returning a list
--   convert    fn(text): the value, or nil and a message; default: the kind's
--   required, target (the member of the options), default; value: of a flag, default true
--   env        a variable of the environment in place of the option; replaces: an option that people type instead
--   many       a list of values; optional: the argument may be missing
--   reads      the allowed kinds of files (documents.lua); kind of an argument: "file", else no path
--   into       a table of the options that takes the value: what a module is given as one
--   way, ways  the way chosen by the option; the ways that read the option (default: all); see WAYS
--   without, needs  an option not to be given beside; { an option to be given beside, why }, of a command a list
-- Names are read as --withdrawOrderId, --withdraw-order-id or --withdraw_order_id.

local lazy = require "purser.client.util.lazy"
local connection = lazy "purser.cli.connection"
local core = lazy "purser.core"
local mistakes = lazy "purser.cli.mistakes"
local suggest = lazy "purser.client.util.suggest"
local values = lazy "purser.cli.values"

local M = {}

-- The ways of a command, each with the word for the effect: `print` reads and prints, `plan` looks and shows a plan,
-- `send` shows, asks and sends. A command has a way in `does`, default show; an option with `way` chooses a way.
local WAYS = { show = "print", request = "print", follow = "print", plan = "plan", send = "send" }

local function whole(text)
  local number = text:find "^%d+$" and #text < 16 and tonumber(text)
  if not number then return nil, ("'%s' is not a whole number"):format(text) end
  return number
end

local kinds = {
  ["<file>"] = { values = { "<file>" } }, ["<n>"] = { convert = whole }, ["<ms>"] = { convert = whole },
  ["<name=value>"] = { convert = function(text, option)
    local name, value = text:match "^([^=]+)=(.*)$"
    if name then return { name, value } end
    local example = option[3]:match "%f[%w]%w+=[%w.]*%w" -- the help has one where names are not free
    return nil, ('it takes name=value%s, not "%s"%s'):format(example and ", as " .. example or "", text,
      option[1] == "--filter" and "; a shell takes > and < for itself" or "")
  end },
  ["<duration>"] = { convert = function(text) return values.duration(text) end,
    values = { "45s", "10m", "30m", "2h" } },
  ["<when>"] = { convert = function(text) return values.time(text) end, values = { "now", "1h", "24h", "7d", "30d" } },
}

function M.takes(option) return option[3] and option[2] or nil end

--- Returns the help of an option; with a command, also the options that exclude the option.
function M.help_of(option, command)
  local others = {}
  for _, group in ipairs(option.ways and command or {}) do
    for i = 2, #group do
      local other = group[i]
      if other.way and not M.is_read(option, other.way) then others[#others + 1] = M.name_of(other) end
    end
  end
  return (option[3] or option[2]) .. (others[1] and " Not with " .. table.concat(others, ", ") .. "." or "")
end

--- Tells whether a way reads an option.
function M.is_read(option, way) return not option.ways or option.ways:find("%f[%a]" .. way .. "%f[%A]") ~= nil end

function M.kind_of(option) return kinds[M.takes(option)] or {} end

function M.name_of(option) return option[1]:match "(%S+)$" end

function M.each_option(command, fn)
  for _, group in ipairs(command) do
    for i = 2, #group do fn(group[i]) end
  end
end

--- Returns a name in small letters, without - and _.
function M.plain(name) return (name:lower():gsub("[-_]", "")) end

--- Returns the key of an option's name; `--yes-` and `--y--es` are no forms of a name.
function M.key_of(name)
  if not name:find "^%-%-" or name:find "^..%A" or name:find "[-_]$" or name:find("[-_][-_]", 3) then return name end
  return "--" .. M.plain(name)
end

local function options_of(command)
  local by_name = {}
  M.each_option(command, function(option)
    for name in option[1]:gmatch "%S+" do by_name[M.key_of(name)] = option end
  end)
  return function(name) return by_name[M.key_of(name)] end
end

--- Returns the names of a command's options in order.
function M.names_of(command)
  local names = {}
  M.each_option(command, function(option) names[#names + 1] = M.name_of(option) end)
  table.sort(names)
  return names
end

--- Returns the command that the words name, the number of its words, and their names; or nil, and the commands' table.
--- A word of the pattern of `default` is an argument of the default command.
function M.leaf(root, words)
  local command, names, at = root, { "purser" }, 0
  while command.commands do
    local word, found, default = words[at + 1], nil, nil
    for _, child in ipairs(command.commands) do
      if word and M.plain(child[1]) == M.plain(word) and not word:find "^%-" then found = child end
      if word and command.default and command.default[1] == child[1] and word:find(command.default[2]) then
        default = child
      end
    end
    if not found and not default then return nil, at, names, command end
    at = found and at + 1 or at
    found = found or default
    names[#names + 1] = found[1]
    command = found.load()
  end
  return command, at, names
end

local function quoted(list) return "'" .. table.concat(list, "', '") .. "'" end

-- Reads the text of an option or argument. Returns the value; or nil and a message.
local function read(option, text)
  local convert = option.convert or M.kind_of(option).convert
  for _, choice in ipairs(option.choices or {}) do
    if choice == text then return text end
  end
  if option.choices then
    return nil, ("'%s' is none of %s%s"):format(text, quoted(option.choices), suggest.hint(text, option.choices))
  end
  if convert then return convert(text, option) end
  return text
end

local function target_of(option)
  return option.target or (M.name_of(option):gsub("^%-+", ""):gsub("%-", "_"))
end

-- Keeps a value, `true` of a flag. Returns a message, or nil.
local function put(options, option, name, text)
  local target, value, problem = target_of(option), option.value or true, nil
  if text ~= true then value, problem = read(option, text) end
  if value == nil then return ("%s: %s"):format(name, problem) end
  local list = options[target]
  if not option.many then
    if list ~= nil and target == "format" then
      return "--json, --csv and --format say in which form the result comes; give one of them"
    elseif list ~= nil and value ~= true then
      return ("option '%s' is given more than once; give it once"):format(name)
    end
    options[target] = value
    return nil
  end
  for _, other in ipairs(type(value) == "table" and list or {}) do
    if other[1] == value[1] then return ("%s gives %s twice"):format(name, value[1]) end
  end
  list[#list + 1] = value
end

local function missing(command, options, given)
  for i = given + 1, #(command.arguments or {}) do
    local argument = command.arguments[i]
    if not argument.optional and not argument.many then
      return ("missing argument '%s': %s"):format(argument[1], argument[2])
    end
  end
  local names, help, problem = {}, nil, nil
  M.each_option(command, function(option)
    local target, text = target_of(option), option.env and os.getenv(option.env) or ""
    if options[target] ~= nil then return end
    if option.required then names[#names + 1], help = M.name_of(option), M.help_of(option) end
    if text ~= "" then problem = put(options, option, option.env, text) or problem end
    if options[target] == nil then options[target] = option.default end
  end)
  if names[2] then return "missing options " .. quoted(names) end
  return names[1] and ("missing option %s: %s"):format(quoted(names), help) or problem
end

-- Returns the value of the option at words[at] and the place of the value; or nil and a message.
local function given_for(option, option_of, words, at)
  local name, value = words[at]:match "^(%-%-[^=]+)=(.*)$"
  if not M.takes(option) then
    if value then return nil, ("option '%s' takes no value"):format(name) end
    return true, at
  end
  if value then return value, at end
  local follows = words[at + 1]
  if not follows or follows:find "^%-%-" and option_of(follows:match "^[^=]+") then
    return nil, ("option '%s' lacks its value %s"):format(words[at], M.takes(option))
  end
  return follows, at + 1
end

-- Returns the option that a path or a database without one may belong to; nil for none.
local function file_option(command, word)
  local found = {}
  M.each_option(command, function(option)
    local takes, name = M.takes(option), M.name_of(option)
    if takes and name ~= "--output" then found[takes] = found[takes] or name end
  end)
  local file, database = found["<file>"], found["<database>"]
  if word:find "^%l+:" then return database or file end
  return file or database
end

--- Calls fn(text, option, name) for each text that an argument or option has; for each of a list.
function M.each_given(command, options, fn)
  local function call(option, name)
    local value = (option.into and options[option.into] or options)[target_of(option)]
    for _, text in ipairs(type(value) == "table" and value or { value }) do
      if type(text) == "string" then fn(text, option, name) end
    end
  end
  for _, argument in ipairs(command.arguments or {}) do call(argument, "<" .. argument[1] .. ">") end
  M.each_option(command, function(option) call(option, M.name_of(option)) end)
end

-- Returns an equal text for two names of a file: device and inode, else folder and last name.
local function identity_of(path)
  local _, _, id = core.file_mode(path)
  if type(id) == "string" then return id end
  local folder, name = path:match "^(.*/)([^/]*)$"
  _, _, id = core.file_mode(folder or ".")
  return tostring(id) .. "/" .. (name or path)
end

-- Returns a message where one file is named twice: a written file would replace a read one.
local function named_twice(command, options)
  local seen, problem = {}, nil
  M.each_given(command, options, function(path, option, name)
    if option.many or path == "-" or not (option.kind == "file" or M.takes(option) == "<file>") then return end
    local store = values.journal(path)
    local id = identity_of(store and store.sqlite or path)
    problem = problem or seen[id] and ("%s and %s name one file, %s"):format(seen[id], name, path)
    seen[id] = seen[id] or name
  end)
  return problem
end

--- Returns the way chosen by the used names; or nil.
function M.chosen(command, used)
  local way
  M.each_option(command, function(option) way = way or used[M.name_of(option)] and option.way or nil end)
  return way
end

-- Returns the way of the given options: chosen by an option, else the command's own; or nil and a message.
local function way_of(command, given)
  local way, by = command.does or "show", nil
  for _, option in ipairs(given) do
    if option.way and by then return nil, ("%s and %s exclude each other; give one of them"):format(by,
      M.name_of(option)) end
    if option.way then way, by = option.way, M.name_of(option) end
  end
  for _, option in ipairs(given) do
    local name = M.name_of(option)
    local other = not M.is_read(option, way) and by or option.without and given[option.without] and option.without
    if other then return nil, ("%s has no meaning beside %s; leave one of them out"):format(name, other) end
  end
  return way
end

-- Tells whether an option has a value, typed or of the environment.
local function has_value(options, option)
  local value = options[target_of(option)]
  if type(value) == "table" then return value[1] ~= nil end
  return value ~= nil or option.variable ~= nil and (os.getenv(option.variable) or "") ~= ""
end

-- Returns a message where an option that the command or a given option needs is missing.
local function lacking(names, command, options, given, option_of)
  local needs = {}
  for i, need in ipairs(command.needs or {}) do needs[i] = { table.concat(names, " ", 2), need } end
  for _, option in ipairs(given) do needs[#needs + 1] = option.needs and { M.name_of(option), option.needs } end
  for _, pair in ipairs(needs) do
    local name, why = pair[2][1], pair[2][2]
    if not has_value(options, option_of(name)) then return ("%s needs %s%s"):format(pair[1], name, why) end
  end
end

-- Puts the values of options with `into` together, by their targets.
local function gather(command, options)
  local function move(option)
    local target = target_of(option)
    if not option.into then return end
    options[option.into] = options[option.into] or {}
    if options[target] ~= nil then options[option.into][target], options[target] = options[target], nil end
  end
  for _, argument in ipairs(command.arguments or {}) do move(argument) end
  M.each_option(command, move)
  return options
end

-- Reads the words of a command. Returns the options and their way; or nil, a message and a hint.
local function read_words(root, names, command, words, at)
  local options, arguments, option_of, typed = {}, command.arguments or {}, options_of(command), {}
  local function begin(option)
    if option.many then options[target_of(option)] = {} end
  end
  M.each_option(command, begin)
  for _, argument in ipairs(arguments) do begin(argument) end
  local given, rest = 0, false -- after --
  while at < #words do
    at = at + 1
    local word, problem, hint = words[at], nil, nil
    if word == "--" and not rest then
      rest = true
    elseif rest or not word:find "^%-." then
      local argument = arguments[given + 1]
      if not argument then
        local last, other = arguments[#arguments], word:find "[./:]" and file_option(command, word)
        if other and not last then return nil, ("'%s' belongs to no option; is it %s %s?"):format(word, other, word) end
        return nil, last and ("'%s' is one word too many: <%s> was given"):format(word, last[1])
          or ("'%s' belongs to no option; write --NAME before a value"):format(word)
      end
      if not argument.many then given = given + 1 end
      problem = put(options, argument, "'" .. argument[1] .. "'", word)
    else
      local name = word:match "^%-%-[^=]+" or word
      local option = option_of(name)
      if option then
        local value, place = given_for(option, option_of, words, at)
        if value then at, problem = place, put(options, option, name, value) else problem = place end
        if not typed[M.name_of(option)] then typed[#typed + 1], typed[M.name_of(option)] = option, true end
      else
        problem, hint = mistakes.option(M, root, names, command, option_of, name)
      end
    end
    if problem then return nil, problem, hint end
  end
  local way, problem = way_of(command, typed)
  problem = problem or missing(command, options, given) or lacking(names, command, options, typed, option_of)
    or named_twice(command, options)
  if problem then return nil, problem end
  return gather(command, options), way
end

--- Returns the options, the names of the command, the command, the effect (print, plan or send) and the way; or
--- nil, a message, a hint, and the names. For help the options are { help = command }.
function M.parse(root, words)
  local command, at, names, above = M.leaf(root, words)
  for i, word in ipairs(words) do
    if word == "--" then break end
    if (word == "--help" or word == "-h") and (command or not words[at + 1] or i == at + 1) then
      return { help = command or above }, names
    end
  end
  if not command then
    local message, hint = mistakes.command(M, root, words[at + 1], names, above)
    return nil, message, hint, names
  end
  local options, message, hint = read_words(root, names, command, words, at)
  if options then return options, names, command, WAYS[message], message end
  return nil, message, hint, names
end

--- Returns the words with leading options at the end, and `help COMMAND` as `COMMAND --help`.
---@param shared table  a command with the options that all commands have
function M.normal(words, shared)
  local at, option_of, list = 1, options_of(shared), {}
  while words[at] and words[at]:find "^%-." and words[at] ~= "-h" and words[at] ~= "--help" do
    local option = option_of(words[at])
    at = at + (option and M.takes(option) and 2 or 1)
  end
  for i = at, #words do list[#list + 1] = words[i] end
  for i = 1, math.min(at - 1, #words) do list[#list + 1] = words[i] end
  if list[1] ~= "help" then return list end
  table.remove(list, 1)
  if list[1] == "credentials" then return { "login", "--help" } end
  list[#list + 1] = "--help"
  return list
end

M.BY = { "--by", "<name>", "Who says so; without it USER." }

local function load_action(command, action)
  local made = { { "Options", titles = action[5].titles, (table.unpack or unpack)(action[5]) }, -- luacheck: ignore
    text = action[2], arguments = action[3], does = action.does, needs = action.needs,
    unknown = function(name) return name:find "^%-%-dry" and action[7] or nil end,
    epilog = ("Example: purser %s %s %s"):format(command, action[1], action[4]) }
  for _, group in ipairs { action[6]() } do made[#made + 1] = group end
  made[#made + 1] = connection.messages
  return made
end

--- Returns the table of a command of actions, each { name, text, arguments, example, options, fn() returning groups,
--- nil or the cure of --dry-run; does = "plan" or "send" }.
---@param default table|nil     { action, pattern of a word that is the action's first argument }
---@param needs table[]|nil     of each action
function M.actions(command, text, actions, default, needs)
  local commands = {}
  for i, action in ipairs(actions) do
    action.needs = action.needs or needs
    local first = action[2]:match "^(.-[.])[ \n]" or action[2]
    commands[i] = { action[1], first, load = function() return load_action(command, action) end }
  end
  return { commands = commands, default = default, text = text }
end

return M
