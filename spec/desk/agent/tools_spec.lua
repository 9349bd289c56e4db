-- SPDX-License-Identifier: MIT
-- The tools of an agent on a journal that fails, or holds odd rows.

local json = require "purser.json"
local message = require "purser.desk.agent.message"
local tools = require "purser.desk.agent.tools"

describe("the tools of an agent", function()
  local entries, made, reconciled, problem, client

  before_each(function()
    reconciled = 0
    client = { account = function() return "a" end, now = function() return 1700000000000 end,
      preview = function() return {} end, reconcile = function()
        reconciled = reconciled + 1
        return nil, problem
      end }
    made = tools.new { stop_file = "/nonexistent/stop", client = client, journal = { db = {
      transaction = function() return nil, "disk" end }, log = function() return 1 end,
      end_log = function() end, entries = function(_, filter) return entries(filter) end } }
  end)

  local function call(name, arguments) return made.call(made.by_name[name], message.read(json.encode(arguments))) end

  it("ask for an equal payment of some days in the transaction of the call", function()
    local params = { asset = "USDT", amount = "5", fromAccountType = "SPOT", toAccountType = "FUTURES" }
    for _, case in ipairs { { "inv-1", "the reference inv-1 within 7 days" }, { "", "no reference within 7 days" } } do
      function entries() return {} end
      local asked
      function client.call(_, _, _, options)
        asked = options
        return nil, { code = "journal.equal", message = "no", outcome = "not_sent", details = { key = case[1] } }
      end
      local plan = call("propose", { reference = "r", operation = "wallet.transfer", params = params })
      local said = call("pay", { reference = "r", digest = plan.digest })
      assert.same({ "needs a person", true }, { said.state, said.reason:find(case[2], 1, true) ~= nil })
      assert.same({ key = "r", equal_since = 1700000000000 - 7 * 86400000 }, asked)
    end
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
