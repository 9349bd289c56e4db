-- SPDX-License-Identifier: MIT
-- Counts of what the command has sent, and what it says while it waits for the rate limit.
-- make test: 7 s, waits

local activity = require "purser.cli.activity"
local at_shell = require "at_shell"
local command = require "command"
local eventually = require "eventually"
local files = require "files"
local printed = require "printed"
local purser = require "purser"
local skipped_time = require "skipped_time"

describe("what was sent so far", function()
  before_each(function() activity.sent, activity.open, activity.writes, activity.operation = 0, 0, 0, nil end)

  -- A request of an operation, and how it ended; nil while there is no answer.
  local function call(operation, outcome, shows)
    local hooks = activity.hooks(shows)
    local event = { operation = operation, method = "POST", path = "/p", attempt = 1, outcome = outcome,
      duration_us = 12345, http_status = outcome == "done" and 200 or nil,
      error = outcome == "rejected" and "no" or nil }
    hooks.before(event)
    if outcome then hooks.after(event) end
  end

  local READ, WRITE = "wallet.coins", "wallet.transfer"
  for _, case in ipairs {
    { {}, "nothing was sent", 0 },
    { { { READ, "done" } }, "one request was sent, which changed nothing", 0 },
    { { { READ, "done" }, { READ } }, "2 requests were sent, none of which changed anything", 0 },
    { { { READ, "unknown" } }, "one request was sent, which changed nothing", 0 },
    { { { WRITE, "rejected" } }, "one request was sent, which changed nothing", 0 },
    { { { WRITE, "not_sent" } }, "one request was sent, which changed nothing", 0 },
    { { { WRITE, "done" }, { READ, "done" } }, "one write call was done before that; none is open", 0 },
    { { { WRITE, "done" }, { WRITE, "done" } }, "2 write calls were done before that; none is open", 0 },
    { { { WRITE } }, "wallet.transfer was sent, and no answer says what became of it", 1 },
    { { { WRITE, "unknown" }, { WRITE, "done" } },
      "wallet.transfer was sent, and no answer says what became of it", 1 },
    { { { WRITE, "unknown" }, { WRITE } },
      "wallet.transfer was sent 2 times, and no answer says what became of it", 2 },
  } do
    it("in words: " .. case[2] .. " (" .. #case[1] .. ")", function()
      for _, sent in ipairs(case[1]) do call(sent[1], sent[2]) end
      assert.same({ case[2], case[3] }, { activity.summary(), activity.open })
    end)
  end

  it("is shown with --debug as it happens", function()
    local _, out, err = printed(call, WRITE, "done", true)
    assert.same({ "", "purser: debug: POST /p (wallet.transfer, attempt 1)\n"
      .. "purser: debug: wallet.transfer: done, HTTP 200 in 12 ms\n" }, { out, err })
    _, _, err = printed(call, WRITE, "rejected", true)
    assert.matches("debug: wallet.transfer: rejected in 12 ms: no\n$", err)
    assert.equal("", (select(3, printed(call, WRITE, "done"))))
  end)
end)

describe("a command that waits for the rate limit", function()
  local at, shown, limit, environment

  setup(function() at = at_shell() end)
  teardown(function() at.stop() end)

  before_each(function()
    local path = at.file()
    shown = at.file ""
    environment = at.with { PURSER_RATE_LIMIT = "sqlite:" .. path }
    limit = purser.rate_limit { store = { sqlite = path } }
  end)

  local EXPORT = { "wallet", "deposit_history", "--since", "1d", "--all" }

  -- Leaves no room in the pool for so long; without a time for the whole window.
  local function fill(wait_ms)
    local pool = limit.pools[1]
    assert(limit:acquire({ full_name = "wallet.coins", effect = "read", weight = pool.capacity },
      at.account.api_key, function(_, ms) skipped_time.sleep(ms) end))
    skipped_time.sleep(wait_ms and pool.span - wait_ms or 0)
  end

  it("says so in a line, with the operation and the seconds that are left", function()
    fill()
    local run = command.start(EXPORT, environment, shown)
    eventually(function() return files.read(shown):find "\n" end)
    run.kill "KILL"
    assert.matches("^purser: waiting: the rate limit has room in %d+ s %(wallet%.deposit_history%)\n$",
      files.read(shown))
  end)

  it("says so in its line of progress on a terminal", function()
    fill()
    local run = command.start_on_terminal(EXPORT, environment, shown)
    eventually(function() return files.read(shown):find "room" end)
    run.kill "KILL"
    assert.matches("\r\27%[Kthe rate limit has room in %d+ s; wallet%.deposit_history: 0 records", files.read(shown))
  end)

  it("says nothing of it with -q, and of a wait that is shorter than a second", function()
    fill(1500)
    assert.same({ 0, "" }, { select(1, command.run({ "wallet", "coins", "-q" }, environment)),
      select(3, command.run({ "wallet", "coins", "-q" }, environment)) })
    fill(900)
    assert.equal("", (select(3, command.run({ "wallet", "coins" }, environment))))
  end)
end)
