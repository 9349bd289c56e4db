-- SPDX-License-Identifier: MIT
-- How a journal's server is reached: what is asked of one that may be another machine. (spec/torture/on_postgresql.lua
-- has the servers.)

local postgresql = require "purser.util.database.postgresql"

local function is_verified(host)
  return postgresql.conninfo({ host = host, database = "payouts" }):find("sslmode='verify-full'", 1, true) ~= nil
end

describe("the certificate of a journal's server", function()
  it("is not needed of this machine", function()
    for _, host in ipairs { "localhost", "127.0.0.1", "127.8.9.10", "::1", "/run/postgresql", "@name", "/tmp,::1" } do
      assert.is_false(is_verified(host), host)
    end
  end)

  it("is needed of every other host", function()
    for _, host in ipairs { "db.example", "10.0.0.1", "127.0.0.256", "127.1", "127.0.0.1.example" } do
      assert.is_true(is_verified(host), host)
    end
  end)

  it("is needed where a list of hosts names one other host, whatever it begins with", function()
    for _, host in ipairs { "/tmp,10.0.0.1", "@a,db.example", "127.0.0.1,10.0.0.1", "10.0.0.1,/tmp", ",db.example" } do
      assert.is_true(is_verified(host), host)
      local options = { host = host, sslmode = "prefer" }
      assert.matches("allow_insecure", postgresql.message(options), 1, true)
    end
  end)
end)
