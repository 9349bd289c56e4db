-- SPDX-License-Identifier: MIT
-- The receivers that `purser receive` and `purser sync` name, and what is said of those that wait.

local command = require "command"
local files = require "files"
local receivers = require "purser.cli.receivers"

describe("Receivers on the command line", function()
  after_each(files.remove_kept)

  it("have one name each, and are the same for both commands", function()
    for _, words in ipairs { { "receive", "run" }, { "sync" } } do
      for _, pair in ipairs { { "shop=true", "shop twice" }, { "true", "name=value" } } do
        local line = { words[1], "--to", "sqlite:" .. files.new_path(), "--run", "shop=true", "--run", pair[1] }
        if words[2] then table.insert(line, 2, words[2]) end
        local code, _, err = command.run(line, {
          PURSER_BASE_URL = "http://127.0.0.1:1", PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s", PURSER_ACCOUNT = "a" })
        assert.equal(2, code)
        assert.matches(pair[2], err, 1, true)
      end
    end
  end)

  it("that have nothing to wait for are no reason to fail", function()
    assert.equal(0, receivers.say_waiting({ { receiver = "shop", waiting = "0" } }, {}, "drop %s"))
  end)
end)
