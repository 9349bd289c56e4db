-- SPDX-License-Identifier: MIT
-- Reconcile concludes nothing from these: histories that show no list, records without an id, names and amounts that
-- the service shows in another way, records of other calls.

local core = require "purser.core"
local json = require "purser.json"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local purser = require "purser"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"
local simulated = require "simulated"

local NOW = 1700000000000
local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
local ID = ("Ab3"):rep(10) .. "Zz"

-- Reconciles an intent long after the call, where the service answers reads with `answer(asked, row)`.
local function reconciled(operation, params, answer, known, fields)
  local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000 }
  for name, value in pairs(fields or {}) do intent[name] = value end
  return reconcile.reconcile(listing_service(function(row, asked) return answer(asked, row) end,
    { journal = known }), intent)
end

-- A client of a service that executes each write call and loses its answer, and answers reads with `body(target)`.
local function client_of(body)
  local now = NOW
  return assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret", retry = false,
    rate_limit = false, clock = function() return now end, transport = {
      sleep = function(_, ms) now = now + ms end,
      send = function(_, request)
        if request.method ~= "GET" then return nil, { message = "the answer was lost" } end
        return { status = 200, headers = "", body = body(request.target, now) }
      end,
    } })
end

local calls = {
  ["wallet.withdraw"] = { coin = "USDT", address = ADDRESS, amount = "20" },
  ["wallet.withdraw_legacy"] = { coin = "USDT", address = ADDRESS, amount = "20" },
  ["broker.withdraw"] = { coin = "USDT", network = "TRX", address = ADDRESS, amount = "20" },
  ["sub_account.transfer"] = { toAccount = "Desk", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "2" },
  ["broker.transfer"] = { toAccount = "Desk", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "2" },
  ["wallet.transfer"] = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5.123456789" },
  ["wallet.internal_transfer"] = { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT",
    amount = "5.123456789" },
  ["wallet.convert"] = { asset = "BTC,ETH" },
  ["wallet.cancel_withdrawal"] = { id = "w1" },
  ["wallet.create_deposit_address"] = { coin = "USDT", network = "Tron(TRC20)" },
  ["broker.create_sub_account"] = { subAccount = "Desk0001", note = "n" },
  ["sub_account.create_sub_account"] = { subAccount = "Desk0001", note = "n" },
  ["broker.create_api_key"] = { subAccount = "Desk0001", note = "n", permissions = "SPOT_DEAL_READ" },
  ["sub_account.create_api_key"] = { subAccount = "Desk0001", note = "n", permissions = "SPOT_DEAL_READ" },
  ["sub_account.delete_api_key"] = { subAccount = "Desk0001", apiKey = "mx0abc" },
  ["broker.delete_api_key"] = { subAccount = "Desk0001", apiKey = "mx0abc" },
}

describe("a history that shows no list", function()
  for name, params in pairs(calls) do
    it("says nothing of what became of " .. name, function()
      for _, body in ipairs { "{}", '{"code":200,"msg":"success"}', '{"code":0,"msg":"maintenance"}', '{"data":null}',
        '{"data":{}}', '{"code":"0","message":"","data":null}', '{"result":null}', '{"result":[],"totalCount":1}',
        '{"success":true,"code":0,"message":"busy"}', '{"rows":[],"total":3}', '{"data":[],"totalRecords":5}' } do
        local client = client_of(function() return body end)
        local _, err = client:call(name, params)
        assert.equal("unknown", err.outcome)
        local answer, problem = client:reconcile(err)
        if name == "broker.withdraw" then -- which never ends in another way
          assert.equal("undecided", answer.outcome)
        elseif answer then -- a total that promises more
          assert.same({ "undecided", true }, { answer.outcome, answer.reason:find("(6)", 1, true) == 1 })
        else
          assert.equal("decode", problem.kind)
        end
      end
    end)
  end

  it("now and then is asked once more, so that a reading of many requests ends all the same", function()
    local params = { clientTranId = ID }
    for name, value in pairs(calls["sub_account.transfer"]) do params[name] = value end
    local record = { tranId = "r1", clientTranId = ID, asset = "USDT", amount = "2", timestamp = NOW + 400,
      fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "Desk" }
    for nonsense = 1, 3 do -- that many answers in a row, then one that shows a list
      local asked_times = 0
      local client = client_of(function(target)
        asked_times = asked_times + 1
        if asked_times % (nonsense + 1) ~= 0 then return "{}" end
        if target:find("sub-account/list", 1, true) then return '{"subAccounts":[{"subAccount":"Desk"}]}' end
        return target:find("page=1", 1, true) and json.encode { record } or "[]"
      end)
      local _, lost = client:call("sub_account.transfer", params)
      local answer, err = client:reconcile(lost)
      if nonsense < 3 then
        assert.equal("done", answer and answer.outcome, tostring(err))
      else
        assert.equal("decode", err.kind)
      end
    end
  end)

  it("with one record where a list belongs proves that record, and no other's absence", function()
    local function reconcile_key(note)
      local client = client_of(function(target)
        if target:find("list", 1, true) then return '{"code":0,"data":[{"subAccount":"Desk0001"}]}' end
        return ('{"code":0,"data":{"apiKey":"mx0abc","note":"%s","createTime":%d}}'):format(note, NOW)
      end)
      local _, err = client:call("broker.create_api_key", calls["broker.create_api_key"])
      return assert(client:reconcile(err))
    end
    assert.equal("undecided", reconcile_key("n").outcome)
    assert.equal("mx0abc", reconcile_key("n").candidates[1].apiKey)
    assert.equal("undecided", reconcile_key("other").outcome)
  end)
end)

