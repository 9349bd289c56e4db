-- SPDX-License-Identifier: MIT
-- The tables of a database: how they are made, and which version they are of. A set of tables is
--
--   home      the table, of names and values, by which a database is known to have them
--   version   its row `version`: tables of another one are not used
--   lock      PostgreSQL's advisory lock under which one program at a time makes them
--   create    create(tx) makes them; `M.create` does for those whose columns are all texts

local M = { OTHER = "of another version of Purser" }

---@class purser.Tables
---@field home string
---@field lock integer
---@field create fun(tx: table)
---@field version string|nil
---@field check nil|fun(tx: table): any  in place of a version: what is there, or a transaction that ends
---@field is_due nil|fun(found: any): boolean  whether what is there must be brought to the present version
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

-- Returns what is there, or false. Ends the transaction for tables of another version.
local function find(tx, set)
  if not tx:has(set.home) then return false end
  if set.check then return set.check(tx) end
  return tx:meta "version" == set.version or tx:reject(M.OTHER)
end

--- Makes the tables where there are none, and brings those that are there to the present version. Returns true; false
--- where there are none and `may_make` is false; or nil and a message.
---@param set purser.Tables
---@param may_make boolean|nil
---@return boolean|nil ok, any message
function M.prepare(db, set, may_make)
  local found, message = db:transaction(function(tx) return find(tx, set) end, true)
  local is_due = found and set.is_due and set.is_due(found)
  if found == nil then return nil, message end
  if found and not is_due then return true end
  if not found and may_make == false then return false end
  return db:transaction(function(tx)
    tx:lock(set.lock)
    found = find(tx, set) -- another process may have been first
    if not found then
      set.create(tx)
    elseif set.is_due and set.is_due(found) then
      set.upgrade(tx, found)
    end
    return true
  end)
end

return M
