-- SPDX-License-Identifier: MIT
-- Authentication: key, signature over the raw bytes, time window, IP list, permission, kind of account.

local accounts = require "purser.testing.sim.accounts"
local core = require "purser.core"
local plain_text = require "purser.client.util.plain_text"
local rejection = require "purser.testing.sim.rejection"
local request_parser = require "purser.testing.sim.request_parser"

local M = {}

local function whole(text)
  return text and #text <= 15 and text:find("^%d+$") and tonumber(text) or nil
end

local signers = setmetatable({}, { __mode = "k" }) -- by key; made at its first use

local function signer_of(key)
  signers[key] = signers[key] or assert(core.signer("hmac-sha256", key.secret_key))
  return signers[key]
end

-- Tells whether a list, which is a text with commas, has an item.
local function has(list, item) return ("," .. list .. ","):find("," .. item .. ",", 1, true) ~= nil end

local function check_content_type(request)
  local content_type = (request.headers["content-type"] or ""):lower()
  if request.method ~= "GET" and content_type:match("^%s*([^;%s]*)") ~= "application/json" then
    rejection.raise "700013"
  end
end

local function find_key(sim, request)
  local api_key = request.headers[sim.profile.key_header:lower()]
  if not api_key or not accounts.is_api_key(api_key) then rejection.raise "700001" end
  local key = sim.keys.by_id[api_key]
  if not key then rejection.raise "10072" end
  if accounts.days_left(sim, key) == 0 then rejection.raise("10072", "The key has ended") end
  return key
end

local function check_time(sim, query)
  local profile = sim.profile
  local window, timestamp = query[profile.recv_window_name], query[profile.timestamp_name]
  if window and not whole(window) then rejection.raise("700008", "recvWindow must be a whole number") end
  if window and whole(window) > profile.max_recv_window then rejection.raise "700005" end
  if not timestamp or timestamp == "" then rejection.lacks(profile.timestamp_name) end
  timestamp = whole(timestamp)
  if not timestamp then rejection.raise("700008", "timestamp must be epoch milliseconds") end
  local now = sim:now()
  if timestamp >= now + 1000 or now - timestamp > (whole(window) or 5000) then rejection.raise "700003" end
end

-- Returns a text of a request for messages, with a funds password's hash masked; a JSON text ends at the hash.
local function mask(text)
  return (plain_text.clean(text):gsub("(password=)[^&]*", "%1***"):gsub('("password"%s*:%s*").*', "%1***"))
end

M.mask = mask

local function without(query, name)
  return (("&" .. query):gsub("&" .. name:gsub("%p", "%%%0") .. "=[^&]*", ""):gsub("^&", ""))
end

-- Returns a query with the percent-encoding of every value undone.
local function decoded(query)
  return (query:gsub("[^&]+", request_parser.unescape))
end

local function sorted(query)
  local pieces = {}
  for piece in query:gmatch "[^&]+" do pieces[#pieces + 1] = piece end
  table.sort(pieces)
  return table.concat(pieces, "&")
end

-- Texts that clients sign by mistake, each with words.
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

--- Returns the text that the client signed and the mistake in words; nil when no usual mistake explains the signature.
---@param signer userdata       with the key's own secret
---@param signature string      as it arrived, decoded
---@param query string          as it arrived, without the signature: the right text
---@param body string
---@param path string
---@param profile table
---@return string|nil text, string|nil mistake
function M.diagnose(signer, signature, query, body, path, profile)
  if signature:lower() == signer:sign(query) then return query, "the right text, in upper-case hexadecimal" end
  for _, candidate in ipairs(candidates(query, body, path, profile)) do
    local text = candidate[1]
    if text ~= query and signer:sign(text) == signature then return text, candidate[2] end
  end
end

local function check_signature(sim, signer, signed, request, signature)
  local sent = request_parser.unescape(signature)
  if sent and sent == signer:sign(signed) then return end
  local shown = mask(signed)
  local received, mistake = M.diagnose(signer, sent or "", signed, request.body or "",
    request.target:match("^[^?]*"), sim.profile)
  rejection.raise("700002", "Signature for this request is not valid. The service signs this text: " .. shown, {
    expected = shown, received = received and mask(received), mistake = mistake,
  })
end

-- Checks that the account behind the key may call the operation at all.
local function check_account(sim, row, account)
  local parent = account.parent and sim.accounts.by_id[account.parent] or account
  if account.frozen then rejection.raise "730100" end
  if row.group == "broker" and parent.role ~= "broker" then rejection.raise "730603" end
  if row.signer == "main" and account.parent then
    rejection.raise("700007", "Only the main account's key may call this operation")
  end
  if row.signer == "sub" and not account.parent then
    rejection.raise("700007", "Only a sub-account's own key may call this operation")
  end
end

--- Checks a request for `row`. Returns the account and the query's parameters. The rejection of a wrong signature has
--- the texts: { expected, received = what the client signed, when that is known, mistake = in words }.
function M.check(sim, row, request, query_text)
  check_content_type(request)
  local key = find_key(sim, request)
  local signed, signature = request_parser.split(query_text, sim.profile.signature_name)
  if sim.is_live and signed:find "[()]" then rejection.raise "700002" end
  local query = request_parser.query(signed)
  if not signature or signature == "" then rejection.lacks(sim.profile.signature_name) end
  check_time(sim, query)
  check_signature(sim, signer_of(key), signed, request, signature)
  if key.ip and not has(key.ip:lower(), (request.ip or ""):lower()) then rejection.raise "700006" end
  local account = sim.accounts.by_id[key.uid]
  check_account(sim, row, account)
  if row.permission and not has(key.permissions, row.permission) then
    rejection.raise("700007", ("The key lacks the permission %s"):format(row.permission))
  end
  return account, query
end

return M
