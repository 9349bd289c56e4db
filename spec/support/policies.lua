-- SPDX-License-Identifier: MIT
-- Policies for specs: persons with keys that nobody has the other half of, unless ssh-keygen made them.

local files = require "files"
local json = require "purser.json"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local M = {}

--- A public key's line that belongs to nobody.
function M.key(name)
  local bytes = (name .. ("k"):rep(32)):sub(1, 32)
  return "ssh-ed25519 " .. ssh_keys.base64(ssh_keys.with_length "ssh-ed25519" .. ssh_keys.with_length(bytes))
end

--- The text of a policy file; `changes` takes the place of members. With `real` the persons' keys are ssh-keygen's.
function M.given(changes, real)
  local people = {}
  for _, name in ipairs { "alice", "bob", "carol", "dave" } do
    people[name] = { real and ssh_keys.public(name) or M.key(name) }
  end
  local given = { purser = "policy 1", version = 1, account = "treasury", people = people,
    groups = { treasury = { "alice", "bob", "dave" }, finance = { "carol", "dave" } },
    addresses = { cold = { { address = "TCold", network = "TRX" } } },
    change = { approvals = { { group = "treasury", count = 2 } } },
    rules = { { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } } } }
  for name, value in pairs(changes or {}) do given[name] = value end
  return given
end

-- An empty table is an object, but where a list is meant.
local LISTS = { approvals = true, unless = true, rules = true }

local function value_of(value, name)
  if type(value) ~= "table" then return value end
  if value[1] == nil then
    local members = {}
    if next(value) == nil and LISTS[name] then return json.list {} end
    for member, inner in pairs(value) do members[#members + 1] = { member, value_of(inner, member) } end
    table.sort(members, function(a, b) return a[1] < b[1] end)
    return json.object(members)
  end
  local list = {}
  for i, inner in ipairs(value) do list[i] = value_of(inner) end
  return json.list(list)
end

--- The file of what is given.
function M.text(given) return json.encode(value_of(given)) .. "\n" end

--- Signs a plan for `names`, two persons of the treasury unless others are named. Returns the signatures.
function M.approve(text, names)
  local signatures = {}
  for name in (names or "alice bob"):gmatch "%w+" do
    signatures[#signatures + 1] = ssh_keys.sign(name, "purser-plan-1", text)
  end
  return signatures
end

--- A new folder with version 1, signed by these persons. Whoever asked for it removes it.
function M.folder(changes, ...)
  local folder, text, signatures = files.folder(), M.text(M.given(changes, true)), {}
  for i, name in ipairs { ... } do signatures[i] = ssh_keys.sign(name, "purser-policy-1", text) end
  whole.write(folder .. "/1.json", text)
  whole.write(folder .. "/1.sigs", table.concat(signatures))
  return folder, text
end

--- Begins payouts_setting with its client under a policy that alice and bob signed: `at.policy` is its folder, and
--- `at.policy_text` its text.
function M.begin(at, changes)
  at.begin()
  at.policy, at.policy_text = M.folder(changes, "alice", "bob")
  at.client = at.client_with { policy = at.policy }
end

--- Ends what `begin` began. The keys stay; `teardown(ssh_keys.remove)` removes them.
function M.finish(at)
  at.finish()
  files.remove(at.policy)
end

return M
