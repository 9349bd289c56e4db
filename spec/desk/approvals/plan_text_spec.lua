-- SPDX-License-Identifier: MIT
-- Plans as text: one spelling, the same bytes for the same list.

local plan_text = require "purser.desk.approvals.plan_text"

local HEAD = { account = "treasury", queue = "june", journal = "hY3", base_url = "https://service.example",
  policy = "7 " .. ("9f"):rep(32), maker = "carol", not_after = "2026-11-30" }

local function withdrawal(key, amount, more)
  local params = { coin = "USDT", netWork = "TRX", address = "T" .. key, amount = amount,
    withdrawOrderId = "id" .. key }
  for name, value in pairs(more or {}) do params[name] = value end
  return { key = key, operation = "wallet.withdraw", params = params, payee = "ACME " .. key }
end

local function rows(count)
  local list = {}
  for i = 1, count do list[i] = withdrawal(("inv-%05d"):format(i), ("%d.5"):format(i)) end
  return list
end

local function fails(expected, head, list)
  local text, message = plan_text.write(head, list)
  assert.is_nil(text)
  assert.matches(expected, message)
end

local function with(changes)
  local head = {}
  for name, value in pairs(HEAD) do head[name] = value end
  for name, value in pairs(changes) do head[name] = value end
  return head
end

