-- SPDX-License-Identifier: MIT
-- Records of the service as rows of the books: the same columns for each kind, an id that is the same in every run, and
-- a class for each state.

local decimal = require "purser.decimal"
local digest = require "purser.util.digest"
local json = require "purser.json"
local schema = require "purser.books.schema"
local states = require "purser.api.states"
local suggest = require "purser.util.suggest"
local utc = require "purser.util.utc"

local M = {}

--- A time as the tables keep it.
function M.time_text(ms) return ("%013d"):format(ms) end

-- The value of a record as JSON with its members in order, so that equal records have equal texts.
local function sorted(value)
  if type(value) ~= "table" or value == json.null then return value end
  if value[1] ~= nil then
    local list = {}
    for i, item in ipairs(value) do list[i] = sorted(item) end
    return json.list(list)
  end
  local members = {}
  for i, name in ipairs(suggest.names_of(value)) do members[i] = { name, sorted(value[name]) } end
  return json.object(members)
end

local unpack = table.unpack or unpack -- luacheck: ignore

local templates = {} -- how the last record of each kind was written: many are alike

-- Returns how a record of texts and whole numbers is written: its names in order, their types, and a format.
local function template_of(value)
  local names, types, form = {}, {}, {}
  for name in pairs(value) do
    if type(name) ~= "string" then return nil end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    types[i] = type(value[name])
    form[i] = (json.encode(name) .. ":"):gsub("%%", "%%%%") .. (types[i] == "number" and "%d" or '"%s"')
  end
  return { names = names, types = types, form = "{" .. table.concat(form, ",") .. "}" }
end

-- Writes a record as the template says; nil where it is not of that form, or a text needs more than quotes.
local function fill(template, value)
  local names, types, members, count = template.names, template.types, {}, 0
  for _ in pairs(value) do count = count + 1 end
  if count ~= #names then return nil end
  for i = 1, count do
    local member = value[names[i]]
    local is = type(member)
    if is ~= types[i] or is ~= "string" and (is ~= "number" or member % 1 ~= 0) then return nil end
    members[i] = member
  end
  if table.concat(members):find '[%c"\\\127-\255]' then return nil end
  return template.form:format(unpack(members))
end

--- The JSON of any plain value, the same for equal values. Values of one `kind` are mostly alike.
function M.json(value, kind)
  if not kind then return json.encode(sorted(value)) end
  local text = templates[kind] and fill(templates[kind], value)
  if text then return text end
  templates[kind] = template_of(value)
  return templates[kind] and fill(templates[kind], value) or json.encode(sorted(value))
end

-- An amount without zeros at its end, also where it came with an exponent; "" for what is no number.
function M.amount(value)
  local text = tostring(value == nil and "" or value)
  local digits, sign, power = text:match "^(-?[%d.]+)[eE]([+-]?)(%d%d?)$"
  local amount = decimal(digits or text)
  if amount and digits then
    local tens = decimal("1" .. ("0"):rep(tonumber(power)))
    amount = sign == "-" and amount:div(tens, 100) or amount * tens
  end
  return amount and tostring(amount) or ""
end

-- Neither database keeps a zero byte.
local function text_of(value) return value == nil and "" or (tostring(value):gsub("%z", "\\0")) end

local function time_of(value)
  if type(value) == "number" then return M.time_text(value) end
  local text = text_of(value)
  if text:find "^%d+$" and #text == 13 then return text end
  local ms = utc.ms(text:sub(1, 10))
  return ms and M.time_text(ms) or ""
end

-- The number of a state as text, whichever way it is shown.
local function state_of(kind, status)
  local number = status ~= nil and states.number(kind, status)
  return number and ("%d"):format(number) or text_of(status)
end

