-- SPDX-License-Identifier: MIT
-- The answers to thirty questions are found in the site's search by a word or two: the answer is among the first five
-- places.
-- make test-all: 40 s

local browser_of = require "browser"
local files = require "files"

local asked = {
  { "windows", "questions" }, { "macos", "install" }, { "uninstall", "install" }, { "test network", "questions" },
  { "api key made", "questions" }, { "90 days key", "questions" }, { "own balance", "questions" },
  { "withdraw all", "questions" }, { "fee inside", "questions" }, { "one payment", "one-payment" },
  { "drop payment", "payouts" }, { "unknown", "outcomes" }, { "exit codes", "command-line" },
  { "two persons", "questions" }, { "several programs", "questions" }, { "rate limit", "limits" },
  { "rotate keys", "questions" }, { "encrypted journal", "questions" }, { "restored backup", "questions" },
  { "journal upgraded", "questions" }, { "proxy shell", "questions" }, { "ca shell", "questions" },
  { "cron", "questions" }, { "systemd", "in-production" }, { "mail chat", "questions" },
  { "prometheus", "in-production" }, { "hledger", "books" }, { "scripts ci", "questions" },
  { "columns list", "questions" }, { "time zone", "questions" }, { "page large", "questions" },
}

describe("the site's search", function()
  local browser

  setup(function()
    browser = browser_of.start { width = 1280, height = 900 }
    browser:open("file://" .. files.lines_of("cd build/site && pwd")[1] .. "/index.html")
  end)
  teardown(function()
    if browser then browser:stop() end
  end)

  for _, question in ipairs(asked) do
    it(("answers %q by the page %s"):format(question[1], question[2]), function()
      browser:run "document.querySelector('#words').value = ''"
      browser:type(browser:find "#words", question[1])
      browser:wait "return !document.querySelector('#found').hidden"
      local first = browser:run [[return [...document.querySelectorAll('#results a')].slice(0, 5)
        .map((a) => a.getAttribute('href')).join(' ')]]
      assert.is_truthy((" " .. first):find(question[2] .. ".html", 1, true), first)
    end)
  end
end)
