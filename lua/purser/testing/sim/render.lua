-- SPDX-License-Identifier: MIT
--- Turns a canonical result into the text of an answer: the interface document's exact form, or the live service's.
---
--- response_formats.lua has the document's answers; `is_live` adds the differences seen in real answers. This module
--- knows no result's meaning: handlers return canonical results, exact texts and integers, and no more.

local codes = require "purser.codes"
local coins = require "purser.testing.sim.coins"
local encode = require("purser.json").encode
local response_formats = require "purser.testing.sim.response_formats"

local M = {}

-- JSON is written bottom-up: each of these takes and returns JSON text.
local function write_member(name, json) return '"' .. name .. '":' .. json end

local function write_object(members) return "{" .. table.concat(members, ",") .. "}" end

local function write_array(items) return "[" .. table.concat(items, ",") .. "]" end

local function digits(value)
  if type(value) == "string" then return value end
  return ("%d"):format(value)
end

-- Members of live records beyond the document; most have been seen.
local extras = {
  { "explorerUrl", '"https://explorer.invalid/tx/0"' }, { "currencyId", '"128f589271cb4951b03e71e6323eb7be"' },
  { "depositPreConfirms", "12" }, { "tag", "null" }, { "rank", "12345678901234567890123.50" },
  { "details", '{"level":1,"path":["a",2,true,{}]}' },
}

-- kinds[kind](value, record, is_live): the JSON text of a value. `response_formats` names the kinds.
local kinds = {}

function kinds.text(value) return encode(value) end

kinds.always = kinds.text

function kinds.number(value) return digits(value) end

function kinds.number_text(value) return encode(digits(value)) end

function kinds.flag(value) return value and "true" or "false" end

function kinds.bare_id(value, _, is_live)
  return is_live and value:find "^[1-9]%d*$" and value or encode(value)
end

