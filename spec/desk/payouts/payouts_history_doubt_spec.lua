-- SPDX-License-Identifier: MIT
-- Payouts with a new journal, at services whose histories filter names as they spell them, and count their ids each for
-- itself.

local json = require "purser.json"
local purser = require "purser"

local NOW = 1700000000000
local path, service

local function value(target, name)
  local found = ("&" .. target:match "%?(.*)"):match("&" .. name .. "=([^&]*)")
  return found
end

local answers = {}

-- Takes the name of a sub-account in any case, keeps it as it is listed, and filters by it as it is written.
answers["/api/v3/capital/sub-account/universalTransfer"] = function(self, method, target)
  if method == "POST" then
    self.moves[#self.moves + 1] = { tranId = tostring(1000 + #self.moves), asset = "USDT", status = "SUCCESS",
      amount = value(target, "amount"), clientTranId = value(target, "clientTranId"), timestamp = self.now }
    return { tranId = self.moves[#self.moves].tranId }
  end
  local is_shown = value(target, "toAccount") == self.spelled and value(target, "page") == "1"
  return is_shown and self.moves or json.list {}
end

answers["/api/v3/sub-account/list"] = function(self)
  if self.may_not_list then return { code = 700007, msg = "no permission to access the endpoint" }, 403 end
  return { subAccounts = json.list { self.spelled and { subAccount = self.spelled } } }
end

answers["/api/v3/capital/transfer"] = function(self, method, target)
  if method == "POST" then
    self.moves[#self.moves + 1] = { tranId = tostring(1000 + #self.moves), fromAccountType = "SPOT",
      toAccountType = "FUTURES", asset = "USDT", amount = value(target, "amount"), status = "SUCCESS",
      timestamp = self.now }
    return { tranId = self.moves[#self.moves].tranId }
  end
  return { rows = self.moves, total = #self.moves }
end

answers["/api/v3/time"] = function(self) return { serverTime = self.now } end

answers["/api/v3/capital/withdraw"] = function() return { id = "1000" } end

local function new_service(spelled)
  local self = { now = NOW, moves = json.list {}, spelled = spelled }
  function self.sleep(_, ms) self.now = self.now + ms end
  function self.send(_, request)
    local answer, status = answers[request.target:match "^[^?]*"](self, request.method, request.target)
    return { status = status or 200, headers = "", body = json.encode(answer) }
  end
  return self
end

-- A client as of another process, with a journal that knows nothing of earlier calls.
local function start()
  local transport = { send = function(_, request) return service:send(request) end,
    sleep = function(_, ms) service:sleep(ms) end }
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  local journal = assert(purser.journal.open { sqlite = path })
  return assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret", rate_limit = false,
    transport = transport, clock = function() return service.now end, journal = journal, account = "treasury",
    retry = false }), journal
end

local transfer = { key = "one", operation = "sub_account.transfer", params = { toAccount = "TradingDesk1",
  fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "5" } }
local own = { key = "one", operation = "wallet.transfer", params = { fromAccountType = "SPOT",
  toAccountType = "FUTURES", asset = "USDT", amount = "5" } }

local function run(payment, client, journal)
  local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "one", retry_ms = 1,
    idle_ms = 1 })
  assert(payouts:add_all { payment })
  local report = assert(payouts:run())
  return report, assert(payouts:find "one"), payouts
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

describe("A payment to a sub-account whose name is kept in another spelling", function()
  it("is found, and not made again, when the journal was lost", function()
    service = new_service "tradingdesk1"
    assert.are.equal(1, run(transfer, start()).done)
    assert.are.equal(1, run(transfer, start()).done)
    assert.are.equal(1, #service.moves)
  end)
end)

describe("A payment to a sub-account", function()
  it("is undecided where a history shows nothing and sub-accounts may not be listed", function()
    service = new_service "tradingdesk1"
    service.may_not_list = true
    local report, payment = run(transfer, start())
    assert.are.same({ 1, 0 }, { report.undecided, #service.moves })
    assert.is_truthy(payment.message:find("cannot be listed: ", 1, true))
  end)

  it("is undecided where a history shows nothing and no such name is listed, and made when it is", function()
    service = new_service(nil)
    local report, payment, payouts = run(transfer, start())
    assert.are.same({ 1, 0 }, { report.undecided, #service.moves })
    assert.is_truthy(payment.message:find("no sub-account is listed as TradingDesk1", 1, true))
    service.spelled = "TradingDesk1"
    assert.is_true(payouts:retry "one")
    assert.are.same({ 1, 1 }, { assert(payouts:run()).done, #service.moves })
  end)
end)

describe("A record of another history with the same id", function()
  it("is no reason to make a payment again when the journal was lost", function()
    service = new_service()
    assert.are.equal(1, run(own, start()).done)
    local client, journal = start()
    local withdrawn = assert(client.wallet:withdraw { coin = "BTC", address = "TSample", amount = "1" })
    assert.are.equal(service.moves[1].tranId, withdrawn.id)
    assert.are.equal(1, run(own, client, journal).undecided)
    assert.are.equal(1, #service.moves)
  end)

  it("does not keep a payment from being made that has no record of its own", function()
    service = new_service()
    local client, journal = start()
    assert(client.wallet:withdraw { coin = "BTC", address = "TSample", amount = "1" })
    assert.are.same({ 1, 1 }, { run(own, client, journal).done, #service.moves })
  end)
end)
