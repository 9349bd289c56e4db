-- SPDX-License-Identifier: MIT
-- Records of the service as rows of the books: the same columns for each kind, an id that never changes, and a class
-- for each state.

local core = require "purser.core"
local decimal = require "purser.decimal"
local digest = require "purser.client.util.digest"
local json = require "purser.json"
local names_of = require "purser.client.util.names_of"
local purser_address = require "purser.address"
local schema = require "purser.desk.books.schema"
local states = require "purser.client.operations.states"
local utc = require "purser.client.util.utc"

local M = {}

--- Returns a time as the tables keep it.
function M.time_text(ms) return ("%013d"):format(ms) end

-- Copies a value, with empty tables as objects.
local function marked(value)
  if type(value) ~= "table" or value == json.null then return value end
  local copy = {}
  for name, member in pairs(value) do copy[name] = marked(member) end
  return next(copy) == nil and json.object {} or copy
end

local layouts = {} -- by kind: the names of all members that its values had so far, and what writes them in order

-- Returns the JSON of a flat value; nil for any other, and for names that no layout takes.
local function flat(value, kind)
  local known = layouts[kind] or { names = {} }
  local names = known.names
  for name in next, value do
    if not names[name] then names[name], known.write = true, nil end
  end
  if not known.write then
    local went, layout = pcall(core.layout, {}, names_of(names), "object")
    layouts[kind] = went and known or nil
    if not went then return nil end
    known.layout, known.write = layout, layout.body
  end
  local went, text = pcall(known.write, known.layout, value)
  return went and text or nil
end

--- Returns the JSON of a value, the same for equal values. Values of one `kind` mostly have the same members.
function M.json(value, kind)
  return kind and flat(value, kind) or json.encode(marked(value))
end

-- Returns an amount without exponent and zeros at the end; "" for no number.
function M.amount(value)
  local text = tostring(value == nil and "" or value)
  if #text < 100 and (text:find "^[1-9]%d*$" or text:find "^%d%.%d*[1-9]$" or text:find "^[1-9]%d*%.%d*[1-9]$") then
    return text -- as it is kept
  end
  local amount = decimal.shown(text)
  return amount and tostring(amount) or ""
end

-- The members that are amounts. A fee may be missing.
local AMOUNTS = { { "amount" }, { "transactionFee", true }, { "convert" }, { "fee", true } }

-- Returns a text of the first member that is shown and is no amount; nil for none.
local function odd_of(record)
  for _, member in ipairs(AMOUNTS) do
    local value = record[member[1]]
    if value ~= nil and not (value == "" and member[2]) and M.amount(value) == "" then
      return ("%s: %s"):format(member[1], (select(2, decimal.shown(value))))
    end
  end
end

--- Returns why a record cannot be read, by its row and what the service showed.
function M.why_unreadable(row, shown)
  local odd = odd_of(shown)
  for _, part in ipairs(shown.convertDetails or {}) do odd = odd or odd_of(part) end
  return "it cannot be read: " .. (odd or row.time == "" and "no time is shown" or "no amount is shown")
end

local function text_of(value) return value == nil and "" or tostring(value) end

-- Copies a record without zero bytes, which no database keeps.
local function without_zeros(value)
  if type(value) == "string" then return (value:gsub("%z", "\\0")) end
  if type(value) ~= "table" then return value end
  local copy = {}
  for name, member in pairs(value) do copy[name] = without_zeros(member) end
  return copy
end

-- Returns a time as the tables keep it, "" for none. Records have epoch milliseconds, a date and time, or a day (also
-- yyyymmdd).
local function time_of(value)
  if type(value) == "number" then return M.time_text(value) end
  local text = text_of(value)
  if text:find "^%d+$" and #text == 13 then return text end
  local ms = utc.ms((text:gsub("^(%d%d%d%d)(%d%d)(%d%d)$", "%1-%2-%3"):sub(1, 10)))
  return ms and M.time_text(ms) or ""
end

local function state_of(kind, status)
  local number = status ~= nil and states.number(kind, status)
  return number and ("%d"):format(number) or text_of(status)
end

