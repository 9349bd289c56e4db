-- SPDX-License-Identifier: MIT
-- The only writer of the standard streams. Texts of strangers move no cursor and forge no line: see purser.plain_text.

local lazy = require "purser.client.util.lazy"
local core = lazy "purser.core"
local json = lazy "purser.json"
local plain_text = lazy "purser.client.util.plain_text"

local M = { settings = {} } -- quiet, no_input, is_table, color: of the command line

--- Keeps what the options of a command say of messages and of the form of its result.
function M.configure(options)
  local settings, given = M.settings, options.terminal or {}
  for _, name in ipairs { "quiet", "no_input", "wide", "time", "color" } do settings[name] = given[name] end
  settings.json, settings.is_table = options.format == "json" or options.json, options.format == "table"
  settings.recover = nil
end

--- Returns text with visible escapes for hidden characters, but line ends and tabs.
function M.lines(text)
  text = tostring(text)
  if not text:find("[^ -~\n\t]") then return text end
  return (text:gsub("[^\n\t]+", function(part) return plain_text.clean(part) end))
end

local RED, GREEN, YELLOW, RESET = "\27[31m", "\27[32m", "\27[33m", "\27[0m"
local LABELS = { ok = GREEN, warn = YELLOW, warning = YELLOW, fail = RED, error = RED }

-- Tells whether a stream gets colours: by --color, else a terminal without NO_COLOR.
local function has_colours(fd)
  if M.settings.color == "always" or M.settings.color == "never" then return M.settings.color == "always" end
  return (os.getenv "NO_COLOR" or "") == "" and os.getenv "TERM" ~= "dumb" and core.is_terminal(fd)
end

-- Colours the labels that lines begin with, after texts of strangers were cleaned and all widths are known.
local function painted(text, fd)
  if not has_colours(fd) then return text end
  text = ("\n" .. text):gsub("\nOUTCOME UNKNOWN", "\n" .. RED .. "OUTCOME UNKNOWN" .. RESET)
  return (text:gsub("(\n *)(%l+)([: ] )", function(before, word, after)
    return LABELS[word] and before .. LABELS[word] .. word .. RESET .. after
  end):sub(2))
end

local shown -- the line of progress, while there is one
local said_until = 0 -- when the wait ends that was said last

local is_asked = false -- the cursor stands behind a question that nobody has answered

--- Takes the line of progress away, and ends the line of an open question.
function M.clear_line()
  if shown then io.stderr:write("\r\27[K") end
  if is_asked then io.stderr:write "\n" end
  io.stderr:flush()
  shown, is_asked = nil, false
end

function M.say(...)
  M.clear_line()
  local text = string.format(...)
  if M.settings.json then
    M.settings.said = text
    io.stderr:write(plain_text.as_json(json.encode(json.object { { "message", text } })), "\n")
  else
    text = M.fold("purser: " .. plain_text.clean(text), 2, core.is_terminal(2) and core.terminal_width(2) or math.huge)
    io.stderr:write(text:sub(1, 8), painted(text:sub(9), 2), "\n")
  end
end

--- Says the failure of the command; keeps the failure for --json.
function M.fail(...)
  if not M.settings.json then return M.say(...) end
  M.settings.failure = { { "message", string.format(...) } }
end

local OUTCOMES = { "rejected", "not_sent", "not_sent", "unknown", "done" } -- by exit code

--- Ends a command. With --json a command without a result prints its failure as an object.
function M.finish(code)
  local settings = M.settings
  if code == 0 or not settings.json or settings.has_output then return code end
  local failure = settings.failure or { { "message", settings.said or "it failed" } }
  if not failure[2] then
    failure[2], failure[3] = { "kind", code == 2 and "argument" or "workflow" }, { "outcome", OUTCOMES[code] }
  end
  M.write(plain_text.as_json(json.encode(json.object { { "error", json.object(failure) } })) .. "\n", true)
  return code
end

--- Writes to standard output, or to the file of --output. `is_raw` keeps the exact bytes, unless they go to a terminal.
function M.write(text, is_raw)
  M.settings.has_output = true
  if M.settings.output then
    return M.settings.output:write(is_raw and text or M.lines(text))
  end
  if not is_raw or text:find "[^ -~\n\t]" and core.is_terminal(1) then text = M.lines(text) end
  if M.settings.is_table then text = painted(text, 1) end
  if shown and core.is_terminal(1) then M.clear_line() end
  local ok, reason = io.stdout:write(text)
  if ok then ok, reason = io.stdout:flush() end
  return ok, reason
end

local function width()
  return core.terminal_width(2) or 80
end

-- A character; all but ASCII count as wide.
local CHARACTER = "[%z\1-\127\194-\244][\128-\191]*"

