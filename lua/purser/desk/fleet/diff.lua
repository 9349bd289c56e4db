-- SPDX-License-Identifier: MIT
-- Compares what is there with what is declared: the steps that make it so.
--
-- A key is known by its note. The service's note is the declared one, or the declared one with a mark after it
-- ("trading #4fK09aQz"), which distinguishes the keys of one note; a key made by hand with the bare note counts as
-- well.

local errors = require "purser.client.call.errors"

local M = {}

-- The declared note that a service's note stands for, and its mark.
local function parse_note(note)
  local bare, mark = (note or ""):match("^(.-) #(%w%w%w%w%w%w%w%w)$")
  if bare then return bare, mark end
  return note or ""
end

local function set_text(list)
  local items = {}
  if type(list) == "table" then
    for i, item in ipairs(list) do items[i] = item:lower() end
  else
    for item in (list or ""):gmatch("[^,%s]+") do items[#items + 1] = item:lower() end
  end
  table.sort(items)
  return table.concat(items, ",")
end

-- Tells whether a key of the service is as declared.
local function matches(key, declared)
  return set_text(key.permissions) == set_text(declared.permissions) and set_text(key.ip) == set_text(declared.ip)
end

local function add(plan, what, account, fields)
  fields.what, fields.account = what, account.name
  plan.steps[#plan.steps + 1] = fields
end

-- Newest first; of equal age the order of the service, latest last.
local function sort_keys(list)
  local place = {}
  for i, key in ipairs(list) do place[key] = i end
  table.sort(list, function(a, b)
    local x, y = a.createTime or 0, b.createTime or 0
    if x ~= y then return x > y end
    return place[a] > place[b]
  end)
  return list
end

--- Sorts the keys of an account: by declared note those that live (newest first), the orphans and the rest. Returns nil
--- and an error where the vault does not say whether it holds a key: a key in use is deleted for no such word.
function M.sort_out(account, keys, holds)
  local sorted = { live = {}, orphans = {}, others = {} }
  for _, declared in ipairs(account.keys or {}) do sorted.live[declared.note] = {} end
  for _, key in ipairs(keys) do
    local bare, mark = parse_note(key.note)
    local live = sorted.live[bare]
    if not live then
      sorted.others[#sorted.others + 1] = key
    else
      local held, problem = true, nil
      if mark and holds then held, problem = holds(key.apiKey) end
      if not held and problem ~= nil then -- which is not repeated: it may quote the secret
        return nil, errors.new { kind = "workflow", outcome = "not_sent", phase = "fleet",
          message = ("the vault does not say whether it has the secret of the key %q of %s"):format(key.note,
            account.name), hint = "make the vault readable, and run it again" }
      end
      table.insert(held and live or sorted.orphans, key)
    end
  end
  for _, live in pairs(sorted.live) do sort_keys(live) end
  return sorted
end

local function diff_keys(plan, account, keys, holds)
  local sorted, err = M.sort_out(account, keys, holds)
  if not sorted then return err end
  for _, key in ipairs(sorted.orphans) do
    plan.orphans[#plan.orphans + 1] = { account = account.name, note = key.note, apiKey = key.apiKey }
    add(plan, "delete_key", account, { apiKey = key.apiKey, note = key.note, why = "its secret was lost" })
  end
  for _, key in ipairs(sorted.others) do
    plan.unmanaged[#plan.unmanaged + 1] = { account = account.name, note = key.note, apiKey = key.apiKey }
  end
  for _, declared in ipairs(account.keys or {}) do
    local live = sorted.live[declared.note]
    local newest = live[1]
    if not newest then
      add(plan, "create_key", account, { key = declared, note = declared.note })
    elseif not matches(newest, declared) then
      local why = "permissions or addresses changed"
      add(plan, "create_key", account, { key = declared, note = declared.note, why = why })
      for _, key in ipairs(live) do
        add(plan, "delete_key", account, { apiKey = key.apiKey, note = key.note, why = "replaced" })
      end
    end
  end
end

--- Adds the steps for one account to a plan. Returns an error where that cannot be. `found` is the account as the
--- service lists it, or nil; `keys` its keys.
---@param plan table
---@param account table  as declared
---@param found table|nil
---@param keys table[]
---@param holds (fun(api_key: string): boolean)|nil
function M.account(plan, account, found, keys, holds)
  if found and found.isFreeze then
    plan.warnings[#plan.warnings + 1] = account.name .. " is frozen; nothing can be done about it here"
    return nil
  end
  if not found then add(plan, "create_account", account, { note = account.note }) end
  if found and found.note and found.note ~= account.note then
    plan.warnings[#plan.warnings + 1] = ("%s has the note %q; the service cannot change it"):format(account.name,
      found.note)
  end
  if account.futures then add(plan, "enable_futures", account, { repeats = true }) end
  return diff_keys(plan, account, keys, holds)
end

return M
