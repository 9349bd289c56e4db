-- SPDX-License-Identifier: MIT
-- The service's word, held against the values sent: the answer of a write call, and the members beside a list.

local addresses = require "purser.address"
local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local networks = require "purser.client.operations.network"
local once = require "purser.client.util.once"
local shapes = require "purser.client.operations.shapes"
local unwrap = require "purser.client.call.unwrap"

local M = {}

--- Returns whether a member holds nothing that could be compared.
function M.is_blank(value)
  return value == nil or value == "" or type(value) == "userdata" -- null
end

---------------------------------------------------------------------------------------------- what stands beside a list

-- A plain read gives the service's word. A conclusion needs more: status 200, no header of an old or partial answer,
-- and no member next to the list but these.

local function is_empty(value) return value == nil or value == "" or type(value) == "table" and next(value) == nil end

-- Words of success.
local good_words = { success = true, ok = true, succeeded = true }
local function is_good_word(value) return is_empty(value) or good_words[tostring(value):lower()] == true end

local function is_true(value) return value == true or value == "true" or is_empty(value) end
local function is_false(value) return value == false or value == "false" or is_empty(value) end
local function is_count(value) return tonumber(value) ~= nil end
local function is_plain(value) return type(value) ~= "table" end

-- Each member that may stand next to a list, and what it may say; `code` is judged before, by the profile.
local may_say = {
  code = is_plain, msg = is_good_word, message = is_good_word, success = is_true, ok = is_true,
  timestamp = is_count, time = is_count, serverTime = is_count, requestId = is_plain, traceId = is_plain,
  page = is_count, pageNum = is_count, pageNo = is_count, currentPage = is_count, pageIndex = is_count,
  pageSize = is_count, limit = is_count, size = is_count,
  total = is_count, totalCount = is_count, totalRecords = is_count, totalPage = is_count, totalPageNum = is_count,
  hasMore = is_false, hasNext = is_false, hasNextPage = is_false, partial = is_false, truncated = is_false,
}

-- Counts that are of this very answer.
local own_counts = { count = true, totalNum = true, num = true }

-- Returns the names of the members that may be the list, or hold it.
local function carriers_of(result)
  local names = { data = true, result = true, rows = result.rows ~= nil or nil }
  for _, name in ipairs(result.wrappers or {}) do names[name] = true end
  return names
end

-- Returns which member next to the list says what nobody here can read; nil where none does.
local function stranger(object, carriers, count)
  for name, value in pairs(object) do
    local is_carrier = carriers[name] and type(value) == "table"
    if is_carrier and value[1] == nil and next(value) ~= nil then
      local inner = stranger(value, carriers, count)
      if inner then return inner end
    elseif not is_carrier and not is_empty(value) then
      local allows = may_say[name]
      local is_count_of_these = own_counts[name] and tonumber(value) == count
      if not is_count_of_these and not (allows and allows(value)) then return name end
    end
  end
end

-- Returns by what an answer is not whole, or not of now; nil where nothing says so.
local function oddity(response)
  if response.status ~= 200 then return ("HTTP %d"):format(response.status) end
  local headers = unwrap.headers(response.headers)
  local name = headers["content-range"] and "content-range" or headers.warning and "warning"
    or (tonumber(headers.age) or 0) > 0 and "age"
  return name and ("the header `%s`"):format(name) or nil
end

