-- SPDX-License-Identifier: MIT
-- Compares the service's word with what was sent: a record, same | may be | other; the answer of a write call; and the
-- members beside a list from which something is concluded.
--
-- Reading a difference takes a witness: a record of a call that was answered shows how this service shows what is sent.
-- Without one nothing is proved by a difference, unless coin and amount both differ beyond any fee.

local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local networks = require "purser.client.operations.network"
local shapes = require "purser.client.operations.shapes"
local unwrap = require "purser.client.call.unwrap"

local M = {}

--- Returns whether a member holds nothing that could be compared.
function M.is_blank(value)
  return value == nil or value == "" or type(value) == "userdata" -- null
end

local is_blank = M.is_blank

--------------------------------------------------------------------------------------------- one member, as it is shown

-- Returns an amount that can be reckoned with, which may be shown with an exponent, as 1.5e+2 is; or nil.
local function amount_of(value)
  local text = (type(value) == "string" or type(value) == "number") and tostring(value) or ""
  local digits, sign, exponent = text:match "^([^eE]+)[eE]([+-]?)(%d%d?)$"
  local amount = #text <= 100 and decimal(digits or text) or nil
  local zeros = amount and tonumber(exponent) or 0
  if zeros == 0 then return amount end
  return amount * (sign == "-" and "0." .. ("0"):rep(zeros - 1) .. "1" or "1" .. ("0"):rep(zeros))
end

local ZERO, TWO = decimal "0", decimal "2"

-- Returns whether an amount may be shown without its last digits: cut, or rounded to the nearest. None is rounded up to
-- what is farther: 0.25 may be shown as 0, and never as 1.
local function is_shortened(a, b, text)
  local places = #((text:match "%.(%d*)$" or ""):gsub("0+$", ""))
  local step = decimal(places == 0 and "1" or "0." .. ("0"):rep(places - 1) .. "1")
  return a > b and a - b < step or (a - b):abs() * TWO <= step
end

-- A text of so many digits may come from binary floating point, whose last digits are wrong.
local FLOAT_DIGITS, FLOAT_PRECISION = 16, decimal "0.00000000000001"

-- Returns whether an amount may be one that is shown without its last digits, with those of binary floating point, with
-- the sign of what leaves an account, or with or without the fee that is shown next to it.
local function is_close(a, b, text, fee)
  if b == ZERO or a == b or is_shortened(a, b, text) then return true end
  local digits = text:gsub("%D", ""):gsub("^0+", "")
  if #digits >= FLOAT_DIGITS and (a - b):abs() <= b * FLOAT_PRECISION then return true end
  return fee ~= nil and (a == b + fee or b == a + fee)
end

-- Returns whether two numbers differ by so much that no rounding and no fee that is shown explains it: most records are
-- told apart by this alone.
local function are_apart(a, b, fee)
  return a and b and b ~= 0 and math.abs(a - math.abs(b)) > 2 + math.abs(fee or 0) + a * 1e-9
end

-- Compares amounts: "near" where a fee could make the difference. None takes half of a payment, or adds as much to it.
local function amounts(sent, shown, record)
  local x, y = tonumber(sent), tonumber(shown)
  if are_apart(x, y, tonumber(record.transactionFee)) and (y * y > 4.1 * x * x or x * x > 4.1 * y * y) then
    return "unlike"
  end
  local a, b = amount_of(sent), amount_of(shown)
  if not a or not b then return "may" end
  if a == b then return "same" end
  b = b:abs()
  local text = tostring(shown)
  if is_close(a, b, text:find "[eE]" and tostring(b) or text, amount_of(record.transactionFee)) then return "may" end
  return a <= b * TWO and b <= a * TWO and "near" or "unlike"
end

local function lower(value) return tostring(value):lower() end

