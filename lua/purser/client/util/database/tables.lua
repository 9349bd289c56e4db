-- SPDX-License-Identifier: MIT
-- Makes the tables of a database, and checks the version of existing tables.

local M = {}

---@class purser.Tables  the tables of a room
---@field home string     the table that shows whether a database has the tables; has columns name and value
---@field lock integer    PostgreSQL's advisory lock: one program at a time makes the tables
---@field create fun(tx: table)  makes the tables
---@field version string|nil     kept in the row `version` of `home`; tables of another version are refused
---@field subject string|nil     begins the message of that refusal: "the books"
---@field check nil|fun(tx: table): any  in place of a version: returns what exists, or ends the transaction
---@field is_due nil|fun(found: any): boolean  whether existing tables need `upgrade`
---@field upgrade nil|fun(tx: table, found: any)

--- Makes tables of texts, and their indexes: a table is { name, columns, how many of these are its key }.
---@param prefix string  of the names, as "purser_books_"
---@param list table[]
---@param indexes string[]  "name ON PREFIX_table (columns)"
---@param further nil|fun(name: string): string[]  definitions of a table's further columns
function M.create(tx, prefix, list, indexes, further)
  for _, one in ipairs(list) do
    local names, parts = {}, {}
    for name in one[2]:gmatch "%S+" do
      names[#names + 1], parts[#parts + 1] = ('"%s"'):format(name), ('"%s" TEXT NOT NULL'):format(name)
    end
    for _, definition in ipairs(further and further(one[1]) or {}) do parts[#parts + 1] = definition end
    parts[#parts + 1] = ("PRIMARY KEY (%s)"):format(table.concat(names, ", ", 1, one[3]))
    tx:rows(("CREATE TABLE %s%s (%s)"):format(prefix, one[1], table.concat(parts, ", ")))
  end
  for _, sql in ipairs(indexes) do tx:rows("CREATE INDEX " .. prefix .. sql) end
end

-- Returns false without tables, else what `check` returns, or true. Refuses another version.
local function find(tx, set)
  if not tx:has(set.home) then return false end
  if set.check then return set.check(tx) end
  return tx:meta "version" == set.version or tx:reject(set.subject .. " are of another version of Purser")
end

local function is_due(set, found) return found and set.is_due and set.is_due(found) end

--- Makes missing tables, and upgrades old ones. Returns true; false for missing tables where `may_make` is false; or
--- nil and a message.
---@param set purser.Tables
---@param may_make boolean|nil
---@return boolean|nil ok, any message
function M.prepare(db, set, may_make)
  local found, message = db:transaction(function(tx) return find(tx, set) end, true)
  if found == nil then return nil, message end
  if found and not is_due(set, found) then return true end
  if not found and may_make == false then return false end
  return db:transaction(function(tx)
    tx:lock(set.lock)
    found = find(tx, set) -- another process may have been first
    if not found then
      set.create(tx)
      if set.version then tx:set_meta("version", set.version) end
    elseif is_due(set, found) then
      set.upgrade(tx, found)
    end
    return true
  end)
end

return M