describe("a plan", function()
  it("is lines of JSON with all that travels, sorted by key", function()
    local text = assert(plan_text.write(HEAD, { withdrawal("b", "1.50"), withdrawal("a", "15", { memo = "é😀\"\\" }) }))
    assert.equal('{"purser":"plan 1","account":"treasury","queue":"june","journal":"hY3",'
      .. '"base_url":"https://service.example","policy":"7 ' .. ("9f"):rep(32) .. '","maker":"carol",'
      .. '"not_after":"2026-11-30","rows":"2","sums":{"USDT TRX":"16.5"}}\n'
      .. '{"key":"a","operation":"wallet.withdraw","params":{"address":"Ta","amount":"15","coin":"USDT",'
      .. '"memo":"\\u00e9\\ud83d\\ude00\\"\\\\","netWork":"TRX","withdrawOrderId":"ida"},"payee":"ACME a"}\n'
      .. '{"key":"b","operation":"wallet.withdraw","params":{"address":"Tb","amount":"1.5","coin":"USDT",'
      .. '"netWork":"TRX","withdrawOrderId":"idb"},"payee":"ACME b"}\n', text)
    local plan = assert(plan_text.read(text))
    assert.equal("é😀\"\\", plan.by_key.a.params.memo)
    assert.equal(1796083200000, plan.ends) -- the first moment of December
    assert.equal("16.5", plan.head.sums["USDT TRX"])
    assert.equal(64, #plan.digest)
  end)

  it("has one sum for all spellings of a coin and a network", function()
    local list = {}
    for i, spelled in ipairs { { "USDT", "TRX" }, { "usdt", "TRC20" }, { "Usdt", "Tron(TRC20)" }, { "uSDT", "trx" },
      { "USDT", "new" }, { "USDT", "NEW" } } do
      list[i] = withdrawal("k" .. i, "10", { coin = spelled[1], netWork = spelled[2] })
    end
    local plan = assert(plan_text.read(assert(plan_text.write(HEAD, list))))
    assert.same({ ["USDT TRX"] = "40", ["USDT NEW"] = "20" }, plan.head.sums)
    local page = assert(require("purser.desk.approvals.review").show(plan.text))
    assert.truthy(page:find("USDT TRX       40 in 4 rows", 1, true), page)
  end)

  it("has a row for a call, if nothing that travels differs", function()
    local row = { operation = "wallet.withdraw", params = { coin = "USDT", amount = "5" } }
    for expected, calls in pairs { [true] = { { "wallet.withdraw", { coin = "USDT", amount = "5" } } },
      [false] = { { "wallet.transfer", { coin = "USDT", amount = "5" } }, { "wallet.withdraw", { coin = "USDT" } },
        { "wallet.withdraw", { coin = "USDT", amount = "5", memo = "" } }, { "wallet.withdraw", {} },
        { "wallet.withdraw", { coin = "USDT", amount = "5.0" } } } } do
      for _, call in ipairs(calls) do assert.equal(expected, plan_text.is_of(row, call[1], call[2])) end
    end
  end)

  it("names the word by which a row is sent again, where it has one", function()
    local row = withdrawal("a", "15")
    row.word = "w1"
    local text = assert(plan_text.write(HEAD, { row, withdrawal("b", "1") }))
    local read = assert(plan_text.read(text))
    assert.matches('"payee":"ACME a","word":"w1"}\n', text, 1, true)
    assert.same({ "w1", nil }, { read.rows[1].word, read.rows[2].word })
    assert.is_true(plan_text.is_of(read.rows[1], "wallet.withdraw", row.params))
    for _, other in ipairs { '""', '" w1"', "null", "1", '"w1","word":"w1"' } do
      assert.is_nil((plan_text.read((text:gsub('"w1"', other)))), other)
    end
  end)

  it("has the same bytes for the same list in any order", function()
    local list, turned = rows(50), {}
    for i, row in ipairs(list) do turned[#list + 1 - i] = row end
    assert.equal(plan_text.write(HEAD, list), plan_text.write(HEAD, turned))
  end)

  it("of 10,000 rows is read, and of one more is none", function()
    local text = assert(plan_text.write(HEAD, rows(10000)))
    local began = os.clock()
    assert.equal(10000, #assert(plan_text.read(text)).rows)
    assert.is_true(os.clock() - began < 5)
    fails("1 to 10000 rows", HEAD, rows(10001))
    fails("1 to 10000 rows", HEAD, {})
  end)

  it("names what is wrong with a row or the head", function()
    fails('stands there twice', HEAD, { withdrawal("a", "1"), withdrawal("a", "2") })
    fails('1e3!" is no plain amount', HEAD, { withdrawal("a", "1e3!") })
    fails("no plain amount", HEAD, { withdrawal("a", "-1") })
    fails('no parameter "extra"', HEAD, { withdrawal("a", "1", { extra = "x" }) })
    fails("is no write call", HEAD, { { key = "a", operation = "wallet.coins", params = {} } })
    fails("a password", HEAD, { { key = "a", operation = "broker.withdraw", params = { password = "x" } } })
    fails("can be seen", HEAD, { withdrawal("a\226\128\139", "1") })
    fails("no day", with { not_after = "2026-11-31" }, rows(1))
    fails("no day", with { not_after = "2026-11-30T00:00Z" }, rows(1))
    fails("no version", with { policy = "7" }, rows(1))
    fails("no maker", with { maker = "" }, rows(1))
    fails("not UTF%-8", with { queue = "\255" }, rows(1))
    fails("no text", with { queue = 7 }, rows(1))
  end)

  it("has one spelling", function()
    local text = assert(plan_text.write(HEAD, rows(3)))
    for name, change in pairs {
      ["a blank"] = { '","', '", "' }, ["CRLF"] = { "\n", "\r\n" }, ["no last line break"] = { "\n$", "" },
      ["a line more"] = { "$", "\n" }, ["a padded amount"] = { '"1%.5"', '"1.50"' },
      ["another order"] = { '"maker":"carol","not_after":"2026%-11%-30"', '"not_after":"2026-11-30","maker":"carol"' },
      ["a member twice"] = { '"maker":"carol"', '"maker":"dave","maker":"carol"' },
      ["an escape"] = { "carol", "c\\u0061rol" }, ["a number"] = { '"rows":"3"', '"rows":3' },
      ["other rows"] = { '"rows":"3"', '"rows":"2"' }, ["another sum"] = { "7%.5", "8.5" },
      ["a member of the head more"] = { '"maker"', '"nonce":"1","maker"' },
      ["a member of a row more"] = { '"payee"', '"note":"x","payee"' }, ["null"] = { '"carol"', "null" },
      ["raw UTF-8"] = { "ACME", "é" }, ["a nested list"] = { '{"USDT TRX":"7%.5"}', "[]" },
    } do
      local other, count = text:gsub(change[1], change[2])
      assert.is_true(count > 0, name)
      assert.is_nil((plan_text.read(other)), name)
    end
    local lines = {}
    for line in text:gmatch "[^\n]+\n" do lines[#lines + 1] = line end
    assert.is_nil((plan_text.read(lines[1] .. lines[3] .. lines[2] .. lines[4])))
    assert.is_nil((plan_text.read(lines[1] .. lines[2] .. lines[2] .. lines[3])))
    for at = 0, #text - 1 do assert.is_nil((plan_text.read(text:sub(1, at)))) end
  end)

  it("says of any bytes whether they are one", function()
    local text = assert(plan_text.write(HEAD, rows(3)))
    local others = 0
    for at = 1, #text do
      for bit = 0, 7 do
        local byte = text:byte(at)
        local flipped = math.floor(byte / 2 ^ bit) % 2 == 1 and byte - 2 ^ bit or byte + 2 ^ bit
        local changed = text:sub(1, at - 1) .. string.char(flipped) .. text:sub(at + 1)
        local plan = plan_text.read(changed)
        if plan then
          others = others + 1
          assert.equal(changed, plan.text)
        end
      end
    end
    assert.is_true(others > 100) -- a digit of an address is another plan, which nobody has signed
    for _, garbage in ipairs { "", "\n", "{}\n", "[]\n[]\n", ("x"):rep(5 * 1024 * 1024), ("{}\n"):rep(10003) } do
      assert.is_nil((plan_text.read(garbage)))
    end
  end)
end)
