-- SPDX-License-Identifier: MIT
-- Digests of texts.

local core = require "purser.core"

local M = {}

local hasher

--- A digest of any text: 64 hex digits. (A keyed hash with a key that everybody knows is a plain digest.)
---@param text string
---@return string
function M.of(text)
  hasher = hasher or assert(core.signer("hmac-sha256", "purser"))
  return hasher:sign(text)
end

return M
