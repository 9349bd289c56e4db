-- SPDX-License-Identifier: MIT
--- From a canonical result to the text of an answer: the interface document's exact form, or a variant of it.
--
-- `forms` says what the document answers; a set of switches (lua/purser/sim/variants.lua) says how this answer differs.
-- Nothing here knows what a result means: handlers return canonical results, exact texts and integers, and no more.

local codes = require "purser.codes"
local coins = require "purser.sim.coins"
local prng = require "purser.sim.prng"
local response_formats = require "purser.sim.response_formats"
local variants = require "purser.sim.variants"

local M = {}

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape(character)
  return escapes[character] or ("\\u%04x"):format(character:byte())
end

local function write_text(text)
  if not text:find('[%c"\\]') then return '"' .. text .. '"' end
  return '"' .. text:gsub('[%c"\\]', escape) .. '"'
end

-- Writes JSON bottom-up: every function takes and returns JSON text. `set` is the set of switches; `leaf`, when given,
-- stands in the place of every value.
local function new_writer(set, salt, leaf)
  local dice = set.shuffled and prng.new(set.seed, salt)
  local keys = {} -- written names: records repeat them
  local out = { set = set, leaf = leaf, text = write_text }

  function out.member(name, json)
    keys[name] = keys[name] or write_text(name) .. ":"
    return keys[name] .. json
  end

  function out.object(members)
    if dice then dice:shuffle(members) end
    return "{" .. table.concat(members, ",") .. "}"
  end

  function out.array(items) return "[" .. table.concat(items, ",") .. "]" end

  return out
end

-- The other spellings of members.
local spellings = {
  createTime = "creatTime", creatTime = "createTime", apiKey = "apikey", apikey = "apiKey", fromSymbol = "fromsymbol",
  fromsymbol = "fromSymbol", toSymbol = "tosymbol", tosymbol = "toSymbol", totalPageNum = "totalPage", name = "Name",
}

-- Members that the document does not know; most of them have been seen.
local extras = {
  { "explorerUrl", function(out) return out.text "https://explorer.invalid/tx/0" end },
  { "currencyId", function(out) return out.text "128f589271cb4951b03e71e6323eb7be" end },
  { "depositPreConfirms", function() return "12" end },
  { "tag", function() return "null" end },
  { "rank", function() return "12345678901234567890123.50" end },
  { "details", function(out)
    return out.object { out.member("level", "1"),
      out.member("path", out.array { out.text "a", "2", "true", out.object {} }) }
  end },
}

local function spelling(name, set)
  if set.token_name and name == "convertPlatformToken" then return "convertMx" end
  return set.other_names and spellings[name] or name
end

local function digits(value)
  if type(value) == "string" then return value end
  return ("%d"):format(value)
end

local function is_integer_text(text)
  return text == "0" or text:find("^-?[1-9]%d*$") ~= nil
end

local function is_number_text(text)
  local whole = text:match("^(-?%d+)%.%d+$") or text
  return whole == "-0" or is_integer_text(whole)
end

-- kinds[kind](out, value, record): the JSON text of a value. `out` is the writer with the switches in `out.set`.
local kinds = {}

function kinds.text(out, value) return out.text(value) end

function kinds.count(_, value) return digits(value) end

function kinds.id(out, value)
  return out.set.bare_values and value:find("^%d+$") and is_integer_text(value) and value or out.text(value)
end

function kinds.bare_id(out, value)
  return out.set.bare_transfer_ids and is_integer_text(value) and value or kinds.id(out, value)
end

function kinds.amount(out, value)
  return out.set.bare_values and is_number_text(value) and value or out.text(value)
end

