-- SPDX-License-Identifier: MIT
-- The stores by name, in options and on the command line.

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

  it("have forms, each of which begins as the command completes it, and names a store", function()
    local shown, beginnings = limits.forms()
    assert.equal("redis://HOST:PORT, redis:/SOCKET, sqlite:FILE or postgresql:DATABASE", shown)
    assert.same({ "redis://", "redis:/", "sqlite:", "postgresql:" }, beginnings)
    for form in shown:gsub(",? or ", ", "):gmatch "[^, ]+" do
      assert(limits.parse((form:gsub("PORT", "6379"))), form)
    end
  end)

  it("are those that a text of the command line names", function()
    for text, options in pairs {
      ["sqlite:/a b/limits.db"] = { sqlite = "/a b/limits.db" }, ["sqlite:limits.db"] = { sqlite = "limits.db" },
      ["redis:/run/redis.sock"] = { redis = { path = "/run/redis.sock" } },
      ["redis://127.0.0.1:6379"] = { redis = { host = "127.0.0.1", port = 6379 } },
      ["redis://cache-1.example"] = { redis = { host = "cache-1.example" } },
      ["postgresql:limits"] = { postgresql = { database = "limits" } }, ["postgresql:"] = { postgresql = {} },
    } do
      assert.same(options, limits.parse(text))
    end
    for _, text in ipairs { "", "sqlite:", "redis", "redis:", "redis:relative", "redis://", "redis://:word@host",
      "redis://host:port", "redis://host:1/2", "mysql:x", "SQLITE:x", "postgresql:host=h password=word",
      "postgresql://user:word@host/x" } do
      assert.is_nil(limits.parse(text))
    end
  end)
end)
