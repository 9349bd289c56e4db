-- SPDX-License-Identifier: MIT
-- Adds payments: checks a list, makes the ids, and finds what the queue holds already.

local core = require "purser.core"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local json = require "purser.json"
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

-- Returns the id by which the service knows a payment: one for account, queue and key, so that a payment is found when
-- the journal is lost, also with other content.
local function made_id(self, key) return digest.id("purser payment", self.account, self.queue, key) end

-- Returns true where a payment can have this key; or nil and an error.
local function check_key(key)
  if type(key) ~= "string" then
    return nil, errors.argument("key", ("the key of a payment is a %s"):format(type(key)),
      "give a text, then the operation and the parameters: payouts:add(key, operation, params)")
  elseif not plain_text.is_name(key) then
    return argument_error(plain_text.clean(key), M.NO_NAME, "give a text of 1 to 200 characters without them")
  end
  return true
end

--- Returns a payment with checked parameters and its id; or nil and an error.
---@param self { account: string, queue: string }
function M.prepare(self, key, operation, params)
  local ok, err = check_key(key)
  if not ok then return nil, err end
  local row = planned.operation(operation)
  if not row or row.effect ~= "transfer" then
    local given = type(operation) == "string" and ('"%s"'):format(operation) or "a " .. type(operation)
    return argument_error(key, given .. " is no operation that moves funds",
      "give one such as wallet.withdraw or broker.transfer")
  end
  local values
  values, err = planned.check(operation, params)
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

-- Ends the transaction where the queue, or an earlier row of the list, has another content for the key.
local function reject_other(tx, payment, known)
  local _, err = argument_error(payment.key, ("is in the queue with other content: %s; put the old value back, or "
    .. "correct it by a plan of the list (payouts:plan) where nothing was sent for it")
    :format(M.difference(known, payment)))
  err.code, err.details = "payouts.other_content", { key = payment.key }
  tx:reject(err)
end

-- Ends the transaction with the reason why a payment is not in the queue as the list has it.
local function explain(self, tx, payment)
  M.check_id(self, tx, payment)
  queue.insert(tx, self, payment) -- has an error of its own where a single call has the key
  local known = queue.find(tx, self, payment.key)
  if not known then tx:reject(select(2, argument_error(payment.key, "its id is that of another call"))) end
  if M.differs(known, payment) then reject_other(tx, payment, known) end
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

---------------------------------------------------------------------------------------------------- a list at once

-- One statement takes all rows as JSON, made before the transaction: row by row, a long list would keep other workers
-- out for longer than they wait.

M.BATCH = 5000 -- rows of a statement

local COLUMNS = { "id", "operation", "history", "key", "content", "params", "digest", "payment", "given" }
local READS = { sqlite = { "json_extract(value, '$[%d]') AS %s", "json_each($%d)" },
  postgresql = { "value->>%d AS %s", "json_array_elements(CAST($%d AS json))" } }

-- Returns the rows of a JSON list, the statement's value of that number, as a table `a` of a query.
local function rows_of(tx, number)
  local parts, reads = {}, READS[tx.db.name]
  for i, name in ipairs(COLUMNS) do parts[i] = reads[1]:format(i - 1, name) end
  return ("(SELECT %s FROM %s) AS a"):format(table.concat(parts, ", "), reads[2]:format(number))
end

-- Payments that cannot be added: a single call has the key, the queue holds other content, or another call has the id.
-- CROSS JOIN lets SQLite begin with the list.
local OF_A_CALL = [[SELECT a.payment AS payment FROM %s CROSS JOIN purser_calls AS c WHERE c.key = a.payment
  AND c.operation = a.operation AND c.account = $2 AND c.key <> '' AND c.queue = '' LIMIT 1]]
local OF_OTHER_CONTENT = [[SELECT a.payment AS payment FROM %s CROSS JOIN purser_calls AS c WHERE c.payment = a.payment
  AND c.account = $2 AND c.queue = $3 AND c.queue <> '' AND (c.content <> a.content OR c.operation <> a.operation
  OR a.given <> '' AND c.key <> a.key) LIMIT 1]]
