-- SPDX-License-Identifier: MIT
-- A journal is of one account of one service, and the service says whose an API key is.

local files = require "files"
local home = require "purser.write.journal.home"
local operations = require "purser.client.operations"
local purser = require "purser"
local simulated = require "simulated"

local sim, mine, other, journal, path, asked

-- An account of the service with a sub-account and funds.
local function account(name)
  local made = assert(sim:account { name = name, role = "broker", balances = { USDT = "1000" },
    futures_balances = { USDT = "9" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = made.uid })
  return made
end

-- A transport to the simulator, which takes an API key for another one, and notes questions for the user's id.
local function transport(keys)
  return simulated.transport(sim, function(request, inner)
    local headers, copy = {}, {}
    for name, value in pairs(request) do copy[name] = value end
    for name, value in pairs(request.headers or {}) do headers[name] = keys[value] or value end
    copy.headers = headers
    if request.target:find "/uid" then
      asked[#asked + 1] = request.target
      if keys.fails then return nil, "no way", "connect" end
    end
    return inner:send(copy)
  end)
end

local function client(of, more, keys)
  local all = { profile = "mexc", base_url = "http://localhost", api_key = of.api_key, secret_key = of.secret_key,
    account = "treasury", journal = journal, transport = transport(keys or {}),
    clock = function() return sim:now() end, rate_limit = false, retry = false }
  for name, value in pairs(more or {}) do all[name] = value or nil end
  return purser.new(all)
end

local function pay(made, key, amount)
  return made.sub_account:transfer(simulated.transfer(amount or "5"), { key = key })
end

local function applied()
  return simulated.counted(sim, "sub_account.transfer", "applied")
    + simulated.counted(sim, "wallet.transfer", "applied")
end

local function meta(name)
  local row = assert(journal.db:rows("SELECT value FROM purser_meta WHERE name = $1", name))[1]
  return row and row.value
end

local function refused(code, value, err)
  assert.is_nil(value)
  assert.same({ "config", "not_sent", code }, { err.kind, err.outcome, err.code })
  return err
end

before_each(function()
  sim, asked = purser.sim.new { seed = 5, profile = "mexc" }, {}
  mine, other = account "A", account "B"
  path = files.path_in_memory()
  journal = assert(purser.journal.open { sqlite = path })
end)
after_each(function()
  journal:close()
  files.remove_database(path)
end)

describe("a journal", function()
  it("needs an account's name beside it, and is of nobody before the first write", function()
    local made, err = client(mine, { account = false })
    assert.is_nil(made)
    assert.equal("account", err.option)
    assert.matches("the journal is of one account, and no account is named", err.message)
    assert(assert(client(mine)).wallet:coins())
    assert.same({}, { journal:account() })
    assert(pay(assert(client(mine)), "k"))
    assert.same({ "treasury", "localhost" }, { journal:account() })
  end)

  it("is of one account of one service: another name, a new key or another host sends nothing", function()
    local early = { assert(client(mine, { account = "Treasury" })),
      assert(client(mine, { base_url = "https://x.example" })) }
    assert(pay(assert(client(mine)), "k"))
    for code, more in pairs { other_account = { account = "Treasury", api_key = "mx0renewed" },
      other_service = { base_url = "https://api.mexc.com" } } do
      local made, err = client(mine, more)
      assert.is_nil(made)
      assert.equal("journal." .. code, err.code)
      assert.matches(path .. " is the journal of account \"treasury\"", err.message, 1, true)
      local cure = code == "other_account" and "rename Treasury" or "moved api.mexc.com"
      assert.matches("`purser journal " .. cure .. "`", err.hint, 1, true)
    end
    for i, code in ipairs { "journal.other_account", "journal.other_service" } do -- clients from before the first write
      refused(code, pay(early[i], "another"))
      refused(code, pay(early[i], "k")) -- no answer of another account's call
      for _, look in ipairs { { journal:recover(early[i]) }, { early[i]:recall("sub_account.transfer",
        simulated.transfer "5", { key = "k" }) } } do
        assert.same({ code = code, outcome = "unknown" }, { look[1], code = look[2].code, outcome = look[2].outcome })
        assert.not_matches("nothing was sent", look[2].message, 1, true)
      end
    end
    assert.equal(1, applied())
  end)

  it("becomes the account's of two names that begin at once", function()
    local first, second = assert(client(mine)), assert(client(other, { account = "second" }))
    assert(pay(first, "k"))
    refused("journal.other_account", pay(second, "k"))
    assert.equal("treasury", meta "ids")
  end)

  it("is renamed by a person's word, and ids at the service are made of the first name for ever", function()
    assert(pay(assert(client(mine)), "k"))
    assert.is_true(journal:rename("house", "alice"))
    assert.is_nil((client(mine)))
    local renamed = assert(client(mine, { account = "house" }))
    local info = {}
    assert(renamed.sub_account:transfer(simulated.transfer "7", { key = "n", info = info }))
    assert.equal(require("purser.write.digests").id_of_key("treasury", "sub_account.transfer", "n"),
      info.intent.params.clientTranId)
    assert.same({ "house", "treasury" }, { journal:account() and meta "account", meta "ids" })
    local _, err = journal:rename("x\ny", "alice")
    assert.equal("argument", err.kind)
    assert.matches("who says so", select(2, journal:rename("x")).message)
    assert(journal.db:rows "INSERT INTO purser_meta (name, value) VALUES ('gate', 'policy')")
    assert.matches("under a policy", select(2, journal:rename("x", "alice")).message)
  end)

  it("that is of a newer version by now, or retired, gets nothing written by who has it open", function()
    local made = assert(client(mine))
    assert(pay(made, "k"))
    for name, value in pairs { version = "9", retired = "payments-2.db goes on", ["must:sealed"] = "yes" } do
      local before = meta(name)
      assert(journal.db:rows([[INSERT INTO purser_meta (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value]], name, value))
      refused(name == "retired" and "journal.retired" or "journal.version", pay(made, "n" .. name))
      if before then assert(journal.db:rows("UPDATE purser_meta SET value = $1 WHERE name = $2", before, name))
      else assert(journal.db:rows("DELETE FROM purser_meta WHERE name = $1", name)) end
    end
    assert.equal(1, applied())
  end)

  it("gives a key to one call, whatever its operation, also where two begin at once", function()
    local function begin(operation, params)
      local intent = { id = operation, account = "treasury", host = "localhost", operation = operation,
        sent_at = sim:now(), recv_window = 5000, params = params }
      return journal:begin(intent, operations.by_name[operation], nil, { name = "inv-1", content = operation })
    end
    assert.is_true(begin("wallet.withdraw", { coin = "USDT", address = "T", amount = "5" })) -- both looked before
    local ok, err = begin("wallet.transfer", { asset = "USDT", amount = "5", fromAccountType = "SPOT",
      toAccountType = "FUTURES" })
    assert.same({ code = "journal.other_content" }, { ok, code = err.code })
  end)
end)

describe("an API key", function()
  it("of another user is refused under whatever name, by calls and by looks", function()
    assert(pay(assert(client(mine)), "k"))
    local swapped = assert(client(other))
    local err = refused("journal.other_key", pay(swapped, "another"))
    assert.matches(('of user %s, and %s, of account "treasury", is of user %s'):format(other.uid, path, mine.uid),
      err.message, 1, true)
    for _, look in ipairs { { journal:recover(swapped) } } do assert.same({}, look[1]) end
    local intent = assert(journal:entries())[1].intent
    local _, problem = swapped:reconcile(intent)
    assert.same({ "unknown", "journal.other_key" }, { problem.outcome, problem.code })
    assert.equal(1, applied())
  end)

  it("is asked for once in its life, before the request is stamped", function()
    local made = assert(client(mine))
    for i = 1, 3 do assert(pay(made, "k" .. i)) end
    assert(pay(assert(client(mine)), "k4"))
    journal:close()
    journal = assert(purser.journal.open { sqlite = path })
    assert(pay(assert(client(mine)), "k5"))
    assert.equal(1, #asked)
    assert.equal(mine.uid, meta "uid")
  end)

  it("that was renewed needs no person where the service says that it is the account's", function()
    sim:fault { kind = "reset", operation = "transfer" }
    assert.equal("unknown", select(2, pay(assert(client(mine)), "k")).outcome)
    sim:advance(120000)
    local renewed = assert(client(mine, { api_key = "mx0renewed" }, { mx0renewed = mine.api_key }))
    assert(pay(renewed, "k"))
    assert.equal(1, applied())
  end)

  it("sends nothing while the service cannot be asked whose it is, but where a person vouched for the key", function()
    local lost = assert(client(mine, nil, { fails = true }))
    local err = refused("journal.key_unknown", pay(lost, "k"))
    local digest = err.hint:match "purser journal vouch (%x+)"
    assert.matches("16 hex digits", select(2, journal:vouch("abc", "alice")).message)
    assert.matches("who says so", select(2, journal:vouch(digest)).message)
    assert.is_true(journal:vouch(digest, "alice"))
    assert(pay(lost, "k"))
    assert.is_true(home.is_vouched(journal.db, digest))
    local failing = { rows = function() return nil, "disk I/O error" end }
    assert.same({ nil, "disk I/O error" }, { home.is_vouched(failing, digest) })
  end)

  it("is of the name that it has where the service does not say whose keys are", function()
    local plain = assert(client(mine, { profile = "default" }))
    assert(pay(plain, "k"))
    assert.same({ 0, nil }, { #asked, meta "uid" })
    assert(pay(assert(client(other, { profile = "default" })), "n")) -- documented: docs/write/journal.md
  end)
end)