describe("a record without the id that was sent", function()
  for _, name in ipairs { "wallet.withdraw", "wallet.withdraw_legacy", "sub_account.transfer", "broker.transfer" } do
    local row = operations.by_name[name]
    local params = { [row.reconcile.client_id] = ID }
    for member, value in pairs(calls[name]) do params[member] = value end

    local function with(shown, known)
      local record = { tranId = "r1", id = "r1", coin = "USDT", asset = "USDT", address = ADDRESS,
        amount = params.amount, applyTime = NOW + 400, timestamp = NOW + 400 }
      for member, value in pairs(shown) do record[member] = value end
      return assert(reconciled(name, params, function(asked, of)
        if of.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk" } } or {} end
        return (asked.page or 1) == 1 and { record } or {}
      end, known))
    end

    it("is that of " .. name .. " when it is the only one, and agrees in all that it shows", function()
      for _, shown in ipairs { {}, { [row.reconcile.client_id] = "" }, { amount = params.amount .. ".000" },
        { coin = "usdt", asset = "usdt" }, { timestamp = NOW - 900, applyTime = NOW - 900 },
        { timestamp = NOW + 9000, applyTime = NOW + 9000 } } do
        local answer = with(shown)
        assert.equal("done", answer.outcome)
        assert.equal("r1", answer.record.tranId)
      end
    end)

    it("leaves " .. name .. " undecided when no witness proves a difference", function()
      for _, shown in ipairs { { address = ADDRESS .. ":7", coin = "USDT-TRX", asset = "USDT-TRX" }, { amount = "7" },
        { coin = "BTC", asset = "BTC" }, { [row.reconcile.client_id] = ("x"):rep(32) },
        { timestamp = NOW + 60000, applyTime = NOW + 60000 } } do
        local answer = with(shown)
        assert.equal("undecided", answer.outcome)
        assert.equal("r1", answer.candidates[1].tranId)
      end
    end)

    it("is not that of " .. name .. " when it is another call's", function()
      local known = own_calls.new()
      own_calls.note(known, row, { operation = name, params = params, sent_at = NOW - 5000, id = "other" },
        "r1")
      assert.equal("not_done", with({}, known).outcome)
    end)
  end
end)

