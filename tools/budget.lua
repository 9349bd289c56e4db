-- SPDX-License-Identifier: MIT
-- Holds each room to its budget: lines of product Lua and C, files, and lines of the largest file. Raising a number is
-- a commit that says why; lowering one needs no word.
--
-- Prints a line a room and closes with `N passed, N failed`; `lua tools/budget.lua`, and `make lint` runs it.

-- room, lines, files, largest file
local budgets = {
  { "top", 1120, 8, 380 },
  { "books", 2750, 15, 300 }, -- the copy of the histories, its outbox, statements and their five forms
  { "api", 1545, 14, 240 },
  { "call", 2645, 21, 300 },
  { "signed", 1155, 6, 340 }, -- plans and policies, which were in write/
  { "write", 5600, 24, 490 },
  { "history", 1435, 7, 445 },
  { "client", 1145, 10, 320 },
  { "transport", 1100, 5, 410 },
  { "util", 2235, 29, 330 },
  { "payouts", 2390, 11, 325 },
  { "workflow", 1505, 8, 415 },
  { "fleet", 1135, 5, 450 },
  { "monitor", 520, 4, 230 },
  { "limits", 650, 6, 195 },
  { "nginx", 485, 2, 320 },
  { "hosts", 70, 3, 25 },
  { "recording", 1395, 9, 250 },
  { "sim", 5360, 30, 380 },
  { "cli", 6210, 38, 460 },
  { "src/core", 6490, 66, 490 },
  { "src/bind", 3180, 29, 400 },
  { "src/embed", 50, 1, 40 },
  { "src/httpd", 1000, 6, 480 },
  { "approvals", 950, 4, 340 },
}

local lines_of = dofile("tools/whole_files.lua").lines_of

-- Returns the room of a file: its folder below lua/purser or src; "top" where it has none.
local function room_of(path)
  return path:match "^src/%l+" or path:match "^lua/purser/(%l+)/" or "top"
end

local found = {}
for _, path in ipairs(lines_of "find lua src -name '*.lua' ! -name meta.lua -o -name '*.c' -o -name '*.h'") do
  local room = room_of(path)
  local of, lines = found[room] or { lines = 0, files = 0, largest = 0 }, 0
  for _ in io.lines(path) do lines = lines + 1 end
  found[room] = of
  of.lines, of.files, of.largest = of.lines + lines, of.files + 1, math.max(of.largest, lines)
end

local passed, failed, lua = 0, 0, 0
print("room            lines  budget   files  budget   largest  budget")
for _, budget in ipairs(budgets) do
  local name, of = budget[1], found[budget[1]] or { lines = 0, files = 0, largest = 0 }
  found[name] = nil
  if not name:find "^src/" then lua = lua + of.lines end
  print(("%-14s %6d  %6d   %5d  %6d   %7d  %6d"):format(name, of.lines, budget[2], of.files, budget[3], of.largest,
    budget[4]))
  for i, fact in ipairs { "lines", "files", "largest" } do
    if of[fact] <= budget[i + 1] then passed = passed + 1 else
      failed = failed + 1
      print(("budget: %s: %s are %d, and the budget is %d"):format(name, fact, of[fact], budget[i + 1]))
    end
  end
end
for name in pairs(found) do
  failed = failed + 1
  print(("budget: %s has no budget; give it a line in tools/budget.lua"):format(name))
end
print(("product Lua: %d lines"):format(lua))
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
