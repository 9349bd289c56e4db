-- SPDX-License-Identifier: MIT
-- The manual as HTML, as `make site` made it: `make site-test`. Every link and anchor is followed in the files; how the
-- pages look and search is asked of a headless Chromium, which opens them from the disk.
-- make test-all: 40 s

local browser_of = require "browser"
local core = require "purser.core"
local files = require "files"
local json = require "purser.json"

local ENTER, DOWN = "\238\128\135", "\238\128\149" -- the protocol's code points of keys
local lines_of, read = files.lines_of, files.read
local SITE = "build/site"
-- Searches of a newcomer, each with the page and heading that comes first.
local QUESTIONS = {
  { "windows", "docs/install.html#windows" }, { "macos install", "docs/install.html" },
  { "uninstall", "docs/troubleshooting.html#questions" },
  { "module not found", "docs/troubleshooting.html#before-the-first-call" },
  { "test network", "docs/guide.html#a-test-without-a-network" },
  { "fault", "docs/testing/simulator.html#testing-a-program-with-every-fault" },
  { "balance", "docs/client/signing.html#live-operations-balance-and-keys" },
  { "fee on top", "docs/troubleshooting.html#questions" }, { "exit codes", "docs/cli/command-line.html#exit-codes" },
  { "outcome unknown", "docs/write/outcomes.html" }, { "rotate keys", "docs/security.html#how-to-use-keys" },
  { "restore backup", "docs/write/journal.html#backups-replicas-and-failover" },
  { "container journal", "docs/write/journal.html#where-it-lives" },
  { "proxy", "docs/cli/command-line.html#behind-a-proxy-or-with-an-authority-of-ones-own" },
  { "systemd", "docs/troubleshooting.html#questions" },
  { "prometheus", "docs/desk/in-production.html#numbers-for-prometheus" },
  { "hledger", "docs/i-want-to.html#keep-books" },
  { "accountant", "docs/desk/operators-month.html#the-first-of-the-month" },
  { "two persons sign", "docs/desk/approvals.html#two-people-one-list" },
  { "spending limit", "docs/write/guard-rails.html#spending-limits" },
  { "429", "docs/client/limits.html#blocks-429-and-418" }, { "redis", "docs/client/limits.html#stores" },
  { "700002", "docs/troubleshooting.html#calls-that-are-rejected" }, { "clock", "docs/client/options.html#the-clock" },
  { "decimal", "docs/client/numbers.html" }, { "csv list payments", "docs/guide.html#a-list-of-payments" },
  { "nginx", "docs/hosts/openresty.html" }, { "neovim", "docs/hosts/hosts.html#neovim" },
  { "ccxt", "docs/coming-from-ccxt.html" }, { "deposit customer", "docs/desk/receive.html" },
  { "drop payment", "docs/troubleshooting.html#questions" },
  { "wait withdrawal", "docs/i-want-to.html#with-a-question-first" },
  { "secret memory", "docs/client/signing.html#where-the-secret-key-is" },
  -- Questions that a newcomer could not answer within two minutes, as whole sentences where that is how they come.
  { "How do I list the payments of a queue in Lua?", "docs/troubleshooting.html#questions" },
  { "payouts.read", "docs/reference/desk.html#purserpayoutsread" },
  { "decimal comma", "docs/troubleshooting.html#questions" }, { "iterator name", "docs/client/histories.html" },
  { "webhook authority", "docs/troubleshooting.html#questions" },
  { "account name in a statement of hledger", "docs/desk/books.html#a-statement" },
  { "opening balance", "docs/desk/books.html#a-statement" },
  { "Can I test without a network?", "docs/guide.html#a-test-without-a-network" },
  -- Asked after fifteen jobs of a newcomer.
  { "Does a withdrawal only go to addresses of the address book?",
    "docs/desk/payouts.html#one-withdrawal-checked-first" },
  { "How do I wait until a withdrawal is done?", "docs/desk/receive.html#waiting" },
  { "How do I move all USDT of sub-accounts to the main account?", "docs/desk/fleets.html#balances" },
  { "How do I get a CSV in my time zone?", "docs/troubleshooting.html#questions" },
  { "How do I get a message when a deposit arrives?", "docs/troubleshooting.html#questions" },
  { "What do I do after a timeout?", "docs/troubleshooting.html#no-answer-or-an-unclear-one" },
  { "What does the client do during maintenance?", "docs/troubleshooting.html#no-answer-or-an-unclear-one" },
  { "My key has expired", "docs/operations/codes.html" },
  { "Where do I store the secret keys of sub-accounts?", "docs/desk/fleets.html" },
  { "How do I convert dust?", "docs/i-want-to.html#with-a-question-first" },
  { "How do I get the transfers of a whole year?", "docs/troubleshooting.html#questions" },
  { "Can I run requests in parallel?", "docs/troubleshooting.html#questions" },
  { "How do I unit-test my script?", "docs/troubleshooting.html#questions" },
  { "How do I trust my company's CA certificate?", "docs/troubleshooting.html#questions" },
  { "Two cron jobs start at once", "docs/troubleshooting.html#questions" },
  { "Why are all payments undecided?", "docs/troubleshooting.html#journals-and-payouts" },
  { "How do I cancel a withdrawal?", "docs/i-want-to.html#with-a-question-first" },
  { "How do I withdraw everything?", "docs/desk/payouts.html#one-withdrawal-checked-first" },
  { "Which permissions must an API key have?", "docs/operations/broker.html#a5-brokercreate_api_key" },
  { "How do I log every request?", "docs/client/transports.html#writing-one" },
  -- Asked by a newcomer on an evening; the answer is a row of questions where there is no page for it alone.
  { "How do I install Purser on Debian?", "docs/install.html" },
  { "Which Lua versions does it run on?", "docs/hosts/hosts.html#versions-of-lua" },
  { "How do I keep a backup of the journal?", "docs/write/journal.html#backups-replicas-and-failover" },
  { "What happens after a crash?", "docs/troubleshooting.html#questions" },
  { "How do I give an auditor read access?", "docs/desk/access.html#an-auditor" },
  { "How do I run it each night with cron?", "docs/desk/each-night.html" },
  { "How do I upgrade to a new version?", "docs/upgrading.html" },
  { "What may change in the next version?", "docs/versions.html" },
  { "How do I create an API key?", "docs/troubleshooting.html#questions" },
  { "How do I rotate an API key?", "docs/troubleshooting.html#questions" },
  { "How do I see what a list of payments would do?", "docs/cli/command-line.html#paying-a-list" },
  { "How do I stop a running list of payments?", "docs/troubleshooting.html#questions" },
  { "Which rock do I need?", "docs/install.html#with-luarocks" },
  { "How do I try it without real money?", "docs/troubleshooting.html#questions" },
  { "Is there a testnet?", "docs/troubleshooting.html#questions" },
  { "What is the fee of a withdrawal?", "docs/desk/payouts.html#one-withdrawal-checked-first" },
  { "Why was my withdrawal rejected?", "docs/troubleshooting.html#questions" },
  { "How do I transfer between spot and futures?", "docs/operations/wallet.html#c9-wallettransfer" },
  { "How do I create a sub-account?", "docs/operations/sub-account.html" },
  { "How do I get a deposit address?", "docs/cookbook.html#an-address-and-a-deposit-to-it" },
  { "How do I set a daily limit?", "docs/write/guard-rails.html#spending-limits" },
  { "How do I connect an AI agent?", "docs/i-want-to.html#with-a-question-first" },
  { "What does undecided mean?", "docs/troubleshooting.html#questions" },
  { "How do I get a statement for my accountant?", "docs/desk/operators-month.html#the-first-of-the-month" },
  { "What do I do when the journal is lost?", "docs/write/journal.html#after-a-journal-lost-commits" },
  { "invalid signature", "docs/troubleshooting.html#calls-that-are-rejected" },
  { "Timestamp for this request is outside of the recvWindow", "docs/operations/codes.html" },
  { "permission denied", "docs/operations/codes.html" },
  { "How do I get an alert?", "docs/desk/in-production.html#alerts" },
  { "Where does the secret key go in cron?", "docs/troubleshooting.html#questions" },
  { "How do I move to a new machine?", "docs/troubleshooting.html#questions" },
  { "How do I test every error?", "docs/testing/simulator.html#testing-a-program-with-every-fault" },
  { "How fast is it?", "docs/troubleshooting.html#questions" },
  { "How do I see which request was sent?", "docs/troubleshooting.html#questions" },
  { "How many requests per second?", "docs/client/limits.html#pools" },
  { "error codes", "docs/operations/codes.html" },
  { "see what I have paid", "docs/i-want-to.html#pay" },
  -- Of forty questions written before the site was seen, the first place was right for 25; these were not.
  { "withdraw usdt", "docs/i-want-to.html#pay" }, { "check balance", "docs/i-want-to.html#see-what-there-is" },
  { "wrong signature error", "docs/troubleshooting.html#calls-that-are-rejected" },
  { "invalid ip", "docs/troubleshooting.html#calls-that-are-rejected" },
  { "timeout what now", "docs/troubleshooting.html#no-answer-or-an-unclear-one" },
  { "pay many people from a csv file", "docs/i-want-to.html#with-a-question-first" },
  { "whitelist of addresses", "docs/troubleshooting.html#questions" },
  { "backup of the journal", "docs/troubleshooting.html#questions" },
  { "move to another machine", "docs/troubleshooting.html#questions" },
  { "postgres", "docs/troubleshooting.html#questions" },
  { "keep secret key out of the shell history", "docs/troubleshooting.html#questions" },
  { "export transactions for accounting", "docs/troubleshooting.html#questions" },
  { "memo or tag missing", "docs/troubleshooting.html#questions" },
}
-- Each question typed into the search of one page, and the place that is shown first.
local FIRST_OF = [[
  const words = document.querySelector('#words');
  return arguments[0].map((question) => {
    words.value = question;
    words.dispatchEvent(new Event('input'));
    const first = document.querySelector('#results a');
    return first ? first.href : 'nothing';
  });]]
