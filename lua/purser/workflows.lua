-- The methods of a client's groups that are more than one operation: client.wallet:each_deposit{...} and the like.
--
-- A workflow is a function(client, ...); the groups find it here when no operation has the name. Modules are loaded when
-- one of their methods is first used.

local operations = require "purser.operations"

local M = { broker = {}, sub_account = {}, wallet = {} }

-- each_<what>: one walk for every row that says how it is paged.
for _, row in ipairs(operations.list) do
  if row.paging then
    local name = "each_" .. row.paging.each
    assert(not M[row.group][name], row.full_name .. ": its walk has another's name")
    M[row.group][name] = function(client, params, opts)
      return require("purser.history").walk(client, row, params, opts)
    end
  end
end

--- The method of a group by its name, made to be called on the group; or nil.
---@param group string
---@param name string
function M.method(group, name)
  local workflow = M[group][name]
  return workflow and function(self, ...) return workflow(self._client, ...) end
end

--- The names of a group's methods.
function M.names(group)
  local names = {}
  for name in pairs(M[group]) do names[#names + 1] = name end
  return names
end

return M
