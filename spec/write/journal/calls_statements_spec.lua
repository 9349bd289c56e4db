-- SPDX-License-Identifier: MIT
-- So many statements a call costs on SQLite: `make spec SPEC=spec/write/journal/calls_statements_spec.lua` prints them.

local counted_statements = require "counted_statements"
local files = require "files"

it("a call with a journal costs few statements, with a key and without one, and as a payment of a list", function()
  local path = files.path_in_memory()
  local counts = counted_statements { sqlite = path }
  files.remove_database(path)
  print(("# SQLite: %d statements a call, %d with a key, %.2f a payment"):format(counts.call, counts.with_key,
    counts.payment))
  assert.is_true(counts.call <= 11 and counts.with_key <= 14 and counts.payment <= 14, "above the bound")
end)
