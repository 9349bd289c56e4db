-- SPDX-License-Identifier: MIT
-- Writes the man pages of the command into a folder: `lua tools/man.lua FOLDER`. They are made from the grammar, and so
-- from the rows: purser(1), and a page for each command and operation, such as purser-wallet-withdraw(1).

local parser = require("purser.cli.parser").build()
local version = require "purser.version"

parser:usage_max_width(70)

local folder = assert(arg[1], "give the folder")

-- A text for roff: no character of it is a command.
local function plain(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n([.'])", "\n\\&%1")
  return (text:gsub("^([.'])", "\\&%1"))
end

-- The lines of a text that is set without filling, broken at blanks so that 80 columns have room for them.
local function narrow(text)
  local ROOM = 72 -- roff indents by 7
  return (text:gsub("[^\n]+", function(line)
    if #line <= ROOM then return nil end
    local head = line:match "^  .-   +" or line:match "^ *" -- an action and its blanks stay before its text
    local lines, current = {}, nil
    for word in line:sub(#head + 1):gmatch "%S+" do
      if current and #current + 1 + #word > ROOM then
        lines[#lines + 1], current = current, (" "):rep(math.max(2, #head)) .. word
      else
        current = current and current .. " " .. word or head .. word
      end
    end
    lines[#lines + 1] = current
    return table.concat(lines, "\n")
  end))
end

local function option_line(option)
  local names = table.concat(option._public_aliases, ", ")
  local argname = type(option._argname) == "table" and option._argname[1] or option._argname
  if (option._maxargs or 0) > 0 then names = names .. " " .. (argname or "<value>") end
  return names
end

local function list(out, title, elements, name_of)
  local shown = {}
  for _, element in ipairs(elements) do
    if not element._hidden then shown[#shown + 1] = element end
  end
  if #shown == 0 then return end
  out[#out + 1] = ".SH " .. title
  for _, element in ipairs(shown) do
    local text = element._summary or element._description or ""
    local choices = element._choices or {}
    if choices[1] then text = text .. " One of: " .. table.concat(choices, ", ") end
    out[#out + 1] = ".TP\n.B " .. plain(name_of(element)) .. "\n" .. plain(text)
  end
end

local function page(command, words)
  local name = table.concat(words, "-")
  local summary = command._summary or "wallet, sub-account and broker endpoints of the MEXC Spot v3 API"
  local out = { ('.TH %s 1 "" "purser %s" "Purser"'):format(name:upper(), version),
    ".SH NAME\n" .. plain(name) .. " \\- " .. plain((summary:gsub("%.$", ""))),
    ".SH SYNOPSIS\n.nf\n" .. plain(narrow((command:get_usage():gsub("^Usage: ", "")))) .. "\n.fi" }
  if command._description then
    -- a table of actions keeps its lines; what else has several lines breaks where they do
    local text = command._description
    text = text:find "\n  " and ".nf\n" .. plain(narrow(text)) .. "\n.fi" or plain(text):gsub("\n", "\n.br\n")
    out[#out + 1] = ".SH DESCRIPTION\n" .. text
  end
  list(out, "COMMANDS", command._commands, function(one) return one._name end)
  list(out, "ARGUMENTS", command._arguments, function(one) return one._name end)
  list(out, "OPTIONS", command._options, option_line)
  if command._epilog then out[#out + 1] = ".SH NOTES\n.nf\n" .. plain(narrow(command._epilog)) .. "\n.fi" end
  out[#out + 1] = ".SH SEE ALSO\n" .. (words[2] and "purser(1)" or "purser\\-wallet\\-withdraw(1), purser\\-payouts(1)")
  local file = assert(io.open(("%s/%s.1"):format(folder, name), "w"))
  assert(file:write(table.concat(out, "\n") .. "\n"))
  assert(file:close())
end

local function walk(command, words)
  page(command, words)
  for _, child in ipairs(command._commands) do
    local below = { (table.unpack or unpack)(words) } -- luacheck: ignore
    below[#below + 1] = child._name:gsub("_", "-")
    walk(child, below)
  end
end

walk(parser, { "purser" })
