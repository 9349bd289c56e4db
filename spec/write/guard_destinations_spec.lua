-- SPDX-License-Identifier: MIT
-- Whom a call may pay by the rules `addresses` and `recipients`. guard_rules_spec.lua has every call under each rule.

local new = require("recorder").new
local own = require "own_journal"

local MEMO_ADDRESS = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh"
local REJECTION = { status = 400, body = '{"code":10101,"msg":"no funds"}', headers = "" }

local journal

before_each(function() journal = own.begin() end)
after_each(own.finish)

local function client_with(guard)
  return new({ guard = guard, journal = journal, account = "acme", rate_limit = false },
    function() return REJECTION end)
end

local function rejected(rule, value, err)
  assert.is_nil(value)
  assert.equal("guard." .. rule, err.code, err.message)
end

local function passed(value, err)
  assert.is_nil(value)
  assert.equal("rejected", err.outcome, tostring(err))
end

describe("an entry of addresses", function()
  local function withdraw(client, fields)
    local params = { coin = "XRP", netWork = "XRP", address = MEMO_ADDRESS, amount = "5" }
    for name, value in pairs(fields or {}) do params[name] = value ~= "" and value or nil end
    return client.wallet:withdraw(params)
  end

  it("without a memo allows no memo, and another entry one or any", function()
    local client = client_with { addresses = { MEMO_ADDRESS } }
    passed(withdraw(client))
    rejected("addresses", withdraw(client, { memo = "77" }))
    client = client_with { addresses = { { address = MEMO_ADDRESS, memo = "77" } } }
    passed(withdraw(client, { memo = "77" }))
    rejected("addresses", withdraw(client))
    rejected("addresses", withdraw(client, { memo = "78" }))
    rejected("addresses", client.broker:withdraw { coin = "XRP", network = "XRP", address = MEMO_ADDRESS,
      amount = "5" })
    client = client_with { addresses = { { address = MEMO_ADDRESS, any_memo = true } } }
    for _, memo in ipairs { "", "77", "78" } do passed(withdraw(client, { memo = memo })) end
  end)

  it("binds coin and network where it names them", function()
    local client = client_with { addresses = { { address = MEMO_ADDRESS, coin = "xrp", network = "XRP" } } }
    passed(withdraw(client))
    passed(withdraw(client, { coin = "xrp" }))
    rejected("addresses", withdraw(client, { coin = "USDT" }))
    rejected("addresses", withdraw(client, { netWork = "TRX" }))
    rejected("addresses", withdraw(client, { netWork = "" })) -- the service would choose one
    passed(client.wallet:withdraw_legacy { coin = "XRP", network = "XRP", address = MEMO_ADDRESS, amount = "5" })
    rejected("addresses", client.wallet:withdraw_legacy { coin = "XRP", address = MEMO_ADDRESS, amount = "5" })
    passed(client.broker:withdraw { coin = "XRP", network = "XRP", address = MEMO_ADDRESS, amount = "5" })
  end)

  it("knows a network by each of its names, and allows by no name that it does not know", function()
    for _, name in ipairs { "XRP", "Ripple(XRP)", "ripple" } do
      local client = client_with { addresses = { { address = MEMO_ADDRESS, network = name } } }
      for _, called in ipairs { "XRP", "Ripple(XRP)", "Ripple" } do
        local _, err = withdraw(client, { netWork = called })
        assert.is_nil(err and err.code and err.code:match "^guard", name .. " " .. called)
      end
      for _, called in ipairs { "TRX", "NEW", "New(XRP)", "Optimism(XRP)" } do
        rejected("addresses", withdraw(client, { netWork = called }))
      end
    end
    local client = client_with { addresses = { { address = MEMO_ADDRESS, network = "NEW" } } }
    rejected("addresses", withdraw(client))
  end)

  it("allows the contract that it names and no other", function()
    local client = client_with { addresses = { MEMO_ADDRESS } }
    rejected("addresses", withdraw(client, { contractAddress = "0xdac1" }))
    client = client_with { addresses = { { address = MEMO_ADDRESS, contractAddress = "0xdac1" } } }
    passed(withdraw(client, { contractAddress = "0xdac1" }))
    rejected("addresses", withdraw(client, { contractAddress = "0xdac2" }))
    rejected("addresses", withdraw(client))
  end)
end)

describe("an entry of users", function()
  it("is a person: digits of one kind are not those of another", function()
    local function to(client, account_type, account, area_code)
      return client.wallet:internal_transfer { toAccountType = account_type, toAccount = account, areaCode = area_code,
        asset = "USDT", amount = "1" }
    end
    local everyone = { { "MOBILE", "13800138000", "86" }, { "MOBILE", "13800138000", "1" }, { "UID", "13800138000" },
      { "EMAIL", "13800138000@qq.com" }, { "UID", "13800138000", "86" }, { "MOBILE", "3800138000", "861" } }
    for i, chosen in ipairs(everyone) do
      local entry = { toAccountType = chosen[1], toAccount = chosen[2], areaCode = chosen[3] }
      if chosen[1] == "MOBILE" or not chosen[3] then
        local client = client_with { recipients = { entry } }
        for j, who in ipairs(everyone) do
          if i == j then passed(to(client, who[1], who[2], who[3]))
          else rejected("recipients", to(client, who[1], who[2], who[3])) end
        end
      end
    end
    local client = client_with { recipients = { { toAccountType = "MOBILE", toAccount = "138", areaCode = "+86" } } }
    passed(to(client, "MOBILE", "138", "86"))
    passed(to(client, "MOBILE", "138", "+86"))
  end)
end)
