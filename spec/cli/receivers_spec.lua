-- SPDX-License-Identifier: MIT
-- The receivers that `purser receive` and `purser sync` name, and what is said of those that wait.

local command = require "command"
local files = require "files"
local receivers = require "purser.cli.receivers"
local report = require "purser.cli.report"

describe("Receivers on the command line", function()
  after_each(files.remove_kept)

  it("have one name each, and are the same for both commands", function()
    for _, words in ipairs { { "receive", "run", "--to" }, { "sync", "--books" } } do
      for _, pair in ipairs { { "shop=true", "shop twice" }, { "true", "name=value" } } do
        local line = { "sqlite:" .. files.new_path(), "--run", "shop=true", "--run", pair[1] }
        for i, word in ipairs(words) do table.insert(line, i, word) end
        local code, _, err = command.run(line, {
          PURSER_BASE_URL = "http://127.0.0.1:1", PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s", PURSER_ACCOUNT = "a" })
        assert.equal(2, code)
        assert.matches(pair[2], err, 1, true)
      end
    end
  end)

  it("of an own authority get --ca-file, and what they said of it names the options of the shell", function()
    local made = receivers.of { run = {}, webhook = { { "shop", "https://shop.example/" } }, ca_file = "ca.pem" }
    assert.same({ shop = { webhook = "https://shop.example/", ca_file = "ca.pem" } }, made)
    local said, say = nil, report.say
    report.say = function(...) said = string.format(...) end
    local row = { receiver = "shop", waiting = "1", since = "1700000000000",
      error = "not accepted; named by `ca_file`, `ca_path` or `ca_pem`; check `webhook`" }
    local code = receivers.say_waiting({ row }, made, "drop %s")
    report.say = say
    assert.equal(5, code)
    assert.matches("; not accepted; named by --ca-file; check --webhook", said, 1, true)
  end)

  it("that have nothing to wait for are no reason to fail", function()
    assert.equal(0, receivers.say_waiting({ { receiver = "shop", waiting = "0" } }, {}, "drop %s"))
  end)
end)
