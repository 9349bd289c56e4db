-- SPDX-License-Identifier: MIT
-- The request that would be sent, as text, without what must not be seen: the key, the signature, passwords.

local json = require "purser.json"
local output = require "purser.cli.output"

local M = {}

local MASK = "***"

local function escape(text) return (text:gsub("%p", "%%%0")) end

-- Hides the value of `name` in a query and in a JSON body.
local function hide(text, name)
  local pattern = escape(name)
  text = text:gsub("([?&]" .. pattern .. "=)[^&]*", "%1" .. MASK)
  return (text:gsub('("' .. pattern .. '":")[^"]*"', "%1" .. MASK .. '"'))
end

local function masked(request, row, profile)
  local url, body = hide(request.url, profile.signature_name), request.body
  for _, param in ipairs(row.params) do
    if param[2] == "md5" then url, body = hide(url, param[1]), hide(body, param[1]) end
  end
  local headers = {}
  for name, value in pairs(request.headers) do
    headers[#headers + 1] = { name, name:lower() == profile.key_header:lower() and MASK or value }
  end
  table.sort(headers, function(a, b) return a[1] < b[1] end)
  return url, headers, body
end

--- The prepared request as text ("json", or anything else for the form of HTTP), its secrets masked.
---@param request purser.Request
---@param row table
---@param profile table
---@param format string
---@return string
function M.show(request, row, profile, format)
  local url, headers, body = masked(request, row, profile)
  if format == "json" then
    return output.json(json.object {
      { "operation", row.full_name }, { "method", request.method }, { "url", url },
      { "headers", json.object(headers) }, { "body", body },
    }, "  ")
  end
  local lines = { request.method .. " " .. url }
  for _, header in ipairs(headers) do lines[#lines + 1] = header[1] .. ": " .. header[2] end
  if body ~= "" then
    lines[#lines + 1] = ""
    lines[#lines + 1] = body
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
