-- SPDX-License-Identifier: MIT
-- Databases of deposits that fail: at each statement, and at each write.

local assert = require "luassert"
local receive_world = require "receive_world"

local M = {}

--- The process is gone at the statement.
M["any statement is the last one"] = function(db, at)
  local count = 0
  function db.rows(self, sql, ...)
    count = count + 1
    if count >= at then error("killed", 0) end
    return getmetatable(self).rows(self, sql, ...)
  end
end

--- The write fails, and those after it do not.
M["the disk is full at any write, and has room for the next one"] = function(db, at)
  local count = 0
  function db.rows(self, sql, ...)
    local is_write = sql:find "^[IUDC]" -- INSERT, UPDATE, DELETE, COMMIT
    count = count + (is_write and 1 or 0)
    if count == at and is_write then return nil, "database or disk is full" end
    return getmetatable(self).rows(self, sql, ...)
  end
end

--- Runs with a database in which `spoil(db, at)` makes something fail, and then with a whole one, for each place that
-- it can fail at. Each event has to come, with one id, and each deposit to be credited once.
function M.at_each_place(spoil, last, options)
  local world = receive_world.new(options)
  assert(world.receive:begin { customers = world.customers })
  local failed, sent = 0, 0
  for at = 1, last do
    sent = sent + 1
    world.deposit(("%d"):format(sent))
    world.sim:advance(3600000)
    spoil(world.receive.store.db, at)
    local went, ok = pcall(world.receive.run, world.receive, { deadline_ms = 0 })
    if not (went and ok) then failed = failed + 1 end
    world.receive:close() -- as by `kill -9`: nothing is said to it
    world.sim:advance(60000)
    world.receive = world.open(options)
    assert(world.receive:run { deadline_ms = 0 })
  end
  local ids, amounts = {}, {}
  for _, event in ipairs(world.got) do
    assert.equal(ids[event.id] or event.amount, event.amount)
    ids[event.id] = event.amount
  end
  for _, amount in pairs(ids) do
    assert.is_nil(amounts[amount], amount)
    amounts[amount] = true
  end
  for i = 1, sent do assert.is_true(amounts[("%d"):format(i)], i) end
  assert.is_true(world.receive:check()[1].adds_up)
  return failed
end

return M
