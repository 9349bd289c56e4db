-- SPDX-License-Identifier: MIT
-- Methods that say so when they are called with a dot, at the line of the caller.

local M = {}

--- Has each method of a class check that it is called on an object of the class. To be called when the class is whole.
---@param class table  the methods
---@param label string  what messages call an object
---@param meta table|nil  the metatable of the objects, where it is not the class
function M.check(class, label, meta)
  meta = meta or class
  for name, method in pairs(class) do
    if type(method) == "function" and not name:find "^__" then
      class[name] = function(self, ...)
        if getmetatable(self) ~= meta then
          error(("call it with a colon: %s:%s(...)"):format(label, name), 2)
        end
        return method(self, ...)
      end
    end
  end
end

return M
