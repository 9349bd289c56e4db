-- SPDX-License-Identifier: MIT
-- Credits a deposit, reverses a credit, or asks a person, by the deposit's state and the service's record.
--
--   pending     not credited yet: a success credits the deposit, or asks a person in doubt (`held`, `before`)
--   asked       not credited: waits for a person to say give, same or refuse
--   credited    credited to the customer: one event `credit`
--   reversing   credited, and one reading showed a refusal, perhaps by a late answer
--   reversed    the credit was reversed: one event `reversed`
--   old         successful before the begin: no event; a reversal asks a person
--   refused     a person decided that no customer is credited
--   same        a person named another deposit as the same

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

-- A record shows pending, credit, refused or ask. A step has the next state, and the event that is told or the reason
-- for which a person is asked; without a step nothing changes. A deposit in doubt may be credited already.
local STEPS = {
  pending = { credit = { "credited", event = "credit" }, ask = { "asked", ask = "state" } },
  ["pending in doubt"] = { credit = { "asked", ask = "doubt" }, refused = { "asked", ask = "doubt" },
    ask = { "asked", ask = "state" } },
  asked = { refused = { "pending" } },
  ["asked in doubt"] = {},
  credited = { refused = { "reversing" }, ask = { "credited", ask = "state" } },
  reversing = { pending = { "credited" }, credit = { "credited" }, refused = { "reversed", event = "reversed" },
    ask = { "reversing", ask = "state" } },
  reversed = { credit = { "reversed", ask = "again" } },
  old = { refused = { "old reversing" }, ask = { "old", ask = "state" } },
  ["old reversing"] = { pending = { "old" }, credit = { "old" }, refused = { "old reversed", ask = "old" },
    ask = { "old reversing", ask = "state" } },
  ["old reversed"] = { credit = { "old reversed", ask = "again" } },
  refused = {},
  same = {},
}

local is_open = { pending = true, asked = true }

--- Tells if a deposit is not ended: neither credited, nor ended by a person.
function M.is_open(row) return is_open[row.state] == true end

--- Tells if a deposit was credited, here or before the begin.
function M.is_credited(row) return not (is_open[row.state] or row.state == "refused" or row.state == "same") end

local function ask(book, row, why, now)
  book:change(row, { ask = why, asked = stores.time_text(now) })
  if book.asked then book.asked[#book.asked + 1] = row end
end

local function credit(book, row, customer, now)
  book:change(row, { state = "credited", customer = customer, paid_coin = row.coin, paid_amount = row.amount,
    asked = "" })
  emit(book, row, "credit", now)
end

--- Returns the deposit that a row is by the words of persons: the row itself, or the end of its `same`.
function M.resolve(book, row)
  while row.state == "same" do row = book:deposit(row.same) end
  return row
end

-- Replaces what a credit carries by the record. Address and memo stay the deposit's own: the successful record may hide
-- its memo.
local function carry(book, row, shown)
  book:change(row, { coin = shown.coin, network = shown.network, tx = shown.tx, amount = shown.amount,
    status = shown.status, raw = shown.raw })
end

--- Acts on what the service shows of a deposit now.
---@param shown table   the row that is shown
---@param kind string   the meaning of its status: pending, credit, refused or ask
---@param now integer
function M.judge(book, shown, kind, now)
  local row = M.resolve(book, shown)
  local is_in_doubt = M.is_open(row) and (row.held or row.before)
  local step = STEPS[row.state .. (is_in_doubt and " in doubt" or "")][kind]
  if not step then return end
  local was, why = row.state, step.ask
  if was == "pending" and kind == "credit" then carry(book, row, shown) end
  if why == "doubt" and not row.held then why = "before" end
  if step.event == "credit" then
    local customer
    customer, why = customer_of(book, row)
    if customer then return credit(book, row, customer, now) end
    step = { "asked" }
  end
  book:change(row, { state = step[1] })
  if step[1] == "pending" then book:change(row, { ask = "", asked = "" }) end -- the service answered the question
  if step.event == "reversed" then emit(book, row, "reversed", now) end
  if why and why ~= row.ask then ask(book, row, why, now) end -- a reason is asked once
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
  if row.asked == "" then return nil, ("nobody is asked about %s"):format(dp) end
  if verb == "give" then
    if M.is_credited(row) then return nil, ("%s is credited to %s; say seen"):format(dp, row.customer) end
    local amount = decimal(row.amount)
    if not amount or amount:sign() < 1 then
      return nil, ("the amount %q of %s is none to credit; say refuse"):format(row.amount, dp)
    end
    if not book:rows("SELECT customer FROM purser_receive_customer WHERE customer = $1", with)[1] then
      return nil, ("there is no customer %s"):format(with)
    end
    book:change(row, { by = by, held = false })
    credit(book, row, with, now)
  elseif verb == "same" then
    local other = book:deposit(with)
    local final = other and M.resolve(book, other)
    if not final or final == row then return nil, ("there is no other deposit %s"):format(with) end
    if M.is_credited(row) then return nil, ("%s is credited; say seen"):format(dp) end
    book:change(row, { state = "same", same = final.dp, asked = "", held = false, by = by })
    if final.candidate == "" then book:change(final, { held = false }) end -- this record alone made it doubtful
  elseif M.is_credited(row) == (verb == "seen") then
    book:change(row, { state = verb == "refuse" and "refused" or row.state, asked = "", held = false, by = by })
  else
    return nil, M.is_credited(row) and ("%s is credited already; say seen"):format(dp)
      or ("%s is not credited; say give, same or refuse"):format(dp)
  end
  return true
end

return M
