-- SPDX-License-Identifier: MIT
-- Statements of the pages that name a command of `purser` and its result, outside of blocks of code (those run):
-- a sentence such as "`purser X` prints Y" or "ends with 4", and a row of a table whose first cell is an exit code.

local files = require "files"

local M = {}

local VERBS = { "prints", "shows", "says", "sends", "names", "ends", "writes", "asks" }

-- Tells if a sentence names a command, and what it does.
local function is_statement(sentence)
  if sentence:find "ends? with %d" or sentence:find "exit code %d" then return true end
  local last = select(2, sentence:find "`purser [^`]*`")
  for _, verb in ipairs(last and VERBS or {}) do
    if sentence:find("%f[%a]" .. verb .. "%f[%A]", last) then return true end
  end
  return false
end

-- Hides the marks inside code, which end no sentence.
local function sentences_of(text)
  local list = {}
  text = text:gsub("`[^`]*`", function(code) return (code:gsub("[.;:|]", { ["."] = "\1", [";"] = "\2", [":"] = "\3",
    ["|"] = "\4" })) end)
  for sentence in (text .. "\n"):gsub("([.;|])%s", "%1\n"):gmatch "[^\n]+" do
    list[#list + 1] = (sentence:gsub("%c", { ["\1"] = ".", ["\2"] = ";", ["\3"] = ":", ["\4"] = "|" }))
  end
  return list
end

--- Returns the statements of a page, each as one line.
---@param path string
---@return string[]
function M.of(path)
  local found, in_code, paragraph, head = {}, false, "", nil
  local function finish()
    for _, sentence in ipairs(sentences_of(paragraph)) do
      if is_statement(sentence) then found[#found + 1] = sentence end
    end
    paragraph = ""
  end
  for line in files.read(path):gmatch "([^\n]*)\n" do
    local is_fence = line:find "^%s*```"
    if not line:find "^|" then head = nil end
    if is_fence then in_code = not in_code end
    if in_code or is_fence or line == "" or line:find "^    " and paragraph == "" then
      finish()
    elseif line:find "^|" then
      finish()
      head = head or line
      local is_of_codes = head:find "exit code" or head:find "end with"
      local is_found = is_of_codes and line:find "^| [%a ]*%d" or head:find "| 0 |" and line:find "| %d: "
        or head:find "| command |" and line:find "| `purser "
      if is_found then
        found[#found + 1] = line
      else
        paragraph = line
        finish()
      end
    else
      paragraph = paragraph .. " " .. line:gsub("^%s+", "")
    end
  end
  finish()
  return found
end

--- Returns the pages that are written by hand.
---@return string[]
function M.pages()
  return files.lines_of "find docs README.md SECURITY.md -name '*.md' | grep -Ev 'docs/(reference|operations)/' | sort"
end

return M
