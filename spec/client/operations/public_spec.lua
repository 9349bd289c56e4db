-- SPDX-License-Identifier: MIT
-- The rows as users see them.

local operations = require "purser.client.operations"
local public = require "purser.client.operations.public"

-- The names of members in all spellings, those of records inside too.
local function names_of(members, list)
  list = list or {}
  for _, member in ipairs(members or {}) do
    list[#list + 1] = member.name
    for _, alias in ipairs(member.aliases or {}) do list[#list + 1] = alias end
    names_of(member.members, list)
  end
  return list
end

describe("public rows", function()
  it("are copies: changing them changes nothing", function()
    local rows = public.rows()
    rows["wallet.withdraw"].params[1].required = false
    assert.is_true(operations.by_name["wallet.withdraw"].params[1].required)
    assert.equal(#operations.list, #rows)
  end)

  it("say which members their results have, in all spellings, those of records inside too", function()
    local rows = public.rows()
    assert.same({ "successList", "failedList", "asset", "message", "code", "totalConvert", "convertFee" },
      names_of(rows["wallet.convert"].members))
    assert.same({ "subAccount", "note", "apiKey", "apikey", "secretKey", "permissions", "ip", "createTime",
      "creatTime" }, names_of(rows["broker.create_api_key"].members))
    assert.equal("live", rows["live.account"].group)
  end)
end)

describe("the members of a public row", function()
  it("have types in words, and records their own members", function()
    local rows, types = require("purser.client.operations.public").rows(), {}
    for _, member in ipairs(rows["wallet.coins"].members) do types[member.name] = member end
    assert.same({ "string", "records" }, { types.coin.type, types.networkList.type })
    assert.same({ "coin", "boolean" }, { types.networkList.members[1].name, types.networkList.members[5].type })
    for _, member in ipairs(rows["wallet.convert"].members) do types[member.name] = member.type end
    assert.same({ "list", "records", "string" }, { types.successList, types.failedList, types.convertFee })
  end)
end)
