-- SPDX-License-Identifier: MIT
-- Prints the lines and files of each package beside those of the last release. Bounds nothing: `tools/lint` bounds
-- files (about 500 lines) and functions (60 lines). Closes with `N passed, N failed`, a check a package.

-- package, lines, files at the last release. A package that is missing here is new.
local released = {
  ["top"] = { 1044, 7 },
  ["client"] = { 10120, 79 },
  ["write"] = { 5577, 21 },
  ["desk/agent"] = { 482, 4 },
  ["desk/approvals"] = { 2676, 13 },
  ["desk/books"] = { 2626, 14 },
  ["desk/fleet"] = { 971, 8 },
  ["desk/monitor"] = { 477, 4 },
  ["desk/payouts"] = { 2885, 9 },
  ["desk/receive"] = { 1281, 8 },
  ["desk/workflow"] = { 852, 6 },
  ["testing"] = { 5876, 40 },
  ["hosts"] = { 1209, 13 },
  ["cli"] = { 6165, 30 },
  ["src/core"] = { 6628, 66 },
  ["src/bind"] = { 3266, 29 },
  ["src/embed"] = { 34, 1 },
  ["src/httpd"] = { 965, 6 },
}

local lines_of = dofile("tools/whole_files.lua").lines_of

-- Returns the package of a file: its folder below lua/purser or src; "top" where it has none.
local function room_of(path)
  return path:match "^src/%l+" or path:match "^lua/purser/(desk/%l+)/" or path:match "^lua/purser/(%l+)/" or "top"
end

local names, found = {}, {}
for _, path in ipairs(lines_of "find lua src -name '*.lua' ! -name meta.lua -o -name '*.c' -o -name '*.h'") do
  local room = room_of(path)
  local of, lines = found[room], 0
  if not of then
    of = { lines = 0, files = 0, largest = 0 }
    found[room], names[#names + 1] = of, room
  end
  for _ in io.lines(path) do lines = lines + 1 end
  of.lines, of.files, of.largest = of.lines + lines, of.files + 1, math.max(of.largest, lines)
end
table.sort(names)

local lua = 0
print("room            lines  release   files  release   largest")
for _, name in ipairs(names) do
  local of, before = found[name], released[name] or { 0, 0 }
  if not name:find "^src/" then lua = lua + of.lines end
  print(("%-14s %6d   %6d   %5d   %6d   %7d"):format(name, of.lines, before[1], of.files, before[2], of.largest))
end
print(("product Lua: %d lines"):format(lua))
print(("%d passed, 0 failed"):format(#names))
