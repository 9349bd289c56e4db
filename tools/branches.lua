-- SPDX-License-Identifier: MIT
-- Counts the decisions of the rooms in Lua: `lua5.4 tools/branches.lua [cli]` prints requires, branches (if, elseif,
-- while, until, and, or) and the functions that look at more than three options of a command line.

local lines_of = dofile("tools/whole_files.lua").lines_of

local M = {}

local MOST = 3 -- options that a function may look at
local BRANCH = { ["if"] = true, ["elseif"] = true, ["while"] = true, ["until"] = true, ["and"] = true, ["or"] = true }
local OPENS = { ["function"] = true, ["if"] = true, ["do"] = true, ["repeat"] = true }

-- Returns the text without comments and texts.
local function code_of(text)
  local out, at = {}, 1
  while true do
    local first = text:find("[-\"'%[]", at)
    if not first then break end
    out[#out + 1] = text:sub(at, first - 1)
    local mark = text:sub(first, first)
    local last
    if text:find("^%-%-%[=*%[", first) or text:find("^%[=*%[", first) then
      local level = text:match("^%-*%[(=*)%[", first)
      last = select(2, text:find("]" .. level .. "]", first, true))
    elseif text:find("^%-%-", first) then
      last = (text:find("\n", first, true) or #text) - 1
    elseif mark == "-" or mark == "[" then
      out[#out + 1] = mark
      last = first
    else
      last = first + 1
      while text:sub(last, last) ~= mark do last = last + (text:sub(last, last) == "\\" and 2 or 1) end
      out[#out + 1] = '""'
    end
    at = last + 1
  end
  return table.concat(out) .. text:sub(at)
end

--- Returns what a source has: { requires, branches, wide = { "name looks at a, b, c, d" } }.
function M.of(source)
  local found, open = { requires = 0, branches = 0, wide = {} }, {}
  local at, text = 1, code_of(source)
  local function close()
    local function_ = table.remove(open)
    if not function_.name then return end
    local names = {}
    for name in pairs(function_.reads) do names[#names + 1] = name end
    table.sort(names)
    if #names > MOST then
      table.insert(found.wide, ("%s looks at %s"):format(function_.name, table.concat(names, ", ")))
    end
  end
  while true do
    local first, last, word = text:find("%f[%w_]([%a_][%w_]*)", at)
    if not first then break end
    if BRANCH[word] then found.branches = found.branches + 1 end
    if word == "require" then found.requires = found.requires + 1 end
    if OPENS[word] then
      open[#open + 1] = word == "function"
        and { name = text:match("^%s*([%w_.:]*)", last + 1), reads = {} } or {}
    elseif word == "end" or word == "until" then
      close()
    elseif word == "options" then
      local name = text:match("^%.([%a_][%w_]*)%f[^%w_]%s*[^=%w_%s]", last + 1)
        or text:match("^%.([%a_][%w_]*)%s*==", last + 1) or text:match("^%.([%a_][%w_]*)%s+%l", last + 1)
      for i = #open, name and 1 or math.huge, -1 do
        if open[i].name then
          open[i].reads[name] = true
          break
        end
      end
    end
    at = last + 1
  end
  return found
end

--- Returns the sums of a room, and its functions that look at too much, each with its file.
function M.of_room(room)
  local sum = { requires = 0, branches = 0, wide = {} }
  for _, path in ipairs(lines_of(("find lua/purser/%s -name '*.lua'"):format(room))) do
    local file = assert(io.open(path))
    local found = M.of(file:read "*a")
    file:close()
    sum.requires, sum.branches = sum.requires + found.requires, sum.branches + found.branches
    for _, text in ipairs(found.wide) do table.insert(sum.wide, path .. ": " .. text) end
  end
  table.sort(sum.wide)
  return sum
end

if arg and arg[0] and arg[0]:find "branches%.lua$" then
  local room = arg[1] or "cli"
  local sum = M.of_room(room)
  print(("%s: %d requires, %d branches"):format(room, sum.requires, sum.branches))
  for _, text in ipairs(sum.wide) do print(text) end
  print(("%d functions look at more than %d options"):format(#sum.wide, MOST))
end

return M
