-- SPDX-License-Identifier: MIT
-- Messages for unknown words: the nearest name, the command with the option, or the meant option. Each function takes
-- the module of the grammar, which loads this module for a wrong word.

local suggest = require "purser.client.util.suggest"

local M = {}

-- Calls fn(command, name) for each command without subcommands; the name is as `purser fleet sweep`.
local function each_leaf(above, name, fn)
  for _, child in ipairs(above.commands) do
    local command, longer = child.load(), name .. " " .. child[1]
    if command.commands then each_leaf(command, longer, fn) else fn(command, longer) end
  end
end

-- Returns the names of the commands with an option, by the option's key. The root keeps them.
local function owners_of(grammar, root)
  if root.owners then return root.owners end
  root.owners = {}
  each_leaf(root, "purser", function(leaf, name)
    for _, option in ipairs(grammar.names_of(leaf)) do
      local owner = root.owners[grammar.key_of(option)] or { option = option }
      owner[#owner + 1], root.owners[grammar.key_of(option)] = name, owner
    end
  end)
  return root.owners
end

-- Returns names of commands as text: those of the given command alone, where there are any.
local function listed(found, names)
  local near = {}
  for _, name in ipairs(found) do
    near[#near + 1] = names[2] and name:find(("purser %s "):format(names[2]), 1, true) and name or nil
  end
  found = near[1] and near or found
  local more = #found - 3
  return "`" .. table.concat(found, "`, `", 1, math.min(#found, 3)) .. "`"
    .. (more > 0 and (" and %d more"):format(more) or "")
end

--- Returns a message and a hint for a word that is no command.
function M.command(grammar, root, word, names, command)
  local kind, known, found = "command", {}, {}
  for i, child in ipairs(command.commands) do known[i] = child[1] end
  if not word then
    return "a command is required" .. (names[2] and ", one of " .. table.concat(known, ", ") or "")
  end
  local owner = word:find "^%-" and owners_of(grammar, root)[grammar.key_of(word)]
  if owner then
    return ("option '%s' comes after a command"):format(word), ("it is an option of %s"):format(listed(owner, names))
  end
  if word:find "^%-" then kind, known = "option", grammar.names_of(command) end
  local hint = kind == "command" and command.unknown and command.unknown(word, names) or nil
  each_leaf(root, "purser", function(leaf, name)
    if not leaf.row and grammar.plain(name:match "%S+$") == grammar.plain(word) then found[#found + 1] = name end
  end)
  local near = not found[1] and suggest.find(word, known)
  local elsewhere = found[1] and "there is " .. listed(found, names) or nil
  if kind == "command" and not near and not hint and names[2] then
    hint = (elsewhere and elsewhere .. "; here" or "there") .. " are " .. table.concat(known, ", ") .. (command.default
      and ("; `%s %s %s` takes a file of that name"):format(table.concat(names, " "), command.default[1], word) or "")
  end
  hint = hint or elsewhere
  return ("unknown %s '%s'%s"):format(kind, word, near and ("; did you mean '%s'?"):format(near) or ""), hint
end

-- Synonyms of options.
local same = {
  ["--coin"] = "--asset", ["--asset"] = "--coin", ["--id"] = "--tranId", ["--tag"] = "--memo",
  ["--chain"] = "--network", ["--from"] = "--fromAccountType --since", ["--start"] = "--since",
  ["--to"] = "--toAccountType --until --address --books", ["--end"] = "--until", ["--dry"] = "--dry-run",
  ["--state"] = "--status", ["--status"] = "--state", ["--addresses"] = "--address",
  ["--subaccounts"] = "--subAccount", ["-y"] = "--yes", ["--force"] = "--yes", ["--confirm"] = "--yes",
  ["--noconfirm"] = "--yes", ["--assumeyes"] = "--yes", ["-f"] = "--yes",
  ["--note"] = "--remark", ["--comment"] = "--remark", ["--message"] = "--remark", ["-o"] = "--output",
  ["--database"] = "--books --to --journal", ["--db"] = "--books --to --journal",
  ["--sqlite"] = "--books --to --journal",
}

-- Keys are no options of any command.
local keys = { ["--apikey"] = true, ["--secretkey"] = true, ["--secret"] = true, ["--key"] = true }

-- Returns the option of any command that is spelled nearest; an own one where the name is its begin.
local function nearest(grammar, name, command, option_of, owners)
  local known = grammar.names_of(command)
  local own = suggest.find(name, known)
  if own and grammar.key_of(own):find(grammar.key_of(name), 1, true) == 1 then return own end
  for _, owner in pairs(owners) do
    if not option_of(owner.option) then known[#known + 1] = owner.option end
  end
  return suggest.find(name, known)
end

--- Returns a message and a hint for an unknown option. An option of another command is no slip for an own one that is
--- spelled alike.
function M.option(grammar, root, names, command, option_of, name)
  local message, key = ("unknown option '%s'"):format(name), grammar.key_of(name)
  if keys["--" .. grammar.plain(name)] then
    return message, "keys are no arguments, which every process here can see: see `purser help credentials`"
  end
  if name:find "^%-%a%a" and option_of("-" .. name) then return message .. ("; did you mean '-%s'?"):format(name) end
  local found, owners = nil, owners_of(grammar, root)
  for other in (same[key] or ""):gmatch "%S+" do found = found or option_of(other) and other end
  grammar.each_option(command, function(option)
    found = found or option.replaces == key and grammar.name_of(option) or nil
  end)
  found = found or owners[key] and name or (same[key] or ""):match "%S+"
    or nearest(grammar, name, command, option_of, owners)
  local hint = command.unknown and command.unknown(name)
  for _, argument in ipairs(command.arguments or {}) do
    if "--" .. argument[1] == name then hint = ("<%s> is given without an option before it"):format(argument[1]) end
  end
  if found and not option_of(found) then
    return message, hint or ("%s is an option of %s"):format(found, listed(owners[grammar.key_of(found)], names))
  end
  return found and ("%s; did you mean '%s'?"):format(message, found) or message, hint
end

return M
