-- SPDX-License-Identifier: MIT
-- Two names of one account are joined by a person's word: used keys, payments, sums and limits are those of one.

local own = require "own_journal"
local simulated = require "simulated"

local TRANSFER = "sub_account.transfer"
local sim, account, journal

before_each(function()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" }, futures_balances = { USDT = "100" } })
  journal = own.begin()
end)
after_each(own.finish)

local function applied() return simulated.counted(sim, TRANSFER, "applied") end

-- An id of the length that the service wants.
local function id_of(name) return (name:gsub("%W", "") .. ("0"):rep(32)):sub(1, 32) end

local function move(client, amount, name, opts)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = name and id_of(name) }), opts)
end

describe("accounts that are one", function()
  local options = { retry = false, rate_limit = false }
  local limited = { guard = { spending_limit = { USDT = "12" } } }

  -- A client under a name, by an API key of its own that the service takes for one account.
  local function client_under(name, key)
    local inner = sim:transport()
    local transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local copy = setmetatable({ headers = {} }, { __index = request })
      for header, value in pairs(request.headers or {}) do
        copy.headers[header] = value == key and account.api_key or value
      end
      return inner:send(copy)
    end }
    return simulated.client(sim, account, options, name and limited, { journal = journal, account = name, api_key = key,
      transport = transport })
  end

  local function joined(name, into) return journal:join(name, into, "alice") end

  it("have the used keys, the payments and the sums of one, and the old name is refused", function()
    local old, new = client_under("first", "mx0old"), client_under("second", "mx0new")
    assert(move(old, "5", "invoice-1"))
    assert(move(new, "4", "invoice-2"))
    assert(move(client_under("treasury", "mx0third"), "1", "invoice-3"))
    for _, client in ipairs { old, new } do assert.is_true(joined(client:account(), "treasury")) end
    assert.equal("journal.other_account", select(2, move(client_under("second", "mx0new"), "1", "invoice-4")).code)
    assert.equal("not_sent", select(2, move(new, "1", "invoice-4")).outcome) -- a client that was open meanwhile
    assert.equal("journal.other_account", select(2, move(client_under("first", "mx0x"), "1", "invoice-4")).code)
    local client = client_under("treasury", "mx0new")
    for id, amount in pairs { ["invoice-1"] = "5", ["invoice-2"] = "4" } do assert(move(client, amount, id)) end
    assert.equal(3, applied())
    assert.equal("guard.spending_limit", select(2, move(client, "3", "invoice-5")).code)
    assert(move(client, "2", "invoice-6"))
    local kept = assert(journal.db:rows "SELECT name, account, person FROM purser_joins ORDER BY name")
    assert.same({ 2, "treasury", "alice" }, { #kept, kept[1].account, kept[1].person })
  end)

  it("are not joined while a call is open, or where both used a key, or by no name", function()
    local first, second = client_under("a", "mx0old"), client_under("b", "mx0new")
    assert(move(first, "1", "invoice-1"))
    assert(move(second, "1", "invoice-1"))
    assert.matches("is one of both", select(2, joined("a", "b")).message)
    sim:fault { kind = "lost_answer", operation = "transfer" }
    assert.equal("unknown", select(2, move(client_under("c", "mx0c"), "1")).outcome)
    assert.matches("has no known end", select(2, joined("c", "b")).message)
    assert.matches('no account "nobody"', select(2, joined("nobody", "b")).message)
    for _, words in ipairs { { "a", "b" }, { "a", "", "alice" } } do
      assert.equal("argument", select(2, journal:join(words[1], words[2], words[3])).kind)
    end
    assert.is_true(joined("b", "d")) -- another name for one account
    assert.matches('"b" is joined with "d"', select(2, joined("a", "b")).message)
    assert.same({}, (journal.db:rows "SELECT id FROM purser_calls WHERE account = 'b'"))
  end)
end)
