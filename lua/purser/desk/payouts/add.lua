-- SPDX-License-Identifier: MIT
-- Adds payments: checks a list, makes the ids, and finds what the queue holds already.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local plain_text = require "purser.client.util.plain_text"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

local M = {}

--- Says why a key is no name.
M.NO_NAME = "the key is empty or too long, begins or ends with a blank, or holds characters that cannot be seen; with "
  .. "and without them it would be paid twice"

local function argument_error(key, message, hint)
  return nil, errors.argument("key", ('payment "%s": %s'):format(tostring(key), message), hint)
end

local function made_id(self, key)
  return planned.id_of_payment(self.client and planned.ids_of(self.client) or self.account, self.queue, key)
end

--- Returns a payment with checked parameters and its id; or nil and an error.
---@param self { account: string, queue: string }
function M.prepare(self, key, operation, params)
  if type(key) ~= "string" then
    return nil, errors.argument("key", ("the key of a payment is a %s"):format(type(key)),
      "give a text, then the operation and the parameters: payouts:add(key, operation, params)")
  elseif not plain_text.is_name(key) then
    return argument_error(plain_text.clean(key), M.NO_NAME, "give a text of 1 to 200 characters without them")
  end
  if planned.is_decomposed(key) then
    return argument_error(key, "a sign of the key joins the letter before it, and would make two keys of one",
      "write each letter as one sign (normal form C)")
  end
  local row = planned.operation(operation)
  if not row or row.effect ~= "transfer" then
    local given = type(operation) == "string" and ('"%s"'):format(operation) or "a " .. type(operation)
    return argument_error(key, given .. " is no operation that moves funds",
      "give one such as wallet.withdraw or broker.transfer")
  end
  local values, err = planned.check(operation, params)
  if not values then
    err.message = ('payment "%s": %s'):format(key, err.message)
    return nil, err
  end
  for _, param in ipairs(row.params) do
    if param[2] == "md5" and values[param[1]] then
      return argument_error(key, "a password cannot be kept in the queue",
        "use an operation without one, such as wallet.withdraw")
    end
  end
  local client_id, is_given = row.reconcile.generated_id and row.reconcile.client_id, false
  if client_id then
    is_given = values[client_id] ~= nil and values[client_id] ~= made_id(self, key) -- a plan has the made id
    values[client_id] = values[client_id] or made_id(self, key)
  end
  return { key = key, operation = operation, params = values, id = client_id and values[client_id],
    given_id = is_given and client_id or nil, content = planned.content(operation, values) }
end