describe("what a service shows in another way", function()
  -- A service that takes names in any case, keeps `kept` and filters as written.
  local function transfers(kept, listed)
    return function(asked, row)
      if row.name == "list_sub_accounts" then
        local shown = asked.page == 1 and (asked.subAccount == nil or asked.subAccount == listed)
        return shown and { { subAccount = listed or "other001" } } or {}
      end
      local shown = asked.page == 1 and (asked.toAccount == nil or asked.toAccount == kept)
      return shown and { { tranId = "r1", clientTranId = ID, asset = "USDT", amount = "2", timestamp = NOW } } or {}
    end
  end

  for _, name in ipairs { "sub_account.transfer", "broker.transfer" } do
    it("is found under the service's own spelling of an account: " .. name, function()
      local params = { clientTranId = ID }
      for member, value in pairs(calls[name]) do params[member] = value end
      assert.equal("done", assert(reconciled(name, params, transfers("desk", "desk"))).outcome)
      assert.equal("done", assert(reconciled(name, params, transfers("desk", nil))).outcome)
    end)

    it("makes an account that is listed nowhere prove nothing: " .. name, function()
      local params = { clientTranId = ("Q"):rep(32) }
      for member, value in pairs(calls[name]) do params[member] = value end
      local answer = assert(reconciled(name, params, transfers("desk", nil)))
      assert.equal("undecided", answer.outcome)
      local nothing = transfers("nobody", "Desk")
      assert.equal("not_done", assert(reconciled(name, params, nothing)).outcome)
    end)
  end

  it("says nothing where the sub-accounts may not be listed", function()
    local params = { clientTranId = ID }
    for member, value in pairs(calls["sub_account.transfer"]) do params[member] = value end
    local errors = require "purser.client.call.errors"
    local answer = assert(reconciled("sub_account.transfer", params, function(_, row)
      if row.name ~= "list_sub_accounts" then return {} end
      return nil, errors.new { kind = "api", outcome = "rejected", code = "700007", message = "no permission" }
    end))
    assert.equal("undecided", answer.outcome)
    assert.matches("no permission", answer.reason)
  end)

  it("is found under the spelling of a coin that the document has", function()
    for _, name in ipairs { "wallet.withdraw", "wallet.withdraw_legacy" } do
      local params = { withdrawOrderId = "invoice-1", coin = "usdt", address = ADDRESS, amount = "20" }
      local answer = assert(reconciled(name, params, function(asked)
        return (asked.coin or "USDT") == "USDT" and { { id = "w", withdrawOrderId = "invoice-1", coin = "USDT",
          address = ADDRESS, amount = "20", applyTime = NOW } } or {}
      end))
      assert.equal("done", answer.outcome)
    end
  end)

  it("is a candidate where an amount is equal as far as it is shown", function()
    for shown, outcome in pairs { ["5.12345678"] = "undecided", ["5.12345679"] = "undecided", ["5.1235"] = "undecided",
      ["5"] = "undecided", ["5.123456789"] = "done", ["5.1234567890"] = "done", ["5.125"] = "undecided",
      ["5.12345600"] = "undecided", ["5.00000000"] = "undecided", ["5.12500000"] = "undecided",
      ["7"] = "undecided" } do
      local function answer(asked, row)
        local found = { tranId = "1", amount = shown, status = "SUCCESS", timestamp = NOW }
        local name = row.name == "transfer_history" and "wallet.transfer" or "wallet.internal_transfer"
        for member, value in pairs(calls[name]) do
          found[member] = found[member] or value
        end
        local list = asked.page == 1 and { found } or {}
        return row.result.rows and { rows = list, total = 1 } or { data = list, totalRecords = 1, totalPageNum = 1 }
      end
      for _, name in ipairs { "wallet.transfer", "wallet.internal_transfer" } do
        assert.equal(outcome, assert(reconciled(name, calls[name], answer)).outcome, name .. shown)
      end
    end
  end)

  it("is a candidate where the name of a sub-account is in another case", function()
    for _, name in ipairs { "broker.create_sub_account", "sub_account.create_sub_account" } do
      local function with(shown)
        return assert(reconciled(name, calls[name], function(asked)
          return not asked.subAccount and asked.page == 1 and { shown } or {}
        end))
      end
      assert.equal("undecided", with { subAccount = "desk0001" }.outcome)
      assert.equal("undecided", with { note = "n" }.outcome)
      local older = NOW - 900000
      assert.equal("not_done", with { subAccount = "desk0001", timestamp = older, createTime = older }.outcome)
      assert.equal("undecided", with { subAccount = "Desk0001" }.outcome)
      assert.equal("done", with { subAccount = "Desk0001", timestamp = NOW, createTime = NOW }.outcome)
    end
  end)

  it("does not make a key look deleted or never made", function()
    for group, listed in pairs { broker = "desk0001", sub_account = "Desk0001" } do
      local spelled = {}
      local function keys_of(shown)
        return function(asked, row)
          if row.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = listed } } or {} end
          spelled[#spelled + 1] = asked.subAccount
          return asked.subAccount == listed and { shown } or {}
        end
      end
      local deletion = calls[group .. ".delete_api_key"]
      assert.equal("not_done", reconciled(group .. ".delete_api_key", deletion, keys_of { apiKey = "mx0abc" }).outcome)
      assert.equal("undecided", reconciled(group .. ".delete_api_key", deletion,
        keys_of { apiKey = "mx0***bc" }).outcome)
      assert.equal("undecided", reconciled(group .. ".delete_api_key", deletion, keys_of { note = "n" }).outcome)
      assert.equal("done", reconciled(group .. ".delete_api_key", deletion, keys_of { apiKey = "other" }).outcome)
      local made = reconciled(group .. ".create_api_key", calls[group .. ".create_api_key"],
        keys_of { apiKey = "k", note = "n", createTime = NOW })
      assert.same({ "done", true }, { made.outcome, made.secret_lost })
      assert.equal(listed, spelled[#spelled])
    end
  end)

  it("is relied on for five days where the reach of a history is documented nowhere", function()
    local day = 86400000
    for days, outcome in pairs { [5] = "not_done", [6] = "undecided" } do
      assert.equal(outcome, assert(reconciled("broker.transfer", { clientTranId = ID, fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "USDT", amount = "2" }, function() return {} end, nil,
        { sent_at = NOW - days * day })).outcome)
    end
  end)
end)

describe("an intent that was written by hand", function()
  it("may have numbers and lists where texts travel", function()
    local name = { subAccount = 12345678, note = "n" }
    local answer = assert(reconciled("sub_account.create_sub_account", name, function(asked)
      return asked.page == 1 and { { subAccount = "12345678", createTime = NOW } } or {}
    end))
    assert.equal("done", answer.outcome)
    answer = assert(reconciled("wallet.convert", { asset = { "BTC", "ETH" } }, function()
      return { data = { { convertTime = NOW, convertDetails = { { asset = "ETH" } } } }, totalRecords = 1 }
    end))
    assert.equal("done", answer.outcome)
  end)
end)

describe("a copy of an intent", function()
  local sim, client

  before_each(function()
    sim = purser.sim.new { seed = 5 }
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    client = simulated.client(sim, account, { rate_limit = false, retry = false })
  end)

  local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

  local function lose()
    sim:fault { kind = "lost_answer", operation = "wallet.transfer", times = 1 }
    local _, err = client.wallet:transfer(move)
    return assert(err.intent)
  end

  it("is the same call, which does not compete with itself", function()
    local intent = lose()
    assert.equal("done", assert(client:reconcile(assert(core.decode(json.encode(intent))))).outcome)
    assert.equal("done", assert(client:reconcile(intent)).outcome)
  end)

  it("without a name, as an older version made it, is so too", function()
    local copy = assert(core.decode(json.encode(lose())))
    copy.id = nil
    assert.equal("done", assert(client:reconcile(copy)).outcome)
  end)

  it("is undecided where the service shows the id of a withdrawal cut, or longer", function()
    for _, shown in ipairs { ID:sub(1, 20), "x-" .. ID, " " .. ID .. " " } do
      local params = { coin = "USDT", address = ADDRESS, amount = "20", withdrawOrderId = ID }
      local record = { id = "w1", withdrawOrderId = shown, coin = "USDT", address = ADDRESS, amount = "20", status = 7,
        applyTime = NOW + 100 }
      assert.equal("undecided", assert(reconciled("wallet.withdraw", params, function() return { record } end)).outcome)
    end
  end)

  -- The first of two calls is executed and answered, the second is lost before it arrives.
  local function second_of(operation, first, second, shown)
    local now, record, moves = NOW, nil, 0
    local caller = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
      retry = false, rate_limit = false, clock = function() return now end, transport = {
        sleep = function(_, ms) now = now + ms end,
        send = function(_, request)
          now = now + 10
          if request.method == "GET" then
            return { status = 200, headers = "", body = ('{"%s":[%s],"total":1,"totalRecords":1,"page":1}'):format(
              operation == "wallet.transfer" and "rows" or "data", record) }
          end
          moves = moves + 1
          if moves == 2 then return nil, { message = "the request was lost" } end
          record = json.encode(shown):gsub('"TIME"', tostring(now))
          return { status = 200, headers = "", body = '{"tranId":"r1"}' }
        end,
      } })
    assert(caller:call(operation, first))
    local _, err = caller:call(operation, second)
    return assert(caller:reconcile(err)).outcome
  end

  it("is not done by the record of a call to the same digits in another country", function()
    local function to(area)
      return { toAccountType = "MOBILE", areaCode = area, toAccount = "13800138000", asset = "USDT", amount = "5" }
    end
    assert.equal("not_done", second_of("wallet.internal_transfer", to "86", to "1", { tranId = "r1", timestamp = "TIME",
      toAccountType = "MOBILE", toAccount = "13800138000", asset = "USDT", amount = "5", status = "SUCCESS" }))
  end)

  it("is not done by the record of a call that spelled its asset in another way", function()
    local function of(asset)
      return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = asset, amount = "5" }
    end
    assert.equal("not_done", second_of("wallet.transfer", of "usdt", of "USDT", { tranId = "r1", timestamp = "TIME",
      fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5", status = "SUCCESS" }))
  end)
end)