-- Returns why nothing may be concluded from what an answer does not show; nil where that may be done.
local function doubt(row, response, value)
  local odd = oddity(response)
  if odd then return odd end
  local body = core.decode(response.body)
  if type(body) ~= "table" or body[1] ~= nil then return nil end
  local list = row.result.list and value or value.data or value.rows or {}
  local name = stranger(body, carriers_of(row.result), #list)
  return name and ("`%s` next to its list"):format(name)
end

--- Turns the result of a list into an error where absence proves nothing. The pipeline calls it with each response of a
--- read that reconciling makes.
---@return any value, purser.Error|nil err
function M.verify(row, response, value)
  local form = row.result
  if not (form.list or form.page or form.rows) or unwrap.is_lone(value) then return value end
  local why = doubt(row, response, value)
  if not why then return value end
  return nil, errors.undecodable(row.full_name, ("the answer comes with %s, so it may not show all there is")
    :format(why))
end

---------------------------------------------------------------------------------------- the answer of a write call

--- Returns whether a text may be another one that is cut, extended or masked: "TQrY****4STm", "TQrY...4STm".
function M.is_loosely(shown, sent)
  shown, sent = shown:lower(), sent:lower()
  if sent:find(shown, 1, true) or shown:find(sent, 1, true) then return true end
  local head, tail = shown:match "^([^*]-)%*+([^*]*)$"
  if not head then head, tail = shown:match "^(.-)%.%.+([^.]*)$" end
  return head ~= nil and #head + #tail <= #sent and sent:sub(1, #head) == head and sent:sub(#sent - #tail + 1) == tail
end

-- These may be shown hidden in part, or with something after them.
local loose = { address = true, memo = true, note = true, remark = true }

-- Ids, and what people write beside a payment, are the same exactly.
local exact = { withdrawOrderId = true, clientTranId = true, memo = true, note = true, remark = true }

-- Returns whether an answer shows a member otherwise than it was sent.
local function differs(name, sent, shown)
  if M.is_blank(shown) then return false end
  if name == "amount" then return decimal.shown(shown) ~= decimal.shown(sent) end
  sent, shown = tostring(sent), tostring(shown)
  if sent == shown or not exact[name] and sent:lower() == shown:lower() then return false end
  if name == "address" and addresses.same(sent, shown, true) then return false end
  return not (loose[name] and M.is_loosely(shown, sent))
end

-- Returns the names of what records and answers show of a call.
local compared = once(function(reconcile)
  local names = { reconcile.client_id }
  for _, list in ipairs { reconcile.match_on or {}, reconcile.copy_params or {} } do
    for _, name in ipairs(list) do names[#names + 1] = name end
  end
  return names
end)

-- These name who is paid: an answer that shows one which the operation does not know is another operation's.
local payees = { address = true, toAccount = true }

-- Returns the member that an answer shows otherwise than it was sent; nil for none. Values that were not sent do not
-- compare, and no network does by a name that nobody here knows.
local function otherwise(row, params, object)
  for _, name in ipairs(compared(row.reconcile)) do
    local sent = params[name]
    if sent ~= nil and name ~= "network" and differs(name, sent, object[name]) then return name end
  end
  local asked, shown = params.netWork or params.network, networks.shown(object)
  -- that of a deposit address is judged with the whole address
  local is_judged = row.effect == "transfer" and asked and shown
  if is_judged and networks.same(asked, shown) == false then return "network" end
  for name in pairs(payees) do
    if row.effect == "transfer" and not row.by_name[name] and not M.is_blank(object[name]) then return name end
  end
end

--- Returns the coins that a conversion is asked for, by name.
function M.coins_of(params)
  local coins = {}
  for coin in tostring(params.asset):upper():gmatch "[^,]+" do coins[coin] = true end
  return coins
end

-- Returns whether a batch holds a coin that was not asked for.
local function converts_another(params, value)
  local asked = M.coins_of(params)
  for _, coin in ipairs(type(value.successList) == "table" and value.successList or {}) do
    if not asked[tostring(coin):upper()] then return "asset" end
  end
end

-- Returns the members that the result of a row has.
local members_of = once(function(row)
  local names = {}
  for _, field in ipairs(shapes[row.result.record] or {}) do
    names[field[1]] = true
    for _, alias in ipairs(field.aliases or {}) do names[alias] = true end
  end
  return names
end)

-- Parts of the names of members that speak of how a call ended. The live service adds members of other names.
local OUTCOMES = { "err", "fail", "stat", "code", "msg", "message", "success", "result", "reject", "ret", "queue",
  "pending", "warn", "reason" }

local function speaks_of_outcome(name)
  name = name:lower()
  for _, part in ipairs(OUTCOMES) do
    if name:find(part, 1, true) then return true end
  end
  return name == "ok"
end

-- Returns which member of an answer speaks of another end than success, or is not as it was sent.
local function stranger_in_result(row, params, object, members)
  local wrong = otherwise(row, params, object)
  if wrong then return wrong end
  for name, value in pairs(object) do
    if name == "data" and type(value) == "table" then
      local inner = stranger_in_result(row, params, type(value[1]) == "table" and value[1] or value, members)
      if inner then return inner end
    elseif not is_empty(value) and not members[name] and params[name] == nil and speaks_of_outcome(name) then
      local allows = may_say[name]
      if not (allows and allows(value)) then return name end
    end
  end
end

--- Returns why an answer does not show that its call was executed: another value than was sent; or, of a transfer, a
--- partial or old answer, or a word of another end. Nil where nothing does.
---@param params table    what was sent
---@param value any       the result
---@param response table|nil  its status, headers and body, where they are known
---@return string|nil why
function M.doubt_of_result(row, params, value, response)
  local wrong
  if row.reconcile.strategy == "conversion" then
    wrong = converts_another(params, value)
  else
    wrong = type(value) == "table" and otherwise(row, params, value)
  end
  if wrong then return ("it shows another %s than was sent"):format(wrong) end
  if row.result.record == "deposit_address" then return networks.answer_problem(params, value) end
  if row.effect ~= "transfer" or not response then return nil end
  local odd, body = oddity(response), row.result.record and core.decode(response.body)
  if odd then return "it comes with " .. odd end
  if type(body) ~= "table" then return nil end
  local name = stranger_in_result(row, params, type(body[1]) == "table" and body[1] or body, members_of(row))
  return name and ("it comes with `%s`, which is not what was sent, or speaks of another end"):format(name)
end

return M
