-- SPDX-License-Identifier: MIT
-- The simulator's page in a real browser: `make console-test`. What a person does is done with the mouse and the
-- keyboard; what the simulator made of it is asked of the simulator.
-- make test-all: 40 s

local browser_of = require "browser"
local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"
local json = require "purser.json"
local purser = require "purser"

local TAB = "\238\128\132"   -- the protocol's code points of keys
local ENTER = "\238\128\135"

describe("the console", function()
  local service, browser, account

  setup(function()
    service = require("service").start({ "--seed", "3", "--clock", "virtual" })
    account = assert(service.world:account { name = "Acme", role = "broker", email = "ops@acme.example",
      balances = { USDT = "25000", BTC = "0.75", ETH = "12.500000000000000001", MX = "40" } })
    browser = browser_of.start { width = 1280, height = 1000 }
    browser:open(service.url .. "/console")
    browser:wait "return document.querySelector('#sound').textContent === 'books balance'"
  end)

  teardown(function()
    if browser then browser:stop() end
    if service then service.stop() end
  end)

  local function client(secret)
    return assert(purser.new { base_url = service.url, api_key = account.api_key, retry = false,
      secret_key = secret or account.secret_key, clock = function() return service.world:refresh() end })
  end

  -- A deposit history asked for by hand, its signature made of `change` of the text that is sent.
  local function ask_with_wrong_text(change)
    local query = ("coin=USDT&network=Tron%%28TRC20%%29&limit=5&timestamp=%d"):format(service.world:refresh())
    local signature = assert(core.signer("hmac-sha256", account.secret_key)):sign(change(query))
    local http = assert(libcurl.easy { base_url = service.url })
    assert(http:send { method = "GET",
      target = "/api/v3/capital/deposit/hisrec?" .. query .. "&signature=" .. signature,
      headers = { ["X-MEXC-APIKEY"] = account.api_key } })
    http:close()
    return query
  end

  local function decoded(query) return (query:gsub("%%28", "("):gsub("%%29", ")")) end

  local function text(selector)
    return browser:run(("return document.querySelector(%q).textContent"):format(selector))
  end

  it("shows accounts with their exact balances", function()
    browser:wait "return document.querySelector('#accounts h3') !== null"
    assert.equal("Acme", text "#accounts h3")
    assert.is_truthy(text "#accounts article":find("12.500000000000000001", 1, true))
  end)

  it("moves the clock by its buttons", function()
    local before = service.world:refresh()
    browser:click(browser:find "[data-ms='3600000']")
    browser:wait "return document.querySelector('#said').textContent.includes('1 hour')"
    assert.equal(before + 3600000, service.world:refresh())
    assert.equal(os.date("!%Y-%m-%d %H:%M:%S", math.floor(service.world:refresh() / 1000)) .. " UTC",
      text "#now")
  end)

  it("delivers a deposit, which is credited as the clock moves", function()
    local amount = browser:find "#deposit [name=amount]"
    browser:clear(amount)
    browser:type(amount, "100.25" .. ENTER) -- by the keyboard alone
    browser:wait "return document.querySelector('#said').textContent.includes('100.25 USDT')"
    browser:click(browser:find "[data-ms='86400000']")
    browser:wait "return document.querySelector('#accounts').textContent.includes('25100.25')"
    assert.equal("100.25", assert(client().wallet:deposit_history { coin = "USDT" })[1].amount)
  end)

  it("says what is wrong with a deposit", function()
    local amount = browser:find "#deposit [name=amount]"
    browser:clear(amount)
    browser:type(amount, "0" .. ENTER)
    browser:wait "return document.querySelector('#said').className === 'failed'"
  end)

  it("offers only networks that take deposits, of the coin that is chosen", function()
    browser:run [[const coin = document.querySelector('#deposit [name=coin]'); coin.value = 'BTC';
      coin.dispatchEvent(new Event('change'))]]
    assert.equal("Bitcoin(BTC)BNB Smart Chain(BEP20)", text "#deposit [name=network]")
    browser:run [[const coin = document.querySelector('#deposit [name=coin]'); coin.value = 'USDT';
      coin.dispatchEvent(new Event('change'))]]
  end)

  it("shows requests with operation and outcome, the newest first", function()
    local wallet = client().wallet
    assert(wallet:coins())
    local done = assert(wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "BTC",
      amount = "0.1" })
    assert.is_truthy(done.tranId)
    assert.is_nil((wallet:withdraw { coin = "USDT", netWork = "TRX", address = "nowhere", amount = "10" }))
    browser:wait "return document.querySelector('#requests tbody tr td:nth-child(2)').textContent === 'wallet.withdraw'"
    assert.equal("rejected", text "#requests tbody tr .tag")
    assert.equal("400", text "#requests tbody tr td:nth-child(4)")
    assert.equal("wallet.transfer", text "#requests tbody tr:nth-child(2) .open")
    assert.equal("applied", text "#requests tbody tr:nth-child(2) .tag")
    assert.is_truthy(text "#accounts":find("FUTURES", 1, true))
  end)

  it("shows a rejected request's answer, and what cures it", function()
    browser:run "document.querySelector('#requests tbody tr .open').click()"
    browser:wait "return document.querySelector('.detail .answer') !== null"
    assert.is_truthy(text ".detail .note":find("Answer, HTTP 400", 1, true))
    assert.is_truthy(text ".detail .answer":find("The address does not fit the network", 1, true))
    assert.is_truthy(text ".detail .cure":find("^What to do: %l"))
    browser:run "document.querySelector('#requests tbody tr .open').click()"
    browser:wait "return document.querySelector('.detail') === null"
  end)

  it("keeps no answer of a request that was applied, which may hold a secret", function()
    assert(client().sub_account:create_sub_account { subAccount = "deskSouth", note = "desk" })
    local key = assert(client().sub_account:create_api_key { subAccount = "deskSouth", note = "desk",
      permissions = { "SPOT_ACCOUNT_READ" } })
    browser:wait "return document.querySelector('#requests .open').textContent === 'sub_account.create_api_key'"
    browser:run "document.querySelector('#requests tbody tr .open').click()"
    browser:wait "return document.querySelector('.detail') !== null"
    assert.is_truthy(text ".detail":find("are not kept", 1, true))
    browser:run "document.querySelector('[data-kind=keys]').click()"
    assert.is_truthy(text "#records":find(key.apiKey:sub(1, 5) .. "…" .. key.apiKey:sub(-2), 1, true))
    assert.is_nil(browser:run "return document.body.innerHTML":find(key.secretKey, 1, true))
    browser:run "document.querySelector('#requests tbody tr .open').click()"
  end)

  it("lists deposits, withdrawals and transfers with their states, and fails a withdrawal", function()
    assert.is_truthy(text "#kinds":find("Deposits 1Withdrawals 0Transfers 1Keys 2", 1, true))
    browser:run "document.querySelector('[data-kind=deposits]').click()"
    assert.is_truthy(text "#records tbody tr":find("100.25 USDT.*5 SUCCESS"))
    browser:run "document.querySelector('[data-kind=transfers]').click()"
    assert.is_truthy(text "#records tbody tr":find("Acme SPOTAcme FUTURES0.1 BTCSUCCESS", 1, true))
    local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
    local made = assert(client().wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "10",
      withdrawOrderId = "rent-1" })
    browser:run "document.querySelector('[data-kind=withdrawals]').click()"
    browser:wait "return document.querySelector('#records').textContent.includes('rent-1')"
    assert.is_truthy(text "#records tbody tr":find("1 APPLY", 1, true))
    browser:click(browser:find "#records tbody button")
    browser:wait "return document.querySelector('#records').textContent.includes('8 FAILED')"
    assert.equal(0, browser:run "return document.querySelectorAll('#records button').length")
    local record = assert(client().wallet:withdrawal_history { coin = "USDT" })[1]
    assert.equal(made.id, record.id)
    assert.equal(8, record.status)
  end)

  it("freezes an account and makes it active again", function()
    local function desk() return assert(client().sub_account:list_sub_accounts { subAccount = "deskSouth" })[1] end
    local button = "[aria-label='Freeze deskSouth']"
    browser:wait(("return document.querySelector(%q) !== null"):format(button))
    browser:click(browser:find(button))
    browser:wait "return document.querySelector('#accounts .tag.bad') !== null"
    assert.is_true(desk().isFreeze)
    browser:click(browser:find "[aria-label='Unfreeze deskSouth']")
    browser:wait "return document.querySelector('#accounts .tag.bad') === null"
    assert.is_false(desk().isFreeze)
  end)

  it("opens an account and shows its keys, which work", function()
    browser:run [[const form = document.querySelector('#open').elements; form.role.value = 'sub';
      form.role.dispatchEvent(new Event('change')); form.amount.value = '7.5']]
    browser:type(browser:find "#open [name=name]", "deskNorth" .. ENTER)
    browser:wait "return document.querySelector('#opened pre') !== null"
    local api_key, secret = text "#opened pre":match "PURSER_API_KEY=(%w+)\nexport PURSER_SECRET_KEY=(%w+)$"
    local desk = assert(purser.new { base_url = service.url, api_key = api_key, secret_key = secret, retry = false,
      clock = function() return service.world:refresh() end })
    assert(desk.wallet:deposit_history { coin = "USDT" })
    browser:wait "return document.querySelector('#accounts').textContent.includes('deskNorth')"
    assert.is_truthy(text "#accounts article:last-child":find("sub · uid %d+ · of " .. account.uid))
    assert.is_truthy(text "#accounts article:last-child":find("7.5", 1, true))
  end)

  it("folds and filters the accounts, and keeps them so while they change", function()
    local function count(selector)
      return browser:run(("return document.querySelectorAll(%q).length"):format(selector))
    end
    browser:type(browser:find "#account-filter", "desk sub")
    browser:wait "return document.querySelectorAll('#accounts article:not([hidden])').length === 2"
    browser:click(browser:find "#accounts article:not([hidden]) summary")
    browser:wait "return document.querySelectorAll('#accounts article:not([hidden]) details[open]').length === 1"
    assert(service.world:deposit { account = "deskSouth", coin = "USDT", network = "Tron(TRC20)", amount = "3" })
    browser:run "document.querySelector('[data-ms=\"86400000\"]').click()"
    browser:wait "return document.querySelector('#accounts article:not([hidden])').textContent.includes('USDT')"
    assert.equal(1, count "#accounts article:not([hidden]) details[open]")
    browser:clear(browser:find "#account-filter")
    browser:wait "return document.querySelectorAll('#accounts article[hidden]').length === 0"
    browser:click(browser:find "#fold")
    assert.equal(0, count "#accounts details[open]")
    browser:click(browser:find "#fold")
    assert.equal(0, count "#accounts details:not([open])")
  end)

  it("shows a rejected signature's two texts side by side, marked where they differ", function()
    local query = ask_with_wrong_text(decoded)
    browser:wait "return document.querySelector('#requests tbody tr td:nth-child(5)').textContent === '700002'"
    browser:click(browser:find "#requests tbody tr .open")
    browser:wait "return document.querySelectorAll('.texts pre').length === 2"
    assert.equal("The client signed the values before they were percent-encoded.", text ".detail .note")
    assert.equal(decoded(query), text ".texts > :first-child pre")
    assert.equal(query, text ".texts > :last-child pre")
    assert.equal("(TRC20)", text ".texts > :first-child mark")
    assert.equal("%28TRC20%29", text ".texts > :last-child mark")
    assert.is_true(browser:run [[const [left, right] = document.querySelectorAll('.texts pre');
      return left.getBoundingClientRect().top === right.getBoundingClientRect().top]])
    browser:click(browser:find "#requests tbody tr .open")
  end)

  it("says so when no usual mistake explains a signature", function()
    local rows = browser:run "return document.querySelectorAll('#requests tbody tr').length"
    assert.is_nil((client("anothersecret").wallet:deposit_history { coin = "USDT", limit = 5 }))
    browser:wait(("return document.querySelectorAll('#requests tbody tr').length === %d"):format(rows + 1))
    browser:click(browser:find "#requests tbody tr .open")
    browser:wait "return document.querySelectorAll('.texts pre').length === 2"
    local arrived, expected = text ".texts > :first-child pre", text ".texts > :last-child pre"
    assert.equal(expected, arrived)
    assert.is_truthy(expected:find("^coin=USDT&limit=5&"))
    assert.is_truthy(text ".detail .note":find("another secret key", 1, true))
    assert.is_nil(browser:run "return document.querySelector('main').innerHTML":find("signature=%x"))
  end)

  it("keeps a detail open while the page is brought up to date, and closes it by the keyboard", function()
    assert(client().wallet:convertible_balances())
    browser:wait "return document.querySelector('#requests .open').textContent === 'wallet.convertible_balances'"
    assert.equal(2, browser:run "return document.querySelectorAll('.texts pre').length")
    browser:run "document.querySelector('.open[aria-expanded=true]').focus()"
    browser:press(ENTER)
    browser:wait "return document.querySelector('.detail') === null"
  end)

  it("opens and closes a detail by a click anywhere in its row, and not while a text is marked", function()
    local time = browser:find "#requests tbody tr .time"
    browser:click(time)
    browser:wait "return document.querySelector('.detail') !== null"
    assert.equal("true", browser:run "return document.querySelector('#requests .open').getAttribute('aria-expanded')")
    browser:run "getSelection().selectAllChildren(document.querySelector('#requests .time'))"
    browser:run "document.querySelector('#requests tbody tr').click()"
    assert.is_true(browser:run "return document.querySelector('.detail') !== null")
    browser:run "getSelection().removeAllRanges()"
    browser:click(time)
    browser:wait "return document.querySelector('.detail') === null"
  end)

  it("filters the requests", function()
    local filter = browser:find "#filter"
    browser:type(filter, "Withdraw rejected")
    browser:wait "return [...document.querySelectorAll('#requests tbody tr')].filter((row) => !row.hidden).length === 1"
    assert.equal("wallet.withdraw", text "#requests tbody tr:not([hidden]) .open")
    browser:clear(filter)
    browser:wait "return [...document.querySelectorAll('#requests tbody tr')].every((row) => !row.hidden)"
  end)

  it("arms a fault that strikes, and disarms what is left", function()
    browser:run [[const form = document.querySelector('#fault'); form.elements.kind.value = 'lost_answer';
      form.elements.operation.value = 'wallet.transfer'; form.elements.times.value = '2']]
    browser:click(browser:find "#fault button.main")
    browser:wait "return document.querySelector('#faulty').textContent === '1 fault armed'"
    assert.is_truthy(text "#armed":find("wallet.transfer, 2 times", 1, true))
    local done, err = client().wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "BTC",
      amount = "0.05" }
    assert.is_nil(done)
    assert.equal("unknown", err.outcome)
    browser:wait "return document.querySelector('#armed').textContent.includes('1 time')"
    assert.is_truthy(text "#requests tbody tr":find("lost answer", 1, true))
    browser:click(browser:find "#disarm")
    browser:wait "return getComputedStyle(document.querySelector('#faulty')).display === 'none'"
    assert.equal(0, browser:run "return document.querySelectorAll('#armed li').length")
  end)

  it("can be walked through with the keyboard, everything visibly focused and named", function()
    browser:command("POST", "/refresh", json.object {})
    browser:wait "return document.querySelector('#accounts h3') !== null"
    local reached = {}
    for _ = 1, 80 do
      browser:press(TAB)
      if browser:run "return document.activeElement === document.body" then break end -- behind the last
      local name = browser:run [[const at = document.activeElement;
        return at.id || at.name || at.dataset.ms || at.dataset.kind || at.className
          || at.textContent.trim().slice(0, 20)]]
      reached[name] = true
      assert.is_true(browser:run "return getComputedStyle(document.activeElement).outlineStyle !== 'none'", name)
    end
    for _, name in ipairs { "skip", "theme", "60000", "account", "coin", "amount", "network", "kind", "times",
      "fold", "account-filter", "filter", "name", "role", "deposits" } do
      assert.is_true(reached[name], name)
    end
    assert.equal(0, browser:run [[return [...document.querySelectorAll('input, select')].filter((field) =>
      !field.labels.length).length]])
  end)

  it("leaves a picture of a working day", function()
    local wallet, main = client().wallet, client().sub_account
    for _, name in ipairs { "shopNorth01", "shopSouth01" } do
      assert(main:create_sub_account { subAccount = name, note = "till" })
      assert(main:transfer { toAccount = name, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = name == "shopNorth01" and "1250.5" or "310.25" })
    end
    assert(service.world:save_address { account = account.uid, coin = "USDT", network = "TRX",
      address = assert(wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }).address })
    service.world:fault { kind = "lost_answer", operation = "wallet.transfer" }
    assert.is_nil((wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "BTC",
      amount = "0.01" }))
    ask_with_wrong_text(decoded)
    service.world:fault { kind = "server_error", operation = "transfer", times = 3 }
    browser:command("POST", "/refresh", json.object {})
    browser:wait "return document.querySelector('#requests tbody tr td:nth-child(5)')?.textContent === '700002'"
    browser:click(browser:find "#requests tbody tr .open")
    browser:wait "return document.querySelector('.texts') !== null"
    browser:run "scrollTo(0, 0)"
    browser:resize(1280, 1500)
    browser:screenshot "build/console.png"
    browser:resize(1280, 1000)
    service.world:disarm()
  end)

  it("reads nothing that arrives as HTML", function()
    local name = "<img src=x onerror=\"document.title='broken'\">"
    assert(service.world:account { name = name, role = "user" })
    browser:wait "return document.querySelector('#accounts').textContent.includes('<img src=x')"
    assert.is_nil((client():call("wallet.deposit_history", { coin = "<b>&</b>" })))
    browser:wait "return document.querySelector('#requests tbody tr .open').textContent === 'wallet.deposit_history'"
    browser:click(browser:find "#requests tbody tr .open")
    assert.equal(0, browser:run "return document.querySelectorAll('main img, main b').length")
    assert.equal("Purser simulator", browser:run "return document.title")
  end)

  it("has a dark form that stays chosen", function()
    local light = browser:run "return getComputedStyle(document.body).backgroundColor"
    browser:click(browser:find "#theme")
    local dark = browser:run "return getComputedStyle(document.body).backgroundColor"
    assert.not_equal(light, dark)
    browser:command("POST", "/refresh", json.object {})
    browser:wait "return document.querySelector('#accounts h3') !== null"
    assert.equal(dark, browser:run "return getComputedStyle(document.body).backgroundColor")
    browser:screenshot "build/console-dark.png"
    browser:click(browser:find "#theme")
  end)

  it("shows operation, outcome and code in a window of 400 pixels, the requests first", function()
    browser:resize(400, 900)
    assert.equal(0, browser:overflow())
    assert.same({}, browser:run [[const parts = document.querySelectorAll('.list tbody td, .list .tag');
      return [...parts].filter((part) => part.getBoundingClientRect().right > window.innerWidth
        || part.getBoundingClientRect().left < 0).map((part) => part.outerHTML)]])
    assert.is_true(browser:run [[const top = (id) => document.querySelector(id).getBoundingClientRect().top;
      return top('#log') < top('#everyone') && top('#everyone') < top('#deposit')]])
    -- the status stands at the right edge, with a code behind it or without one
    assert.same({}, browser:run [[const right = (cell) => Math.round(cell.getBoundingClientRect().right);
      return [...document.querySelectorAll('#requests tbody tr:not(.detail)')].filter((row) =>
        right(row.children[2]) !== Math.max(right(row.children[3]), right(row.children[4])))
        .map((row) => row.outerHTML)]])
    browser:run "scrollTo(0, 0)"
    browser:screenshot "build/console-narrow.png"
    browser:resize(1280, 1000)
  end)

  it("has nothing that axe-core finds, light and dark, wide and narrow", function()
    for _, width in ipairs { 1280, 400 } do
      browser:resize(width, 1000)
      for _ = 1, 2 do
        browser:click(browser:find "#theme")
        for _, kind in ipairs { "withdrawals", "keys" } do
          browser:run(("document.querySelector('[data-kind=%s]').click()"):format(kind))
          assert.same({}, browser:violations())
        end
      end
    end
    browser:resize(1280, 1000)
  end)

  it("asks nobody but the simulator, and reports no error", function()
    local foreign = browser:run [[return performance.getEntriesByType('resource').filter((entry) =>
      !entry.name.startsWith(location.origin)).length]]
    assert.equal(0, foreign)
    for _, entry in ipairs(browser:errors()) do
      -- the rejected deposit above is reported by the browser itself
      assert.is_truthy(entry.message:find("/sim/deposits", 1, true), entry.message)
    end
  end)

  it("offers no button when the simulator is gone", function()
    service.stop()
    browser:wait "return document.querySelector('#sound').textContent === 'no connection'"
    assert.equal(0, browser:run [[return document.querySelectorAll('form button[type=submit]:enabled,' +
      '#jumps button:enabled').length]])
  end)
end)
