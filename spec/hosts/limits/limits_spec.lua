-- SPDX-License-Identifier: MIT
-- The stores by name, in options.

local limits = require "purser.hosts.limits"

describe("the options of a store", function()
  it("make the store that they name, which connects at its first use", function()
    for _, case in ipairs {
      { { sqlite = "/no/such/folder/limits.db" }, "sqlite" }, { { redis = {} }, "redis" },
      { { redis = { path = "/no/such/socket" }, namespace = "a.b:c-d_1", timeout_ms = 1 }, "redis" },
      { { redis = { host = "redis.example", allow_insecure = true } }, "redis" },
      { { postgresql = { database = "limits" } }, "postgresql" },
    } do
      local store = assert(limits.open(case[1]))
      assert.equal(case[2], store.kind)
      store:close()
    end
  end)

  it("are rejected where they name none, two, or something wrong", function()
    for _, case in ipairs {
      { {}, "names one of" }, { { namespace = "a" }, "names one of" }, { { redis = {}, sqlite = "x" }, "names one of" },
      { { reddis = {} }, "redis" }, { { sqlite = 5 }, "sqlite" }, { { sqlite = "x", timeout_ms = 0 }, "timeout_ms" },
      { { sqlite = "x", namespace = "" }, "letters, digits" },
      { { sqlite = "x", namespace = "a b" }, "letters, digits" },
      { { redis = {}, namespace = "a}{b" }, "letters, digits" }, { { redis = { prot = 1 } }, "port" },
      { { redis = { port = 65536 } }, "port" }, { { redis = { host = "redis.example" } }, "not encrypted" },
      { { redis = { path = "/s", port = 1 } }, "give path, or host and port" },
      { { redis = { password = "a\r\nFLUSHALL" } }, "option password holds a control character" },
      { { postgresql = { host = "db.example", sslmode = "disable" } }, "does not show that the server" },
      { { postgresql = { databas = "x" } }, "database" }, { { shared_dict = "limits" }, "no shared dictionary" },
    } do
      local store, problem = limits.open(case[1])
      assert.is_nil(store)
      assert.matches(case[2], problem, 1, true)
      assert.is_nil(problem:find("FLUSHALL", 1, true))
    end
  end)
end)
