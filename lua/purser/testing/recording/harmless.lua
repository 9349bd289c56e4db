-- SPDX-License-Identifier: MIT
-- The values that may stay in a recording: the member or parameter is public, by the rows or by the lists of this file,
-- and the text has the form of the kind. Other values become tokens.

local purser = require "purser"

local M = {}

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

--------------------------------------------------------------------------------------------------------------- names

-- The words of the interface's names, which names of new members use, too.
local name_words = {}

-- Returns the lower-case words of a name in camelCase or with underscores; nil for other names.
local function words_of(name)
  if #name > 40 or not name:find "^%a[%a_]*$" then return nil end
  local words = {}
  for word in name:gsub("(%l)(%u)", "%1 %2"):gsub("_", " "):gmatch "%a+" do words[#words + 1] = word:lower() end
  return words
end

local known = set_of [[
  code msg message data success result totalCount total totalRecords totalPage totalPageNum page rows serverTime
  subAccounts timestamp recvWindow signature _extend traceId sign]]
local segments = {} -- of paths
local choices = { FUTURE = true } -- the values of parameters that take one of a list
local kind_of = {} -- of the value of a member or parameter

local function learn_name(name, kind)
  known[name] = true
  kind_of[name] = kind_of[name] or kind
  for _, word in ipairs(words_of(name) or {}) do name_words[word] = true end
end

local function learn_members(members)
  for _, member in ipairs(members) do
    local kind = member.type == "boolean" and "flag" or nil
    learn_name(member.name, kind)
    for _, alias in ipairs(member.aliases or {}) do learn_name(alias, kind) end
    learn_members(member.members or {})
  end
end

local public_kinds = { time = "time", count = "number", permissions = "choice", choice = "choice" }

local function learn_path(path)
  for segment in path:gmatch "[^/]+" do segments[segment] = true end
end

learn_path(purser.profiles.default.ping_path)
learn_path(purser.profiles.default.time_path)
for _, row in pairs(purser.operations) do
  learn_path(row.path)
  for _, param in ipairs(row.params) do
    learn_name(param[1], public_kinds[param[2]])
    for _, value in ipairs(param.values or {}) do choices[value] = true end
  end
  learn_members(row.members)
end

--- Returns true for a name that may stay: a name of the interface, or a name of words of the interface's names.
function M.is_name(name)
  if known[name] then return true end
  local words = words_of(name)
  if not words then return false end
  for _, word in ipairs(words) do
    if not name_words[word] then return false end
  end
  return true
end

-------------------------------------------------------------------------------------------------------------- values

local kinds = {
  coin = function(text)
    return #text <= 8 and text:find "^[%u%d]+$" ~= nil and text:find "%u" ~= nil and select(2, text:gsub("%d", "")) <= 4
  end,
  symbol = function(text) -- base64 of a short number looks alike: a pair ends in what it is quoted in
    local base = text:match "^([%u%d]+)USD[TC]$" or text:match "^([%u%d]+)_USD[TC]$" or text:match "^(%u+)BTC$"
      or text:match "^(%u+)ETH$"
    return base ~= nil and #base <= 8
  end,
  network = function(text) -- a short id, or a name with its standard: Tron(TRC20)
    return #text <= 12 and text:find "^%u[%u_]*%d?%d?$" ~= nil
      or #text <= 40 and text:find "^%u%a*[%a ]*%(%u[%u ]*%d?%d?%)$" ~= nil
  end,
  number = function(text) return #text <= 7 and text:find "^%-?%d+$" ~= nil end,
  state = function(text) return text:find "^%d%d?$" ~= nil or #text <= 16 and text:find "^%u[%u_]+$" ~= nil end,
  flag = function(text) return text == "true" or text == "false" or text == "0" or text == "1" end,
  choice = function(text) -- or several, joined by commas
    for name in text:gmatch "[^,]+" do
      if not choices[name] then return false end
    end
    return text ~= ""
  end,
  time = function(text)
    if text:find "^1%d%d%d%d%d%d%d%d%d%d%d%d$" then return "time" end
    return text:find "^20%d%d%-[01]%d%-[0-3]%dT[0-2]%d:[0-5]%d:[0-5]%d%.?%d?%d?%d?[Z+-]?[01]?%d?:?[0-5]?%d?$" ~= nil
      and "date"
  end,
}

-- Notes the kinds of members without a kind in the rows.
local function list(kind, names)
  for name in names:gmatch "%S+" do kind_of[name] = kind end
end
list("coin", "coin asset")
list("symbol", "symbol fromSymbol toSymbol fromsymbol tosymbol")
list("network", "network netWork")
list("number", [[code total totalCount totalRecords totalPage totalPageNum minConfirm confirmNo unlockConfirm
  confirmTimes recvWindow depositPreConfirms remainingValidity]])
list("state", "status transferType")
list("flag", "success includeFee")
list("choice", "fromAccountType toAccountType")
list("time", "timestamp serverTime createTime creatTime updateTime insertTime applyTime convertTime time")

-- Names that count a page beside records, and may be amounts elsewhere.
local of_pages = set_of "total limit size page"

--- Returns true for a value that may stay; "time" or "date" for a time that moves.
---@param name string
---@param text string
---@param beside table<string, boolean>|nil  the names of the members of the object that it is in
---@return boolean|string
function M.keeps(name, text, beside)
  local kind = kind_of[name]
  if of_pages[name] and beside and not (beside.rows or beside.data) then return false end
  return kind ~= nil and kinds[kind](text) or false
end

--------------------------------------------------------------------------------------------------- paths and headers

--- Tells whether a part of a path may stay.
function M.is_segment(segment)
  return segments[segment] == true
end

local media_types = set_of "application/json text/html text/plain application/octet-stream"

local limit_headers = set_of [[
  retry-after x-mbx-used-weight x-mbx-order-count x-used-weight ratelimit-limit ratelimit-remaining ratelimit-reset
  x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset x-ratelimit-used x-rate-limit-limit x-rate-limit-remaining
  x-rate-limit-reset]]

-- Tells whether a header tells weights or limits; a name may end in a window, such as -10s.
local function is_limit(name)
  return limit_headers[name] == true or limit_headers[name:match "^(.-)%-%d%d?[smhd]$" or ""] == true
end

--- Tells whether a header may stay: true; "token" for a value that becomes a token; nil for a header that is left out.
---@param name string  in lower case
---@param value string
---@return boolean|string|nil
function M.header(name, value)
  if name == "content-type" then
    local media, rest = value:lower():match "^([^;%s]+)%s*;?%s*(.*)$"
    local is_known = media_types[media] and (rest == "" or rest == "charset=utf-8")
    return is_known and true or "token"
  elseif name == purser.profiles.default.key_header:lower() then
    return "token"
  elseif is_limit(name) then
    return #value <= 7 and value:find "^%d+$" ~= nil or "token"
  end
end

-- Parameters that are new with each request, and that a replay does not compare.
M.of_request = set_of "timestamp recvWindow signature"

return M
