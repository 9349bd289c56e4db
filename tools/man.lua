-- SPDX-License-Identifier: MIT
-- Writes the man pages of the command into a folder: `lua tools/man.lua FOLDER`. They are made from the grammar, and so
-- from the rows: purser(1), and a page for each command and operation, such as purser-wallet-withdraw(1).

local commands = require "purser.cli.commands"
local help = require "purser.cli.help"
local version = require "purser.version"

local folder = assert(arg[1], "give the folder")

-- A text for roff: no character of it is a command.
local function plain(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n([.'])", "\n\\&%1")
  return (text:gsub("^([.'])", "\\&%1"))
end

-- The lines of a text that is set without filling, so that 80 columns have room for them: roff indents by 7.
local function narrow(text) return (help.lines(text, 72):gsub("\n$", "")) end

local function list(out, title, entries, heading)
  if #entries == 0 then return end
  out[#out + 1] = (heading or ".SH ") .. title
  for _, entry in ipairs(entries) do
    out[#out + 1] = ".TP\n.B " .. plain(entry[1]) .. "\n" .. plain(entry[2])
  end
end

local function page(command, words, summary)
  local name = table.concat(words, "-"):gsub("_", "-")
  local out = { ('.TH %s 1 "" "purser %s" "Purser"'):format(name:upper(), version),
    ".SH NAME\n" .. plain(name) .. " \\- " .. plain((summary:gsub("%.$", ""))),
    ".SH SYNOPSIS\n.nf\n" .. plain(narrow(help.usage(command, words))) .. "\n.fi" }
  out[#out + 1] = ".SH DESCRIPTION\n" .. plain(command.text):gsub("\n", "\n.br\n")
  local sections = help.sections(command)
  if sections[2] then out[#out + 1] = ".SH COMMANDS" end
  for _, section in ipairs(sections) do
    list(out, sections[2] and section[1] or section[1]:upper(), section[2], sections[2] and ".SS ")
  end
  list(out, "ARGUMENTS", command.arguments or {})
  for _, group in ipairs(command) do
    local entries = {}
    for i = 2, #group do entries[i - 1] = { help.option(group[i], command) } end
    list(out, group[1]:upper(), entries)
  end
  if command.epilog then out[#out + 1] = ".SH NOTES\n.nf\n" .. plain(narrow(command.epilog)) .. "\n.fi" end
  out[#out + 1] = ".SH SEE ALSO\n" .. (words[2] and "purser(1)" or "purser\\-wallet\\-withdraw(1), purser\\-payouts(1)")
  local file = assert(io.open(("%s/%s.1"):format(folder, name), "w"))
  assert(file:write(table.concat(out, "\n") .. "\n"))
  assert(file:close())
end

local function walk(command, words, summary)
  page(command, words, summary)
  for _, child in ipairs(command.commands or {}) do
    local below = { (table.unpack or unpack)(words) } -- luacheck: ignore
    below[#below + 1] = child[1]
    walk(child.load(), below, child[2])
  end
end

walk(commands.root(), { "purser" }, "wallet, sub-account and broker endpoints of the MEXC Spot v3 API")
