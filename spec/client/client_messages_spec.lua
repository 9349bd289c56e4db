-- SPDX-License-Identifier: MIT
-- The form of every message: `where: what is wrong; what to do`. Each place that checks what a program gives is called
-- wrongly here, from a line of this file.

local codes = require "purser.codes"
local operations = require "purser.client.operations"
local purser = require "purser"

local SECRETS = { "mx0aSecretApiKey", "s3cr3tS3cr3t" }
local BASE = "http://127.0.0.1:1"

local function client_with(options)
  options.base_url, options.api_key, options.secret_key = BASE, SECRETS[1], SECRETS[2]
  return purser.new(options)
end

local client = assert(client_with {})
local journal, journal_path = nil, os.tmpname()

-- A mistake is said once, with its cure in a field of its own, and neither ends in a full stop or holds a secret.
local function check(err)
  local text = tostring(err)
  local function fine(condition, why) assert(condition, ("%s: %s"):format(why, text)) end
  fine(err.kind == "argument" or err.kind == "config", "kind " .. tostring(err.kind))
  fine(err.outcome == "not_sent", "outcome")
  local is_here = type(err.where) == "string" and err.where:find "^spec/client/client_messages_spec.lua:%d+$"
  fine(is_here, "no line of the caller")
  fine(text:sub(1, #err.where + 2) == err.where .. ": ", "the text does not begin with the line")
  fine(not err.message:find "%.$", "the message ends in a full stop")
  for _, near in ipairs { "; give ", "; use ", "; remove ", "; it must ", "; leave " } do
    fine(not err.message:find(near, 1, true), "the message holds what to do")
  end
  fine(err.hint or err.message:find "did you mean", "nothing says what to do")
  if err.hint then
    fine(not err.hint:find "^%u%l" and not err.hint:find "%.$", "the hint is no end of a sentence")
    fine(text:find("; " .. err.hint, 1, true), "the text lacks the hint")
  end
  for _, secret in ipairs(SECRETS) do fine(not text:find(secret, 1, true), "a secret is shown") end
end

-- name -> a call that is wrong
local calls = {
  ["purser.new without anything"] = function() return purser.new {} end,
  ["purser.new without a table"] = function() return purser.new() end,
  ["purser.new without a key"] = function() return purser.new { base_url = BASE } end,
  ["purser.new without a secret"] = function() return purser.new { base_url = BASE, api_key = SECRETS[1] } end,
  ["purser.new with a key and a line break"] = function()
    return purser.new { base_url = BASE, api_key = SECRETS[1] .. "\n", secret_key = SECRETS[2] }
  end,
  ["purser.new with a key and a blank"] = function()
    return purser.new { base_url = BASE, api_key = SECRETS[1] .. " ", secret_key = SECRETS[2] }
  end,
  ["purser.new with a secret and a line break"] = function()
    return purser.new { base_url = BASE, api_key = SECRETS[1], secret_key = SECRETS[2] .. "\n" }
  end,
  ["purser.new with two sources of the secret"] = function() return client_with { secret_key_env = "X" } end,
  ["purser.new with credentials and a key"] = function() return client_with { credentials = print } end,
  ["an unknown option"] = function() return client_with { time_out = 5 } end,
  ["an unknown option like no other"] = function() return client_with { zzzzzzzzzzz = 5 } end,
  ["a wrong option"] = function() return client_with { timeout_ms = 0 } end,
  ["a wide window"] = function() return client_with { recv_window = 70000 } end,
  ["a hook"] = function() return client_with { hooks = { before = 5 } } end,
  ["a transport"] = function() return client_with { transport = {} } end,
  ["a transport's option"] = function()
    return client_with { transport = { send = print }, proxy = "http://127.0.0.1:1" }
  end,
  ["a user agent"] = function() return client_with { user_agent = "a\nb" } end,
  ["an account"] = function() return client_with { account = "a\nb" } end,
  ["a journal that is none"] = function() return client_with { journal = {} } end,
  ["retry"] = function() return client_with { retry = 5 } end,
  ["an option of retry"] = function() return client_with { retry = { attempts = 0 } } end,
  ["a profile"] = function() return client_with { profile = "mexx" } end,
  ["an empty convention"] = function() return client_with { profile = { time_path = "" } } end,
  ["a set of codes"] = function() return client_with { profile = { success_codes = { 0 } } } end,
  ["a guard"] = function() return client_with { guard = { max_amount = { USDT = 5 } } } end,
  ["a guard without a journal"] = function() return client_with { guard = { no_duplicates = true } } end,
  ["an address of a guard"] = function() return client_with { guard = { addresses = { 1 } } } end,
  ["a user of a guard"] = function() return client_with { guard = { recipients = { "1" } } } end,
  ["parameters that are no table"] = function() return client.wallet:withdraw "x" end,
  ["a parameter without a name"] = function() return client.wallet:withdraw { "x" } end,
  ["an unknown parameter"] = function() return client.wallet:withdraw { adress = "x" } end,
  ["a parameter of Purser"] = function() return client.wallet:withdraw { timestamp = 1 } end,
  ["a missing parameter"] = function() return client.wallet:withdraw { coin = "USDT" } end,
  ["a password given twice"] = function()
    return client.broker:withdraw { password = ("a"):rep(32), funds_password = SECRETS[2] }
  end,
  ["a window turned round"] = function()
    return client.wallet:deposit_history { startTime = 1700000001000, endTime = 1700000000000 }
  end,
  ["options that are no table"] = function() return client.wallet:coins({}, 5) end,
  ["an option of a call"] = function() return client.wallet:coins({}, { time_out = 5 }) end,
  ["extra parameters"] = function() return client.wallet:coins({}, { extra_params = { 5 } }) end,
  ["an extra parameter that is known"] = function()
    return client.wallet:withdraw({ coin = "USDT", netWork = "TRX", address = "a", amount = "1" },
      { extra_params = { coin = "x" } })
  end,
  ["an operation"] = function() return client:call "wallet.withdrw" end,
  ["a request to prepare"] = function() return client:prepare("wallet.withdraw", { coin = 1.5 }) end,
  ["a walk's parameter"] = function() return client.wallet:each_deposit({ frm = 1 }):next() end,
  ["a walk's time"] = function() return client.wallet:each_deposit({ from = 1 }):next() end,
  ["a walk's page"] = function() return client.wallet:each_deposit({ startTime = 1700000000000 }):next() end,
  ["a walk without a table"] = function() return client.wallet:each_deposit(5):next() end,
  ["a walk of no history"] = function() return client:each("wallet.coins"):next() end,
  ["a wait"] = function() return client:wait_for { read = print } end,
  ["a wait's option"] = function() return client.wallet:wait_withdrawal("1", { gaol = "sent" }) end,
  ["a wait for nothing"] = function() return client.wallet:wait_withdrawal {} end,
  ["a wait for no transfer"] = function() return client.broker:wait_transfer {} end,
  ["a plan"] = function() return client.wallet:plan_withdraw { adress = "x" } end,
  ["a conversion"] = function() return client.wallet:convert_all { onyl = {} } end,
  ["what is no intent"] = function() return client:reconcile {} end,
  ["an intent of no operation"] = function()
    return client:reconcile { operation = "wallet.withdrw", params = {}, sent_at = 1700000000000 }
  end,
  ["an intent of a read"] = function()
    return client:reconcile { operation = "wallet.coins", params = {}, sent_at = 1700000000000 }
  end,
  ["an option of reconcile"] = function() return client:reconcile({}, { pol_ms = 1 }) end,
  ["a journal"] = function() return purser.journal.open {} end,
  ["an option of a journal"] = function() return purser.journal.open { sqlit = "x" } end,
  ["a journal that cannot be made"] = function() return purser.journal.open { sqlite = "/nonexistent/j.db" } end,
  ["a journal's entries"] = function() return journal:entries { stat = "open" } end,
  ["a journal's pruning"] = function() return journal:prune {} end,
  ["a queue"] = function() return purser.payouts.new {} end,
  ["an option of a queue"] = function() return purser.payouts.new { que = "x" } end,
  ["a restricted client"] = function() return purser.restricted(client, { "wallet.coin" }) end,
  ["a restricted client of nothing"] = function() return purser.restricted(client) end,
  ["what is not granted"] = function() return purser.restricted(client, { "wallet.coins" }).wallet:withdraw {} end,
  ["a guarded call"] = function()
    return assert(client_with { guard = { read_only = true } }).wallet:transfer {
      fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
  end,
}

-- One wrong value of each kind of parameter.
local wrong_values = {
  text = 1.5, time = 5, count = 0, status = {}, named_status = {}, choice = "x", new_name = "short", address = "a b",
  own_id = "a ", memo = "a\226\128\174b", client_id = "short", amount = "1,5", flag = 5,
  permissions = "SPOT_ACOUNT_READ",
  ips = "1.2.3", coins = { "A,B" }, md5 = "x", area_code = "x",
}

setup(function() journal = assert(purser.journal.open { sqlite = journal_path }) end)

teardown(function()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(journal_path .. suffix) end
end)

describe("the message of", function()
  for name, call in pairs(calls) do
    it(name .. " says where, what is wrong and what to do", function()
      local value, err = call()
      assert.is_nil(value)
      check(err)
    end)
  end

  it("each kind of parameter says where, what is wrong and what to do", function()
    local seen = {}
    for _, row in ipairs(operations.list) do
      for _, param in ipairs(row.params) do
        local wrong = wrong_values[param[2]]
        assert.is_not_nil(wrong, param[2])
        local value, err = client:call(row.full_name, { [param[1]] = wrong })
        assert.is_nil(value)
        assert.equal(param[1], err.parameter, tostring(err))
        check(err)
        seen[param[2]] = true
      end
    end
    for kind in pairs(wrong_values) do
      assert.is_true(seen[kind] or kind == "text" or kind == "named_status" or kind == "status", kind)
    end
  end)
end)

describe("the cure of a code", function()
  it("stands in the error, as the shell shows it", function()
    local response = { status = 400, body = '{"code":700002,"msg":"Signature for this request is not valid."}' }
    local _, err = client:parse("wallet.coins", response.status, response.body)
    assert.equal(codes.get("700002").cure, err.hint)
    assert.is_truthy(tostring(err):find("; " .. err.hint, 1, true), tostring(err))
  end)

  it("is left to the advice where the outcome of a write call is unknown", function()
    local _, err = client:parse("wallet.transfer", 500, '{"code":500,"msg":"x"}')
    assert.is_nil(err.hint)
    assert.is_truthy(tostring(err):find("; " .. err.advice, 1, true), tostring(err))
  end)
end)

describe("a name that a client does not have", function()
  it("is named with the nearest, or with the group that has the operation", function()
    for name, text in pairs {
      subaccount = 'did you mean "sub_account"', walet = 'did you mean "wallet"', reconcil = 'did you mean "reconcile"',
      withdraw = "use client.broker:withdraw or client.wallet:withdraw", each_deposit = "client.wallet:each_deposit",
    } do
      local ok, message = pcall(function() local _ = client[name] end)
      assert.is_false(ok, name)
      assert.is_truthy(message:find(text, 1, true), message)
      assert.matches("^spec/client/client_messages_spec.lua:%d+: ", message)
    end
    local ok, message = pcall(function() local _ = client.wallet.deposits end)
    assert.is_false(ok)
    assert.is_truthy(message:find("deposit_history", 1, true), message)
  end)

  it("is nil when it is like no other, so that a program can ask for it", function()
    for _, name in ipairs { "x", "ok", "kind", "colour", "__name", "_secret", 5 } do assert.is_nil(client[name]) end
  end)
end)