-- Returns the kind of an amount with so many decimals.
local function padded(places)
  return function(value, _, is_live)
    if not is_live or not value:find "^%d+%.?%d*$" then return encode(value) end
    local fraction = value:match "%.(%d+)$"
    return encode(value .. (fraction and "" or ".") .. ("0"):rep(places - #(fraction or "")))
  end
end

kinds.deposit_amount, kinds.withdrawal_amount = padded(30), padded(18)

-- Returns the kind of a network's name: the short id, or the standard in the long name's parentheses, unless equal.
local function network(is_short)
  return function(value, record, is_live)
    local short, standard = record.netWork, value:match "%((.-)%)$"
    if not is_live or not short or not standard or short == standard then return encode(value) end
    return encode(is_short and short or standard)
  end
end

kinds.deposit_network, kinds.withdrawal_network = network(true), network(false)

function kinds.coin(value, record, is_live)
  local entry = is_live and record.netWork and coins.by_name[value]
  return encode(entry and entry.networks[2] and value .. "-" .. record.netWork or value)
end

function kinds.output(value, _, is_live)
  return encode(is_live and not value:find ":%d+$" and value .. ":0" or value)
end

-- The live service joins the memo to the address of A8 and A9, and leaves the member `memo` empty.
local function joins_memo(record, is_live) return is_live and record.memo and record.memo ~= "" end

function kinds.address(value, record, is_live)
  return encode(joins_memo(record, is_live) and value .. ":" .. record.memo or value)
end

function kinds.memo_beside(value, record, is_live) return encode(joins_memo(record, is_live) and "" or value) end

local write_records -- a record may hold records

-- Writes the value of a member; nil where the document leaves it out.
local function write_value(member, record, is_live)
  local value = record[member.canonical]
  if value == nil and member.kind == "always" and not is_live then return '""' end
  if value == nil then return (member.nullable or is_live and member.kind ~= "records") and "null" or nil end
  if record.spelled and record.spelled[member.canonical] then return encode(value) end
  if member.kind == "records" then return write_records(member.members, value, is_live) end
  if member.kind ~= "texts" then return kinds[member.kind](value, record, is_live) end
  local items = {}
  for i, text in ipairs(value) do items[i] = encode(text) end
  return write_array(items)
end

local function write_members(members, record, is_live, parts)
  for _, member in ipairs(members) do
    local json = write_value(member, record, is_live)
    local name = is_live and member.name == "convertPlatformToken" and "convertMx" or member.name
    if json then parts[#parts + 1] = write_member(name, json) end
  end
end

local function write_record(members, record, is_live)
  local parts = {}
  write_members(members, record, is_live, parts)
  if is_live then
    write_members(members.seen or {}, record, is_live, parts)
    for _, extra in ipairs(extras) do parts[#parts + 1] = write_member(extra[1], extra[2]) end
  end
  return write_object(parts)
end

function write_records(members, list, is_live)
  local items = {}
  for i, record in ipairs(list) do items[i] = write_record(members, record, is_live) end
  return write_array(items)
end

local function write_list(form, list, is_live)
  local json = write_records(form.list, list, is_live)
  if form.inside then return write_object { write_member(form.inside, json) } end
  if form.counted and is_live then
    return write_object { write_member("result", json), write_member("totalCount", digits(#list)) }
  end
  return json
end

local function write_page(form, page, is_live)
  local parts = {}
  for i, name in ipairs(form.order) do
    parts[i] = write_member(name, name == "data" and write_records(form.page, page.data, is_live)
      or digits(page[name]))
  end
  return write_object(parts)
end

local function write_answer(form, result, is_live)
  local json
  if form.list then
    json = write_list(form, result, is_live)
  elseif form.page then
    json = write_page(form, result, is_live)
  elseif form.record then
    json = write_record(form.record, result, is_live)
    if form.single == "array" and not is_live then json = write_array { json } end
  else
    json = write_object { write_member("rows", write_records(form.rows, result.rows, is_live)),
      write_member("total", digits(result.total)) }
    if not is_live then json = write_array { json } end
  end
  if not form.envelope then return json end
  return write_object { write_member("code", '"0"'), write_member("message", '""'), write_member("data", json) }
end

-- The live list of coins, long and constant -> JSON text.
local long_texts = setmetatable({}, { __mode = "k" })

--- Returns the JSON text that answers operation `row` with the canonical `result`.
---@param row table a row of purser.operations
---@param result table
---@param is_live boolean|nil
---@return string
function M.answer(row, result, is_live)
  if row.id ~= "C1" or not is_live then return write_answer(response_formats[row.id], result, is_live) end
  long_texts[result] = long_texts[result] or write_answer(response_formats.C1, result, is_live)
  return long_texts[result]
end

-- Code of the interface -> operation -> the code that was seen instead.
local codes_seen = { ["140001"] = { B8 = "700004", B3 = "730002", B4 = "730002" } }

--- Returns the code that a rejection has.
function M.code(code, is_live, row)
  return is_live and codes_seen[code] and codes_seen[code][row.id] or code
end

--- Returns a rejection: the HTTP status and the JSON text. `row` is nil when the path is unknown.
---@param code string|integer
---@param message string|nil that of the code when nil
---@param is_live boolean|nil
---@param row table|nil
---@return integer http_status, string json
function M.rejection(code, message, is_live, row)
  local text = digits(code)
  local known, is_number = codes.get(text), text == "0" or text:find "^-?[1-9]%d*$"
  local ok = is_live and row and (row.group == "sub_account" or row.id == "A2")
  return ok and 200 or 400, write_object {
    write_member("code", is_number and not is_live and text or encode(text)),
    write_member("msg", encode(message or known and known.meaning or "Request failed")),
  }
end

local LEAF = "LEAF"

local function sample_record(members)
  local record = {}
  for _, member in ipairs(members) do
    record[member.canonical] = member.kind == "records" and { sample_record(member.members) }
      or member.kind == "texts" and { LEAF } or LEAF
  end
  return record
end

--- Returns an answer of the right form for garbage, with `leaf`, any JSON text, in place of each text and number.
---@return string
function M.sample(row, leaf)
  local form = response_formats[row.id]
  local result
  if form.record then result = sample_record(form.record)
  elseif form.list then result = { sample_record(form.list) }
  elseif form.page then result = { data = { sample_record(form.page) }, page = 1, totalRecords = 1, totalPageNum = 1 }
  else result = { rows = { sample_record(form.rows) }, total = 1 }
  end
  return (write_answer(form, result, false):gsub('"?' .. LEAF .. '"?', { [LEAF] = leaf, ['"LEAF"'] = leaf }))
end

return M
