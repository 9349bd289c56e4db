-- SPDX-License-Identifier: MIT
-- Holds each package to its budget: lines of product Lua and C, files, and lines of the largest file.
-- Raising a number is a commit that says why; lowering one needs no word.
--
-- Prints a line a package and closes with `N passed, N failed`; `lua tools/budget.lua`, and `make lint` runs it.

-- package, lines, files, largest file. Lines have 3 % of slack: a small change edits no number here.
local budgets = {
  { "top", 1015, 7, 395 },
  { "client", 9830, 79, 400 },
  { "write", 5420, 21, 486 },
  { "desk/agent", 470, 4, 315 },
  { "desk/approvals", 2600, 13, 335 },
  { "desk/books", 2550, 14, 324 },
  { "desk/fleet", 945, 8, 205 },
  { "desk/monitor", 465, 4, 200 },
  { "desk/payouts", 2805, 9, 480 },
  { "desk/receive", 1245, 8, 240 },
  { "desk/workflow", 830, 6, 395 },
  { "testing", 5705, 40, 315 },
  { "hosts", 1175, 13, 320 },
  { "cli", 5990, 30, 460 },
  { "src/core", 6435, 66, 495 },
  { "src/bind", 3175, 29, 400 },
  { "src/embed", 35, 1, 35 },
  { "src/httpd", 940, 6, 475 },
}
local SLACK = 1.03

local lines_of = dofile("tools/whole_files.lua").lines_of

-- Returns the package of a file: its folder below lua/purser or src; "top" where it has none.
local function room_of(path)
  return path:match "^src/%l+" or path:match "^lua/purser/(desk/%l+)/" or path:match "^lua/purser/(%l+)/" or "top"
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
    if of[fact] <= budget[i + 1] * (fact == "lines" and SLACK or 1) then passed = passed + 1 else
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