local INSERT = [[INSERT INTO purser_calls (account, queue, added_at, state, stage, id, operation, history, key,
  content, params, digest, payment) SELECT $1, $2, $3, 'planned', 'waiting', id, operation, history, key, content,
  params, digest, payment FROM %s WHERE true ON CONFLICT DO NOTHING]]
local LACKING = [[SELECT a.payment AS payment FROM %s WHERE NOT EXISTS (SELECT 1 FROM purser_calls AS c
  WHERE c.account = $2 AND c.queue = $3 AND c.queue <> '' AND c.payment = a.payment) LIMIT 1]]

-- A call with the key of a payment begins before, or finds the payment. PostgreSQL does not know how long the list is.
local function prepare_postgresql(tx, length)
  tx:rows "LOCK TABLE purser_calls IN SHARE ROW EXCLUSIVE MODE"
  if length > 100 then tx:rows "SET LOCAL enable_nestloop = off" end
end

-- Returns the payments from `first` on as JSON; or nil and a message.
local function encode(payments, first)
  local rows = json.list {}
  for i = first, math.min(first + M.BATCH - 1, #payments) do
    local payment = payments[i]
    local columns = planned.columns(payment.operation, payment.params, payment.id)
    columns.payment, columns.given = payment.key, payment.given_id or ""
    local row, id, message = json.list {}, core.random_token(24)
    if not id then return nil, "no random id could be made: " .. tostring(message) end
    columns.id = id
    for c, name in ipairs(COLUMNS) do row[c] = columns[name] end
    rows[#rows + 1] = row
  end
  return json.encode(rows)
end

local function encode_all(payments)
  local texts = {}
  for first = 1, #payments, M.BATCH do
    local text, message = encode(payments, first)
    if not text then return nil, message end
    texts[#texts + 1] = text
  end
  return texts
end

-- Adds the payments of a list, by the texts of encode_all. Returns how many are new.
local function add_texts(tx, self, payments, texts)
  local by_key, added = {}, 0
  for _, payment in ipairs(payments) do
    local first = by_key[payment.key]
    if first and M.differs(first, payment) then reject_other(tx, payment, first) end
    M.check_id(self, tx, payment)
    by_key[payment.key] = payment
  end
  local function check(sql, text, ...)
    local row = tx:rows(sql:format(rows_of(tx, 1)), text, self.account, ...)[1]
    if row then explain(self, tx, by_key[row.payment]) end
  end
  for _, text in ipairs(texts) do
    check(OF_A_CALL, text)
    check(OF_OTHER_CONTENT, text, self.queue)
    local _, new = tx:rows(INSERT:format(rows_of(tx, 4)), self.account, self.queue, planned.time_text(tx:now()), text)
    check(LACKING, text, self.queue)
    added = added + new
  end
  return added
end

--- Runs act(tx, add) in a transaction; add(wanted) adds the payments, or those alone whose keys are `wanted`, and
--- returns how many are new. Returns the result of `act`; or nil and an error, and then nothing was added.
---@param payments table[]  as M.prepare makes them
function M.adding(self, payments, act)
  local texts, message = encode_all(payments)
  if not texts then return nil, planned.error(message) end
  return planned.within(self.journal, function(tx)
    return act(tx, function(wanted)
      if tx.db.name == "postgresql" then prepare_postgresql(tx, #payments) end
      local chosen = {}
      for _, payment in ipairs(payments) do
        chosen[#chosen + 1] = (not wanted or wanted[payment.key]) and payment or nil
      end
      local of_chosen, problem = texts, nil
      if #chosen < #payments then of_chosen, problem = encode_all(chosen) end
      return of_chosen and add_texts(tx, self, chosen, of_chosen) or tx:reject(problem)
    end)
  end)
end

--- Adds payments, all or none. Returns { added =, repeated = }; or nil and an error.
function M.add_all(self, list)
  local prepared, err = prepare_all(self, list)
  if not prepared then return nil, err end
  return M.adding(self, prepared, function(tx, add)
    tx:lock(M.LOCK)
    queue.check_account(tx, self, false)
    local added = add()
    return { added = added, repeated = #prepared - added }
  end)
end

return M