-- An address, and its memo where it stands behind it.
local function address_of(record)
  local address, memo = text_of(record.address), text_of(record.memo)
  if memo == "" then memo = text_of(record.addressTag) end
  if memo ~= "" and address:sub(-#memo - 1) == ":" .. memo then return address:sub(1, -#memo - 2), memo end
  local front, behind = address:match "^([^:]+):([^:]+)$"
  if memo == "" and front then return front, behind end
  return address, memo
end

-- A column that a record says nothing of is empty.
local blank = {}
for _, name in ipairs(schema.columns) do blank[name] = "" end
local BLANK = { __index = blank }

local function join(...) return table.concat({ ... }, "\30") end

-- Each shape returns a list of rows, with `identity`: the id with what no state changes, or that alone.
-- context: owner, asset (names a coin), from and to (owners), of a transfer.
local shapes = {}

function shapes.deposit(record, context)
  local address, memo = address_of(record)
  local row = { time = time_of(record.insertTime), updated = record.updateTime and time_of(record.updateTime),
    state = state_of("deposit", record.status), asset = context.asset(record.coin), amount = M.amount(record.amount),
    network = text_of(record.network), address = address, memo = memo, tx = text_of(record.txId),
    to_owner = context.owner, to_place = "Spot" }
  row.identity = join(row.time, row.asset, row.amount, row.network, address .. ":" .. memo, row.tx)
  return { row }
end

function shapes.withdrawal(record, context)
  local address, memo = address_of(record)
  local tx = record.transHash
  if text_of(tx) == "" then tx = record.txId end
  local fee = M.amount(record.transactionFee)
  local row = { sid = text_of(record.id), time = time_of(record.applyTime),
    updated = record.updateTime and time_of(record.updateTime), state = state_of("withdrawal", record.status),
    asset = context.asset(record.coin), amount = M.amount(record.amount), fee = fee, network = text_of(record.network),
    address = address, memo = memo, tx = text_of(tx), client_id = text_of(record.withdrawOrderId),
    from_owner = context.owner, from_place = "Spot" }
  row.fee_asset = row.asset
  row.identity = join(row.sid, row.time, row.asset, row.amount, address)
  return { row }
end

local places = { SPOT = "Spot", FUTURES = "Futures" }

function shapes.transfer(record, context)
  local row = { sid = text_of(record.tranId), time = time_of(record.timestamp), state = text_of(record.status):upper(),
    asset = text_of(record.asset), amount = M.amount(record.amount), client_id = text_of(record.clientTranId),
    from_owner = context.from, from_place = places[record.fromAccountType] or text_of(record.fromAccountType),
    to_owner = context.to, to_place = places[record.toAccountType] or text_of(record.toAccountType) }
  row.identity = join(row.sid, row.time, row.asset, row.amount, row.from_owner, row.from_place, row.to_owner,
    row.to_place)
  return { row }
end

function shapes.internal_transfer(record, context)
  local row = { sid = text_of(record.tranId), time = time_of(record.timestamp), state = text_of(record.status):upper(),
    asset = text_of(record.asset), amount = M.amount(record.amount), address = text_of(record.toAccount),
    from_owner = context.is_own(record.fromAccount), from_place = "Spot",
    to_owner = context.is_own(record.toAccount), to_place = "Spot" }
  row.identity = join(row.sid, row.time, row.asset, row.amount, text_of(record.fromAccount), row.address)
  return { row }
end

-- The platform's token, which no conversion names.
local TOKEN = "MX"

-- A batch as a row for each coin. `convert` is before or after the fee, which the total shows.
function shapes.conversion(record)
  local rows, sum = {}, decimal(0)
  local details = record.convertDetails or {}
  for _, detail in ipairs(details) do sum = sum + (decimal(M.amount(detail.convert)) or 0) end
  local is_net = M.amount(record.totalConvert) == tostring(sum)
  for i, detail in ipairs(details) do
    local got, fee = decimal(M.amount(detail.convert)), decimal(M.amount(detail.fee)) or decimal(0)
    if got and not is_net then got = got - fee end
    rows[i] = { sid = text_of(detail.id), time = time_of(detail.time or record.convertTime), state = "SUCCESS",
      asset = text_of(detail.asset), amount = got and M.amount(detail.amount) or "", fee = tostring(fee),
      fee_asset = TOKEN, got = got and tostring(got) or "", got_asset = TOKEN,
      batch = time_of(record.convertTime) .. " " .. M.amount(record.totalConvert) }
    rows[i].identity = join(rows[i].sid, rows[i].time, rows[i].asset, rows[i].amount)
  end
  return rows
end

function shapes.rebate(record)
  local row = { time = time_of(record.time), state = "SUCCESS", asset = text_of(record.asset),
    amount = M.amount(record.amount), client_id = text_of(record.uid), batch = text_of(record.type) }
  row.identity = join(row.time, row.client_id, row.asset, row.batch)
  return { row }
end

function shapes.sub_account(record)
  local name = text_of(record.subAccount)
  return { { sid = name, time = time_of(record.createTime or record.timestamp), state = tostring(record.isFreeze or ""),
    client_id = text_of(record.uid), address = text_of(record.note), identity = name } }
end

function shapes.api_key(record, context)
  return { { sid = text_of(record.apiKey), time = time_of(record.createTime), state = text_of(record.permissions),
    address = text_of(record.note), network = text_of(record.ip), to_owner = context.to,
    identity = text_of(record.apiKey) } }
end

local class_of_deposit = { ["5"] = "done", ["7"] = "void", ["8"] = "void", ["9"] = "early", ["10"] = "void",
  ["12"] = "void" }
local class_of_withdrawal = { ["6"] = "sent", ["7"] = "done", ["8"] = "void", ["9"] = "void" }
local class_of_transfer = { SUCCESS = "done", FAILED = "void" }

--- The class of a row's state.
function M.class(row)
  local entity = row.entity
  if entity == "sub_account" or entity == "api_key" then return "done" end
  if row.amount == "" or row.time == "" then return "unreadable" end
  if entity == "deposit" then return class_of_deposit[row.state] or "pending" end
  if entity == "withdrawal" then return class_of_withdrawal[row.state] or "pending" end
  return class_of_transfer[row.state] or "pending"
end

--- Tells whether nothing is expected to come after a class.
function M.is_final(class) return class == "done" or class == "void" end

-- A state changes this of a record: equal records are told apart by nothing else.
local CHANGING = { "state", "tx", "fee", "amount", "network", "address" }

--- The text of what may change about a row.
function M.signature(row)
  local parts = {}
  for i, name in ipairs(CHANGING) do parts[i] = row[name] end
  return table.concat(parts, "\30")
end

--- The id of a record: its account, its kind, its key, and which of several equal ones it is.
function M.rid(row, twin)
  local text = row.account .. "\30" .. row.entity .. "\30" .. row.identity
  return digest.of(twin == 1 and text or text .. "\30" .. ("%d"):format(twin))
end

--- The rows of one record of the service, without id, revision and class.
---@param entity string
---@param record table
---@param context table
function M.rows(entity, record, context)
  local rows = shapes[entity](record, context)
  for _, row in ipairs(rows) do
    row.account, row.owner, row.entity, row.source = context.account, context.owner, entity, context.source
    row.raw = M.json(record, entity)
    if row.from_owner and row.from_owner ~= "" then row.owner = row.from_owner end
    row.class = M.class(setmetatable(row, BLANK))
  end
  return rows
end

return M
