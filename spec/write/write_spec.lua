-- SPDX-License-Identifier: MIT
-- The seam between a client and the room of writing: a client hands over each call that writes, and nothing else.

local clients = require "purser.client"
local write = require "purser.write"

describe("the seam of writing", function()
  local handed, client

  before_each(function()
    handed = {}
    local writes = setmetatable({}, { __index = function(_, name)
      return function(_, first)
        handed[#handed + 1] = name .. " " .. tostring(type(first) == "table" and first.full_name or first)
        if name:find "^pre" then return { method = "POST", base_url = "http://s", target = "/x", headers = {} } end
        return "from " .. name
      end
    end })
    client = assert(clients.new({ profile = "mexc", base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      transport = { send = function() return { status = 200, body = "[]", headers = "" } end } },
      { methods = { client = {}, wallet = {}, sub_account = {}, broker = {}, live = {} }, writes = writes }))
  end)

  local params = { coin = "USDT", address = "x", amount = "1", netWork = "TRX" }
  for _, case in ipairs {
    { "client:call", function() return client:call("wallet.withdraw", params) end, "send wallet.withdraw" },
    { "a method of a group", function() return client.wallet:withdraw(params) end, "send wallet.withdraw" },
    { "client:recall", function() return client:recall("wallet.withdraw", params) end, "recall wallet.withdraw" },
    { "client:prepare", function() return client:prepare("wallet.withdraw", params) end,
      "prepare wallet.withdraw" },
    { "client:preview", function() return client:preview("wallet.withdraw", params) end, "preview wallet.withdraw" },
    { "client:reconcile", function() return client:reconcile "an intent" end, "reconcile an intent" },
  } do
    it("takes what writes of " .. case[1], function()
      assert(case[2]())
      assert.same({ case[3] }, handed)
    end)
  end

  it("takes no read", function()
    assert.same({}, client.wallet:deposit_history {})
    assert(client:prepare "wallet.deposit_history")
    assert.is_nil((client:recall "wallet.deposit_history"))
    assert.same({}, handed)
  end)

  it("is the module's, for clients of users", function()
    for _, name in ipairs { "send", "recall", "prepare", "preview", "believe_prepared", "signer_of", "advice",
      "make_guard", "reconcile" } do
      assert.is_function(write[name], name)
    end
  end)
end)
