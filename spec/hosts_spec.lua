-- SPDX-License-Identifier: MIT
-- The transports that the hosts register.

local hosts = require "purser.hosts"

describe("the hosts", function()
  it("register each transport and bridge that they have a file of, and no other", function()
    local found, listed = {}, {}
    hosts.register(function(name, module) found[module:gsub("%.", "/") .. ".lua"] = name end)
    local listing = assert(io.popen "cd lua && ls purser/hosts/*.lua purser/hosts/nginx/*.lua")
    for path in listing:lines() do
      local name = path:match "([%w_]+)%.lua$"
      if name ~= "init" and name ~= "phases" then listed[path] = name end
    end
    listing:close()
    assert.same(listed, found)
  end)
end)
