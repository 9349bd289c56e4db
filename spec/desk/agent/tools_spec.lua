-- SPDX-License-Identifier: MIT
-- Which payments of an agent are equal: the same to the same place, whatever id they carry.

local json = require "purser.json"
local message = require "purser.desk.agent.message"
local tools = require "purser.desk.agent.tools"

describe("two payments of an agent", function()
  local payment = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "20" }
  for _, case in ipairs {
    { true, {} }, { true, { amount = "20.00" } }, { true, { withdrawOrderId = "other" } }, { true, { remark = "x" } },
    { true, { coin = "usdt" } }, { false, { amount = "20.01" } }, { false, { address = "TOther" } },
    { false, { memo = "7" } }, { true, { netWork = "ETH" } }, { true, { contractAddress = "TToken" } },
    { true, { netWork = false, network = "Tron(TRC20)" }, "wallet.withdraw_legacy" },
    { true, { netWork = false, network = "Tron(TRC20)" }, "broker.withdraw" },
    { false, { amount = "21" }, "broker.withdraw" }, { false, {}, "wallet.internal_transfer" },
  } do
    local operation = case[3] or "wallet.withdraw"
    local name, value = next(case[2])
    it(("are %s with %s %s by %s"):format(case[1] and "equal" or "two", name or "no", value or "change", operation),
      function()
      local other = {}
      for member, text in pairs(payment) do other[member] = text end
      for member, text in pairs(case[2]) do other[member] = text or nil end
      assert.equal(case[1], tools.face("wallet.withdraw", payment) == tools.face(operation, other))
    end)
  end
end)

describe("the tools of an agent", function()
  local entries, made, reconciled, problem

  before_each(function()
    reconciled = 0
    made = tools.new { stop_file = "/nonexistent/stop", journal = { log = function() return 1 end,
      end_log = function() end, entries = function(_, filter) return entries(filter) end },
      client = { account = function() return "a" end, now = function() return 1700000000000 end,
        preview = function() return {} end, reconcile = function()
          reconciled = reconciled + 1
          return nil, problem
        end } }
  end)

  local function call(name, arguments) return made.call(made.by_name[name], message.read(json.encode(arguments))) end

  it("look for an equal payment in all calls of these days, page by page", function()
    local params = { asset = "USDT", amount = "5", fromAccountType = "SPOT", toAccountType = "FUTURES" }
    local afters = {}
    function entries(filter)
      if filter.key then return {} end
      afters[#afters + 1] = filter.after.intent
      local page = {}
      for i = 1, #afters < 3 and 500 or 1 do
        page[i] = { key = "k", state = #afters == 3 and "done" or "rejected", intent = { params = params,
          operation = "wallet.transfer", sent_at = #afters, id = tostring(i) } }
      end
      return page
    end
    local plan = call("propose", { reference = "r", operation = "wallet.transfer", params = params })
    assert.matches("an equal payment was made", call("pay", { reference = "r", digest = plan.digest }).reason)
    assert.same({ 1700000000000 - 7 * 86400000, 1, 2 }, { afters[1].sent_at, afters[2].sent_at, afters[3].sent_at })
  end)

  it("name the arguments that they need", function()
    local needed = {}
    for i, tool in ipairs(made) do needed[i] = tool.name .. " " .. table.concat(tool.schema.required, " ") end
    assert.same({ "read operation", "propose reference operation params", "pay reference digest", "status ",
      "payments ", "stop reason" }, needed)
  end)

  it("propose no withdrawal that cannot be planned", function()
    local function fail() return nil, { message = "no route to host", code = "lost", outcome = "unknown" } end
    made = tools.new { journal = { log = function() return 1 end, end_log = function() end,
      entries = function() return {} end }, client = { account = function() return "a" end,
      wallet = { plan_withdraw = fail } } }
    local said = call("propose", { reference = "r", operation = "wallet.withdraw", params = { coin = "USDT" } })
    assert.same({ "refused", "lost" }, { said.state, said.code })
  end)

  it("do not say what became of a payment that the journal cannot be asked about", function()
    local state, answers = nil, 0
    function entries()
      answers = answers + 1
      if answers == 2 then return nil, { message = "disk", outcome = "unknown" } end
      return { { key = "r", state = state, intent = {} } }
    end
    for name, looks in pairs { open = 1, unknown = 1, undecided = 0, done = 0, rejected = 0 } do
      state, answers, reconciled = name, 0, 0
      local said = call("status", { reference = "r" }).state
      assert.equal(looks, reconciled, name)
      assert.equal(({ done = "accepted", rejected = "rejected", undecided = "undecided" })[name] or "unknown", said)
    end
    answers = 1
    assert.equal("unknown", call("status", { reference = "r" }).state)
    state, answers, problem = "unknown", 2, { message = "no route to host" }
    local said = call("status", { reference = "r" })
    assert.same({ "unknown", "no route to host [outcome unknown]" }, { said.state, said.reason })
    answers = 1
    assert.equal("unknown", call("pay", { reference = "r", digest = "d" }).state)
  end)
end)
