-- SPDX-License-Identifier: MIT
-- Rejections of the service: whatever checks a request raises one, and the request is answered with it where it is
-- caught. Nothing may have been changed by then.

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

--- Calls a function. Returns its result, or nil and the rejection that it raised; raises everything else again.
function M.catch(fn, ...)
  local ok, result = pcall(fn, ...)
  if ok then return result end
  if getmetatable(result) ~= Rejection then error(result, 0) end
  return nil, result
end

return M