-- An amount with that many decimals.
local function padded(out, value, places)
  if out.set.padded_amounts and is_number_text(value) then
    local fraction = value:match "%.(%d+)$"
    value = value .. (fraction and "" or ".") .. ("0"):rep(places - #(fraction or ""))
  end
  return kinds.amount(out, value)
end

function kinds.deposit_amount(out, value) return padded(out, value, 30) end
function kinds.padded_amount(out, value) return padded(out, value, 18) end

-- The short id of a record's network, or the standard that its long name has in parentheses, unless both are the same.
local function other_network(out, value, record, is_short)
  local short, standard = record.netWork, value:match "%((.-)%)$"
  if not out.set.other_networks or not short or not standard or short == standard then return out.text(value) end
  return out.text(is_short and short or standard)
end

function kinds.coin(out, value, record)
  local entry = out.set.coins_with_network and record.netWork and coins.by_name[value]
  return out.text(entry and entry.networks[2] and value .. "-" .. record.netWork or value)
end

function kinds.deposit_network(out, value, record) return other_network(out, value, record, true) end
function kinds.withdrawal_network(out, value, record) return other_network(out, value, record, false) end

function kinds.output(out, value) return out.text(out.set.output_numbers and value .. ":0" or value) end

function kinds.time(out, value)
  return out.set.values_as_text and out.text(digits(value)) or digits(value)
end

function kinds.time_text(out, value)
  return out.set.values_as_text and digits(value) or out.text(digits(value))
end

local function number_or_text(out, value)
  return out.set.values_as_text and out.text(digits(value)) or digits(value)
end

function kinds.confirmations(out, value)
  return out.set.states_null and "null" or number_or_text(out, value)
end

kinds.state = kinds.confirmations

function kinds.account_state(out, value)
  local text = digits(value)
  return out.set.bare_values and is_integer_text(text) and text or out.text(text)
end

function kinds.state_text(out, value)
  return out.set.states_null and "null" or kinds.account_state(out, value)
end

function kinds.flag(out, value)
  local text = value and "true" or "false"
  return out.set.values_as_text and out.text(text) or text
end

-- Kind of an address -> the switch that joins the memo to it.
local joining = { address = "address_with_memo", other_address = "other_addresses_with_memo" }

local function joins_memo(out, record, kind)
  return out.set[joining[kind]] and record.address and record.memo and record.memo ~= ""
end

for kind in pairs(joining) do
  kinds[kind] = function(out, value, record)
    return out.text(joins_memo(out, record, kind) and value .. ":" .. record.memo or value)
  end
end

function kinds.texts(out, list)
  local items = {}
  for i, value in ipairs(list) do items[i] = out.leaf or out.text(value) end
  return out.array(items)
end

local function has_member(members, name)
  for _, member in ipairs(members) do
    if member.name == name then return true end
  end
  return false
end

-- Tells whether this record's address carries the memo, so that the member `memo` stays empty.
local function memo_is_in_address(out, members, member, record)
  if member.canonical ~= "memo" then return false end
  for _, other in ipairs(members) do
    if joining[other.kind] and joins_memo(out, record, other.kind) then return true end
  end
  return false
end

local write_records -- a record may hold records

local function write_value(out, members, member, record)
  local value = record[member.canonical]
  if member.kind == "records" then return value and write_records(out, member.members, value) end
  if value == nil then return (member.nullable or out.set.null_members) and "null" or nil end
  if out.leaf and member.kind ~= "texts" then return out.leaf end
  if memo_is_in_address(out, members, member, record) then return out.text "" end
  return kinds[member.kind](out, value, record)
end

local function write_members(out, members, record, parts)
  for _, member in ipairs(members) do
    local json = write_value(out, members, member, record)
    if json then parts[#parts + 1] = out.member(spelling(member.name, out.set), json) end
  end
end

local function write_record(out, members, record)
  local parts = {}
  write_members(out, members, record, parts)
  if members.seen and out.set.seen_members then write_members(out, members.seen, record, parts) end
  if out.set.extra_members then
    for _, extra in ipairs(extras) do
      if not has_member(members, extra[1]) then parts[#parts + 1] = out.member(extra[1], extra[2](out)) end
    end
  end
  return out.object(parts)
end

function write_records(out, members, list)
  local items = {}
  for i, record in ipairs(list) do items[i] = write_record(out, members, record) end
  return out.array(items)
end

local function enveloped(out, json)
  local code = out.set.envelope_code and "200" or out.text "0"
  return out.object { out.member("code", code), out.member("message", out.text ""), out.member("data", json) }
end

local function answer_list(out, form, list)
  local json = write_records(out, form.list, list)
  if form.inside then return out.object { out.member(form.inside, json) } end
  if form.counted and out.set.counted_lists then
    return out.object { out.member("result", json), out.member("totalCount", digits(#list)) }
  end
  return json
end

local function answer_record(out, form, record)
  local in_array = form.single == "array"
  if form.single and out.set.records_bare then in_array = false end
  if form.single and out.set.records_in_array then in_array = true end
  local json = write_record(out, form.record, record)
  return in_array and out.array { json } or json
end

local function answer_page(out, form, page)
  local parts = {}
  for i, name in ipairs(form.order) do
    local json = name == "data" and write_records(out, form.page, page.data) or digits(page[name])
    parts[i] = out.member(spelling(name, out.set), json)
  end
  return out.object(parts)
end

local function answer_rows(out, form, page)
  local rows = write_records(out, form.rows, page.rows)
  local json = out.object { out.member("rows", rows), out.member("total", digits(page.total)) }
  return out.set.rows_bare and json or out.array { json }
end

local function write_answer(out, form, result)
  local json
  if form.list then json = answer_list(out, form, result)
  elseif form.record then json = answer_record(out, form, result)
  elseif form.page then json = answer_page(out, form, result)
  else json = answer_rows(out, form, result)
  end
  return form.envelope and enveloped(out, json) or json
end

-- Results that are long and always the same -> set of switches -> the JSON text.
local long_texts = setmetatable({}, { __mode = "k" })
local LONG = 500

--- The JSON text that answers operation `row` with the canonical `result`.
---@param row table a row of purser.operations
---@param result table
---@param variant string|table|nil "document" (also nil), "live", or a table of switches
---@return string
function M.answer(row, result, variant)
  local set = variants.resolve(variant)
  local is_long = row.id == "C1" and #result > LONG
  local known = is_long and long_texts[result]
  if known and known[set] then return known[set] end
  local text = write_answer(new_writer(set, row.id), response_formats[row.id], result)
  if is_long then
    long_texts[result] = known or setmetatable({}, { __mode = "k" })
    long_texts[result][set] = text
  end
  return text
end

--- The body of an answer to a row-less request (ping, server time): an object of integers.
function M.plain(members, variant)
  local out = new_writer(variants.resolve(variant), "plain")
  local parts = {}
  for _, member in ipairs(members) do parts[#parts + 1] = out.member(member[1], digits(member[2])) end
  return out.object(parts)
end

-- Code of the interface -> operation -> the code that was seen instead.
local codes_seen = { ["140001"] = { B8 = "700004", B3 = "730002", B4 = "730002" } }

--- The code that a rejection has in a variant.
function M.code(code, variant, row)
  local seen = codes_seen[code]
  return seen and variants.resolve(variant).error_codes_seen and seen[row.id] or code
end

--- A rejection: the HTTP status and the JSON text. `row` is nil when the path is unknown.
---@param code string|integer
---@param message string|nil that of the code when nil
---@param variant string|table|nil
---@param row table|nil
---@return integer http_status, string json
function M.rejection(code, message, variant, row)
  local set = variants.resolve(variant)
  local out = new_writer(set, row and row.id)
  local text = digits(code)
  local known = codes.get(text)
  local parts = {
    out.member("code", is_integer_text(text) and not set.error_code_text and text or out.text(text)),
    out.member(set.error_members and "message" or "msg",
      out.text(message or known and known.meaning or "Request failed")),
  }
  if set.error_members then
    table.insert(parts, 1, out.member("success", "false"))
    parts[#parts + 1] = out.member("_extend", "null")
    parts[#parts + 1] = out.member("traceId", out.text "7f000001-0")
  end
  local ok = set.error_http_200 and row and (row.group == "sub_account" or row.id == "A2")
  return ok and 200 or 400, out.object(parts)
end

local function sample_record(members)
  local record = {}
  for _, member in ipairs(members) do
    record[member.canonical] = member.kind == "records" and { sample_record(member.members) }
      or member.kind == "texts" and { "" } or ""
  end
  return record
end

--- An answer of the right form with `leaf`, any JSON text, in the place of every value: what garbage is made of.
---@return string
function M.sample(row, leaf)
  local form = response_formats[row.id]
  local result
  if form.record then result = sample_record(form.record)
  elseif form.list then result = { sample_record(form.list) }
  elseif form.page then result = { data = { sample_record(form.page) }, page = 1, totalRecords = 1, totalPageNum = 1 }
  else result = { rows = { sample_record(form.rows) }, total = 1 }
  end
  return write_answer(new_writer(variants.resolve "document", row.id, leaf), form, result)
end

return M
