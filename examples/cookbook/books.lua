-- SPDX-License-Identifier: MIT
-- Copies every history into books (LuaDBI: lua-dbi-sqlite3), and writes a page about a month for the accountant.
--
--   lua examples/cookbook/books.lua DATABASE 2026-10-01 2026-11-01 > october.html

local purser = require "purser"

if not arg[3] then
  io.stderr:write "usage: books.lua DATABASE FROM TO > PAGE.html\n"
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})
local books = assert(purser.books.open { sqlite = arg[1], client = client })
local report = assert(books:sync())
for _, problem in ipairs(report.problems) do
  io.stderr:write(problem.owner, ": ", problem.list, " was not read: ", problem.message, "\n")
end
local page = assert(books:statement { from = arg[2], to = arg[3], format = "html" })
books:close()
io.write(page)
