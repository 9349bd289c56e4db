-- SPDX-License-Identifier: MIT
-- What a look asks the service for. A filter that people spell may hide a record that the service spells in another
-- way, so a look that found nothing asks once more without it; where the operation cannot do without, in the service's
-- own spelling.

local operations = require "purser.api.operations"
local full_list = require "purser.write.reconcile.full_list"

local M = {}

--- The codes by which the service says for good that this key does not list sub-accounts: it lacks a permission, or its
--- account is no broker. Any other rejection may pass, so it is an error of the look.
M.MAY_NOT_LIST = { ["700007"] = true, ["730603"] = true }

-- What the document spells in capital letters, and people do not.
local capitals = { coin = true, fromAccountType = true, toAccountType = true }

--- What the operation that lists is asked for: the narrow question, with every filter of the row, or the broad one.
---@param look table
---@param narrow boolean|nil
---@return table params
function M.ask(look, narrow)
  local reconcile, params = look.reconcile, {}
  for _, name in ipairs(reconcile.copy_params or {}) do
    local value = look.intent.params[name]
    params[name] = not narrow and capitals[name] and type(value) == "string" and value:upper() or value
  end
  for _, name in ipairs(narrow and reconcile.narrow or {}) do params[name] = look.intent.params[name] end
  for name, value in pairs(look.spelled) do params[name] = value or nil end
  return params
end

--- Whether the broad question is the narrow one.
function M.are_same(look)
  local narrow, broad = M.ask(look, true), M.ask(look, false)
  for name, value in pairs(narrow) do
    if broad[name] ~= value then return false end
  end
  return true
end

--- How the service spells the name of a sub-account; false where none of that name is listed; or nil and an error.
---@return string|false|nil spelled, purser.Error|nil err
function M.spelling_of(look, name)
  local spelled, shared = nil, look.service.readings
  if shared and shared:is_spelled(name) then return name end
  local function read(row, params) return look.service:read(row, params) end
  for _, filter in ipairs { { subAccount = name }, {} } do
    local records, err = full_list.all(read, operations.by_name[look.reconcile.accounts], filter, 0, 0)
    if not records then return nil, err end
    for _, record in ipairs(records) do
      if record.subAccount == name then
        if shared then shared:note_spelled(name) end
        return name
      end
      if tostring(record.subAccount):lower() == name:lower() then spelled = record.subAccount end
    end
    if spelled then return spelled end
  end
  return false
end

return M
