-- SPDX-License-Identifier: MIT
-- Each later Purser opens the journals of spec/golden in SQLite, and knows all that they know.

local files = require "files"
local golden_journals = require "golden_journals"

describe("In SQLite", function()
  local paths = {}

  after_each(function()
    for _, path in ipairs(paths) do files.remove_database(path) end
    paths = {}
  end)

  local busted = { describe = describe, it = it, before_each = before_each, after_each = after_each }

  golden_journals.check(busted, function()
    paths[#paths + 1] = files.path_in_memory()
    return { sqlite = paths[#paths] }
  end)
end)
