-- SPDX-License-Identifier: MIT
-- The reads of `purser doctor --drift`: they are harmless, and the simulator answers each.

local operations = require "purser.client.operations"
local reads = require "purser.testing.recording.drift.reads"

describe("the reads of doctor --drift", function()
  it("are rows that only read, or what needs no key", function()
    for _, read in ipairs(reads.list) do
      local row = operations.by_name[read[1]]
      assert.is_true(row and row.effect == "read" or read[1] == "ping" or read[1] == "server_time", read[1])
    end
  end)

  it("are all but those of one sub-account, or of its own key", function()
    local made, left_out = {}, {}
    for _, read in ipairs(reads.list) do made[read[1]] = true end
    for _, row in ipairs(operations.list) do
      if row.effect == "read" and not made[row.full_name] then left_out[#left_out + 1] = row.full_name end
    end
    table.sort(left_out)
    assert.equal("broker.all_deposit_history broker.deposit_addresses broker.deposit_history broker.list_api_keys "
      .. "broker.sub_account_status sub_account.list_api_keys", table.concat(left_out, " "))
  end)

  it("are those of the live service alone where the profile allows them", function()
    local function names(live)
      local list = {}
      for _, read in ipairs(reads.of { profile = { live_operations = live } }) do list[#list + 1] = read[1] end
      return table.concat(list, " ")
    end
    assert.is_nil(names(false):find("live.", 1, true))
    for _, row in ipairs(operations.groups.live) do
      assert.equal(row.effect == "read", names(true):find(row.full_name, 1, true) ~= nil, row.full_name)
    end
  end)

  it("are made by the method without keys where they need none, and by the operation's name else", function()
    local client = { ping = function() return "pong" end, server_time = function() return 7 end,
      call = function(_, name, params) return name, params end }
    assert.equal("pong", reads.run(client, { "ping" }))
    assert.equal(7, reads.run(client, { "server_time" }))
    assert.same({ "wallet.coins", { a = 1 } }, { reads.run(client, { "wallet.coins", { a = 1 } }) })
    assert.same({ "wallet.coins", client }, { reads.run(client, { "wallet.coins", function(by) return by end }) })
  end)

  it("ask for one small page each", function()
    local spot = { fromAccountType = "SPOT", toAccountType = "SPOT", limit = 20 }
    local asked = { ["wallet.deposit_history"] = { limit = 20 }, ["wallet.withdrawal_history"] = { limit = 20 },
      ["wallet.withdrawal_addresses"] = { limit = 20 }, ["wallet.conversion_history"] = { limit = 5 },
      ["wallet.transfer_history"] = { fromAccountType = "SPOT", toAccountType = "FUTURES", size = 20 },
      ["wallet.internal_transfer_history"] = { limit = 20 }, ["sub_account.list_sub_accounts"] = { limit = 20 },
      ["sub_account.transfer_history"] = spot, ["broker.list_sub_accounts"] = { limit = 20 },
      ["broker.transfer_history"] = spot }
    for _, read in ipairs(reads.list) do
      local row = operations.by_name[read[1]]
      if row and row.paging and row.paging.page_size and read[1] ~= "broker.rebates" then
        assert.same(asked[read[1]], read[2], read[1])
      end
    end
  end)

  it("sleep and discard as the transport below does, where it can", function()
    local told = {}
    local capture = reads.capture { send = print, sleep = function(_, ms) told[#told + 1] = ms return "slept" end,
      discard = function(_, response) told[#told + 1] = response return "gone" end }
    assert.same({ "slept", "gone" }, { capture:sleep(7), capture:discard "it" })
    assert.same({ 7, "it" }, told)
    capture = reads.capture { send = print }
    assert.is_nil(capture.sleep or capture.discard)
  end)

  it("reach the transport below alone: a capture sends nothing else, and keeps the last response", function()
    local sent, closed = {}, 0
    local capture = reads.capture { send = function(_, request)
      sent[#sent + 1] = request.method
      return { status = 200, body = "{}", headers = {} }
    end, close = function() closed = closed + 1 end }
    assert.equal("{}", capture:send({ method = "GET" }).body)
    assert.equal(200, capture.last.status)
    for _, method in ipairs { "POST", "DELETE", "PUT", "get" } do
      local response, failure = capture:send { method = method, target = "/" }
      assert.same({ nil, "not_sent", nil }, { response, failure.outcome, capture.last })
    end
    assert.same({ "GET" }, sent)
    capture:close()
    assert.equal(1, closed)
  end)

  for _, profile in ipairs { "default", "mexc" } do
    it("have an answer of each form of the simulator to compare with: profile " .. profile, function()
      local expected = reads.expected(profile ~= "default" and profile or nil)
      for _, read in ipairs(reads.list) do
        local known = expected[read]
        if read.live and profile == "default" then
          assert.is_nil(known)
        else
          assert.is_table(known.form.answer, read[1])
          local is_rejected = next(known.codes) ~= nil and not known.codes["0"] and not known.codes["200"]
          assert.equal(read.probe or false, is_rejected)
        end
      end
      assert.is_true(expected.error.form.answer.count >= 7)
    end)
  end
end)
