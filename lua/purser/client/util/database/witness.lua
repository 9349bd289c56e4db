-- SPDX-License-Identifier: MIT
-- The witness of a database: shows whether the database is the newest, or an older copy (a restored backup).
--
--   a file     FILE-witness beside a SQLite file contains the database's mark, the highest number that left the
--              database, and the inode and creation time of the witness file. Each note makes a new file, so a copied
--              or restored witness proves nothing. A file system without creation times may reuse an inode, so a copy
--              may go unnoticed there
--   a server   needs no file: a replica that took over, or a restored dump, is at another place
--
-- The database's owner increases the number with each fact that leaves the database, and notes the number first.

local core = require "purser.core"
local files = require "purser.client.util.files"

local Witness = {}
Witness.__index = Witness

local M = {}

local RECORD = "%s %d %s\n" -- mark, number, file
local PATTERN = "^(%S+) (%d+) (%S+)\n$"

-- Returns which file a path or an open file is; a device's number may change when the machine starts.
local function identity_of(file) return (select(3, core.file_mode(file)) or ""):match ":(.+)$" end

-- Returns where a server's tables are: they have another number when a dump made them again.
local function place_of(tx)
  local row = tx:rows("SELECT tableoid::text AS place FROM " .. tx.db.home .. " LIMIT 1")[1]
  return (tostring(tx.db.place) .. " " .. row.place):gsub(" ", "-")
end

--- Makes the database the newest, in the transaction that begins it. The file follows with Witness:note.
---@param tx table
function Witness:renew(tx)
  local mark, why
  if self.path then mark, why = core.random_token(24) else mark = place_of(tx) end
  if not mark then tx:reject("no random mark could be made: " .. tostring(why)) end
  tx:set_meta("mark", mark)
  self.mark, self.noted, self.is_new = mark, nil, true
end

-- Returns mark and number of the file; nothing where no file is, or one that was copied; or nil and a message.
local function read(self)
  local text, message, is_missing = files.read_trusted(self.path)
  if not text then return nil, not is_missing and message or nil end
  local mark, number, identity = text:match(PATTERN)
  if identity ~= identity_of(self.path) then return nil end
  return mark, tonumber(number)
end

--- Returns "newest", "older", or "unknown" where nothing shows which; or nil and a message.
---@param tx table
---@param number string|integer
---@return "newest"|"older"|"unknown"|nil state, string|nil message
function Witness:check(tx, number)
  local mark = tx:meta "mark"
  if not mark then return "unknown" end
  if not self.path then return mark == place_of(tx) and "newest" or "older" end
  local kept, known = read(self)
  if not kept then return not known and "unknown" or nil, known end
  if kept ~= mark or tonumber(number) < known then return "older" end
  self.mark, self.noted = mark, known
  return "newest"
end

local NOT_NEWEST = { older = "the database is older than it was, as where a copy was put back",
  unknown = "nothing shows that the database is the newest: its witness is missing, or was copied with it" }

--- Returns why nothing shows that the database is the newest, as a message; nil where it is.
---@param cure string  the end of the message where the witness can be read
function Witness:why_not_newest(tx, number, cure)
  local state, message = self:check(tx, number)
  if not state then return "the database's witness cannot be read: " .. message end
  return state ~= "newest" and NOT_NEWEST[state] .. cure or nil
end

local function write(self, number)
  local draft, message = files.draft(self.path)
  if not draft then return nil, message end
  local ok, why = draft:write(RECORD:format(self.mark, number, identity_of(draft.file)))
  if ok then return draft.commit() end
  draft.discard()
  return nil, why
end

--- Notes that facts up to a number may leave the database; after Witness:renew or a check that said "newest".
---@param number string|integer
---@return true|nil ok, string|nil message
function Witness:note(number)
  number = tonumber(number)
  if not self.path or self.noted and self.noted >= number then return true end
  local mark, known = read(self)
  local is_ours = self.is_new or mark == self.mark
  if not is_ours then return nil, ("the witness %s is of another database, or gone"):format(self.path) end
  local ok, message = write(self, math.max(number, not self.is_new and known or 0))
  if not ok then return nil, ("the witness %s cannot be written: %s"):format(self.path, tostring(message)) end
  self.noted, self.is_new = number, nil
  return true
end

--- Returns the witness of an open database, whose home table has the row `mark`.
---@param db table
function M.of(db)
  return setmetatable({ path = db.files and db.files[1].path .. "-witness" }, Witness)
end

return M
