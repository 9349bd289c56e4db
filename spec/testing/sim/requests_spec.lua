-- SPDX-License-Identifier: MIT
-- The log of requests as it is shown: never a signature, a funds password or bytes that are no text.

local operations = require "purser.client.operations"
local purser = require "purser"
local requests = require "purser.testing.sim.requests"
local signed = require "signed"

local WITHDRAW = operations.by_id.C2
local HASH = ("0123456789abcdef"):rep(2)

local function add(log, target, facts, body)
  log:add(5, WITHDRAW, { method = "POST", target = target }, { status = 400, body = body }, facts or {})
end

describe("a request that is rejected", function()
  it("has the code in the answer, in the log and in the facts of the response", function()
    local sim, owner = signed.world()
    local answer, response = signed.ask(sim, owner, "C2", {})
    local logged = sim:requests()
    assert.equal(logged[#logged].code, tostring(answer.code))
    assert.equal(logged[#logged].code, response.code)
    assert.matches('"code":' .. response.code, response.body, 1, true)
  end)
end)

describe("the log of requests", function()
  it("keeps the last ones, oldest first", function()
    local log = requests.log(3, "signature")
    assert.same({}, log:list())
    for i = 1, 5 do
      add(log, "/" .. i)
      local list = log:list()
      assert.equal(math.min(i, 3), #list)
      assert.same({ "/" .. math.max(1, i - 2), "/" .. i }, { list[1].target, list[#list].target })
    end
    assert.equal(5, log.added)
  end)

  it("keeps none where none is asked for, and counts all the same", function()
    local log = requests.log(0, "signature")
    add(log, "/1")
    log:count(WITHDRAW, true)
    log:count(WITHDRAW, false)
    assert.same({}, log:list())
    assert.same({ [WITHDRAW.full_name] = { received = 2, applied = 1 } }, log.counts)
  end)

  it("goes on counting where a snapshot stood", function()
    local log = requests.log(1, "signature", { [WITHDRAW.full_name] = { received = 7, applied = 3 } })
    log:count(WITHDRAW, true)
    assert.same({ received = 8, applied = 4 }, log.counts[WITHDRAW.full_name])
  end)

  it("masks every signature, under the profile's name for it, and funds passwords", function()
    local log = requests.log(9, "sig.na+ture")
    add(log, "/x?sig.na+ture=abc&a=1&sig.na+ture=def&siggna+ture=shown")
    add(log, "/x?password=" .. HASH .. "&a=1")
    add(log, "/x?a=1", nil, '{"password": "' .. HASH .. '", "password":"a\\"b' .. HASH .. '"}')
    add(log, "/x?a=1", nil, 'signs this text: a=1&password=' .. HASH)
    local list = log:list()
    assert.equal("/x?sig.na+ture=***&a=1&sig.na+ture=***&siggna+ture=shown", list[1].target)
    assert.equal("/x?password=***&a=1", list[2].target)
    for _, entry in ipairs(list) do
      assert.is_nil((entry.target .. (entry.answer or "")):find(HASH, 1, true), entry.answer)
    end
  end)

  it("keeps the answer of what was not applied, its first 2000 bytes, and none of what was", function()
    local log = requests.log(9, "signature")
    add(log, "/1", { outcome = "rejected", code = "10101" }, ("x"):rep(3000))
    add(log, "/2", { outcome = "fault", fault = "truncate" }, "short")
    add(log, "/3", { outcome = "applied" }, '{"secretKey":"of a new key"}')
    add(log, "/4", { outcome = "fault" }, nil)
    local list = log:list()
    assert.same({ 2000, "short", "rejected", "10101", "truncate" },
      { #list[1].answer, list[2].answer, list[1].outcome, list[1].code, list[2].fault })
    assert.same({}, { list[3].answer, list[4].answer })
  end)

  it("shows bytes that are no printable text by their numbers", function()
    local log = requests.log(9, "signature")
    add(log, "/\255\n?a=\0", { signed = { expected = "a=\1", received = "b", mistake = "an empty text" } }, "\127")
    local entry = log:list()[1]
    assert.same({ "/\\xFF\\x0A?a=\\x00", "\\x7F", "a=\\x01", "b", "an empty text", 5, 400, "wallet.withdraw" },
      { entry.target, entry.answer, entry.signed_expected, entry.signed_received, entry.mistake, entry.time,
        entry.status, entry.operation })
  end)
end)

describe("a request that no operation takes", function()
  local function answer(options, method, target)
    local sim = purser.sim.new(options)
    local response = sim:handle { method = method, target = target, headers = {}, body = "" }
    local entry = sim:requests()[1]
    return { response.status, entry.code, entry.outcome, entry.operation, response.body == "" }
  end

  it("is answered by its HTTP status; the live service has an empty 200 for an unknown path", function()
    assert.same({ 405, "405", "rejected", nil, false }, answer({}, "PUT", WITHDRAW.path))
    assert.same({ 405, "405", "rejected", nil, false }, answer({ variant = "live" }, "PUT", WITHDRAW.path))
    assert.same({ 404, "404", "rejected", nil, false }, answer({}, "GET", "/nothing?a=1"))
    assert.same({ 200, "404", "rejected", nil, true }, answer({ variant = "live" }, "GET", "/nothing"))
    assert.same({ 404, "404", "rejected", nil, false }, answer({}, "POST", "/api/v3/ping"))
    assert.same({ 200, nil, "applied", nil, false }, answer({}, "GET", "/api/v3/ping"))
  end)
end)
