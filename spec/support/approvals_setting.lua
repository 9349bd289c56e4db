-- SPDX-License-Identifier: MIT
-- A payer under a policy: the folder with signed versions, a journal, clients of a service that keeps what it was sent.
--
--     local setting = require "approvals_setting"
--     before_each(function() setting.begin { rules = {...} } end)
--     after_each(setting.finish)
--     local plan = setting.plan { setting.row("inv-1", "15") }
--     setting.add(plan, { setting.sign(plan, "alice"), setting.sign(plan, "bob") })
--     setting.client():call("wallet.withdraw", ..., { key = "inv-1" })

local approval_rows = require "purser.desk.approvals.approval_rows"
local files = require "files"
local own_journal = require "own_journal"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local recorder = require "recorder"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local M = { NOW = 1795424400000 } -- 2026-11-23T09:00Z, a Monday

--- Writes a version of the policy, signed by these persons. Returns what was read.
function M.install(given, ...)
  local version = given.version
  local text = policies.text(given)
  local signatures = {}
  for i, name in ipairs { ... } do signatures[i] = ssh_keys.sign(name, "purser-policy-1", text) end
  whole.write(("%s/%d.json"):format(M.folder, version), text)
  whole.write(("%s/%d.sigs"):format(M.folder, version), table.concat(signatures))
  M.policy = assert(policy.read(text))
  return M.policy
end

--- Writes the version behind the installed one.
function M.next_version(changes, ...)
  local given = policies.given(M.changes, true)
  for name, value in pairs(changes) do given[name] = value end
  given.version, given.replaces = M.policy.version + 1, M.policy.digest
  return M.install(given, ...)
end

function M.begin(changes)
  M.changes, M.now, M.sent, M.answer = changes, M.NOW, {}, nil
  M.folder = files.folder()
  M.journal, M.path = own_journal.begin(approval_rows.TABLES)
  M.install(policies.given(changes, true), "alice", "bob")
  return M.journal
end

function M.finish()
  own_journal.finish()
  files.remove(M.folder)
end

-- Answers a request. Histories are empty, since a rejected call is looked for before it is sent again.
local function answer(request)
  if request.method == "GET" and request.target:find("/history?", 1, true) then
    return { status = 200, body = "[]", headers = "" }
  end
  M.sent[#M.sent + 1] = request
  return { status = M.answer and 400 or 200, body = (M.answer or '{"id":"%d"}'):format(#M.sent), headers = "" }
end

--- A client of the account, whose pauses move the clock; `options` take the place of others. Nil and an error where it
--- cannot be.
function M.client(options)
  local all = { journal = M.journal, account = "treasury", policy = M.folder, rate_limit = false, retry = false,
    clock = function() return M.now end }
  for name, value in pairs(options or {}) do all[name] = value end
  for _, name in ipairs { "policy", "account" } do all[name] = all[name] or nil end
  local client, transport = recorder.new(all, answer)
  if client then transport.sleep = function(_, ms) M.now = M.now + ms end end
  return client, transport
end

--- A row of a plan.
function M.row(key, amount, more)
  local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = amount, withdrawOrderId = key }
  for name, value in pairs(more or {}) do params[name] = value end
  return { key = key, operation = "wallet.withdraw", params = params, payee = "ACME" }
end

--- The text of a plan of rows for single calls, or for the queue that `head` names.
function M.plan(rows, head)
  local all = { account = "treasury", queue = "", journal = assert(M.journal:id()),
    base_url = "https://service.example",
    policy = ("%d %s"):format(M.policy.version, M.policy.digest), maker = "carol", not_after = "2026-11-30" }
  for name, value in pairs(head or {}) do all[name] = value end
  return assert(plan_text.write(all, rows))
end

--- A person's signature on a plan.
function M.sign(text, name, purpose) return ssh_keys.sign(name, purpose or "purser-plan-1", text) end

--- Writes a plan and signatures into the journal, as somebody may who can write there: nothing is checked.
function M.add(text, signatures)
  own_journal.within(function(tx)
    tx.time = M.now
    local plan = plan_text.read(text) or { digest = plan_text.digest(text), text = text, rows = { { key = "?" } },
      head = { account = "treasury", queue = "?" } }
    approval_rows.add(tx, plan, signatures or {})
    return true
  end)
end

--- Sends the call of a row by a client. Returns the result; or nil and the error.
function M.send(row, client, key)
  return (client or assert(M.client())):call(row.operation, row.params, { key = key })
end

return M
