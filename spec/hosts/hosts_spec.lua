-- SPDX-License-Identifier: MIT
-- Each transport and bridge of a host has a name in `purser.transport`: a file that nobody registered shows here.

local files = require "files"
local hosts = require "purser.hosts"
local purser = require "purser"

describe("the hosts", function()
  it("register each transport and bridge that they have a file of, and no other", function()
    local found, listed = {}, {}
    hosts.register(function(name, module) found[module:gsub("%.", "/") .. ".lua"] = name end)
    for _, path in ipairs(files.lines_of "cd lua && ls purser/hosts/*.lua purser/hosts/nginx/*.lua") do
      local name = path:match "([%w_]+)%.lua$"
      if name ~= "init" and name ~= "phases" then listed[path] = name end
    end
    assert.same(listed, found)
  end)

  it("have each transport that the pages name", function()
    local _, known = pcall(function() return purser.transport["no such host"] end)
    local count = 0
    for _, path in ipairs(files.lines_of "find docs README.md -name '*.md' ! -path '*/reference/*'") do
      for name in files.read(path):gmatch "purser%.transport%.([%a_]+)" do
        assert.is_truthy((known:gsub(",", " ")):find(" " .. name .. " ", 1, true), path .. " names " .. name)
        count = count + 1
      end
    end
    assert.is_true(count > 10, count)
  end)
end)
