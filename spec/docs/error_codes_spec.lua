-- SPDX-License-Identifier: MIT
-- A page names each code that Purser itself puts into an error. The service's codes have a page of their own.

local files = require "files"

-- Where the first part of codes is written once: the file, and what stands about the second part at each error.
local made_by = {
  { "address", "lua/purser/address.lua", 'finding%("([%l_]+)"' },
  { "journal", "lua/purser/write/journal/home.lua", 'refusal%("([%l_]+)"' },
  { "guard", "lua/purser/write/guard/init.lua", 'reject%(row, "([%l_]+)"' },
  { "guard", "lua/purser/write/guard/spending.lua", 'reject%(row, "([%l_]+)"' },
  { "approval", "lua/purser/desk/approvals/signers.lua", '%f[%w_]([%l_]+) = "%l',
    within = "\nlocal messages = (%b{})" },
}

local function lines(command)
  local pipe = assert(io.popen(command))
  local list = {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- Returns code -> a file that makes it. A code stands in quotes, for itself or behind the words of an error.
local function codes_made()
  local codes, rooms = {}, { address = true, journal = true, guard = true, approval = true, payouts = true }
  for _, path in ipairs(lines "find lua/purser -name '*.lua'") do
    for code, after in files.read(path):gmatch '"(%l+%.[%l_]+)"([^\n]?)' do
      local is_name = code == "journal.db" or code == "payouts.plan" -- a file, and a method
      if rooms[code:match "^%l+"] and not is_name and after ~= "]" then codes[code] = path end
    end
  end
  for _, maker in ipairs(made_by) do
    local room, path, text = maker[1], maker[2], files.read(maker[2])
    for code in (maker.within and text:match(maker.within) or text):gmatch(maker[3]) do
      codes[room .. "." .. code] = path
    end
  end
  return codes
end

describe("an error's code", function()
  it("is in a page", function()
    local pages, rails = {}, files.read "docs/write/guard-rails.md"
    for _, path in ipairs(lines "find docs -name '*.md'") do pages[#pages + 1] = files.read(path) end
    local text, missing, count = table.concat(pages, "\n"), {}, 0
    for code, path in pairs(codes_made()) do
      count = count + 1
      local rule = code:match "^guard%.(.*)" -- the code of a rail is its option's name
      local is_named = rule and rails:find("`" .. rule .. "%f[^%w_]") or text:find("`" .. code .. "`", 1, true)
      if not is_named then missing[#missing + 1] = code .. " of " .. path end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, "\n"))
    assert.is_true(count >= 50, "the patterns find only " .. count .. " codes")
  end)
end)
