-- SPDX-License-Identifier: MIT
-- Rejections: a check of a request raises a rejection before anything changes, and the catcher answers with it.

local Rejection = {}

local M = {}

--- Rejects a request.
---@param code string
---@param message string|nil  that of the code when nil
---@param signed table|nil     the texts of a wrong signature, see auth.check
function M.raise(code, message, signed)
  error(setmetatable({ code = code, message = message, signed = signed }, Rejection), 0)
end

--- Rejects a request without a parameter.
function M.lacks(name) M.raise("700004", ("Mandatory parameter '%s' was not sent"):format(name)) end

--- Calls a function. Returns the result, or nil and a raised rejection; raises any further error again.
function M.catch(fn, ...)
  local ok, result = pcall(fn, ...)
  if ok then return result end
  if getmetatable(result) ~= Rejection then error(result, 0) end
  return nil, result
end

return M
