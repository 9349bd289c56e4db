-- SPDX-License-Identifier: MIT
-- An answer compared with those of the simulator: every kind of difference, and what is none.

local compare = require "purser.testing.recording.drift.compare"
local form = require "purser.testing.recording.drift.form"
local purser = require "purser"
local profile_rules = require "purser.client.operations.profile_rules"

local function same(name) return name end

-- Returns the findings as lines.
local function recorder()
  local found = {}
  return function(kind, path, expected, was)
    found[#found + 1] = ("%s: %s; %s; %s"):format(kind, path, expected, was)
  end, found
end

-- Returns what a body differs in from known ones, each the answer of a variant of its own.
local function body(text, ...)
  local known, add, found = {}, recorder()
  for _, answer in ipairs { ... } do form.learn(known, form.of(answer, same)) end
  compare.body(add, text, known, purser.operations["wallet.deposit_history"], same)
  return found
end

describe("a body", function()
  for _, case in ipairs {
    { "of the same form", '{"a":"2.5","b":7}', { '{"a":"1.5","b":1}' }, {} },
    { "whose members stand in another order", '{"b":1,"a":"x"}', { '{"a":"y","b":2}' }, {} },
    { "of the form of one variant of several", '{"a":1}', { '{"a":"x"}', '{"a":2}' }, {} },
    { "with a whole amount where decimals are", '{"amount":"2"}', { '{"amount":"1.5"}' }, {} },
    { "with a decimal where amounts were whole", '{"amount":"2.5"}', { '{"amount":"1"}' },
      { "other form: answer.amount; text of digits; text of a decimal" } },
    { "with any text where a user writes it", '{"memo":"2026-01-31T00"}', { '{"memo":""}' }, {} },
    { "with an address joined to its memo", '{"address":"T12345678901234567890:99"}', { '{"address":"Tabc"}' },
      { "other form: answer.address; text; text with a colon" } },
    { "with a new member", '{"a":1,"b":{"c":1}}', { '{"a":1}' }, { "new member: answer.b; none; object" } },
    { "with a member that the shape has elsewhere", '{"a":1,"txId":"x"}', { '{"a":1}' },
      { "new member: answer.txId; not here; text" } },
    { "without a member that always was there", '{"a":1}', { '{"a":1,"b":1}' },
      { "missing member: answer.b; number of digits; none" } },
    { "without a member that one variant lacks, too", '{"a":1}', { '{"a":1,"b":1}', '{"a":1}' }, {} },
    { "with a list that is empty now", '{"a":[]}', { '{"a":[1]}' }, {} },
    { "without a list that always was there", '{"b":1}', { '{"b":1,"a":[1]}' },
      { "missing member: answer.a; array; none" } },
    { "with a member in some records alone", '[{"a":1},{}]', { '[{"a":1}]' },
      { "missing member: answer[].a; number of digits; not in every record" } },
    { "with a list that is empty", "[]", { '[{"a":1}]' }, {} },
    { "with a number for a text", '{"a":1}', { '{"a":"x"}' }, { "other type: answer.a; text; number of digits" } },
    { "that is empty", "", { "{}" }, { "other form: answer; JSON; an empty body" } },
    { "that is no JSON", "<html>", { "{}" }, { "other form: answer; JSON; no JSON" } },
  } do
    it(case[1] .. (#case[4] == 0 and " differs in nothing" or " is found"), function()
      assert.same(case[4], body(case[2], (table.unpack or unpack)(case[3]))) -- luacheck: ignore
    end)
  end
end)

describe("the code of an answer", function()
  local profile = assert(profile_rules.resolve "default")

  it("is none where the answer is no error", function()
    for _, text in ipairs { "[]", "{}", '{"code":0}', '{"code":"200"}', '{"code":null}', '{"code":false}',
      '{"code":{}}', "7", "<html>" } do
      assert.is_nil(compare.code_of({ body = text }, profile), text)
    end
    assert.equal("700007", compare.code_of({ body = '{"code":700007}' }, profile))
    assert.equal("x", compare.code_of({ body = '{"code":"x"}' }, profile))
  end)

  it("says that the key may not read it, or is one that is known, or is found", function()
    local READ, PROBE = { "wallet.withdraw" }, { "wallet.get_transfer", probe = true }
    local known = { codes = { ["10"] = true } }
    for _, case in ipairs {
      { "700007", READ, "the key may not read it (code 700007)", nil },
      { "700007", PROBE, "the key may not read it (code 700007)", nil },
      { "10212", READ, "it was rejected (code 10212)", nil },
      { "987654", READ, nil, "other code: code; one that is known for the operation; 987654" },
      { "10", PROBE, nil, nil }, { "11", PROBE, nil, "other code: code; 10; 11" },
      { "mx0secret", READ, nil, "other code: code; one that is known for the operation; a code of another form" },
      { "12345678", PROBE, nil, "other code: code; 10; a code of another form" },
    } do
      local add, found = recorder()
      assert.equal(case[3], compare.code(add, case[1], known, case[2]), case[1])
      assert.equal(case[4], found[1])
    end
  end)
end)

describe("the head of an answer", function()
  local function head(content_type, status)
    local add, found = recorder()
    compare.head(add, { status = status or 200 }, content_type, { statuses = { [200] = true } })
    return found
  end

  it("differs in status and content type", function()
    assert.same({}, head "application/json;charset=utf-8")
    assert.same({ "other status: HTTP status; 200; 503" }, head("application/json", 503))
    for given, shown in pairs { ["text/html;x"] = "text/html", ["secret/x"] = "another" } do
      assert.same({ "other header: content-type; application/json; " .. shown }, head(given))
    end
    assert.same({ "other header: content-type; application/json; another" }, head(nil))
  end)
end)

describe("the code of an error", function()
  it("shows no form of the read where it says what the key may do", function()
    for code, words in pairs { ["700007"] = "may not read", ["730603"] = "may not read", ["700006"] = "may not read",
      ["700001"] = "may not read", ["700002"] = "may not read", ["10072"] = "may not read" } do
      assert.matches(words, compare.code(error, code, nil, { "wallet.coins" }))
    end
  end)
end)
