-- SPDX-License-Identifier: MIT
-- Makes the parts of the documentation that repeat what the rows say: `make docs`.
--
--   lua tools/docs.lua           writes them
--   lua tools/docs.lua --check   names those that differ from what is written, and fails if there are any

package.path = "tools/?.lua;" .. package.path

local pages = require "docs.pages"
local annotations = require "docs.annotations"
local reference = require "docs.reference"
local rocks = require "docs.rocks"
local words = require "docs.words"
local on_disk = dofile "tools/whole_files.lua"

local M = {}

-- A file that is written by hand may hold generated parts, between a line with `made: name` and one with `end: name`.
local function with_part(page, name, text)
  local _, from = page:find("\n[^\n]*made: " .. name .. "[^\n%w]*\n")
  local to = page:find("[^\n]*end: " .. name .. "[^\n%w]*\n", from)
  assert(from and to, "the file has no part " .. name)
  return page:sub(1, from) .. text .. page:sub(to)
end

-- The files that say how many operations there are.
local COUNTING = { "README.md", "CHANGELOG.md", "docs/guide.md", "examples/tour.lua", "purser-scm-1.rockspec" }

--- Every generated file: path -> text. Nothing is written.
---@return table<string, string>
function M.files()
  local meta = annotations.file()
  local files = {
    ["docs/operations/broker.md"] = pages.page "broker",
    ["docs/operations/sub-account.md"] = pages.page "sub_account",
    ["docs/operations/wallet.md"] = pages.page "wallet",
    ["docs/operations/codes.md"] = pages.codes(),
    ["docs/client/options.md"] = with_part(
      with_part(on_disk.read("docs/client/options.md"), "options", pages.options(words.options)),
      "call options", pages.options(words.call_options)),
    ["lua/purser/client/util/meta.lua"] = meta,
    ["debian/control"] = with_part(on_disk.read("debian/control"), "address", rocks.homepage()),
    ["debian/watch"] = with_part(on_disk.read("debian/watch"), "address", rocks.watch()),
  }
  for _, rock in ipairs(rocks.names) do
    local path = rock .. "-scm-1.rockspec"
    local text = with_part(with_part(on_disk.read(path), "address", rocks.address()), "modules", rocks.modules(rock))
    if rock == "purser" then text = with_part(with_part(text, "core", rocks.core()), "http", rocks.http()) end
    if rock == "purser-sim" then text = with_part(text, "httpd", rocks.httpd()) end
    files[path] = text
  end
  for path, text in pairs(reference.files(meta)) do files[path] = text end
  for _, path in ipairs(COUNTING) do files[path] = pages.counted(files[path] or on_disk.read(path)) end
  files["README.md"] = with_part(files["README.md"], "operations", pages.list())
  return files
end

--- The paths whose committed text differs from what would be made now, sorted.
---@return string[]
function M.stale()
  local stale = {}
  for path, text in pairs(M.files()) do
    local is_there, written = pcall(on_disk.read, path)
    if not is_there or written ~= text then stale[#stale + 1] = path end
  end
  table.sort(stale)
  return stale
end

local function write_all()
  for path, text in pairs(M.files()) do
    on_disk.write(path, text)
  end
end

if arg and arg[0] and arg[0]:find("docs%.lua$") then
  if arg[1] == "--check" then
    local stale = M.stale()
    for _, path in ipairs(stale) do print(path .. " differs from what tools/docs.lua makes; run `make docs`") end
    os.exit(#stale == 0)
  end
  write_all()
end

return M
