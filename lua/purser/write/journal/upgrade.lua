-- SPDX-License-Identifier: MIT
-- A journal of an older version, or of an older reader of addresses, is brought to the present one as it is opened: in
-- one transaction, without a copy. A program of the older version that has the file open is refused by its next call
-- (home.lua reads the version in the transaction that records a call).

local core = require "purser.core"
local digests = require "purser.write.digests"
local home = require "purser.write.journal.home"
local operations = require "purser.client.operations"
local policy = require "purser.write.policy"

local M = {}

--- Steps by version: each brings a journal of that version to the next. Version 8 is the first of a release. No step is
--- ever taken out or changed.
---@type table<integer, fun(tx: table)>
M.steps = {}

local PAGE = 1000
local READ = [[SELECT id, operation, params, digest FROM purser_calls WHERE id > $1 AND params <> '{}'
  ORDER BY id LIMIT ]] .. PAGE

-- Makes the likenesses anew. A row whose values were pruned, or whose operation is unknown, keeps its own.
local function make_likenesses(tx)
  local after, number = "", PAGE
  while number == PAGE do
    local rows = tx:rows(READ, after)
    number = #rows
    for _, row in ipairs(rows) do
      local operation, params = operations.by_name[row.operation], core.decode(row.params)
      local likeness = operation and type(params) == "table" and digests.likeness(operation, params) or row.digest
      if likeness ~= row.digest then
        tx:rows("UPDATE purser_calls SET digest = $1 WHERE id = $2", likeness, row.id)
      end
      after = row.id
    end
  end
end

--- Returns whether a journal has to be brought to the present version or reader.
---@param own purser.JournalHome
function M.is_due(own)
  return tonumber(own.version) < home.VERSION or (tonumber(own.reader) or 0) < digests.READER
end

--- Brings a journal to the present version and reader.
---@param own purser.JournalHome  as this transaction has read it
function M.run(tx, own)
  for version = tonumber(own.version), home.VERSION - 1 do M.steps[version](tx) end
  tx:set_meta("version", ("%d"):format(home.VERSION))
  if (tonumber(own.reader) or 0) >= digests.READER then return end
  make_likenesses(tx)
  if own.gate then policy.read_again(tx) end
  tx:set_meta("reader", ("%d"):format(digests.READER))
end

return M
