-- SPDX-License-Identifier: MIT
-- Values as people type them, and as they are shown to people.

local core = require "purser.core"
local values = require "purser.cli.values"

describe("a database on the command line", function()
  it("is the option that its text names, and other texts name none", function()
    for text, options in pairs {
      ["sqlite:/a b/limits.db"] = { sqlite = "/a b/limits.db" }, ["sqlite:limits.db"] = { sqlite = "limits.db" },
      ["redis:/run/redis.sock"] = { redis = { path = "/run/redis.sock" } },
      ["redis://127.0.0.1:6379"] = { redis = { host = "127.0.0.1", port = 6379 } },
      ["redis://cache-1.example"] = { redis = { host = "cache-1.example" } },
      ["postgresql:limits"] = { postgresql = { database = "limits" } }, ["postgresql:"] = { postgresql = {} },
    } do
      assert.same(options, values.store(text))
    end
    for _, text in ipairs { "", "sqlite:", "redis", "redis:", "redis:relative", "redis://", "redis://:word@host",
      "redis://host:port", "redis://host:1/2", "mysql:x", "SQLITE:x", "postgresql:host=h password=word",
      "postgresql://user:word@host/x" } do
      assert.is_nil(values.store(text))
    end
  end)

  it("has forms, each of which begins as the command completes it, and names a store", function()
    local shown, beginnings = values.store_forms()
    assert.equal("redis://HOST:PORT, redis:/SOCKET, sqlite:FILE or postgresql:DATABASE", shown)
    assert.same({ "redis://", "redis:/", "sqlite:", "postgresql:" }, beginnings)
    for form in shown:gsub(",? or ", ", "):gmatch "[^, ]+" do
      assert(values.store((form:gsub("PORT", "6379"))), form)
    end
  end)
end)

describe("a journal on the command line", function()
  it("is a file of SQLite or a database of PostgreSQL", function()
    for text, options in pairs { ["a.db"] = { sqlite = "a.db" }, ["/x/b c:d.db"] = { sqlite = "/x/b c:d.db" },
      ["sqlite:a.db"] = { sqlite = "a.db" }, ["sqlite:redis:x"] = { sqlite = "redis:x" },
      ["postgresql:payments"] = { postgresql = { database = "payments" } }, ["postgresql:"] = { postgresql = {} } } do
      assert.same(options, values.journal(text))
    end
  end)

  it("is nothing else, and a password is not repeated", function()
    for _, text in ipairs { "sqlite:", "postgres:word", "postgresql://user:word@host/x", "postgresql:password=word",
      "redis://word", "redis:/run/word", "mysql:word" } do
      local store, message = values.journal(text)
      assert.same({ nil, "this names no journal; give FILE, sqlite:FILE or postgresql:DATABASE" }, { store, message })
    end
  end)
end)

describe("a time on the command line", function()
  local NOW, now_ms = 1700000000000, core.now_ms

  setup(function() core.now_ms = function() return NOW end end)
  teardown(function() core.now_ms = now_ms end)

  it("is a duration before now, a date, or milliseconds", function()
    local cases = {
      ["now"] = NOW, ["30d"] = NOW - 30 * 86400000, ["12h"] = NOW - 12 * 3600000, ["90m"] = NOW - 90 * 60000,
      ["45s"] = NOW - 45000, ["2w"] = NOW - 14 * 86400000, ["1699999999999"] = 1699999999999,
      ["1970-01-01"] = 0, ["2000-02-29"] = 951782400000, ["2024-03-01"] = 1709251200000,
      ["2023-11-14T22:13:20Z"] = NOW, ["2023-11-14 22:13:20"] = NOW, ["2023-11-15T00:13:20+02:00"] = NOW,
      ["2023-11-14T16:43:20-0530"] = NOW, ["2023-11-14T22:13:20.5"] = NOW + 500, ["2023-11-14T22:13"] = NOW - 20000,
    }
    for text, ms in pairs(cases) do assert.equal(ms, values.time(text), text) end
  end)

  it("is nothing else", function()
    for _, text in ipairs { "", "d", "-1d", "1.5d", "1y", "2023-02-29", "1900-02-29", "2023-13-01", "2023-00-10",
      "2023-01-32", "2023-1-1", "2023-01-01T25:00", "2023-01-01T10", "2023-01-01T10:60", "2023-01-01T10:00X",
      "2023-01-01T10:00+25:00", "170000000000", "17000000000000", "2023-01-01T10:00:61" } do
      local ms, message = values.time(text)
      assert.is_nil(ms, text)
      assert.is_truthy(message:find("is not a time", 1, true))
    end
  end)

  it("is shown in UTC", function()
    assert.equal("2023-11-14 22:13:20", values.show_time(NOW))
    assert.equal("2023-11-14 22:13:20.007", values.show_time(NOW + 7))
    assert.equal("2023-11-14T22:13:20.007Z", values.show_time(NOW + 7, "iso"))
    assert.equal("1700000000007", values.show_time(NOW + 7, "ms"))
    assert.matches("^2023%-11%-1%d %d%d:%d%d:20 %a+", values.show_time(NOW + 7, "local"))
  end)
end)

