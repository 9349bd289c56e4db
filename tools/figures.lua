-- SPDX-License-Identifier: MIT
-- Holds that a figure of docs/ stands on one page. A figure is a number with a unit in prose: "7 days", "ten seconds",
-- "300 requests". Another page names it by a link whose text holds it: [7 days](options.md#limits); the page behind the
-- link must have it. Code, text in backquotes and generated parts hold no figures.
--
-- Closes with `N passed, N failed`, a check a figure; `make lint` runs it. `lua tools/figures.lua --all` lists all.

local prose = dofile "tools/prose.lua"

local M = {}

-- Pages whose equal figures are different facts, each with the reason. Short times are often the simulator's pace.
local SIMULATOR = "docs/testing/simulator.md"
M.different = {
  ["1 s"] = { reason = "a state of a withdrawal; a pause of a receiver", SIMULATOR, "docs/desk/receive.md" },
  ["60 s"] = { reason = "a state of a withdrawal; the pace of a sync", SIMULATOR, "docs/desk/books.md" },
  ["30 s"] = { reason = "a state of a withdrawal; a queue's longest pause; new connections after a time-out",
    SIMULATOR, "docs/desk/payouts.md", "docs/write/outcomes.md" },
  ["20 s"] = { reason = "a state of a withdrawal; a dead connection; a clock set in a rehearsal; the gateway's lease",
    SIMULATOR, "docs/client/transports.md", "docs/contributing/payouts-tests.md", "docs/hosts/openresty.md" },
  ["10 s"] = { reason = "an idle connection of the simulator; a window; the limits of two kinds of receivers",
    SIMULATOR, "docs/client/limits.md", "docs/desk/receive.md", "docs/desk/in-production.md" },
  ["10 min"] = { reason = "two timers", "docs/desk/approvals.md", "docs/desk/in-production.md" },
  ["5 min"] = { reason = "a run's patience; a rival's", "docs/desk/payouts.md", "docs/write/outcomes.md" },
  ["3 days"] = { reason = "a reach; the longest block", "docs/client/histories.md", "docs/client/limits.md" },
  ["7 days"] = { reason = "a request's window; defaults of --equal-days, of a sync, of odd rows and of a wait",
    "docs/client/histories.md", "docs/desk/agents.md", "docs/desk/books.md", "docs/desk/payouts.md",
    "docs/desk/receive.md" },
  ["0.1 ms"] = { reason = "two measurements", "docs/hosts/hosts.md", "docs/hosts/openresty.md" },
  ["1 MiB"] = { reason = "locked memory; the framing of an answer; a text to encode", "docs/client/signing.md",
    "docs/client/transports.md", "docs/contributing/core.md" },
  ["4 MiB"] = { reason = "locked memory; the size of a plan", "docs/client/signing.md", "docs/desk/approvals.md" },
}

local number_of = {}
for i, word in ipairs { "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve" } do
  number_of[word] = tostring(i + 1)
end
for word, number in pairs { fifteen = "15", twenty = "20", thirty = "30", sixty = "60", ninety = "90" } do
  number_of[word] = number
end

-- Number words are figures of time alone: "two records" is none.
local is_time = { s = true, ms = true, min = true, hours = true, days = true, weeks = true, months = true }

-- A unit as it is written, and the one name of it.
local unit_of = { seconds = "s", minutes = "min", milliseconds = "ms", microseconds = "µs" }
for unit in ([[s ms µs min hours days weeks months % kB KB MB GB KiB MiB GiB requests records rows payments calls
  withdrawals operations accounts sub-accounts keys pages lines digits decimals places columns characters addresses
  attempts processes connections programs USDT MX]]):gmatch "%S+" do
  unit_of[unit] = unit
end

-- Calls fn(figure) for each figure of a text.
local function each_figure(text, fn)
  for word, after in text:gmatch "%f[%w.](%w[%w.,]*)()" do
    local mark, unit = text:match("^([ -]?)([^%s,;:)|]+)", after)
    unit = unit and unit:gsub("[.]+$", "")
    local name = unit and (unit_of[unit] or (mark == "-" or word == "1") and unit_of[unit .. "s"])
    local number = is_time[name or ""] and number_of[word:lower()] or word:match "^%d[%d.,]*$"
    if number and name then fn(number:gsub("[.,]$", "") .. " " .. name) end
  end
end

-- Calls fn(figure, target or nil) for each figure of a page's paragraph; the target is that of the link around it.
local function each_in(block, fn)
  local text = block.text:gsub("`[^`]*`", " x "):gsub("%*", "")
  each_figure(text:gsub("%[([^%]]*)%](%b())", function(words, target)
    each_figure(words, function(figure) fn(figure, target:sub(2, -2)) end)
    return " x "
  end), fn)
end

local function resolved(from, target)
  local path = target:gsub("#.*$", "")
  if path == "" then return from end
  local parts = {}
  for part in ((from:match "^(.*/)" or "") .. path):gmatch "[^/]+" do
    if part == ".." then table.remove(parts) elseif part ~= "." then parts[#parts + 1] = part end
  end
  return (from:match "^/" or "") .. table.concat(parts, "/")
end

--- Reads pages. Returns where each figure stands, and the links that name one.
---@param paths string[]
---@return table places  figure -> list of { path =, line = }, one a page
---@return table[] links  { figure =, path =, line =, target = }
function M.read(paths)
  local places, links = {}, {}
  for _, path in ipairs(paths) do
    for _, block in ipairs(prose.count(path).blocks) do
      if not block.is_made then
        each_in(block, function(figure, target)
          local place = { path = path, line = block.line, figure = figure }
          if target then
            place.target = resolved(path, target)
            links[#links + 1] = place
          else
            local list = places[figure] or {}
            places[figure] = list
            if not list[path] then list[#list + 1], list[path] = place, true end
          end
        end)
      end
    end
  end
  return places, links
end

--- Returns what is wrong with the figures of pages, as sentences.
---@param places table
---@param links table[]
---@param different table  figure -> { reason =, page... }
---@return string[]
function M.faults(places, links, different)
  local faults = {}
  for figure, list in pairs(places) do
    local rest, known = {}, different[figure] or {}
    for _, place in ipairs(list) do
      local is_known = false
      for _, page in ipairs(known) do is_known = is_known or page == place.path end
      if not is_known then rest[#rest + 1] = place end
    end
    if #rest > 1 or #rest > 0 and #known > 0 then
      local where = {}
      for i, place in ipairs(list) do where[i] = place.path .. ":" .. place.line end
      faults[#faults + 1] = ("%s stands on %d pages: %s"):format(figure, #list, table.concat(where, " "))
    end
  end
  for _, link in ipairs(links) do
    if not (places[link.figure] and places[link.figure][link.target]) then
      faults[#faults + 1] = ("%s:%d: the link says %s, and %s does not"):format(link.path, link.line, link.figure,
        link.target)
    end
  end
  for figure, known in pairs(different) do
    for _, page in ipairs(known) do
      if not (places[figure] and places[figure][page]) then
        faults[#faults + 1] = ("%s no longer stands on %s: take it out of the list"):format(figure, page)
      end
    end
  end
  table.sort(faults)
  return faults
end

--- Lists the pages written by hand.
---@return string[]
function M.pages()
  local paths = { "README.md" }
  for path in io.popen("find docs -name '*.md' | grep -Ev 'docs/(reference|operations)/' | sort"):lines() do
    paths[#paths + 1] = path
  end
  return paths
end

local function main()
  local places, links = M.read(M.pages())
  local faults, count = M.faults(places, links, M.different), 0
  local lines = {}
  for figure, list in pairs(places) do
    count = count + 1
    local where = {}
    for i, place in ipairs(list) do where[i] = place.path .. ":" .. place.line end
    lines[count] = figure .. "  " .. table.concat(where, " ")
  end
  table.sort(lines)
  if arg[1] == "--all" then print(table.concat(lines, "\n")) end
  for _, fault in ipairs(faults) do print("figures: " .. fault) end
  print(("%d passed, %d failed"):format(count, #faults))
end

if arg and arg[0] and arg[0]:find "figures%.lua$" then main() end

return M