local function bytes_that_fit(text, first, room)
  local used, bytes = 0, 0
  for character in text:sub(first, first + 4 * room):gmatch(CHARACTER) do
    used = used + (#character == 1 and 1 or 2)
    if used > room and bytes > 0 then break end
    bytes = bytes + #character
  end
  return bytes
end

--- Returns parts of at most `room` columns of a text, split at blanks where possible.
function M.parts(text, room)
  local parts, first = {}, 1
  repeat
    local bytes = math.max(1, bytes_that_fit(text, first, room))
    if first + bytes <= #text then
      local _, blank = text:sub(first, first + bytes - 1):find "^.+ "
      bytes = blank or bytes
    end
    parts[#parts + 1], first = text:sub(first, first + bytes - 1), first + bytes
  until first > #text
  return parts
end

local function columns_of(text) return #text:gsub("[\194-\244][\128-\191]*", "  ") end

-- Blanks within a command, and those of its quoted words.
local JOINT, QUOTED = "\1", "\2"

-- Returns a text with each command as one word: the part between backticks, or from `purser` to the end.
local function with_commands(text)
  local function joined(before, command)
    return before .. command:gsub("'[^']*'", function(word) return (word:gsub(" ", QUOTED)) end):gsub(" ", JOINT)
  end
  local held, found = text:gsub("(`)([^`]*`)", joined)
  for _, before in ipairs(found == 0 and { "^( *)", "(: +)", "(%f[%w]or )" } or {}) do
    if found == 0 then held, found = held:gsub(before .. "(purser %l[^<]*)$", joined) end
  end
  return held
end

-- Tells whether a word of a text has no room: the words of a command have a backslash behind.
local function has_longer_word(text, room)
  for word in text:gmatch "[^ \1]+" do
    if columns_of(word) + (text:find(JOINT, 1, true) and 2 or 0) > room then return true end
  end
end

--- Folds a text to columns, default those of the terminal. No word is cut; a long command goes on behind a backslash.
--- Where a word has no room behind the indentation, the text begins on the line below.
---@param indent integer|nil  of the lines after the first (2)
function M.fold(text, indent, columns)
  columns = columns or not M.settings.output and core.is_terminal(1) and core.terminal_width(1)
  if not columns or columns == math.huge then return text end
  text, indent = with_commands(text), indent or 2
  if indent > 2 and has_longer_word(text:sub(indent + 1), columns - indent) then
    local before, rest = text:sub(1, indent):gsub(" +$", ""), M.fold("  " .. text:sub(indent + 1), 2, columns)
    rest = rest:gsub("[\1\2]", " ")
    return before == "" and rest or before .. "\n" .. rest
  end
  local room, lines, line = columns - indent, {}, nil
  local function add(joint, word, behind)
    if line and columns_of(line .. joint .. word .. behind) > room then
      lines[#lines + 1] = joint == JOINT and line .. " \\" or line
      line = word
    else
      line = (line or "") .. joint .. word
    end
  end
  for blanks, word in text:sub(indent + 1):gmatch "( *)([^ ]+)" do
    if word:find(JOINT, 1, true) and columns_of(word) > room then
      for joint, part in word:gmatch "(\1?)([^\1]+)" do add(joint == "" and blanks or joint, part, "  ") end
    else
      add(blanks, word, "")
    end
  end
  lines[#lines + 1] = line
  return ((text:sub(1, indent) .. table.concat(lines, "\n" .. (" "):rep(indent))):gsub("[\1\2]", " "))
end

local LABEL, NARROW = 16, 60

--- Returns a label and its value as lines. Long blanks of a value are made visible: no value looks like a label, which
--- stands above the value on a narrow terminal.
function M.field(label, value, columns)
  local text = plain_text.clean(value):gsub("   +", function(blanks) return ("\\x20"):rep(#blanks) end)
  local is_narrow = columns < NARROW
  local lines, before = { is_narrow and "  " .. label or nil }, is_narrow and "" or label
  for _, part in ipairs(M.parts(text, math.max(20, columns - (is_narrow and 4 or LABEL + 6)))) do
    lines[#lines + 1] = is_narrow and "  | " .. part or ("  %-" .. LABEL .. "s | %s"):format(before, part)
    before = ""
  end
  return table.concat(lines, "\n")
end

--- Shows the fields of a question, and reads the answer.
---@param fields table[]  { label, value }
function M.ask(heading, fields, question)
  M.clear_line()
  local columns = width()
  local lines = { M.fold(plain_text.clean(heading), 2, columns) }
  for _, field in ipairs(fields) do
    lines[#lines + 1] = M.field(field[1], tostring(field[2]), columns)
  end
  io.stderr:write(table.concat(lines, "\n"), "\n")
  return M.answer(question or "Type yes to do it: ")
end

function M.prompt(text)
  io.stderr:write(M.lines(text))
  io.stderr:flush()
end

function M.answer(text)
  M.prompt(M.fold(text, 2, width()) .. " ")
  is_asked = true
  local typed = io.stdin:read "*l"
  is_asked = not typed -- Ctrl-D, or Ctrl-C
  return typed
end

--- Returns all of standard input.
function M.input() return io.stdin:read "*a" end

--- Tells whether a question reaches a person: both streams are terminals.
function M.can_ask()
  return not M.settings.no_input and core.is_terminal(0) and core.is_terminal(2)
end

-- Returns the first clauses of a text that have room, whole; of a longer one the first words.
local function fitting(text, room)
  local kept = columns_of(text) <= room and text
  for before in text:gmatch "()[,;] " do
    if columns_of(text) > room and columns_of(text:sub(1, before - 1)) <= room then kept = text:sub(1, before - 1) end
  end
  return kept or M.parts(text, room)[1]
end

local function write_line(text)
  io.stderr:write("\r\27[K", fitting(plain_text.clean(text), width() - 1))
  io.stderr:flush()
end

--- Returns two functions: the first shows a line of progress on a terminal, the second clears the line. A text is
--- clauses, the most important first: what has no room is left out. Or the text is made for so many columns.
function M.progress_line()
  local function show(text)
    if M.settings.quiet or not core.is_terminal(2) then return end
    if type(text) == "function" then text = text(width() - 1) end
    write_line(text)
    shown = text
  end
  return show, M.clear_line
end

--- Shows why a call waits for `ms`, in the line of progress or once for all calls that wait.
function M.show_wait(why, operation, ms)
  if M.settings.quiet then return end
  if shown then
    if not shown:find("waits: ", 1, true) then write_line(why .. "; " .. shown) end -- first: a long line is cut
    return
  end
  local now = core.monotonic_ms()
  if now < said_until then return end
  said_until = now + ms
  M.say("waiting: %s (%s)", why, operation)
end

return M
