-- SPDX-License-Identifier: MIT
--- What a client signed when it signed the wrong text: the mistakes that are usual, tried one after the other.
--
-- Knowing the secret, the simulator can show which text a wrong signature belongs to, which shows the mistake at once.

local request_parser = require "purser.sim.request_parser"

local M = {}

local function pieces_of(query)
  local pieces = {}
  for piece in query:gmatch("[^&]+") do pieces[#pieces + 1] = piece end
  return pieces
end

local function without(query, name)
  local kept = {}
  for _, piece in ipairs(pieces_of(query)) do
    if piece:match("^[^=]*") ~= name then kept[#kept + 1] = piece end
  end
  return table.concat(kept, "&")
end

-- The value of every parameter as it was before it was percent-encoded.
local function decoded(query)
  local texts = {}
  for i, piece in ipairs(pieces_of(query)) do texts[i] = request_parser.unescape(piece) or piece end
  return table.concat(texts, "&")
end

local function sorted(query)
  local pieces = pieces_of(query)
  table.sort(pieces)
  return table.concat(pieces, "&")
end

local function candidates(query, body, path, profile)
  local lower = query:gsub("%%%x%x", string.lower)
  local list = {
    { decoded(query), "the values before they were percent-encoded" },
    { sorted(query), "the parameters sorted by name" },
    { sorted(decoded(query)), "the parameters sorted by name, before they were percent-encoded" },
    { lower, "percent-encoding in lower case" },
    { (query:gsub("%%20", "+")), "blanks as + instead of %20" },
    { "&" .. query, "a leading &" },
    { "?" .. query, "the question mark, too" },
    { path .. "?" .. query, "the path, too" },
    { without(query, profile.timestamp_name), "everything but the timestamp" },
    { without(query, profile.recv_window_name), "everything but recvWindow" },
    { "", "an empty text" },
  }
  if body ~= "" then
    list[#list + 1] = { query .. body, "the query and the body" }
    list[#list + 1] = { query .. "&" .. body, "the query and the body, joined by &" }
    list[#list + 1] = { body, "the body alone" }
  end
  return list
end

--- The text that the client signed and, in words, what it is; nil when no usual mistake explains the signature.
---@param signer userdata       with the key's own secret
---@param signature string      as it arrived, decoded
---@param query string          as it arrived, without the signature: the right text
---@param body string
---@param path string
---@param profile table
---@return string|nil text, string|nil mistake
function M.find(signer, signature, query, body, path, profile)
  if signature:lower() == signer:sign(query) then return query, "the right text, in upper-case hexadecimal" end
  for _, candidate in ipairs(candidates(query, body, path, profile)) do
    local text = candidate[1]
    if text ~= query and signer:sign(text) == signature then return text, candidate[2] end
  end
end

return M