local CUT = "const all = [...document.querySelectorAll('.diagram .scroll')]; "
  .. "return all.filter((one) => one.scrollWidth > one.clientWidth).length"

-- "docs/a.html", "../index.html" -> "index.html"
local function resolved(from, target)
  if target == "" then return from end
  local parts = {}
  for part in ((from:match "^(.*/)" or "") .. target):gmatch "[^/]+" do
    if part == ".." then table.remove(parts) elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

-- Follows the links of pages (path -> HTML). Returns how many there are, and those that lead nowhere.
local function follow(pages, others)
  local ids, count, broken = {}, 0, {}
  for path, html in pairs(pages) do
    ids[path] = {}
    for id in html:gmatch '%sid="([^"]*)"' do ids[path][id] = true end
  end
  for path, html in pairs(pages) do
    for _, attribute in ipairs { "href", "src" } do
      for target in html:gmatch("%s" .. attribute .. '="([^"]*)"') do
        count = count + 1
        local file, anchor = target:match "^([^#]*)#?(.*)$"
        local page = resolved(path, file)
        local known = target:find "^https://" or target == "data:,"
          or (pages[page] or others[page]) and (anchor == "" or ids[page] and ids[page][anchor])
        if not known then broken[#broken + 1] = path .. " -> " .. target end
      end
    end
  end
  return count, broken
end

describe("the manual as HTML", function()
  local pages, others, browser, folder = {}, {}, nil, nil

  setup(function()
    folder = lines_of("cd " .. SITE .. " && pwd")[1]
    for _, path in ipairs(lines_of("cd " .. SITE .. " && find . -type f")) do
      path = path:sub(3)
      if path:find "%.html$" then pages[path] = read(SITE .. "/" .. path) else others[path] = true end
    end
    browser = browser_of.start { width = 1280, height = 900 }
  end)

  teardown(function()
    if browser then browser:stop() end
  end)

  local function open(path) browser:open("file://" .. folder .. "/" .. path) end

  local function search(words)
    browser:type(browser:find "#words", words)
    browser:wait "return !document.querySelector('#found').hidden"
  end

  it("has a page for every page of docs/, each in the navigation", function()
    for _, path in ipairs(lines_of "find docs -name '*.md'") do
      local page = path:gsub("README", "index"):gsub("%.md$", ".html")
      assert.is_truthy(pages[page], page)
      assert.is_truthy(pages["index.html"]:find(('<li><a href="%s"'):format(page), 1, true), page)
    end
    for _, page in ipairs { "index.html", "CHANGELOG.html", "SECURITY.html", "examples/sweep.lua.html" } do
      assert.is_truthy(pages[page], page)
    end
  end)

  it("has links and anchors that lead somewhere", function()
    local count, broken = follow(pages, others)
    assert.same({}, broken)
    assert.is_true(count > 3000, count)
  end)

  it("would notice a link or an anchor that leads nowhere", function()
    local _, broken = follow({ ["a/one.html"] = '<p id="x"><a href="../two.html#x"> <a href="#x"> <a href="#y">',
      ["two.html"] = '<p id="z"><img src="two.png"> <a href="a/one.html">' }, {})
    table.sort(broken)
    assert.same({ "a/one.html -> #y", "a/one.html -> ../two.html#x", "two.html -> two.png" }, broken)
  end)

  it("leads to no Markdown, and loads nothing from elsewhere", function()
    for path, html in pairs(pages) do
      assert.is_nil(html:find 'href="[^":]*%.md["#]', path)
      for target in html:gmatch '%ssrc="([^"]*)"' do assert.is_nil(target:find "//", path) end
      for tag in html:gmatch "<link[^>]*>" do assert.is_nil(tag:find "//", path) end
    end
  end)

  it("knows every section in its search", function()
    local index = read(SITE .. "/index.js")
    local entries = assert(core.decode((index:gsub("^[^%[]*", ""):gsub(";%s*$", ""))))
    local known, is_page = {}, {}
    for _, path in ipairs(lines_of "find . -path ./build -prune -o -name '*.md' -print") do
      is_page[path:sub(3):gsub("README%.md$", "index.md"):gsub("%.md$", ".html")] = true
    end
    for _, entry in ipairs(entries) do known[entry[1] .. "#" .. entry[3]] = true end
    for path, html in pairs(pages) do
      if is_page[path] then
        assert.is_true(known[path .. "#"], path)
        for id in html:gmatch '<h[23] id="([^"]*)"' do assert.is_true(known[path .. "#" .. id], path .. "#" .. id) end
      end
    end
    assert.is_true(#entries > 250, #entries)
    local commands, headings = 0, {}
    for _, entry in ipairs(entries) do headings[entry[1] .. " " .. entry[4]] = true end
    for wanted in read "docs/i-want-to.md":gmatch "\n# %.%.%. ([^\n]+)" do
      commands = commands + 1
      assert.is_true(headings["docs/i-want-to.html " .. wanted], wanted)
    end
    assert.is_true(commands >= 20, commands)
  end)

  it("draws every diagram of a page with all its arrows, and keeps their text", function()
    local count = 0
    for _, path in ipairs(lines_of "find docs -name '*.md'") do
      local arrows, html = 0, pages[path:gsub("README", "index"):gsub("%.md$", ".html")]
      for text in read(path):gmatch "\n```diagram\n(.-)\n```" do
        count = count + 1
        for line in text:gmatch "[^\n]+" do
          arrows = arrows + 1
          local label = line:match "%-%-(.-)%-%->"
          assert.is_truthy(html:find(label, 1, true), label)
        end
      end
      assert.equal(arrows, select(2, html:gsub('class="edge"', "")), path)
    end
    assert.is_true(count >= 3, count)
  end)

  it("is never wider than its window, at 1280 and 400 pixels", function()
    for _, width in ipairs { 1280, 400 } do
      browser:resize(width, 900)
      for path in pairs(pages) do
        open(path)
        assert.equal(0, browser:overflow(), ("%s at %d"):format(path, width))
        assert.equal(0, browser:run(CUT), ("a diagram of %s at %d"):format(path, width))
      end
    end
    browser:resize(1280, 900)
  end)

  it("has nothing that axe-core finds, light and dark, wide and narrow, searching or with the menu open", function()
    for _, theme in ipairs { "light", "dark" } do
      for _, width in ipairs { 1280, 400 } do
        browser:resize(width, 900)
        for _, path in ipairs { "index.html", "docs/write/outcomes.html", "docs/desk/payouts.html",
          "docs/hosts/hosts.html", "docs/cookbook.html", "examples/sweep.lua.html" } do
          open(path)
          browser:run(("document.documentElement.dataset.theme = %q"):format(theme))
          assert.same({}, browser:violations(), path)
        end
        if width == 400 then browser:click(browser:find "#menu") end
        search "reconcile"
        assert.same({}, browser:violations())
      end
    end
    browser:resize(1280, 900)
  end)

  it("finds words by the mouse and by the keyboard alone, from a disk", function()
    open "docs/client/numbers.html"
    search "reconcile"
    local best = browser:run "return document.querySelector('#results a').href"
    assert.equal("docs/write/outcomes.html#reconcile-when-the-answer-was-lost", best:sub(#folder + 9))
    assert.is_truthy(browser:run "return document.querySelector('#count').textContent":find "^%d+ places")
    assert.equal("reconcile", browser:run "return document.querySelector('#results mark').textContent")
    browser:screenshot "build/site-search.png"

    open "docs/client/numbers.html"
    browser:press "/"
    search "withdrawOrderId wallet.withdraw"
    browser:press(DOWN)
    browser:press(ENTER)
    browser:wait "return location.hash === '#c2-walletwithdraw'"

    search "nosuchwordanywhere"
    assert.equal("Nothing was found.", browser:run "return document.querySelector('#count').textContent")
    assert.equal(0, browser:run "return document.querySelectorAll('#results a').length")
  end)

  it("shows the page of a newcomer's question first", function()
    assert.is_true(#QUESTIONS >= 80, #QUESTIONS)
    local asked, expected, shown = {}, {}, {}
    for i, question in ipairs(QUESTIONS) do asked[i] = question[1] end
    open "docs/client/numbers.html"
    search "reconcile"
    for i, first in ipairs(browser:run(FIRST_OF, json.list(asked))) do
      expected[asked[i]], shown[asked[i]] = QUESTIONS[i][2], first:sub(#folder + 9)
    end
    assert.same(expected, shown)
  end)

  it("reads nothing that is searched for as HTML or as a pattern", function()
    open "index.html"
    search "<img src=x onerror=\"document.title='broken'\"> (.*"
    assert.equal(0, browser:run "return document.querySelectorAll('#found img').length")
    assert.equal("Purser", browser:run "return document.title")
  end)

  it("opens its pages on a narrow screen by a button", function()
    browser:resize(400, 900)
    open "docs/write/outcomes.html"
    assert.equal("none", browser:run "return getComputedStyle(document.querySelector('#pages')).display")
    browser:click(browser:find "#menu")
    assert.equal("true", browser:run "return document.querySelector('#menu').getAttribute('aria-expanded')")
    assert.equal("What became of a call",
      browser:run "return document.querySelector('#pages [aria-current]').textContent")
    browser:screenshot "build/site-narrow.png"
    browser:resize(1280, 900)
  end)

  it("has colours that stay chosen, and asks for no file but its own", function()
    open "docs/write/outcomes.html"
    local before = browser:run "return getComputedStyle(document.body).backgroundColor"
    browser:click(browser:find "#theme")
    open "docs/client/numbers.html"
    assert.not_equal(before, browser:run "return getComputedStyle(document.body).backgroundColor")
    browser:screenshot "build/site-dark.png"
    assert.equal(0, browser:run [[return performance.getEntriesByType('resource').filter((entry) =>
      !entry.name.startsWith('file:') && !entry.name.startsWith('data:')).length]])
    assert.same({}, browser:errors())
  end)
end)
