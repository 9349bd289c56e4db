-- SPDX-License-Identifier: MIT
-- A journal in memory and one in a database say the same of the same calls, whatever comes after what. (One in memory
-- is of one transport, and gives no record to calls of two accounts; here no two accounts have records of one id.)
-- make test: 2 s, on lua5.4 and luajit

local copy_of = require "copy_of"
local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local memory = require "purser.write.journal.memory"
local operations = require "purser.client.operations"
local own = require "own_journal"
local prng = require "purser.testing.sim.prng"

local SEQUENCES, STEPS, T0 = 100, 14, 1700000000000

-- Lists what is called, with what, and the member that carries an id.
local withdrawal = { coin = "USDT", netWork = "TRX", address = "TSample", amount = "20" }
local move = { fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
local calls = {
  { "wallet.withdraw", withdrawal, "withdrawOrderId" }, { "wallet.withdraw_legacy", withdrawal, "withdrawOrderId" },
  { "sub_account.transfer", move, "clientTranId" }, { "broker.transfer", move, "clientTranId" },
  { "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" } },
  { "wallet.convert", { asset = "BTC,ETH" } }, { "broker.delete_api_key", { subAccount = "Desk0001", apiKey = "k" } },
}
local NUMBERS, ACCOUNTS, KEYS = { "1", "2", "3" }, { "a" }, { "x", "y" }
local RECORDS = { "a1", "a2", "a3" }

-- Returns what a journal answers, without what only one of them tells.
local function told(...)
  local ok, problem, known = ...
  if type(ok) == "table" then
    local verdict = copy_of(ok)
    verdict.record = verdict.record and tostring(intents.id_of(verdict.record))
    ok = verdict
  end
  return { ok = ok, problem = problem ~= nil and (problem.code or "rejected") or nil, known = known and known.id }
end

local function described(call)
  local earlier = {}
  for _, attempt in ipairs(call and call.earlier or {}) do earlier[attempt.sent_at] = attempt.recv_window end
  return call and { earlier = earlier,
    id = call.id, state = call.state, answered = call.answered, found = call.found == true,
    record_id = call.record_id, attempt = call.intent.attempt, sent_at = call.sent_at } or "none"
end

local function listed(list)
  local by_id = {}
  for id, call in pairs(list) do by_id[type(id) == "number" and call.id or id] = described(call) end
  return by_id
end

-- All that a journal says of the calls of an account.
local function said(journal, intent_list, prefix)
  local all = {}
  for _, account in ipairs(ACCOUNTS) do
    account = account .. prefix
    all[account] = { latest = {},
      open = listed(journal:open_calls(account, nil, T0, T0 + 20000)) }
    for id, call in pairs(journal:owners("record_id", account, RECORDS)) do all[account].latest[id] = call.sent_at end
    for _, call in ipairs(calls) do
      local names = intents.shown_in(intents.history_of(operations.by_name[call[1]]))
      all[account][call[1]] = { owners = listed(journal:owners("record_id", account, RECORDS, names)),
        keys = listed(journal:owners("key", account, { KEYS[1] .. prefix, KEYS[2] .. prefix }, names)),
        made = listed(journal:made_calls(account, { [call[1]] = true }, T0 + 2000, T0 + 20000)) }
    end
  end
  for i, intent in ipairs(intent_list) do
    all[i] = described(journal:call_of(intent))
    local by_hand = copy_of(intent)
    by_hand.id = nil
    all[-i] = journal:call_of(by_hand) and "known" or "none"
  end
  return all
end

-- Returns what differs of two tables, as lines.
local function differences(first, second, path, lines)
  for name, value in pairs(first) do
    local other, place = second[name], path .. " " .. tostring(name)
    if type(value) == "table" and type(other) == "table" then
      differences(value, other, place, lines)
    elseif value ~= other then
      lines[#lines + 1] = ("%s: %s in memory, %s in a database"):format(place, tostring(value), tostring(other))
    end
  end
  for name in pairs(second) do
    if first[name] == nil then lines[#lines + 1] = path .. " " .. tostring(name) .. ": nothing in memory" end
  end
  return lines
end

-- The step of a sequence: a function that does the same to each journal, and returns what it answered.
local function next_step(roll, begun, prefix)
  local function one_of(list) return list[roll:roll(#list)] end
  local intent_at = #begun > 0 and roll:roll(#begun)
  if not intent_at or roll:roll(3) == 1 then
    local call = one_of(calls)
    local row, params, name = operations.by_name[call[1]], copy_of(call[2]), roll:roll(2) == 1 and one_of(KEYS)
    if name and call[3] then params[call[3]] = name .. prefix end
    if roll:roll(4) == 1 and params.amount then params.amount = "3" end
    local key = name and { name = name .. prefix, content = digests.content(row, params) }
    local intent = { operation = call[1], params = params, sent_at = T0 + roll:roll(20) * 1000, recv_window = 5000,
      account = one_of(ACCOUNTS) .. prefix, id = ("%s-%d"):format(prefix, #begun + 1) }
    begun[#begun + 1] = false
    return "begin " .. call[1] .. " " .. tostring(name), function(journal, list)
      local own_copy = copy_of(intent)
      list[#list + 1] = own_copy
      return told(journal:begin(own_copy, row, nil, key or nil))
    end
  end
  if roll:roll(8) == 1 then
    local number, since = one_of(NUMBERS), roll:roll(2) == 1 and 0 or math.huge
    return ("contest by %d: %s since %s"):format(intent_at, number, since), function(journal, list)
      journal:contest(list[intent_at], list[intent_at].account:sub(1, 1) .. number, since)
    end
  end
  local record = one_of { false, {}, { tranId = one_of(NUMBERS) }, { id = one_of(NUMBERS) } }
  local shows, is_answer = roll:roll(2) == 1, roll:roll(2) == 1
  local outcome = one_of(is_answer and { "done", "done", "unknown", "rejected", "not_sent" }
    or { "done", "done", "not_done", "undecided" })
  return ("%s of %d: %s %s"):format(is_answer and "answer" or "look", intent_at, outcome,
    record and tostring(intents.id_of(record)) or "no record"), function(journal, list)
      local intent, value = list[intent_at], record and {} or nil
      for name, number in pairs(record or {}) do value[name] = intent.account:sub(1, 1) .. number end
      if is_answer then
        local err = outcome ~= "done" and { outcome = outcome, message = "so it was" } or nil
        return told(journal:finish(intent, not err and (value or {}) or nil, err))
      end
      for _, name in ipairs { "withdrawOrderId", "clientTranId" } do
        if value and shows then value[name] = intent.params[name] end
      end
      return told(journal:reconciled(intent, { outcome = outcome, record = value, reason = "as it is" }))
    end
end

describe("a journal in memory and one in a database", function()
  local journal

  it("say the same after any sequence", function()
    for seed = 1, SEQUENCES do
      journal = own.begin()
      local roll, prefix, steps, begun = prng.new(seed, "journals"), tostring(seed), {}, {}
      local kinds = { { journal = memory.new(), intents = {} }, { journal = journal, intents = {} } }
      for i = 1, STEPS do
        local name, step = next_step(roll, begun, prefix)
        steps[i] = name
        local first, second = step(kinds[1].journal, kinds[1].intents), step(kinds[2].journal, kinds[2].intents)
        local lines = differences(first or {}, second or {}, "answer", {})
        differences(said(kinds[1].journal, kinds[1].intents, prefix), said(journal, kinds[2].intents, prefix), "then",
          lines)
        assert.same({}, lines, ("sequence %d: %s"):format(seed, table.concat(steps, "; ")))
      end
      own.finish()
    end
  end)
end)
