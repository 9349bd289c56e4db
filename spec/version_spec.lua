-- SPDX-License-Identifier: MIT
-- The version is written once, and what else names it agrees.

local files = require "files"
local version = require "purser.version"

describe("the version", function()
  it("is what the module says", function()
    assert.matches("^%d+%.%d+%.%d+$", version)
    assert.equal(version, require("purser")._VERSION)
  end)

  it("is that of the rockspecs, unless they follow the repository", function()
    local listing = assert(io.popen "ls *.rockspec")
    for path in listing:lines() do
      local named = assert(files.read(path):match '\nversion *= *"([^"]+)"', path)
      if named ~= "scm-1" then assert.equal(version, (named:gsub("%-%d+$", ""))) end
    end
    listing:close()
  end)

  it("is at the top of the changelog: released, or still to be", function()
    local headings = {}
    for heading in files.read("CHANGELOG.md"):gmatch "\n## %[([^%]]+)%]" do headings[#headings + 1] = heading end
    if headings[1] == "Unreleased" then
      assert.not_equal(version, headings[2], version .. " is released; the next version needs another number")
    else
      assert.equal(version, headings[1])
    end
  end)

  it("is written in no other file", function()
    local command = "tools/files 'lua/*' 'src/*' 'bin/*' '*-scm-1.rockspec' Makefile 'tools/*' 'examples/*' "
      .. "| xargs grep -lF '%s'"
    local found = assert(io.popen(command:format(version)))
    assert.equal("lua/purser/version.lua\n", found:read "*a")
    found:close()
  end)
end)