describe("a duration on the command line", function()
  it("is a whole number with its unit, and nothing else", function()
    for text, ms in pairs { ["45s"] = 45000, ["30m"] = 1800000, ["2h"] = 7200000, ["1d"] = 86400000,
      ["2w"] = 1209600000, ["99999s"] = 99999000 } do
      assert.equal(ms, values.duration(text), text)
    end
    for _, text in ipairs { "", "0s", "5", "s", "-5s", "1.5h", "5 s", "5S", "100000s", "5y", "1h30m" } do
      assert.is_nil(values.duration(text), text)
    end
  end)
end)

describe("a state", function()
  it("is its number and its name; alone where it has none", function()
    assert.equal("SUCCESS", values.state("deposit", 5))
    assert.equal("SUCCESS", values.state("withdrawal", "7"))
    assert.equal("99", values.state("deposit", 99))
    assert.equal("x", values.state("withdrawal", "x"))
    assert.equal("nil", values.state("deposit", nil))
  end)
end)

describe("a word for a shell", function()
  it("is one word of exactly this text", function()
    local texts, words = { "", "a", "a b", "it's", "$HOME", "`id`", "a;b", "*", "~", "#x", "a\nb", "\\", "\"q\"", "!x",
      "--coin", "k=v", "T/x:y@z,+", "ä", "'" }, {}
    for i, text in ipairs(texts) do words[i] = values.shell_word(text) end
    local pipe = assert(io.popen("printf '%s\\0' " .. table.concat(words, " ")))
    assert.equal(table.concat(texts, "\0") .. "\0", pipe:read "*a")
    pipe:close()
    assert.equal("T/x:y@z,+", values.shell_word "T/x:y@z,+") -- what needs no quotes gets none
  end)
end)

describe("a message of the module", function()
  it("has the names of the command's options in place of the module's", function()
    for text, shown in pairs {
      ["`base_url` is missing"] = "--base-url is missing", ['option "base_url" is 5'] = "--base-url is 5",
      ["give base_url"] = "give --base-url", ["my_base_url stays"] = "my_base_url stays",
      ["`connect_timeout_ms` and `timeout_ms` allow more"] = "--timeout allows more",
      ["the `timeout_ms` ran out"] = "the --timeout ran out", ["`ca_file`, `ca_path` or `ca_pem`"] = "--ca-file",
      ['"ca_file" cannot be read'] = "--ca-file cannot be read", ["`proxy` is wrong"] = "--proxy is wrong",
      ["`webhook`"] = "--webhook",
      ["get a credit; give one"] = "get a credit; give --run NAME=COMMAND or --webhook NAME=URL",
      ['give `profile = "mexc"`'] = "give --profile mexc",
      ["the option `networks`"] = "--network", ["err.details.plan"] = "the plan on standard output",
      ['"recv_window" is wrong'] = "--recv-window is wrong", ["`api_key` is missing"] = "the API key is missing",
      ["one sentence.; another"] = "one sentence; another",
    } do
      assert.equal(shown, values.in_shell(text))
    end
  end)
end)
