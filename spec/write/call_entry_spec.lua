-- SPDX-License-Identifier: MIT
-- No write call is sent but by write/call.lua, which records it first.

local operations = require "purser.client.operations"
local pipeline = require "purser.client.call.pipeline"
local private = require "purser.client.util.private"
local purser = require "purser"

describe("the entry of operations", function()
  local sent, client

  before_each(function()
    sent = 0
    client = assert(purser.new { base_url = "https://service.example", api_key = "k", secret_key = "s",
      transport = { send = function()
        sent = sent + 1
        return { status = 200, body = "{}", headers = "" }
      end } })
  end)

  it("is the only one for write calls: the pipeline raises, and sends nothing", function()
    local state = private.state_of(client)
    for _, row in ipairs(operations.list) do
      if row.effect ~= "read" then
        assert.error_matches(function() pipeline.run(state, row, {}) end, row.full_name .. " is a write call", 1, true)
      end
    end
    assert.equal(0, sent)
  end)

  it("records a write call before it is sent, whichever way it came", function()
    local restricted = assert(purser.restricted(client, { "wallet.cancel_withdrawal" }))
    local ways = {
      function(info) return client.wallet:cancel_withdrawal({ id = "w1" }, { info = info }) end,
      function(info) return client:call("wallet.cancel_withdrawal", { id = "w1" }, { info = info }) end,
      function() return restricted.wallet:cancel_withdrawal { id = "w1" } end,
    }
    for i, way in ipairs(ways) do
      local recorded = 0
      private.state_of(client)._journal = {
        identify = function() return true end,
        begin = function(_, intent)
          assert.equal(i - 1, sent)
          assert.equal("w1", intent.params.id)
          recorded = recorded + 1
          return true
        end,
        finish = function() return true end,
      }
      local info = {}
      way(info)
      assert.equal(1, recorded)
      assert.equal(i, sent)
      assert(i == #ways or info.intent)
    end
  end)
end)
