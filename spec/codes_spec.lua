-- SPDX-License-Identifier: MIT
-- Compares what the page of the codes says with what the simulator answers.

local codes = require "purser.codes"
local operations = require "purser.client.operations"
local purser = require "purser"
local signed = require "signed"

local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

-- A value that each parameter takes, so that nothing but what a case is about is rejected.
local good = {
  subAccount = "desk0001", note = "n", permissions = "SPOT_DEAL_READ", apiKey = "none", coin = "USDT", asset = "USDT",
  network = "Tron(TRC20)", address = PAYEE, amount = "20", fromAccountType = "SPOT", toAccountType = "FUTURES",
  accountType = "SPOT", id = "none", tranId = "none", toAccount = "desk0001",
}

local function world()
  local sim = purser.sim.new { seed = 9 }
  local owner = assert(sim:account { role = "broker", name = "Acme", balances = { USDT = "1000", EOS = "5" } })
  signed.get(sim, owner, "B1", { subAccount = "desk0001", note = "n" })
  local desk = signed.get(sim, owner, "A5", { subAccount = "desk0001", note = "n", permissions =
    "SPOT_DEPOSIT_READ,SPOT_DEPOSIT_WRITE,SPOT_TRANSFER_READ" })
  return sim, owner, { api_key = desk.apikey, secret_key = desk.secretKey }
end

local function params_of(row, change)
  local params = {}
  for _, name in ipairs(row.required) do params[name] = good[name] end
  if row.id == "C15" then params.toAccountType, params.toAccount = "EMAIL", "nobody@mail.example" end
  for name, value in pairs(change or {}) do params[name] = row.by_name[name] and value end
  return params
end

-- The code that a call is rejected with, or nil; it has to be among those that the page names for the operation.
local function code_of(sim, who, row, change)
  local answer, response = signed.ask(sim, who, row.id, params_of(row, change))
  if response.status == 200 then return nil end
  local code = tostring(answer.code)
  local known = {}
  for _, each in ipairs(codes.of(row.full_name)) do known[each] = true end
  assert.is_true(known[code], ("%s answers %s (%s)"):format(row.full_name, code, tostring(answer.msg)))
  return code
end

describe("the codes of an operation", function()
  it("are in the order of their numbers", function()
    for _, row in ipairs(operations.list) do
      local list, last = codes.of(row.full_name), -math.huge
      for _, code in ipairs(list) do
        assert.is_true(last < tonumber(code), row.full_name)
        last = tonumber(code)
      end
      assert.is_true(#list > #codes.of(row.full_name, true))
    end
  end)
end)

describe("a code", function()
  it("is of the operations that a word of `on` names, with * for each group or name", function()
    for code, entry in pairs(codes.list) do
      for _, row in ipairs(operations.list) do
        local is_named, is_listed = false, false
        for _, word in ipairs(entry.on) do
          local pattern = "^" .. word:gsub("%.", "%%."):gsub("%*", ".*") .. "$"
          is_named = is_named or row.full_name:find(pattern) ~= nil
        end
        for _, each in ipairs(codes.of(row.full_name)) do is_listed = is_listed or each == code end
        assert(is_named == is_listed, code .. " of " .. row.full_name)
      end
    end
  end)
end)

describe("a code's source", function()
  it("is where the code was read, and when", function()
    assert.equal("DFXswiss/api#4741, 2026-08", codes.get("10255").source)
    assert.equal("answers of the live service, 2026-09", codes.get(730603).source)
    for _, entry in pairs(codes.list) do assert.matches("^[^,]+.*, 20%d%d%-%d%d$", entry.source) end
  end)
end)

describe("a code that the simulator answers with is one that the operation's page names:", function()
  for _, row in ipairs(operations.list) do
    it(row.id .. " " .. row.full_name, function()
      for _, change in ipairs { {}, { coin = "NOPE" }, { asset = "NOPE" }, { network = "NOPE" }, { netWork = "NOPE" },
        { amount = "0" }, { amount = "900000" }, { subAccount = "nobody01" }, { fromAccount = "nobody01" },
        { toAccount = "nobody01" }, { coin = "EOS", network = "EOS" }, { limit = "none" }, { note = "" },
        { permissions = "NOPE" }, { ip = "nowhere" }, { ip = "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,5.5.5.5" },
        { subAccount = "" }, { startTime = 1500000000000 }, { address = "nowhere" }, { apiKey = "" } } do
        local sim, owner, desk = world()
        local who = row.signer == "sub" and desk or owner
        code_of(sim, who, row, change)
        assert(sim:freeze "desk0001")
        code_of(sim, who, row)
        assert(sim:freeze "Acme")
        assert.equal("730100", code_of(sim, owner, row))
      end
    end)
  end

  it("C3 of what is on its way", function()
    local sim, owner = world()
    local id = signed.get(sim, owner, "C2", { coin = "USDT", netWork = "TRX", address = PAYEE, amount = "20" }).id
    sim:advance(3600000)
    assert.equal("730000", code_of(sim, owner, operations.by_id.C3, { id = id }))
  end)
end)
