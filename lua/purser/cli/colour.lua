-- SPDX-License-Identifier: MIT
-- Colours of what people read: headings, states, warnings. They are added to text that is already clean and laid out,
-- so no text of a stranger can bring its own, and no width depends on them.

local core = require "purser.core"

local M = { settings = { when = "auto" } } -- of --color: auto, always or never

local BOLD, DIM, RED, GREEN, YELLOW = "\27[1m", "\27[2m", "\27[31m", "\27[32m", "\27[33m"
local RESET = "\27[0m"

--- Tells whether what goes to a stream is coloured.
---@param fd integer  1 output, 2 error
function M.is_on(fd)
  if M.settings.when ~= "auto" then return M.settings.when == "always" end
  return (os.getenv "NO_COLOR" or "") == "" and os.getenv "TERM" ~= "dumb" and core.is_terminal(fd)
end

-- The words that a line of a plan or of a finding begins with, and the label of a message.
local words = { ok = GREEN, warn = YELLOW, warning = YELLOW, fail = RED, error = RED }

local function painted_word(line)
  local indent, word, after = line:match "^( *)(%l+)(  .*)$"
  if not word or not words[word] then return line end
  return indent .. words[word] .. word .. RESET .. after
end

--- A table, a plan or findings, with colours.
---@param text string
---@return string
function M.paint(text)
  local lines = {}
  for line, line_end in text:gmatch "([^\n]*)(\n?)" do
    if line:find "^%-[%- ]*$" and #lines > 0 then
      lines[#lines] = BOLD .. lines[#lines]:gsub("\n$", "") .. RESET .. "\n"
      lines[#lines + 1] = DIM .. line .. RESET .. line_end
    elseif line ~= "" or line_end ~= "" then
      lines[#lines + 1] = painted_word(line) .. line_end
    end
  end
  return table.concat(lines)
end

--- A message on standard error, with colours.
---@param text string
---@return string
function M.paint_message(text)
  if text:find "^OUTCOME UNKNOWN" then return (text:gsub("^OUTCOME UNKNOWN", BOLD .. RED .. "%0" .. RESET)) end
  local word, after = text:match "^(%l+)(:.*)$"
  if word and words[word] then return words[word] .. word .. RESET .. after end
  return text
end

return M