-- Returns an address and its memo, which may stand behind the address.
local function address_of(record)
  local address, memo = text_of(record.address), text_of(record.memo)
  if memo == "" then memo = text_of(record.addressTag) end
  if memo ~= "" and address:sub(-#memo - 1) == ":" .. memo then return address:sub(1, -#memo - 2), memo end
  local front, behind = purser_address.apart(address)
  if memo == "" and front then return front, behind end
  return address, memo
end

local blank = {}
for _, name in ipairs(schema.columns) do blank[name] = "" end
local BLANK = { __index = blank }

-- The identity of records without an id: members that no state changes. The time is that of the list's span.
local contents = { deposit = "time asset amount", withdrawal = "time asset amount address",
  transfer = "time asset amount from_owner from_place to_owner to_place", rebate = "time client_id asset batch",
  internal_transfer = "time asset amount batch address", conversion = "time asset amount",
  address = "from_owner to_owner asset network address memo", status = "to_owner" }
-- The identity of records with an id, beside the id. Each side lists a transfer; parts of a conversion may share an id.
local ids = { transfer = "sid from_owner from_place to_owner to_place", conversion = "sid asset" }
local ID = { "sid" }
for _, identities in ipairs { contents, ids } do
  for entity, names in pairs(identities) do
    identities[entity] = {}
    for name in names:gmatch "%S+" do table.insert(identities[entity], name) end
  end
end

--- Returns a row's transaction in one spelling, without the number of an output; nil for none.
function M.tx_of(row)
  local tx = row.tx:lower():gsub("^0x", ""):gsub(":%d+$", "")
  return tx ~= "" and tx or nil
end

-- Returns a deposit's place in one spelling.
local function place_of(row) return purser_address.payee(row.address, row.memo) end

--- Returns two texts of likeness for a deposit: with its transaction (or nil), and without.
function M.likeness(row)
  local tx, place = M.tx_of(row), row.asset .. "\30" .. place_of(row) .. "\30"
  return tx and place .. tx, place .. row.time .. "\30" .. row.amount
end

-- Each shape makes a row of a record, or of a part of a conversion. context: owner, asset (names a coin), is_own (names
-- an owner), from and to (owners).
local shapes = {}

function shapes.deposit(record, context)
  local address, memo = address_of(record)
  return { time = time_of(record.insertTime), updated = record.updateTime and time_of(record.updateTime),
    state = state_of("deposit", record.status), asset = context.asset(record.coin), amount = M.amount(record.amount),
    network = text_of(record.network), address = address, memo = memo, tx = text_of(record.txId),
    to_owner = context.owner, to_place = "Spot" }
end

function shapes.withdrawal(record, context)
  local address, memo = address_of(record)
  local asset, tx = context.asset(record.coin), text_of(record.transHash)
  return { sid = text_of(record.id), time = time_of(record.applyTime),
    updated = record.updateTime and time_of(record.updateTime), state = state_of("withdrawal", record.status),
    asset = asset, amount = M.amount(record.amount), fee = M.amount(record.transactionFee), fee_asset = asset,
    network = text_of(record.network), address = address, memo = memo, tx = tx ~= "" and tx or text_of(record.txId),
    client_id = text_of(record.withdrawOrderId), from_owner = context.owner, from_place = "Spot" }
end

local places = { SPOT = "Spot", FUTURES = "Futures" }

function shapes.transfer(record, context)
  return { sid = text_of(record.tranId), time = time_of(record.timestamp), state = text_of(record.status):upper(),
    asset = text_of(record.asset), amount = M.amount(record.amount), client_id = text_of(record.clientTranId),
    from_owner = context.from, from_place = places[record.fromAccountType] or text_of(record.fromAccountType),
    to_owner = context.to, to_place = places[record.toAccountType] or text_of(record.toAccountType) }
end

-- batch and address: the service's payer and payee.
function shapes.internal_transfer(record, context)
  return { sid = text_of(record.tranId), time = time_of(record.timestamp), state = text_of(record.status):upper(),
    asset = text_of(record.asset), amount = M.amount(record.amount), batch = text_of(record.fromAccount),
    address = text_of(record.toAccount), from_owner = context.is_own(record.fromAccount), from_place = "Spot",
    to_owner = context.is_own(record.toAccount), to_place = "Spot" }
end

-- The platform's token; conversions do not name the token.
local TOKEN = "MX"

-- The total shows whether `convert` is before or after the fee.
function shapes.conversion(record, _, part)
  local sum = decimal(0)
  for _, one in ipairs(record.convertDetails) do sum = sum + (decimal(M.amount(one.convert)) or 0) end
  local got, fee = decimal(M.amount(part.convert)), decimal(M.amount(part.fee)) or decimal(0)
  if got and M.amount(record.totalConvert) ~= tostring(sum) then got = got - fee end
  return { sid = text_of(part.id), time = time_of(record.convertTime), state = "SUCCESS", asset = text_of(part.asset),
    amount = got and M.amount(part.amount) or "", fee = tostring(fee), fee_asset = TOKEN,
    got = got and tostring(got) or "", got_asset = TOKEN, batch = M.amount(record.totalConvert) }
end

function shapes.rebate(record)
  return { time = time_of(record.time), state = "SUCCESS", asset = text_of(record.asset),
    amount = M.amount(record.amount), client_id = text_of(record.uid), batch = text_of(record.type) }
end

function shapes.sub_account(record)
  return { sid = text_of(record.subAccount), time = time_of(record.createTime or record.timestamp),
    state = text_of(record.isFreeze), client_id = text_of(record.uid), address = text_of(record.note) }
end

function shapes.api_key(record, context)
  return { sid = text_of(record.apiKey), time = time_of(record.createTime), state = text_of(record.permissions),
    address = text_of(record.note), network = text_of(record.ip), to_owner = context.to }
end

function shapes.address(record, context)
  local address, memo = address_of(record)
  return { asset = context.asset(record.coin), network = text_of(record.network), address = address, memo = memo,
    from_owner = context.from, to_owner = context.to }
end

function shapes.status(record, context) return { state = text_of(record.status), to_owner = context.to } end

-- A call is an entry of the journal; batch is the operation.
function shapes.call(entry, context)
  local intent = entry.intent
  local params = intent.params
  return { sid = text_of(intent.id), time = time_of(intent.sent_at), state = entry.state, batch = intent.operation,
    asset = text_of(params.asset or params.coin), amount = M.amount(params.amount),
    address = text_of(params.address or params.toAccount), memo = text_of(params.memo),
    client_id = text_of(params.withdrawOrderId or params.clientTranId), from_owner = context.is_own(intent.account) }
end

-- Kinds that show a state of now, and no payment.
local of_states = { sub_account = true, api_key = true, address = true, status = true, call = true }

local classes = {
  deposit = { ["9"] = "early" }, -- and what a state means for who credits it
  withdrawal = { ["6"] = "sent", ["7"] = "done", ["8"] = "void", ["9"] = "void" },
  other = { SUCCESS = "done", FAILED = "void" } }
local for_credit = { credit = "done", refused = "void" }

--- Tells whether records of a kind are payments.
function M.is_payment(entity) return not of_states[entity] end

--- Returns the class of a row's state.
function M.class(row)
  local entity = row.entity
  if of_states[entity] then return "done" end
  if row.amount == "" or row.time == "" then return "unreadable" end
  return (classes[entity] or classes.other)[row.state]
    or entity == "deposit" and for_credit[states.credit(row.state)] or "pending"
end

--- Tells whether a class is the last one.
function M.is_final(class) return class == "done" or class == "void" end

-- Columns that a change of state changes. Nothing else distinguishes equal records.
local CHANGING = { "state", "tx", "fee", "amount", "network", "address", "asset", "memo", "got" }

local parts = {} -- of one text at a time

local function join(row, names)
  for i = 1, #names do parts[i] = row[names[i]] end
  return table.concat(parts, "\30", 1, #names)
end

--- Returns the changing columns as a text.
function M.signature(row) return join(row, CHANGING) end

--- Returns the id of a record by account, kind, identity, and its number among equal records.
function M.rid(row, twin)
  local text = row.account .. "\30" .. row.entity .. "\30" .. row.identity
  return digest.of(twin == 1 and text or text .. "\30" .. ("%d"):format(twin))
end

--- Adds the rows of one record of the service to a list, without id, revision and class.
function M.add(list, entity, record, context)
  local raw = M.json(record, entity)
  if raw:find("\\u0000", 1, true) then record = without_zeros(record) end
  local details = record.convertDetails
  for i = 1, details and #details or entity ~= "conversion" and 1 or 0 do
    local part = details and details[i] or record
    local row = shapes[entity](record, context, part)
    row.account, row.owner, row.entity, row.source = context.account, context.owner, entity, context.source
    row.raw = raw
    setmetatable(row, BLANK)
    if row.from_owner ~= "" then row.owner = row.from_owner end
    row.class = M.is_payment(entity) and odd_of(part) and "unreadable" or M.class(row)
    row.identity = join(row, row.sid == "" and contents[entity] or row.sid ~= "" and ids[entity] or ID)
      .. (entity == "deposit" and "\30" .. place_of(row) .. "\30" .. (M.tx_of(row) or "") or "")
    list[#list + 1] = row
  end
end

return M
