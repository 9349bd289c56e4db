-- SPDX-License-Identifier: MIT
-- Checks the first word of comments: a verb or a noun ("Returns", "Marks", "Errors for"), never What, Whether, How or
-- By, which leave out the subject. A later line of a comment may begin with such a word.
--
-- `lua tools/comments.lua` prints `N passed, N failed` at the end, and `make lint` runs the check. `lua
-- tools/comments.lua FOLDER` also prints each such comment in the folder.

local lines_of = dofile("tools/whole_files.lua").lines_of

-- Room -> the number of such comments allowed. A number may only fall.
local left = {
}

local FILES = "tools/files '*.lua' '*.c' '*.h' '*.mk' 'bin/*' 'tools/*' Makefile | grep -v /util/meta.lua"

-- Returns the room of a file: its folder in lua/purser, spec or src; else its first folder.
local function room_of(path)
  return path:match "^lua/purser/%l+/" or path:match "^spec/[%l_]+/" or path:match "^src/%l+/" or path:match "^[^/]+"
end

-- Returns the text of a line that is a comment and nothing else, or nil.
local function comment_of(line)
  return line:match "^%s*%-%-+%s+(.*)" or line:match "^%s*/%*+%s+(.*)" or line:match "^%s*//+%s+(.*)"
    or line:match "^#+%s+(.*)"
end

local found, places = {}, {}
for _, path in ipairs(lines_of(FILES)) do
  local before, file = nil, io.open(path)
  for line in file and file:lines() or function() end do
    local text = comment_of(line)
    -- the first line of a comment, or the first of a sentence in it
    local is_first = not before or before:find "[.:;]$" or before == "" or before:find "^SPDX"
    if text and is_first and (text:find "^What%f[%W]" or text:find "^Whether%f[%W]" or text:find "^How%f[%W]"
      or text:find "^By%f[%W]") then
      local room = room_of(path)
      found[room] = (found[room] or 0) + 1
      if arg[1] and path:sub(1, #arg[1]) == arg[1] then places[#places + 1] = path .. ": " .. text end
    end
    before = text
  end
  if file then file:close() end
end

local passed, failed = 0, 0
for room, count in pairs(found) do
  if count > (left[room] or 0) then
    failed = failed + 1
    print(("comments: %s has %d that begin with What, Whether, How or By, %d may be left; `lua tools/comments.lua %s`")
      :format(room, count, left[room] or 0, room))
  else
    passed = passed + 1
  end
end
for _, place in ipairs(places) do print(place) end
print(("%d passed, %d failed"):format(passed + 1, failed))
os.exit(failed == 0)