--- Returns the parameters that differ from the queue's, as a text.
function M.difference(known, payment)
  local parts, row = {}, planned.operation(payment.operation)
  if known.operation ~= payment.operation then
    parts[1] = ("operation was %s, is %s"):format(known.operation, payment.operation)
  end
  for _, param in ipairs(row.params) do
    local before, now = known.params[param[1]], payment.params[param[1]]
    if before ~= now then
      parts[#parts + 1] = ("%s was %s, is %s"):format(param[1], tostring(before or "absent"), tostring(now or "absent"))
    end
  end
  return table.concat(parts, ", ")
end

--- Returns whether a payment of the queue has another content than the list.
function M.differs(known, payment)
  return known.content ~= payment.content or known.operation ~= payment.operation
    or payment.given_id ~= nil and known.client_id ~= payment.id
end

--- Ends the transaction where an id of the user's is another payment's, in whatever queue, or a call's: the record of
--- the other would pass for this payment's.
function M.check_id(self, tx, payment)
  local other = payment.given_id and queue.other_with_id(tx, self, payment)
  if not other then return end
  local whose = other.queue ~= "" and ('is that of payment "%s"'):format(other.payment) or "is that of a call"
  tx:reject(select(2, argument_error(payment.key, ('its %s "%s" %s; give each its own'):format(payment.given_id,
    payment.id, whose))))
end

--- Adds within a transaction. Returns whether it is new.
function M.insert(self, tx, payment)
  M.check_id(self, tx, payment)
  if queue.insert(tx, self, payment) then return true end
  local known = queue.find(tx, self, payment.key)
  if not known then tx:reject(select(2, argument_error(payment.key, "its id is that of another call"))) end
  if M.differs(known, payment) then
    local _, err = argument_error(payment.key, ("is in the queue with other content: %s; put the old value back, or "
      .. "correct it by a plan of the list (payouts:plan) where nothing was sent for it")
      :format(M.difference(known, payment)))
    err.code, err.details = "payouts.other_content", { key = payment.key }
    tx:reject(err)
  end
  return false
end

-- Returns whether a table has payments outside of its list: one payment, a list with a gap, or a payment under a name.
local function hides_payments(list)
  local count = 0 -- not #list, which may be any end of a list with gaps
  for i in ipairs(list) do count = i end
  for place, value in pairs(list) do
    if type(place) == "number" and place > count or place == "key" then return true end
    if type(place) ~= "number" and type(value) == "table" then return true end
  end
  return false
end

-- Returns the payments of a list, prepared; or nil and an error.
local function prepare_all(self, list)
  if type(list) ~= "table" then
    return nil, errors.argument(nil, ("the payments are a %s"):format(type(list)), "give a list of them")
  elseif hides_payments(list) then
    return nil, errors.argument(nil, "the payments are no list", "give a list without gaps: { { key =, operation =, "
      .. "params = }, ... }")
  end
  local prepared = {}
  for i, entry in ipairs(list) do
    if type(entry) ~= "table" then
      return nil, errors.argument(nil, ("payment %d of the list is a %s"):format(i, type(entry)),
        "give { key =, operation =, params = }")
    end
    local payment, err = M.prepare(self, entry.key, entry.operation, entry.params)
    if not payment then
      err.details = { key = entry.key, index = i }
      return nil, err
    end
    prepared[i] = payment
  end
  return prepared
end

M.LOCK = 7078803 -- held while payments are added or replaced

-- A transaction that writes a long list row by row keeps other workers out for longer than they wait. So the rows are
-- written beside the journal's, a batch at a time, and one statement moves them: nobody sees a part of a list.

M.BATCH = 500 -- rows that a transaction writes one by one

--- The table of rows that are not moved yet.
M.TABLE = [[CREATE TABLE IF NOT EXISTS purser_adding (list TEXT NOT NULL, id TEXT NOT NULL,
  queue TEXT NOT NULL, payment TEXT NOT NULL, form TEXT NOT NULL, operation TEXT NOT NULL, params TEXT NOT NULL,
  key TEXT NOT NULL, content TEXT NOT NULL, digest TEXT NOT NULL, history TEXT NOT NULL, given TEXT NOT NULL,
  PRIMARY KEY (list, payment))]]

local ADD = [[INSERT INTO purser_adding (list, id, queue, payment, form, operation, params, key, content, digest,
  history, given) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  ON CONFLICT DO NOTHING]]
local FORGET, DAY_MS = "DELETE FROM purser_adding WHERE list = $1 OR list < $2", 86400000

-- Rows that cannot be moved, for insert to say why: a single call has the key, another call the id, or the queue holds
-- other content.
local IN_THE_WAY = [[SELECT a.payment AS payment FROM purser_adding a JOIN purser_calls c ON c.form = a.form
  AND c.form <> '' AND c.queue = '' WHERE a.list = $1
  UNION ALL SELECT a.payment FROM purser_adding a JOIN purser_calls c ON c.key = a.key AND c.key <> '' AND c.queue = ''
  WHERE a.list = $2 UNION ALL SELECT a.payment FROM purser_adding a JOIN purser_calls c ON c.queue = a.queue
  AND c.queue <> '' AND c.form = a.form WHERE a.list = $3 AND (c.payment <> a.payment OR c.content <> a.content
  OR c.operation <> a.operation OR a.given <> '' AND c.key <> a.key) LIMIT 1]]
local MOVE = [[INSERT INTO purser_calls (id, operation, history, key, form, content, params, digest, state,
  queue, payment, stage, added_at) SELECT id, operation, history, key, form, content, params, digest, 'planned', queue,
  payment, 'waiting', $1 FROM purser_adding WHERE list = $2 ON CONFLICT DO NOTHING]]
local NOT_MOVED = [[SELECT payment FROM purser_adding a WHERE list = $1 AND NOT EXISTS (SELECT 1 FROM purser_calls
  WHERE queue = a.queue AND queue <> '' AND payment = a.payment) LIMIT 1]]

-- Moves the rows of a list into the queue, or those alone whose keys are `wanted`. Returns how many are new.
local function move(tx, self, name, payments, wanted)
  -- a call with the key of a payment begins before, or finds the payment
  if tx.db.name == "postgresql" then tx:rows "LOCK TABLE purser_calls IN SHARE ROW EXCLUSIVE MODE" end
  local by_key = {}
  for _, payment in ipairs(payments) do
    local first = by_key[payment.key]
    if wanted and not wanted[payment.key] then
      tx:rows("DELETE FROM purser_adding WHERE list = $1 AND payment = $2", name, payment.key)
    elseif first and M.differs(first, payment) then
      M.insert(self, tx, first)
      M.insert(self, tx, payment) -- says how they differ
    else
      M.check_id(self, tx, payment)
      by_key[payment.key] = payment
    end
  end
  local row = tx:rows(IN_THE_WAY, name, name, name)[1]
  if row then M.insert(self, tx, by_key[row.payment]) end
  local _, added = tx:rows(MOVE, planned.time_text(tx:now()), name)
  row = tx:rows(NOT_MOVED, name)[1]
  if row then M.insert(self, tx, by_key[row.payment]) end
  return added
end

-- Writes the rows from `first` on, in a transaction.
local function write_batch(tx, self, name, payments, first)
  for i = first, math.min(first + M.BATCH - 1, #payments) do
    local payment = payments[i]
    local id, message = core.random_token(24)
    if not id then tx:reject("no random id could be made: " .. tostring(message)) end
    local row = planned.columns(payment.operation, payment.params, payment.id)
    tx:rows(ADD, name, id, self.queue, payment.key, planned.form(payment.key), row.operation, row.params, row.key,
      row.content, row.digest, row.history, payment.given_id or "")
  end
  return true
end

--- Runs act(tx, add) in a transaction; add(wanted) adds the payments, or those alone whose keys are `wanted`, and
--- returns how many are new. Returns what act returns; or nil and an error, and then nothing was added.
---@param payments table[]  as M.prepare makes them
function M.adding(self, payments, act)
  if #payments <= M.BATCH then
    return planned.within(self.journal, function(tx)
      return act(tx, function(wanted)
        local added = 0
        for _, payment in ipairs(payments) do
          if not wanted or wanted[payment.key] then added = added + (M.insert(self, tx, payment) and 1 or 0) end
        end
        return added
      end)
    end)
  end
  local name = planned.time_text(core.now_ms()) .. (core.random_token(16) or "")
  local old = planned.time_text(core.now_ms() - DAY_MS) -- of a process that was killed
  local ok, err = true, nil
  for first = 1, #payments, M.BATCH do
    ok, err = planned.within(self.journal, function(tx) return write_batch(tx, self, name, payments, first) end)
    if not ok then break end
  end
  local result
  if ok then
    result, err = planned.within(self.journal, function(tx)
      return act(tx, function(wanted) return move(tx, self, name, payments, wanted) end)
    end)
  end
  planned.within(self.journal, function(tx) return tx:rows(FORGET, name, old) end)
  return result, err
end

--- Adds payments, all or none. Returns { added =, repeated = }; or nil and an error.
function M.add_all(self, list)
  local prepared, err = prepare_all(self, list)
  if not prepared then return nil, err end
  return M.adding(self, prepared, function(tx, add)
    tx:lock(M.LOCK)
    planned.enter(tx, self.client)
    local added = add()
    return { added = added, repeated = #prepared - added }
  end)
end

return M
