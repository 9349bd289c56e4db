-- SPDX-License-Identifier: MIT
-- Credits a deposit, takes it back, or asks a person, by its state.

local decimal = require "purser.decimal"
local json = require "purser.json"
local stores = require "purser.desk.receive.store"

local M = {}

local HOUR = 3600000

local WITH_MEMO = [[SELECT d.dp AS dp FROM purser_receive_trace AS t JOIN purser_receive_deposit AS d ON d.dp = t.dp
  WHERE t.mark = $1 AND d.memo <> '' LIMIT 1]]

-- Returns the customer of a deposit; or nil and why a person is asked. Within an hour of a hand-over no time is proof.
local function customer_of(book, row)
  local owner
  for _, one in ipairs(book:rows("SELECT * FROM purser_receive_customer WHERE at = $1 AND memo = $2", row.at,
    row.memo)) do
    local from, to = tonumber(one.starts) or 0, tonumber(one.ends) or math.huge
    if math.abs(row.time - from) < HOUR or math.abs(row.time - to) < HOUR then return nil, "edge" end
    if row.time >= from and row.time < to then owner = one end
  end
  if not owner then return nil, "who" end
  if owner.coins ~= "" and not (" " .. owner.coins .. " "):find(" " .. row.coin .. " ", 1, true) then
    return nil, "coin"
  end
  if row.memo == "" and book:rows(WITH_MEMO, "@" .. row.at)[1] then return nil, "memo" end -- one was shown before
  if owner.least ~= "" and decimal(row.amount):compare(owner.least) < 0 then return nil, "least" end
  return owner.customer
end

--- Returns an event as JSON for receivers, and its id.
---@return string body, string id
function M.event(row, kind)
  local id = row.dp .. "/" .. kind
  return json.encode(json.object { { "id", id }, { "kind", kind }, { "deposit", row.dp },
    { "customer", row.customer }, { "coin", row.paid_coin }, { "network", row.network }, { "amount", row.paid_amount },
    { "address", row.address }, { "memo", row.memo }, { "tx", row.tx }, { "time", row.time } }), id
end

-- Puts an event into the outbox, in the transaction of the deposit.
local function emit(book, row, kind, now)
  local body, id = M.event(row, kind)
  book.outbox:emit(book, { id = id, kind = kind, subject = row.dp, seq = book:next(), at = stores.time_text(now),
    body = body, raw = row.raw })
  if book.events then book.events[#book.events + 1] = { id = id, kind = kind, body = body, row = row } end
end

local function ask(book, row, why, now)
  book:change(row, { ask = why, asked = stores.time_text(now) })
  if book.asked then book.asked[#book.asked + 1] = row end
end

local function credit(book, row, customer, now)
  book:change(row, { credited = true, customer = customer, paid_coin = row.coin, paid_amount = row.amount, ask = "" })
  emit(book, row, "credit", now)
end

-- Judges a credited deposit: one refusal may be a late answer, two in a row take the credit back.
local function judge_credited(book, row, kind, now)
  if kind == "refused" then
    if row.reversed then return end
    if not row.back then return book:change(row, { back = true }) end
    book:change(row, { reversed = true })
    if row.old then ask(book, row, "old", now) else emit(book, row, "reversed", now) end
  elseif kind == "ask" then
    if not row.reversed and not row.odd then
      book:change(row, { odd = true })
      ask(book, row, "state", now)
    end
  elseif kind == "credit" and row.reversed then
    if not row.again then
      book:change(row, { again = true })
      ask(book, row, "again", now)
    end
  elseif row.back and not row.reversed then
    book:change(row, { back = false })
  end
end

--- Returns the deposit that a row is by the words of persons: the row itself, or the end of its `same`.
function M.root(book, row)
  while row.same ~= "" do row = book:deposit(row.same) end
  return row
end

--- Acts on what the service shows of a deposit now.
---@param shown table   the row that is shown
---@param kind string   the meaning of its state: pending, credit, refused or ask
---@param now integer
function M.judge(book, shown, kind, now)
  local row = M.root(book, shown)
  if row.credited then return judge_credited(book, row, kind, now) end
  if row.closed then return end
  if kind == "refused" then -- a held deposit, or a deposit of lost commits, may be credited and taken back
    if row.held or row.before then
      if row.ask == "" then ask(book, row, row.held and "doubt" or "before", now) end
    elseif row.ask ~= "" then
      book:change(row, { ask = "" })
    end
  elseif row.ask ~= "" then return
  elseif kind == "ask" then
    ask(book, row, "state", now)
  elseif kind == "credit" then
    -- the address and the memo stay the deposit's own: the successful record may hide its memo
    book:change(row, { coin = shown.coin, network = shown.network, tx = shown.tx, amount = shown.amount,
      state = shown.state, raw = shown.raw })
    if row.held or row.before then return ask(book, row, row.held and "doubt" or "before", now) end
    local customer, why = customer_of(book, row)
    if customer then credit(book, row, customer, now) else ask(book, row, why, now) end
  end
end

--- Ends a line of a person's list. Returns true; or nil and a message.
---@param dp string
---@param verb string     give, same, refuse or seen
---@param with string|nil  a customer, or a deposit
---@param by string        who says so
---@param now integer
function M.settle(book, dp, verb, with, by, now)
  local row = book:deposit(dp)
  with = with or ""
  if not row then return nil, ("there is no deposit %s"):format(dp) end
  if row.ask == "" then return nil, ("nobody is asked about %s"):format(dp) end
  if verb == "give" then
    if row.credited then return nil, ("%s is credited to %s; say seen"):format(dp, row.customer) end
    local amount = decimal(row.amount)
    if not amount or amount:sign() < 1 then
      return nil, ("the amount %q of %s is none to credit; say refuse"):format(row.amount, dp)
    end
    if not book:rows("SELECT customer FROM purser_receive_customer WHERE customer = $1", with)[1] then
      return nil, ("there is no customer %s"):format(with)
    end
    book:change(row, { by = by, held = false, odd = row.odd or row.ask == "state" }) -- the person saw the state
    credit(book, row, with, now)
  elseif verb == "same" then
    local other = book:deposit(with)
    local root = other and M.root(book, other)
    if not root or root == row then return nil, ("there is no other deposit %s"):format(with) end
    if row.credited then return nil, ("%s is credited; say seen"):format(dp) end
    book:change(row, { ask = "", closed = true, held = false, by = by, same = root.dp })
    if root.rival == "" then book:change(root, { held = false }) end -- this record alone made it doubtful
  elseif row.credited == (verb == "seen") then
    book:change(row, { ask = "", closed = true, held = false, by = by })
  else
    return nil, row.credited and ("%s is credited already; say seen"):format(dp) or ("%s is not credited; say give, "
      .. "same or refuse"):format(dp)
  end
  return true
end

return M
