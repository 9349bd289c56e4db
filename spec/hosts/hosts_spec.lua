-- SPDX-License-Identifier: MIT
-- Each transport and bridge of a host has a name in `purser.transport`: a file that nobody registered shows here.

local files = require "files"
local hosts = require "purser.hosts"
local purser = require "purser"

local module_of, names = {}, {}
hosts.register(function(name, module)
  module_of[name] = module
  names[#names + 1] = name
end)

describe("the hosts", function()
  it("register each bridge by the name of its file", function()
    local count = 0
    for _, path in ipairs(files.lines_of "ls lua/purser/hosts/*.lua") do
      local name = path:match "([%w_]+)%.lua$"
      if name ~= "init" then
        assert.equal("purser.hosts." .. name, module_of[name])
        count = count + 1
      end
    end
    assert.is_true(count >= 3, count)
  end)

  it("register modules that exist, under names that purser.transport knows", function()
    assert.is_true(#names >= 5, #names)
    local _, known = pcall(function() return purser.transport["no such host"] end)
    for _, name in ipairs(names) do
      assert(io.open("lua/" .. module_of[name]:gsub("%.", "/") .. ".lua")):close()
      assert.is_truthy((known:gsub(",", " ")):find(" " .. name .. " ", 1, true), name)
    end
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
