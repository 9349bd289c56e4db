-- SPDX-License-Identifier: MIT
-- Digests of texts.

local core = require "purser.core"

local M = {}

local hasher

--- Returns a text's digest, 64 hex digits: an HMAC with a known key is a plain digest.
function M.of(text)
  hasher = hasher or assert(core.signer("hmac-sha256", "purser"))
  return hasher:sign(text)
end

--- Returns 32 hex digits that tell texts apart.
---@param kind string  what it names
---@param ... string
---@return string
function M.id(kind, ...)
  local parts = { kind }
  for i, part in ipairs { ... } do parts[i + 1] = ("%d:%s"):format(#part, part) end
  return M.of(table.concat(parts, "\n")):sub(1, 32)
end

--- Names an unnamed account, without a part of the key.
function M.account_of(api_key)
  return M.of("account " .. api_key):sub(1, 16)
end

return M
