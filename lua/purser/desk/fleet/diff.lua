-- SPDX-License-Identifier: MIT
-- Compares the keys of an account with the declaration. The service's note is the declared note, or that with a mark
-- ("trading #4fK09aQz"), which distinguishes the keys of one note.

local errors = require "purser.client.call.errors"

local M = {}

local function set_text(list)
  local items = {}
  if type(list) == "table" then list = table.concat(list, ",") end
  for item in (list or ""):lower():gmatch "[^,%s]+" do items[#items + 1] = item end
  table.sort(items)
  return table.concat(items, ",")
end

local function add(plan, what, account, fields)
  fields.what, fields.account = what, account.name
  plan.steps[#plan.steps + 1] = fields
end

-- Sorts keys, the newest first; of equal age the later in the service's list.
local function sort_keys(list)
  local place = {}
  for i, key in ipairs(list) do place[key] = i end
  table.sort(list, function(a, b)
    local x, y = a.createTime or 0, b.createTime or 0
    return x > y or x == y and place[a] > place[b]
  end)
end

--- Returns the keys of an account as `live` (by declared note), `orphans` and `others`; nil and an error where the
--- vault does not know whether it holds a key: the key may be in use.
function M.sort_out(account, keys, holds)
  local sorted = { live = {}, orphans = {}, others = {} }
  for _, declared in ipairs(account.keys or {}) do sorted.live[declared.note] = {} end
  for _, key in ipairs(keys) do
    local bare, mark = (key.note or ""):match "^(.-) #(%w%w%w%w%w%w%w%w)$"
    local live = sorted.live[bare or key.note or ""]
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
    local is_other = live[1] and (set_text(live[1].permissions) ~= set_text(declared.permissions)
      or set_text(live[1].ip) ~= set_text(declared.ip))
    if is_other or not live[1] then
      add(plan, "create_key", account, { key = declared, note = declared.note,
        why = is_other and "permissions or addresses changed" or nil })
    end
    for _, key in ipairs(is_other and live or {}) do
      add(plan, "delete_key", account, { apiKey = key.apiKey, note = key.note, why = "replaced" })
    end
  end
end

--- Adds the steps for one account to a plan. Returns an error, or nil.
---@param account table  as declared
---@param found table|nil  as the service lists it
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