-- Returns whether a text may be another one whose middle is hidden: "TQrY****4STm", "TQrY...4STm".
local function is_hidden_in(shown, requested)
  local head, tail = shown:lower():match "^([^*]-)%*+([^*]*)$"
  if not head then head, tail = shown:lower():match "^(.-)%.%.+([^.]*)$" end
  requested = requested:lower()
  return head ~= nil and #head + #tail <= #requested and requested:sub(1, #head) == head
    and requested:sub(#requested - #tail + 1) == tail
end

local function contains(one, other)
  local a, b = lower(one), lower(other)
  return a:find(b, 1, true) ~= nil or b:find(a, 1, true) ~= nil
end

-- Compares texts in any case. One that holds the other, or is hidden in part, may be it.
local function texts(sent, shown)
  if lower(sent) == lower(shown) then return "same" end
  if contains(sent, shown) or is_hidden_in(tostring(shown), tostring(sent)) then return "may" end
  return "unlike"
end

-- Returns the letters and digits of an id, in lower case: the rest may be in another spelling.
local function plain_id(text) return (text:lower():gsub("[^a-z0-9]", "")) end

-- Words for an id that is not shown.
local no_id = { [""] = true, null = true, none = true, ["nil"] = true, undefined = true, nan = true }

-- Returns the value of an id that is shown as a number, and by how much the id that was sent may differ from it. Nil
-- where it is no number.
local function number_of(shown)
  local whole, fraction, exponent = shown:match "^(%d+)%.?(%d*)[eE]?%+?(%d*)$"
  if not whole then return nil end
  local value = tonumber(whole .. fraction) * 10 ^ ((tonumber(exponent) or 0) - #fraction)
  local digits = (whole .. fraction):gsub("^0+", "")
  if #whole == #shown and #digits < FLOAT_DIGITS then return value, 0 end
  local count = math.max(1, math.min(#digits:gsub("0+$", ""), FLOAT_DIGITS - 1))
  return value, 10 ^ (math.floor(math.log(value) / math.log(10) + 1e-9) + 1 - count)
end

local function may_be_number(requested, shown)
  local value, by = number_of(shown)
  if not value or not requested:find "^%d+$" then return false end
  return value == tonumber(requested) or math.abs(value - tonumber(requested)) < by
end

--- Returns whether an id that is shown may be the one that was sent: in another case, with other signs between its
--- letters and digits, cut however short, hidden in part, as a number, or with something around it.
function M.may_be_id(requested, shown)
  if type(requested) ~= "string" or shown == nil then return shown == requested end
  shown = tostring(shown)
  local a, b = plain_id(requested), plain_id(shown)
  if a == b or no_id[b] then return true end
  local long, short = #a > #b and a or b, #a > #b and b or a
  return #short > 0 and long:find(short, 1, true) ~= nil or is_hidden_in(shown, requested)
    or may_be_number(requested, shown)
end

-- Compares ids and what people write beside a payment: exactly the same, or resembling it.
local function ids(sent, shown)
  if sent == shown then return "same" end
  return M.may_be_id(sent, shown) and "may" or "unlike"
end

local relations = { amount = amounts, withdrawOrderId = ids, clientTranId = ids, memo = ids, note = ids, remark = ids }

--- Returns the names of what records and answers show of a call.
---@param reconcile table
---@return string[]
function M.members(reconcile)
  local members = { reconcile.client_id }
  for _, list in ipairs { reconcile.match_on or {}, reconcile.copy_params or {} } do
    for _, name in ipairs(list) do members[#members + 1] = name end
  end
  return members
end

--- Compares what was sent as `name` with what a record shows: "same"; "may", where it may be that in another form;
--- "near", an amount that may be that with a fee; or "unlike". Nil where there is nothing to compare.
---@return "same"|"may"|"near"|"unlike"|nil
function M.member(name, sent, record)
  local shown = record[name]
  if sent == nil or is_blank(shown) then return nil end
  return (relations[name] or texts)(sent, shown, record)
end

--- Returns by how much more a record shows than the amount that was sent; nil where that cannot be reckoned.
---@return purser.decimal|nil
function M.difference(sent, shown)
  local a, b = amount_of(sent), amount_of(shown)
  return a and b and b:abs() - a
end

------------------------------------------------------------------------------------------------------ a whole record

-- Returns how one member counts, after what the witnesses show of it: as M.member says, or "other"; nil where it is not
-- to be compared.
local function counted(name, params, record, witnesses)
  local relation = M.member(name, params[name], record)
  if relation == nil then
    if params[name] == nil or witnesses:hides(name, params) then return nil end
    return "may"
  elseif relation == "same" then
    return relation
  elseif witnesses:differs(name, params) then
    return not witnesses:explains(name, params, relation, record) and relation or nil
  end
  return relation ~= "may" and witnesses:proves(name, params) and "other" or relation
end

-- Returns how the id counts by which the service distinguishes calls: as counted does.
local function counted_id(reconcile, params, record, witnesses)
  local name = reconcile.generated_id and reconcile.client_id
  if not name then return nil end
  local sent, shown = params[name], record[name]
  if sent == nil then return not is_blank(shown) and "unlike" or nil end
  if is_blank(shown) or no_id[plain_id(tostring(shown))] then
    return witnesses:proves(name, params) and "may" or nil
  end
  return counted(name, params, record, witnesses)
end

-- Returns whether a fee may explain that the amount differs, where who is paid agrees: to one's own accounts there is
-- no fee.
local function may_be_fee(reconcile, seen)
  for _, name in ipairs(reconcile.match_on or {}) do
    local is_payee = name == "address" or name == "toAccount"
    if is_payee and (seen[name] == "same" or seen[name] == "may") then return seen.amount == "near" end
  end
  return false
end

-- Without a witness coin and amount prove a difference where both differ. Away from the call's time one of them does,
-- or a note. Of a payment that may never have been sent an amount does, too, that no fee explains.
local function is_other_payment(seen, where, is_fee)
  local asset, amount = seen.coin == "unlike" or seen.asset == "unlike", seen.amount == "unlike"
  if where == "near" then return asset and amount end
  return asset or amount or seen.note == "unlike" or where == "planned" and seen.amount == "near" and not is_fee
end

-- Returns whether a record shows the id of the call in other case, or with other signs between letters and digits. Then
-- it is no other payment's, whatever else it shows.
local function shows_id(reconcile, params, record)
  local name = reconcile.generated_id and reconcile.client_id
  return name and params[name] ~= nil and not is_blank(record[name])
    and plain_id(tostring(params[name])) == plain_id(tostring(record[name]))
end

---@alias purser.evidence.Verdict
---| "same"    it agrees in all that can be compared
---| "may"     nothing that it shows is unlike what was sent, and something cannot be compared
---| "unlike"  something is unlike, and nothing proves that this service would show it as it was sent
---| "other"   it is certainly another call's

--- Compares a record with a call of a row.
---@param reconcile table      what the row says of reconciling
---@param params table         what was sent
---@param record table
---@param witnesses table      what answered calls show of this service: see claims.lua
---@param where "near"|"far"|"planned"  the record lies in the call's window or next to it; away from it; there is none
---@return purser.evidence.Verdict verdict, boolean|nil differs_by_fee  a fee explains all that is unlike
function M.judge(reconcile, params, record, witnesses, where)
  local seen, verdict = { id = counted_id(reconcile, params, record, witnesses) }, "same"
  for _, name in ipairs(reconcile.copy_params or {}) do -- the list was asked for these, and need not show them
    if not is_blank(record[name]) then seen[name] = counted(name, params, record, witnesses) end
  end
  for _, name in ipairs(reconcile.match_on or {}) do seen[name] = counted(name, params, record, witnesses) end
  local is_fee = may_be_fee(reconcile, seen)
  local is_other = is_other_payment(seen, where, is_fee)
  local differs_by_fee = is_fee and seen.address ~= nil -- of transfers the service names no fee
  for _, relation in pairs(seen) do
    is_other = is_other or relation == "other"
    if relation == "unlike" or relation == "near" then verdict = "unlike" end
    differs_by_fee = differs_by_fee and relation ~= "unlike"
    if relation == "may" and verdict == "same" then verdict = "may" end
  end
  if is_other then return shows_id(reconcile, params, record) and "unlike" or "other" end
  -- without its amount it may be any payment's
  if verdict == "same" and params.amount ~= nil and (amount_of(record.amount) or ZERO) == ZERO then verdict = "may" end
  return verdict, differs_by_fee
end

--- Returns whether a record that shows the id of the call shows another payment all the same: the id was used for two.
--- An amount may be shown without the fee that it was asked for with, an address with its memo, a coin with its
--- network.
function M.contradicts(params, record, witnesses)
  for _, name in ipairs { "coin", "asset", "address", "amount" } do
    local relation = M.member(name, params[name], record)
    local is_unlike = relation == "unlike" or relation == "near"
    if is_unlike and not witnesses:differs(name, params) then return true end
  end
  return false
end

---------------------------------------------------------------------------------------------- what stands beside a list

-- A plain read is liberal: it gives what the service said. A conclusion is strict: the status is 200, no header says
-- that the answer is old or a part, and each member next to the list is one that says nothing else. What is not in
-- these lists says something that nobody here can read.

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

-- Headers by which an answer is not whole, or not of now.
local function odd_header(headers)
  for _, name in ipairs { "content-range", "warning" } do
    if headers[name] then return name end
  end
  local age = tonumber(headers.age)
  return age and age > 0 and "age" or nil
end

-- Returns by what an answer is not whole, or not of now; nil where nothing says so.
local function oddity(response)
  if response.status ~= 200 then return ("HTTP %d"):format(response.status) end
  local header = odd_header(unwrap.headers(response.headers))
  return header and ("the header `%s`"):format(header)
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

--- Turns the result of a list into an error where nothing may be concluded from it. For the pipeline, which calls it
--- with each response of a read that reconciling makes.
---@param row table
---@param response table
---@param value any
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

-- These may be shown hidden in part, or with something after them.
local loose = { address = true, memo = true, note = true, remark = true }

-- These name who is paid: an answer that shows one which the operation does not know is another operation's.
local payees = { address = true, toAccount = true }

-- Returns what an answer shows otherwise than it was sent, of that which records show, too; nil where nothing is. What
-- was not sent is not compared: the service may know it. Nor are networks, of which each has two names.
local function otherwise(row, params, object)
  for _, name in ipairs(M.members(row.reconcile)) do
    local sent = params[name]
    local relation = sent ~= nil and name ~= "network" and M.member(name, tostring(sent), object)
    if relation and relation ~= "same" and not (relation == "may" and loose[name]) then return name end
  end
  for name in pairs(payees) do
    if row.effect == "transfer" and not row.by_name[name] and not M.is_blank(object[name]) then return name end
  end
end

-- Returns whether a batch holds a coin that was not asked for.
local function converts_another(params, value)
  local asked = {}
  for coin in tostring(params.asset):upper():gmatch "[^,]+" do asked[coin] = true end
  for _, coin in ipairs(type(value.successList) == "table" and value.successList or {}) do
    if not asked[tostring(coin):upper()] then return "asset" end
  end
end

-- Returns the members that the result of a row has.
local function members_of(row)
  local names = {}
  for _, field in ipairs(shapes[row.result.record] or {}) do
    names[field[1]] = true
    for _, alias in ipairs(field.aliases or {}) do names[alias] = true end
  end
  return names
end

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

--- Returns why the answer of a write call does not show that it was executed, though it carries a result: it shows what
--- was not sent; or, of a call that moves funds, it is not whole or not of now, or has a word of another end. Nil where
--- nothing does.
---@param row table
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
