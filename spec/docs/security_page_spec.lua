-- SPDX-License-Identifier: MIT
-- Every promise of docs/security.md has a test, and all that it names exists.

local options = require "purser.client.options"
local read = require("files").read

local page, report = read "docs/security.md", read "SECURITY.md"

describe("the page of promises", function()
  it("names for each promise a test that exists", function()
    local table_of_promises = page:match "\n## What is promised\n(.-)\n## "
    local rows = 0
    for promise, path, name in table_of_promises:gmatch "\n| ([^|\n]+) | `(spec/[%w_/]+%.lua)`: `([^`\n]+)` |" do
      rows = rows + 1
      local specs = read(path):gsub('it%("regression: ', 'it("'):gsub("as_root%(", "it(")
      assert(specs:find('it("' .. name, 1, true), promise .. ": no test of that name in " .. path)
    end
    local _, lines = table_of_promises:gsub("\n|", "")
    assert.equal(lines - 2, rows) -- but the head and the line below it
    assert.is_true(rows > 15)
  end)

  it("names options that exist", function()
    for _, name in ipairs { "secret_key_file", "secret_key_env", "guard", "journal", "allow_insecure" } do
      assert(page:find(name, 1, true), name .. " is not on the page")
      assert(options.vocabulary.client[name], name .. " is no option of purser.new")
    end
  end)

  it("is led to by the way to report", function()
    assert.is_truthy(report:find("](docs/security.md)", 1, true))
    assert.is_truthy(page:find("](../SECURITY.md)", 1, true))
    assert.is_truthy(read "README.md":find("](SECURITY.md)", 1, true))
  end)

  -- An address of a machine would be wrong in every copy of the repository.
  it("names no host to report to", function()
    assert.is_nil(report:find "https?://")
    assert.is_nil(report:find "%S+@%S+%.%a")
  end)
end)
